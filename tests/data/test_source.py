import io
from typing import Any

import pytest

from seqtag.configuration import compose
from seqtag.data.source import as_raw_lines, build_input_tokenizer, build_reader, change_format


def node(*overrides: str) -> dict[str, Any]:
    data: dict[str, Any] = compose("train", overrides)["data"]
    return data


def first(data: dict[str, Any], text: str, **how: bool) -> Any:
    reader = build_reader(
        data,
        **({"per_element": True, "sequence": False, "several": False, "read_target": True} | how),
    )
    return next(iter(reader.read(io.BytesIO(text.encode()), "f")))


def test_a_target_in_one_cell_is_split_only_where_every_element_has_one() -> None:
    data = node("data=tsv", "data.input=text", "data.target=label")
    text = "text\tlabel\na b\tX Y\n"
    assert first(data, text)["target"] == ["X", "Y"]
    assert first(data, text, per_element=False)["target"] == "X Y"
    assert first(data, text, read_target=False)["target"] is None


def test_every_key_reaches_the_reader() -> None:
    data = node("data=conll", "data.missing=X", "data.skip_lines=1", "data.encoding=latin-1")
    assert first(data, "# header\na\tX\nb\tY\n")["target"] == [None, "Y"]
    with pytest.raises(ValueError, match=r"data\.max_line_bytes=3"):
        first(node("data=conll", "data.max_line_bytes=3"), "abcdef\tX\n")


def test_the_input_tokenizer_is_the_one_of_the_config() -> None:
    tokenizer = build_input_tokenizer(node("data/input_tokenizer=smiles"))
    assert tokenizer.split("CCl") == ["C", "Cl"]


class TestAnotherFormat:
    DATA = node("data=tsv", "data.input=smiles", "data.target=y", "data/input_tokenizer=smiles")

    def test_takes_the_columns_of_the_format_or_keeps_those_of_the_run(self) -> None:
        taken = change_format(self.DATA, "csv", keep_columns=False)
        kept = change_format(self.DATA, "csv", keep_columns=True)
        assert (taken["format"], taken["input"], taken["target"]) == ("csv", 0, 1)
        assert (kept["format"], kept["input"], kept["target"]) == ("csv", "smiles", "y")
        assert kept["reader"]["separator"] == "comma"

    def test_keeps_what_belongs_to_the_model(self) -> None:
        for keep_columns in (True, False):
            changed = change_format(self.DATA, "jsonl", keep_columns=keep_columns)
            assert changed["input_tokenizer"] == self.DATA["input_tokenizer"]
            assert changed["min_frequency"] == self.DATA["min_frequency"]

    def test_of_the_run_itself_changes_nothing(self) -> None:
        assert change_format(self.DATA, "tsv", keep_columns=False) == self.DATA

    def test_that_does_not_exist_is_answered_with_those_that_do(self) -> None:
        with pytest.raises(ValueError, match=r"no option 'xml' in data; there are: .*conllu"):
            change_format(self.DATA, "xml", keep_columns=True)


def test_raw_lines_are_split_by_the_tokenizer_of_the_run() -> None:
    data = node("data=tsv", "data.skip_lines=3", "data/input_tokenizer=smiles")
    row = first(as_raw_lines(data), "CCl\n", read_target=False)
    assert row["tokens"] == ["C", "Cl"]
