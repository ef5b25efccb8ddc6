from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from data.readers.formats import Told, pairs, parallel, write
from seqtag.batch import Output
from seqtag.data.tokenizers import Whitespace


def lay(folder: Path, **files: bytes) -> str:
    """Files that stand for one split, and what they have in common."""
    for ending, data in files.items():
        (folder / f"train.{ending}").write_bytes(data)
    return str(folder / "train")


def rows_of(reader: Any, given: str) -> list[tuple[Any, Any]]:
    return [(row["tokens"], row["target"]) for row in reader.read_all(given)]


def test_line_n_of_each_file_is_row_n(tmp_path: Path) -> None:
    given = lay(tmp_path, de=b"ein Hund\n\nzwei\n", en=b"a dog\r\n\ntwo")
    rows = list(parallel().read_all(given))
    assert [(row["tokens"], row["target"]) for row in rows] == [
        (["ein", "Hund"], "a dog"),
        ([], None),
        (["zwei"], "two"),
    ]
    assert [(row["file"], row["line"]) for row in rows] == [(f"{given}.de", n) for n in (1, 2, 3)]


def test_the_files_of_a_split_are_named_for_the_cache(tmp_path: Path) -> None:
    given = lay(tmp_path, de=b"a\n", en=b"b\n", fr=b"c\n")
    paths = [Path(f"{given}.{ending}") for ending in ("de", "en", "fr")]
    assert parallel().paths(given) == paths[:2]
    assert parallel(references=["fr"]).paths(given) == paths
    assert parallel(references=["fr"], read_target=False).paths(given) == paths[:1]


def test_further_endings_are_references_features_or_labels(tmp_path: Path) -> None:
    given = lay(tmp_path, de=b"a b\nc\n", en=b"x\ny\n", en2=b"z\n\n", pos=b"N V\nN\n")
    first, second = parallel(references=["en2"]).read_all(given)
    assert first["references"] == ["x", "z"]
    assert "references" not in second
    tagging = {"sequence_tokenizer": None, "target_tokenizer": Whitespace()}
    assert rows_of(parallel(target="pos", **tagging), given) == [
        (["a", "b"], ["N", "V"]),
        (["c"], ["N"]),
    ]
    first, _ = parallel(features=["en2"]).read_all(given)
    assert first["features"] == {"en2": ["z", "z"]}


def test_compressed_files_are_found(tmp_path: Path) -> None:
    given = lay(tmp_path, en=b"a\n")
    (tmp_path / "train.de.gz").write_bytes(gzip.compress(b"ein\n", mtime=0))
    assert rows_of(parallel(), given) == [(["ein"], "a")]


def test_a_folder_or_a_pattern_stands_for_all_its_pairs(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.de").write_text(f"{name}\n")
        (tmp_path / f"{name}.en").write_text(f"{name}!\n")
    expected = [(["a"], "a!"), (["b"], "b!")]
    assert rows_of(parallel(), str(tmp_path)) == expected
    assert rows_of(parallel(), str(tmp_path / "*")) == expected
    parts = parallel().parts(str(tmp_path))
    assert parts == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert [row for part in parts for row in rows_of(parallel(), part)] == expected
    (tmp_path / "a").mkdir()  # a folder of the same name changes nothing
    assert rows_of(parallel(), str(tmp_path / "a")) == expected[:1]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"de": b"a\nb\nc\n", "en": b"x\n"},
            "{0}.de:2: a line without its counterpart: {0}.de has 3 and {0}.en has 1 lines: 'b'",
        ),
        (
            {"de": b"a\n", "en": b"x\ny"},
            "{0}.en:2: a line without its counterpart: {0}.de has 1 and {0}.en has 2 lines: 'y'",
        ),
        ({"de": b"a\nb\n", "en": b"x\n\xff\n"}, "{0}.en:2: byte 1 is not utf-8; convert the file"),
        ({"de": b"a\n"}, "{0}.en: no such file"),
        ({"en": b"a\n"}, "{0}.de: no such file"),
    ],
)
def test_files_that_do_not_fit_are_an_error(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    given = lay(tmp_path, **files)
    with pytest.raises(ValueError, match="train") as error:
        list(parallel().read_all(given))
    assert str(error.value).startswith(message.format(given))


def test_every_fault_is_told_and_its_row_left_out(tmp_path: Path) -> None:
    given = lay(tmp_path, de=b"a\n\xff\n\nd\ne\nf\n", en=b"A\nB\nC\n\n\xff\n")
    told = Told()
    reader = parallel()
    with reader.reporting(told):
        assert rows_of(reader, given) == [(["a"], "A"), ([], None), (["d"], None)]
    assert [text.split(": ")[:2] for text in told.errors] == [
        [f"{given}.de:2", "byte 1 is not utf-8; convert the file or set data.encoding"],
        [f"{given}.en:5", "byte 1 is not utf-8; convert the file or set data.encoding"],
        [f"{given}.de:6", "a line without its counterpart"],
    ]
    assert told.warnings == [
        f"{given}.de:3: the input's line is empty, the target's is not",
        f"{given}.de:4: the target's line is empty, the input's is not",
    ]


def test_the_target_s_file_is_written(tmp_path: Path) -> None:
    given = lay(tmp_path, de=b"a\nb\nc\n", en="\ufeffA  B\r\n\u00a0C\r\n\r\n".encode())
    reader = parallel()
    rows = list(reader.read_all(given))
    gold = "".join(reader.write(row, Output(row["target"])) for row in rows)
    assert gold.encode() == Path(f"{given}.en").read_bytes()
    new = "".join(reader.write(row, Output("x y")) for row in rows)
    assert new == "x y\r\nx y\r\nx y\r\n"


def test_one_file_alone_is_answered_line_by_line() -> None:
    data = b"a b\n\nc"
    assert pairs(parallel(read_target=False), data) == [
        (["a", "b"], None),
        ([], None),
        (["c"], None),
    ]
    assert write(parallel(read_target=False), data, ["A B", None, "C"]) == "A B\n\nC\n"


def test_the_name_of_a_single_file_is_refused(tmp_path: Path) -> None:
    given = lay(tmp_path, de=b"a\n", en=b"b\n")
    with pytest.raises(
        ValueError, match=r"train\.de: name what the files have in common, .*train, "
    ):
        parallel().paths(f"{given}.de")
    with pytest.raises(ValueError, match=r"this folder holds no file that ends in \.fr"):
        parallel(input="fr").paths(str(tmp_path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": 0}, "0 is no ending; parallel files need an ending each"),
        ({"input": ["de"]}, r"\['de'\] is no ending"),
        ({"target": ["en"]}, r"\['en'\] is no ending"),
        ({"target": "de"}, "the ending 'de' is named twice"),
    ],
)
def test_columns_are_endings(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parallel(**changes)
