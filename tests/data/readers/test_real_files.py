"""Published files, where the variable SEQTAG_BENCHMARK_DATA names the folder that holds them."""

from __future__ import annotations

import os
import time
from io import BytesIO
from pathlib import Path

import pytest

from data.readers.formats import conll, conllu, csv, tsv
from seqtag.batch import Output
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Characters, Smiles

FOLDER = os.environ.get("SEQTAG_BENCHMARK_DATA")
LONG = 1_000_000

pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="the variable SEQTAG_BENCHMARK_DATA names no folder of data sets"
)

FILES: list[tuple[str, Reader, int, int]] = [
    ("UD_English-EWT/en_ewt-ud-dev.conllu", conllu(max_line_bytes=LONG), 2001, 25147),
    ("ud_chinese_gsd_v1/zh-ud-dev.conllu", conllu(max_line_bytes=LONG), 500, 12663),
    ("ner_wnut17/wnut17train.conll", conll(), 3394, 62730),
    ("ner_wnut17/emerging.dev.conll", conll(), 1009, 15733),
    ("ner_wnut17/emerging.test.annotated", conll(), 1287, 23394),
    ("ner_ncbi_disease/devel.tsv", conll(), 923, 23969),
    ("reading_times_natural_stories/dev.tsv", conll(target=[1, 2], skip_lines=1), 33, 980),
    ("sst2_sentences/dev.tsv", tsv(max_line_bytes=LONG), 872, 16331),
    (
        "protein_ss3_flip/test.tsv",
        tsv(
            input=1,
            target=2,
            input_tokenizer=Characters(),
            target_tokenizer=Characters(),
            max_line_bytes=LONG,
        ),
        364,
        84541,
    ),
]
MOLECULES: list[tuple[str, Reader, int]] = [
    (
        "mol_esol/ESOL_delaney-processed.csv",
        csv(
            input="smiles",
            target="measured log solubility in mols per litre",
            input_tokenizer=Smiles(),
            max_line_bytes=LONG,
        ),
        1128,
    ),
    (
        "mol_bbbp/BBBP.csv",
        csv(input="smiles", target="p_np", input_tokenizer=Smiles(), max_line_bytes=LONG),
        2050,
    ),
]


def content(name: str) -> bytes:
    assert FOLDER is not None
    return (Path(FOLDER) / name).read_bytes()


@pytest.mark.parametrize(("name", "reader", "rows", "elements"), FILES, ids=[f[0] for f in FILES])
def test_nothing_is_lost_and_the_file_comes_back(
    name: str, reader: Reader, rows: int, elements: int
) -> None:
    data = content(name)
    read = list(reader.read(BytesIO(data), name))
    assert len(read) == rows
    assert sum(len(row["tokens"]) for row in read) == elements
    assert "".join(reader.write(row, Output(row["target"])) for row in read).encode() == data


@pytest.mark.parametrize(("name", "reader", "rows"), MOLECULES, ids=[f[0] for f in MOLECULES])
def test_molecules_hold_no_blanks(name: str, reader: Reader, rows: int) -> None:
    data = content(name)
    read = list(reader.read(BytesIO(data), name))
    assert len(read) == rows
    assert not any(" " in row["tokens"] for row in read)
    assert all(row["target"] is not None for row in read)
    assert "".join(reader.write(row, Output(row["target"])) for row in read).encode() == data


def test_a_large_file_is_read_within_seconds() -> None:
    data = content("UD_English-EWT/en_ewt-ud-dev.conllu") * 8
    start = time.perf_counter()
    words = sum(len(row["tokens"]) for row in conllu(max_line_bytes=LONG).read(BytesIO(data), "f"))
    assert words == 8 * 25147
    # About a second where nothing else runs; the bound leaves room for a busy machine.
    assert time.perf_counter() - start < 10
