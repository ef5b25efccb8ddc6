import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Features, List, Value

from seqtag.data import corpus
from seqtag.data.corpus import (
    ROWS_PER_WRITE,
    EncodedRows,
    Ragged,
    Stored,
    digest_file,
    digest_settings,
    iterate,
    store,
)

FEATURES = Features({"word": List(Value("int32")), "target": List(Value("float32"))})
MANY = 2 * ROWS_PER_WRITE + 500


def words(row: int) -> list[int]:
    return list(range(row, row + row % 4))


def many(counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in range(MANY):
        yield {"word": words(row), "target": [row + 0.5] * (2 * (row % 4))}
    counts["rows"] = MANY


def never(counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    raise AssertionError("there is a table already")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return store(tmp_path_factory.mktemp("tables"), "large", FEATURES, many)


class TestStore:
    def test_keeps_rows_and_counts(self, large: Stored) -> None:
        assert len(large.table) == MANY
        assert large.counts == {"rows": MANY}
        assert large.table[1002] == {"word": [1002, 1003], "target": [1002.5] * 4}

    def test_makes_a_table_only_once(self, tmp_path: Path) -> None:
        first = store(tmp_path, "key", FEATURES, many)
        again = store(tmp_path, "key", FEATURES, never)
        assert again.counts == first.counts
        assert again.table[7] == first.table[7]

    def test_another_key_is_another_table(self, tmp_path: Path) -> None:
        store(tmp_path, "key", FEATURES, many)
        other = store(tmp_path, "other", FEATURES, lambda _: [{"word": [1], "target": [1.0]}])
        assert len(other.table) == 1

    @pytest.mark.parametrize("after", [0, 3, ROWS_PER_WRITE + 3])
    def test_an_error_among_the_rows_leaves_nothing_behind(
        self, tmp_path: Path, after: int
    ) -> None:
        def broken(counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
            for row in range(after):
                yield {"word": [row], "target": [0.0]}
            raise ValueError("f:4: bad line")

        with pytest.raises(ValueError, match="f:4: bad line"):
            store(tmp_path, "key", FEATURES, broken)
        assert list(tmp_path.iterdir()) == []
        assert len(store(tmp_path, "key", FEATURES, many).table) == MANY

    def test_half_a_table_is_made_anew(self, tmp_path: Path) -> None:
        store(tmp_path, "key", FEATURES, lambda _: [{"word": [1], "target": [1.0]}])
        (tmp_path / "key.json").unlink()
        assert len(store(tmp_path, "key", FEATURES, many).table) == MANY

    def test_makes_the_folder(self, tmp_path: Path) -> None:
        store(tmp_path / "a" / "b", "key", FEATURES, many)
        assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == ["key.arrow", "key.json"]

    def test_no_rows_make_an_empty_table(self, tmp_path: Path) -> None:
        empty = store(tmp_path, "key", FEATURES, lambda _: [])
        assert len(empty.table) == 0
        assert Ragged(empty.table, "word").lengths().tolist() == []


class TestRows:
    def test_a_table_of_several_pieces_is_one(self, large: Stored) -> None:
        column = Ragged(large.table, "word")
        assert len(large.table.data.column("word").chunks) == 3
        assert len(column) == MANY
        for row in range(MANY):
            assert column[row].tolist() == words(row)
        assert column.lengths().tolist() == [row % 4 for row in range(MANY)]

    def test_rows_have_every_column_in_its_own_width(self, large: Stored) -> None:
        rows = EncodedRows(large.table, {"target": 2})
        assert len(rows) == MANY
        for row in (0, 1, 998, 999, 1000, 1001, 1999, 2000, 2003, MANY - 1):
            assert rows[row]["word"].tolist() == words(row)
            assert rows[row]["target"].tolist() == [[row + 0.5] * 2] * (row % 4)
        assert rows[0]["target"].shape == (0, 2)
        assert rows.lengths().tolist() == [row % 4 for row in range(MANY)]
        assert [len(row["word"]) for row in rows] == rows.lengths().tolist()

    def test_lengths_count_elements_where_the_first_column_is_wide(self, tmp_path: Path) -> None:
        features = Features({"vectors": List(Value("float32"))})
        rows = [{"vectors": np.zeros(6, np.float32)}, {"vectors": np.zeros(3, np.float32)}]
        made = store(tmp_path, "key", features, lambda _: rows)
        assert EncodedRows(made.table, {"vectors": 3}).lengths().tolist() == [2, 1]

    def test_iteration_keeps_order_and_selection(self, large: Stored) -> None:
        assert [r["word"] for r in iterate(large.table)] == [words(row) for row in range(MANY)]
        chosen = large.table.select([2001, 3, 1500])
        assert [r["word"] for r in iterate(chosen)] == [words(2001), words(3), words(1500)]


class TestDigests:
    def test_a_file_is_known_by_its_content(self, tmp_path: Path) -> None:
        first, second = tmp_path / "a", tmp_path / "b"
        first.write_text("x")
        second.write_text("x")
        assert digest_file(first) == digest_file(second)
        second.write_text("y")
        assert digest_file(first) != digest_file(second)

    def test_settings_are_known_by_every_value_and_not_by_their_order(self) -> None:
        settings = {"missing": "_", "columns": [0, 1], "nested": {"a": None, "b": 1}}
        same = json.loads(json.dumps(dict(reversed(settings.items()))))
        assert digest_settings(settings) == digest_settings(same)
        for change in ({"missing": ""}, {"columns": [1, 0]}, {"nested": {"a": None, "b": 2}}):
            assert digest_settings(settings | change) != digest_settings(settings)

    @pytest.mark.parametrize(
        "source", ["data/readers/conll.py", "tasks/tagging.py", "batch.py", "data/new.py"]
    )
    def test_mended_code_makes_old_tables_void(
        self, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (
            "data/corpus.py",
            "data/readers/conll.py",
            "tasks/tagging.py",
            "batch.py",
            "datamodule.py",
        ):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("a = 1")
        monkeypatch.setattr(corpus, "__file__", str(tmp_path / "data" / "corpus.py"))
        before = digest_settings({})
        assert digest_settings({}) == before
        (tmp_path / source).write_text("a = 2")
        assert digest_settings({}) != before

    def test_so_does_a_mended_reader_of_the_users_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "my_reader.py").write_text("a = 1")
        monkeypatch.syspath_prepend(tmp_path)
        importlib.import_module("my_reader")
        settings = {"data": {"reader": {"_target_": "my_reader.Mine"}}}
        before = digest_settings(settings)
        (tmp_path / "my_reader.py").write_text("a = 2")
        assert digest_settings(settings) != before


@pytest.mark.parametrize("damage", ["cut", "zeroed", "emptied", "counts"])
def test_a_damaged_table_is_made_anew(damage: str, tmp_path: Path) -> None:
    features = Features({"a": List(Value("int32"))})
    rows = [{"a": [number, number + 1]} for number in range(50)]
    store(tmp_path, "key", features, lambda counts: rows)
    arrow, record = tmp_path / "key.arrow", tmp_path / "key.json"
    content = arrow.read_bytes()
    half = len(content) // 2
    if damage == "cut":
        arrow.write_bytes(content[:half])
    elif damage == "zeroed":
        arrow.write_bytes(content[:half] + bytes(len(content) - half))
    elif damage == "emptied":
        arrow.write_bytes(b"")
    else:
        record.write_text("{}")
    again = store(tmp_path, "key", features, lambda counts: rows)
    assert [row["a"] for row in iterate(again.table)] == [row["a"] for row in rows]
