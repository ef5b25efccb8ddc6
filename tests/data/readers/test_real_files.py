"""Published files, where the variable SEQTAG_BENCHMARK_DATA names the folder that holds them."""

from __future__ import annotations

import os
import time
from io import BytesIO
from pathlib import Path

import pytest

from data.readers.formats import Told, cmudict, conll, conllu, csv, labelled, parallel, tsv
from seqtag.batch import Output
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Characters, Smiles, Whitespace

FOLDER = os.environ.get("SEQTAG_BENCHMARK_DATA")
LONG = 1_000_000

pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="the variable SEQTAG_BENCHMARK_DATA names no folder of data sets"
)

EWT, GSD = "UD_English-EWT/en_ewt-ud", "ud_chinese_gsd_v1/zh-ud"
INFLECTION = tsv(
    target=1,
    input_tokenizer=Characters(),
    sequence_tokenizer=Characters(),
    further_input=[2],
)
SOUNDS = tsv(input_tokenizer=Characters(), sequence_tokenizer=Whitespace())
PROTEIN = tsv(
    input=1,
    target=2,
    mask=3,
    input_tokenizer=Characters(),
    target_tokenizer=Characters(),
    max_line_bytes=LONG,
)
STORIES = conll(target=[1, 2], skip_lines=1)
MOLECULES = {"input_tokenizer": Smiles(), "max_line_bytes": LONG}

# Rows and elements as the README beside each file counts them, where it does. Those of two texts
# are fewer by the NBSPs in them, at which a README cuts words and this project does not; those of
# inflection hold the tags too; the dictionary's 1000 lines are 999 words.
QUICK: list[tuple[str, Reader, int, int]] = [
    (f"{EWT}-dev.conllu", conllu(max_line_bytes=LONG), 2001, 25147),
    (f"{GSD}-dev.conllu", conllu(max_line_bytes=LONG), 500, 12663),
    ("ner_wnut17/wnut17train.conll", conll(), 3394, 62730),
    ("ner_wnut17/emerging.dev.conll", conll(), 1009, 15733),
    ("ner_wnut17/emerging.test.annotated", conll(), 1287, 23394),
    ("ner_ncbi_disease/devel.tsv", conll(), 923, 23969),
    ("ner_ncbi_disease/test.tsv", conll(), 940, 24497),
    ("reading_times_natural_stories/dev.tsv", STORIES, 33, 980),
    ("sst2_sentences/dev.tsv", tsv(max_line_bytes=LONG), 872, 16331),
    ("sst5_sentences/stsa.fine.dev", labelled(max_line_bytes=LONG), 1101, 21274),
    ("sst5_sentences/stsa.fine.test", labelled(max_line_bytes=LONG), 2210, 42405),
    ("g2p_sigmorphon2021_low/ady_dev.tsv", SOUNDS, 100, 748),
    ("inflection_sigmorphon2020/swa.trn", INFLECTION, 3374, 39106),
    ("inflection_sigmorphon2020/swa.dev", INFLECTION, 469, 5368),
    ("inflection_sigmorphon2020/lug.tst", INFLECTION, 977, 9154),
    ("g2p_cmudict_sample/cmudict.sample1000.txt", cmudict(), 999, 7552),
    ("protein_ss3_flip/test.tsv", PROTEIN, 364, 84541),
    (
        "mol_esol/ESOL_delaney-processed.csv",
        csv(input="smiles", target="measured log solubility in mols per litre", **MOLECULES),
        1128,
        24342,
    ),
    ("mol_bbbp/BBBP.csv", csv(input="smiles", target="p_np", **MOLECULES), 2050, 91034),
]
LARGE: list[tuple[str, Reader, int, int]] = [
    (f"{EWT}-train.conllu", conllu(max_line_bytes=LONG), 12544, 204577),
    (f"{EWT}-test.conllu", conllu(max_line_bytes=LONG), 2077, 25094),
    (f"{GSD}-train.conllu", conllu(max_line_bytes=LONG), 3997, 98608),
    (f"{GSD}-test.conllu", conllu(max_line_bytes=LONG), 500, 12012),
    ("ner_ncbi_disease/train.tsv", conll(), 5432, 136086),
    ("sst5_sentences/stsa.fine.train", labelled(max_line_bytes=LONG), 8544, 163563),
    ("protein_ss3_flip/train.tsv", PROTEIN, 1800, 463078),
    ("protein_ss3_flip/dev.tsv", PROTEIN, 1080, 280780),
    ("inflection_sigmorphon2020/est.trn", INFLECTION, 26728, 311313),
    ("g2p_sigmorphon2021_eng_us/eng_us_train.tsv", SOUNDS, 33344, 250098),
]
FILES = [
    *(pytest.param(*row, id=row[0]) for row in QUICK),
    *(pytest.param(*row, id=row[0], marks=pytest.mark.benchmark) for row in LARGE),
]


def content(name: str) -> bytes:
    assert FOLDER is not None
    return (Path(FOLDER) / name).read_bytes()


@pytest.mark.parametrize(("name", "reader", "rows", "elements"), FILES)
def test_nothing_is_lost_and_the_file_comes_back(
    name: str, reader: Reader, rows: int, elements: int
) -> None:
    data = content(name)
    told = Told()
    with reader.reporting(told):
        found = list(reader.read(BytesIO(data), name))
    assert (len(found), sum(len(row["tokens"]) for row in found)) == (rows, elements)
    assert told.errors == []
    assert "".join(reader.write(row, Output(row["target"])) for row in found).encode() == data


def test_molecules_hold_no_blanks() -> None:
    for name, reader, *_ in QUICK[-2:]:
        found = list(reader.read(BytesIO(content(name)), name))
        assert not any(" " in row["tokens"] for row in found)
        assert all(row["target"] is not None for row in found)


@pytest.mark.parametrize(
    ("name", "rows", "elements", "symbols"),
    [
        ("test_2016_flickr", 1000, 10905, 11877),
        ("val", 1014, 11567, 12167),
        pytest.param("train", 29000, 322336, 345020, marks=pytest.mark.benchmark),
    ],
)
def test_parallel_text_is_aligned(name: str, rows: int, elements: int, symbols: int) -> None:
    assert FOLDER is not None
    reader = parallel(max_line_bytes=LONG)
    given = f"{FOLDER}/mt_multi30k_de_en/{name}"
    found = list(reader.read_all(given))
    assert (len(found), sum(len(row["tokens"]) for row in found)) == (rows, elements)
    assert sum(len(Whitespace().split(row["target"])) for row in found) == symbols
    written = "".join(reader.write(row, Output(row["target"])) for row in found)
    assert written.encode() == Path(f"{given}.en").read_bytes()


def test_no_break_spaces_and_masks_are_as_published() -> None:
    name = "sst5_sentences/stsa.fine.train"
    found = list(labelled(max_line_bytes=LONG).read(BytesIO(content(name)), name))
    held = sum("\u00a0" in token for row in found for token in row["tokens"])
    assert held == content(name).decode().count("\u00a0") > 0
    name = "protein_ss3_flip/test.tsv"
    targets = [
        target for row in PROTEIN.read(BytesIO(content(name)), name) for target in row["target"]
    ]
    assert sum(target is not None for target in targets) == 75402  # the residues of the README


def test_a_large_file_is_read_within_seconds() -> None:
    data = content("UD_English-EWT/en_ewt-ud-dev.conllu") * 8
    start = time.perf_counter()
    words = sum(len(row["tokens"]) for row in conllu(max_line_bytes=LONG).read(BytesIO(data), "f"))
    assert words == 8 * 25147
    # About a second where nothing else runs; the bound leaves room for a busy machine.
    assert time.perf_counter() - start < 10
