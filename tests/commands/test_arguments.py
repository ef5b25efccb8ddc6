from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from seqtag.commands.arguments import quote, sort_arguments


def as_hydra_reads(override: str) -> object:
    return OverridesParser.create().parse_override(override).value()


def test_words_are_sorted_wherever_they_stand() -> None:
    words = ["-m", "runs/a", "seed=1,2", "--config-dir", "my", "+x=1", "~encoder", "--cfg", "job"]
    found = sort_arguments(words)
    assert found.runs == ["runs/a"]
    assert found.flags == ["-m", "--config-dir", "my", "--cfg", "job"]
    assert found.overrides == ["seed=1,2", "+x=1", "~encoder"]


def test_a_flag_without_its_value_is_refused() -> None:
    with pytest.raises(ValueError, match="--cfg needs a value"):
        sort_arguments(["--cfg"])


def test_a_file_whose_name_looks_like_an_override_is_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("epoch=9-step=99.ckpt").touch()
    assert sort_arguments(["epoch=9-step=99.ckpt"]).runs == ["epoch=9-step=99.ckpt"]
    assert sort_arguments(["epoch=9"]).overrides == ["epoch=9"]


@pytest.mark.parametrize(
    "path",
    [
        "a,b.txt",
        "with blank.txt",
        "it's.txt",
        "a=b(c)[d]{e}.txt",
        "back\\slash.txt",
        "ends\\",
        "tick\\'mixed",
        "50%.txt",
        "user@host#1.txt",
        '"double".txt',
        "日本語.txt",
    ],
)
def test_paths_reach_hydra_as_they_are_typed(path: str) -> None:
    assert as_hydra_reads(f"input={quote(path)}") == path
    assert as_hydra_reads(sort_arguments([f"input={path}"]).overrides[0]) == path
    assert as_hydra_reads(sort_arguments([f"data.train={path}"]).overrides[0]) == path


def test_null_and_interpolations_of_paths_stay_what_they_mean() -> None:
    assert sort_arguments(["data.dev=null"]).overrides == ["data.dev=null"]
    sample = "data.train=${sample:pos/train.conllu}"
    assert sort_arguments([sample]).overrides == [sample]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("[0,1]", [0, 1]),
        ("log S (mol/L), measured", "log S (mol/L), measured"),
        ("1e3", "1e3"),
        ("true", "true"),
    ],
)
def test_columns_are_numbers_lists_or_names(typed: str, value: object) -> None:
    assert as_hydra_reads(sort_arguments([f"data.target={typed}"]).overrides[0]) == value


@pytest.mark.parametrize("cell", ["", "~", "null", "-", "_", "NA", "a,b"])
def test_the_missing_cell_is_taken_as_typed(cell: str) -> None:
    expected = None if cell == "null" else cell
    assert as_hydra_reads(sort_arguments([f"data.missing={cell}"]).overrides[0]) == expected
