from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Features, List, Value

from seqtag.data.cache import ROWS_PER_WRITE, Cache, Stored
from seqtag.data.corpus import EncodedRows, Ragged, iterate

FEATURES = Features({"word": List(Value("int32")), "target": List(Value("float32"))})
MANY = 2 * ROWS_PER_WRITE + 500


def words(row: int) -> list[int]:
    return list(range(row, row + row % 4))


def many(counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in range(MANY):
        yield {"word": words(row), "target": [row + 0.5] * (2 * (row % 4))}
    counts["rows"] = MANY


def store(folder: Path, key: str, features: Features, *parts: Any) -> Stored:
    return Cache(folder).table(key, features, parts)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return store(tmp_path_factory.mktemp("tables"), "large", FEATURES, many)


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
