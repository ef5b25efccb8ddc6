import importlib
import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Features, List, Value

from seqtag.data import cache
from seqtag.data.cache import ROWS_PER_WRITE, Cache, Stored, digest_file, digest_settings
from seqtag.data.corpus import Ragged, iterate

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


def store(folder: Path, key: str, features: Features, *parts: Any) -> Stored:
    return Cache(folder).table(key, features, parts)


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
        assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == [
            "key-0.arrow",
            "key.json",
        ]

    def test_no_rows_make_an_empty_table(self, tmp_path: Path) -> None:
        empty = store(tmp_path, "key", FEATURES, lambda _: [])
        assert len(empty.table) == 0
        assert Ragged(empty.table, "word").lengths().tolist() == []


def numbered(counts: dict[str, Any], *, begin: int, longest: int) -> Iterator[dict[str, Any]]:
    for row in range(begin, begin + 3):
        yield {"word": np.array([row], np.int32), "target": [0.0]}
    counts.update(rows=3, longest=longest, notes=[begin])


class TestParts:
    @pytest.mark.parametrize("processes", [1, 2])
    def test_are_one_table_in_their_order(self, processes: int, tmp_path: Path) -> None:
        parts = [
            partial(numbered, begin=0, longest=5),
            partial(numbered, begin=10, longest=7),
            partial(numbered, begin=20, longest=6),
        ]
        made = Cache(tmp_path, processes=processes).table("key", FEATURES, parts)
        assert [row["word"] for row in iterate(made.table)] == [
            [n] for n in (0, 1, 2, 10, 11, 12, 20, 21, 22)
        ]
        assert made.counts == {"rows": 9, "longest": 7, "notes": [0, 10, 20]}
        assert Ragged(made.table, "word")[8].tolist() == [22]

    def test_one_that_is_lost_has_all_made_anew(self, tmp_path: Path) -> None:
        parts = [partial(numbered, begin=n, longest=1) for n in (0, 10)]
        store(tmp_path, "key", FEATURES, *parts)
        (tmp_path / "key-1.arrow").unlink()
        assert len(store(tmp_path, "key", FEATURES, *parts).table) == 6

    @pytest.mark.parametrize("processes", [0, -1, True, 1.5])
    def test_are_made_by_a_number_of_processes(self, processes: Any, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=f"data.processes={processes}"):
            Cache(tmp_path, processes=processes)


class TestFiles:
    def test_one_that_looks_unchanged_is_not_read_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "data.txt"
        file.write_text("one")
        monkeypatch.setattr(cache, "SETTLED", -1)
        kept = Cache(tmp_path / "cache")
        digest = kept.digest(file)
        monkeypatch.setattr(cache, "digest_file", never)
        assert kept.digest(file) == digest

    def test_one_that_was_given_its_old_time_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cache, "SETTLED", -1)
        file = tmp_path / "data.txt"
        kept = Cache(tmp_path / "cache")
        seen = set()
        for text in ("one", "two", "four"):
            file.write_text(text)
            os.utime(file, ns=(1, 1))
            seen.add(kept.digest(file))
        assert len(seen) == 3

    def test_one_that_has_just_been_written_is_read_every_time(self, tmp_path: Path) -> None:
        file = tmp_path / "data.txt"
        kept = Cache(tmp_path / "cache")
        seen = set()
        for text in ("one", "two", "six"):
            file.write_text(text)
            seen.add(kept.digest(file))
        assert len(seen) == 3


class TestValues:
    def test_are_made_once(self, tmp_path: Path) -> None:
        kept = Cache(tmp_path)
        assert kept.value("key", lambda: None) is None
        assert kept.value("key", lambda: 1) is None
        assert kept.value("other", lambda: [1, {"a": "b"}]) == [1, {"a": "b"}]

    def test_that_are_damaged_are_made_anew(self, tmp_path: Path) -> None:
        kept = Cache(tmp_path)
        kept.value("key", lambda: 1)
        for content in ("", "[1]", '{"val', "{}"):
            (tmp_path / "value-key.json").write_text(content)
            assert kept.value("key", lambda: 2) == 2


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
            "data/cache.py",
            "data/readers/conll.py",
            "tasks/tagging.py",
            "batch.py",
            "preparation/parts.py",
        ):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("a = 1")
        monkeypatch.setattr(cache, "__file__", str(tmp_path / "data" / "cache.py"))
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
    arrow, record = tmp_path / "key-0.arrow", tmp_path / "key.json"
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
