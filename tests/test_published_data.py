"""Public data sets are read whole: what is counted is what their documentation says."""

import os
from pathlib import Path
from typing import Any

import pytest

from seqtag.configuration import compose
from seqtag.datamodule import DataModule

FOLDER = Path(os.environ.get("SEQTAG_BENCHMARK_DATA", "."))

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        "SEQTAG_BENCHMARK_DATA" not in os.environ,
        reason="the data sets are not in the project; SEQTAG_BENCHMARK_DATA names their folder",
    ),
]

UPOS = "data=conllu data.target=UPOS"
ENTITIES = "data=conll"
STRINGS = "data=label_strings"
SENTIMENT = "task=classification data=tsv data.reader.header=false data.input=0 data.target=1"
MOLECULES = "task=regression data=csv data/input_tokenizer=smiles data.input=smiles"
SPLIT = "data=tsv data/input_tokenizer=characters data.input=smiles"
SOUNDS = (
    "task=seq2seq data=tsv data/input_tokenizer=characters data.reader.header=false "
    "data.input=0 data.target=1"
)
INFLECTION = (
    "task=seq2seq data=tsv data/input_tokenizer=characters data/target_tokenizer=characters "
    "data.reader.header=false data.input=0 data.target=1 data.further_input=[2]"
)

# Words, files, and of each file rows, elements and the longest row; None where not documented.
Counts = tuple[int, int | None, int | None]
SETS: list[tuple[str, dict[str, Counts]]] = [
    (
        UPOS,
        {
            "UD_English-EWT/en_ewt-ud-train.conllu": (12544, 204577, 159),
            "UD_English-EWT/en_ewt-ud-dev.conllu": (2001, 25147, 75),
            "UD_English-EWT/en_ewt-ud-test.conllu": (2077, 25094, 81),
        },
    ),
    (
        UPOS,
        {
            "ud_chinese_gsd_v1/zh-ud-train.conllu": (3997, 98608, 111),
            "ud_chinese_gsd_v1/zh-ud-dev.conllu": (500, 12663, 84),
            "ud_chinese_gsd_v1/zh-ud-test.conllu": (500, 12012, 97),
        },
    ),
    (
        ENTITIES,
        {
            "ner_wnut17/wnut17train.conll": (3394, 62730, 41),
            "ner_wnut17/emerging.dev.conll": (1009, 15733, 82),
            "ner_wnut17/emerging.test.annotated": (1287, 23394, 105),
        },
    ),
    (
        ENTITIES,
        {
            "ner_ncbi_disease/train.tsv": (5432, 136086, 123),
            "ner_ncbi_disease/devel.tsv": (923, 23969, 86),
            "ner_ncbi_disease/test.tsv": (940, 24497, 106),
        },
    ),
    (
        STRINGS,
        {
            "protein_ss3_flip/train.tsv": (1800, 463078, 1475),
            "protein_ss3_flip/dev.tsv": (1080, 280780, 1310),
            "protein_ss3_flip/test.tsv": (364, 84541, 1589),
        },
    ),
    (
        "task=token_regression data=conll data.target=1 data.skip_lines=1",
        {
            "reading_times_natural_stories/train.tsv": (361, 7299, 64),
            "reading_times_natural_stories/dev.tsv": (33, 980, 60),
            "reading_times_natural_stories/test.tsv": (91, 1977, 54),
        },
    ),
    (
        SENTIMENT,
        {
            "sst2_sentences/train.tsv": (6920, 128096, 51),
            "sst2_sentences/dev.tsv": (872, 16331, 47),
            "sst2_sentences/test.tsv": (1821, 33653, 53),
        },
    ),
    # Its documentation cuts words at the few NBSP too, which are no separators here.
    (
        "task=classification data=labelled",
        {
            "sst5_sentences/stsa.fine.train": (8544, 163566 - 3, 52),
            "sst5_sentences/stsa.fine.dev": (1101, 21274, 49),
            "sst5_sentences/stsa.fine.test": (2210, 42405, 56),
        },
    ),
    (
        f"{MOLECULES} 'data.target=measured log solubility in mols per litre'",
        {"mol_esol/ESOL_delaney-processed.csv": (1128, None, None)},
    ),
    (
        f"task=regression {SPLIT} data.target=target",
        {
            "mol_esol/split.train.tsv": (910, None, 97),
            "mol_esol/split.dev.tsv": (111, None, None),
            "mol_esol/split.test.tsv": (107, None, None),
        },
    ),
    (
        "task=classification data=csv data/input_tokenizer=characters data.input=smiles "
        "data.target=p_np",
        {"mol_bbbp/BBBP.csv": (2050, None, 400)},
    ),
    (
        f"task=classification {SPLIT} data.target=target",
        {
            "mol_bbbp/split.train.tsv": (1641, None, None),
            "mol_bbbp/split.dev.tsv": (226, None, None),
            "mol_bbbp/split.test.tsv": (183, None, None),
        },
    ),
    (
        SOUNDS,
        {
            f"g2p_sigmorphon2021_eng_us/eng_us_{part}.tsv": counts
            for part, counts in {
                "train": (33344, None, 34),
                "dev": (4168, None, 30),
                "test": (4168, None, 30),
            }.items()
        },
    ),
    *(
        (
            SOUNDS,
            {
                f"g2p_sigmorphon2021_low/{language}_{part}.tsv": (rows, None, longest)
                for part, rows, longest in zip(
                    ("train", "dev", "test"), (800, 100, 100), lengths, strict=True
                )
            },
        )
        for language, lengths in {
            "ady": (17, 15, 13),
            "gre": (16, 16, 17),  # of dev its documentation says 15; the word is κωνσταντινούπολη
            "ita": (15, 12, 12),
        }.items()
    ),
    *(
        (
            INFLECTION,
            {
                f"inflection_sigmorphon2020/{language}.{part}": (rows, None, None)
                for part, rows in zip(("trn", "dev", "tst"), counts, strict=True)
            },
        )
        for language, counts in {
            "swa": (3374, 469, 910),
            "lug": (3420, 489, 977),
            "dan": (17852, 2550, 5101),
            "est": (26728, 3820, 7637),
        }.items()
    ),
    (
        "task=classification data=ts",
        {
            "speech_japanese_vowels/JapaneseVowels_TRAIN.ts": (270, None, 26),
            "speech_japanese_vowels/JapaneseVowels_TEST.ts": (370, None, 29),
        },
    ),
    # 1000 lines, one of which is a second pronunciation whose word stands before it.
    (
        "task=seq2seq data=cmudict",
        {"g2p_cmudict_sample/cmudict.sample1000.txt": (999, None, 17)},
    ),
]
SETS += [
    # Three NBSP of the German dev and 47 of the training captions are inside words here.
    (
        "task=seq2seq data=parallel data.input=de data.target=en",
        {
            "mt_multi30k_de_en/train": (29000, 322383 - 47, 39),
            "mt_multi30k_de_en/val": (1014, 11568 - 1, 30),
            "mt_multi30k_de_en/test_2016_flickr": (1000, 10905, 30),
        },
    )
]


def read(words: str, paths: list[str], tmp_path: Path) -> DataModule:
    import shlex

    keys = ("train", "dev", "test")
    config: dict[str, Any] = compose("train", shlex.split(words))
    config["cache"] = str(tmp_path)
    config["data"] |= dict.fromkeys(keys)
    config["data"] |= dict(zip(keys, (str(FOLDER / path) for path in paths), strict=False))
    data = DataModule(config)
    data.read_all(test=len(paths) == 3)
    return data


@pytest.mark.parametrize(
    ("words", "files"), SETS, ids=[next(iter(files)).replace("/", "-") for _, files in SETS]
)
def test_every_row_and_element_is_read(
    words: str, files: dict[str, Counts], tmp_path: Path
) -> None:
    data = read(words, list(files), tmp_path)
    if len(files) == 1:  # dev was cut off
        counts = [split.counts for split in data.splits.values()]
        found = [
            {
                "rows": sum(c["rows"] for c in counts),
                "elements": sum(c["elements"] for c in counts),
                "longest": max(c["longest"] for c in counts),
            }
        ]
    else:
        found = [split.counts for split in data.splits.values()]
    for (path, (rows, elements, longest)), counted in zip(files.items(), found, strict=True):
        assert counted["rows"] == rows, path
        assert elements is None or counted["elements"] == elements, path
        assert longest is None or counted["longest"] == longest, path


def test_labels_are_counted_as_documented(tmp_path: Path) -> None:
    files = [f"protein_ss3_flip/{part}.tsv" for part in ("train", "dev", "test")]
    data = read(STRINGS, files, tmp_path)
    scored = {
        name: split.counts["elements"] - split.counts["missing"]
        for name, split in data.splits.items()
    }
    assert scored == {"train": 435166, "dev": 262853, "test": 75402}
    vowels = [f"speech_japanese_vowels/JapaneseVowels_{part}.ts" for part in ("TRAIN", "TEST")]
    speakers = read("task=classification data=ts", vowels, tmp_path).target
    assert speakers.labels == tuple("123456789")
    assert speakers.counts == (30,) * 9
    upos = read(UPOS, ["UD_English-EWT/en_ewt-ud-train.conllu"], tmp_path).target
    assert len(upos.labels) == 17
    entities = read(ENTITIES, ["ner_ncbi_disease/train.tsv", "ner_ncbi_disease/test.tsv"], tmp_path)
    assert entities.target.scheme == "IOB2"
    assert dict(zip(entities.target.labels, entities.target.counts, strict=True)) == {
        "O": 124819,
        "I-Disease": 6122,
        "B-Disease": 5145,
    }
