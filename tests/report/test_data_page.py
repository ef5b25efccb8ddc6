import re
from collections.abc import Callable
from typing import Any

import pytest

from seqtag.datamodule import DataModule
from seqtag.report.data_page import print_page, visible
from seqtag.survey.survey import survey

TRAIN = "the\tD\ndog\t[N]\n\na\tD\ncat\t[N]\nruns\t:dog:\n\n"


@pytest.fixture
def page(
    small_config: Callable[..., dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., str]:
    """The page on the texts of splits, on a terminal of a width or none at all."""

    def make(task: str = "tagging", *overrides: str, width: int = 100, **files: str) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        data = DataModule(small_config(task, *overrides, files=files))
        data.read_all(test="test" in files, strict=False)
        print_page(survey(data))
        return capsys.readouterr().out

    return make


def cells(page: str, name: str) -> list[str]:
    """What stands behind a name in the tables."""
    lines = [line for line in page.splitlines() if re.match(rf"{re.escape(name)}  +\S", line)]
    assert len(lines) == 1, page
    return lines[0].removeprefix(name).split()


def test_splits_stand_beside_each_other(page) -> None:
    out = page(train=TRAIN, dev="a\tD\nfish\t[N]\n", test="a\tD\n")
    assert cells(out, "rows") == ["2", "1", "1"]
    assert cells(out, "elements") == ["5", "2", "1"]
    assert cells(out, "types") == ["5", "2", "1"]
    assert cells(out, "unknown elements") == ["0%", "50.0%", "0%"]
    assert cells(out, "longest") == ["3", "2", "1"]
    assert cells(out, "2 to 3") == ["2", "#" * 12, "1", "#" * 12, "0"]
    assert cells(out, "D") == ["2", "40.0%", "1", "50.0%", "1", "100%"]


def test_labels_are_no_markup(page) -> None:
    out = page(train=TRAIN, dev="a\tD\n")
    assert cells(out, "[N]") == ["2", "40.0%", "0"]
    assert cells(out, ":dog:") == ["1", "20.0%", "0"]
    assert "\x1b" not in out


def test_many_labels_are_counted_in_one_line(page) -> None:
    text = "".join(f"w\tL{n:02}\n" for n in range(25)) * 2
    assert cells(page(train=text, dev=text), "(5 others)")[0] == "10"


def test_numbers_have_a_table_of_their_own(page) -> None:
    out = page("regression", train="text\tvalue\na\t1\nb\t2\n", dev="text\tvalue\nc\t4\n")
    assert cells(out, "train    target") == ["2", "1.5", "0.5", "1", "2"]
    assert cells(out, "dev      target") == ["1", "4", "0", "4", "4"]
    assert "labels" not in out


def test_the_end_says_what_training_would_do(page) -> None:
    good = page(train=TRAIN, dev="a\tD\nfish\t[N]\n")
    assert good.endswith("1 warning: training would take this data.\n")
    bad = page(train=TRAIN + "a\n\nb\n\n", dev="a\tD\n")
    assert bad.endswith("2 errors: training would refuse this data.\n")
    assert bad.index("1 warning\n") < bad.index("2 errors\n")


def test_errors_of_a_kind_are_counted_after_the_first(page) -> None:
    out = page(train=TRAIN + "a\n\n" * 9, dev="a\tD\n")
    assert out.count("1 column where line 1 has 2") == 5
    assert "    and 4 more of this kind\n" in out


def test_a_line_with_a_place_is_never_broken(page) -> None:
    out = page(train=TRAIN + "a\n\n", dev="a\tD\n", width=30)
    assert any("train.conll:8: 1 column where line 1 has 2: 'a'" in x for x in out.splitlines())


def test_tables_keep_to_the_width(page) -> None:
    long = "L" * 200
    out = page(train=f"a\t{long}\nb\tX\n\n" * 2, dev=f"a\t{long}\n", width=60)
    table = [line for line in out.splitlines() if line.startswith("LL")]
    assert sum(line.count("L") for line in table) == 200
    assert max(map(len, table)) <= 60


def test_what_could_move_the_cursor_is_written_as_an_escape() -> None:
    assert visible("a\x1b[2Jb\tc\u202e é") == "a\\x1b[2Jb\\tc\\u202e é"
