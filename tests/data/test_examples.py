from pathlib import Path
from typing import Any

import numpy as np
from datasets import Features, List, Value

from seqtag.data.cache import Cache
from seqtag.data.corpus import EncodedRows
from seqtag.data.examples import scoring_examples, training_examples
from seqtag.data.windows import LongRows

SPLIT = LongRows(limit=4, budget=8, per_element=True, splits=True, truncates=False)
BEGINNING = LongRows(limit=4, budget=8, per_element=False, splits=False, truncates=True)


def table(folder: Path, *columns: str, rows: list[list[Any]]) -> EncodedRows:
    features = Features({name: List(Value("int32")) for name in columns})
    made = Cache(folder).table(
        "rows", features, [lambda _: (dict(zip(columns, row, strict=True)) for row in rows)]
    )
    return EncodedRows(made.table, {})


def listed(row: dict[str, Any]) -> dict[str, list[int]]:
    return {name: values.tolist() for name, values in row.items()}


def test_targets_of_a_long_row_count_in_one_window_each(tmp_path: Path) -> None:
    long = [[1, 2, 3, 4, 5, 6], [11, 12, 13, 14, 15, 16], [1, 1, 0, 1, 1, 1]]
    rows = table(tmp_path, "word", "target", "present", rows=[long, [[7], [17], [1]]])
    examples = training_examples(rows, rows.lengths(), SPLIT, per_element=True)
    assert examples.rows.tolist() == [1, 0, 0]
    assert examples.sizes.tolist() == [1, 4, 4]
    assert listed(examples[0]) == {"word": [7], "target": [17], "present": [1]}
    # They share elements 2 and 3; the border lies between.
    assert listed(examples[1]) == {
        "word": [1, 2, 3, 4],
        "target": [11, 12, 13, 14],
        "present": [1, 1, 0, 0],
    }
    assert listed(examples[2]) == {
        "word": [3, 4, 5, 6],
        "target": [13, 14, 15, 16],
        "present": [0, 1, 1, 1],
    }
    assert rows[0]["present"].tolist() == [1, 1, 0, 1, 1, 1]
    whole = scoring_examples(rows, rows.lengths(), SPLIT, per_element=True)
    assert [len(row["word"]) for row in whole] == [6, 1]


def test_the_target_of_a_row_that_is_cut_off_stays(tmp_path: Path) -> None:
    rows = table(
        tmp_path, "word", "target", "present", rows=[[[1, 2, 3, 4, 5], [9], [1]], [[1], [8], [1]]]
    )
    examples = scoring_examples(rows, rows.lengths(), BEGINNING, per_element=False)
    assert [listed(row) for row in examples] == [
        {"word": [1, 2, 3, 4], "target": [9], "present": [1]},
        {"word": [1], "target": [8], "present": [1]},
    ]
    assert examples.sizes.tolist() == [4, 1]


def test_every_accepted_target_is_learnt_and_the_first_is_scored(tmp_path: Path) -> None:
    rows = table(
        tmp_path,
        "word",
        "target",
        "present",
        "references",
        rows=[
            [[1], [5, 6, 0], [1, 1, 1], [5, 6, 0, 7, 0]],
            [[2], [8, 0], [1, 1], [8, 0]],
            [[3], [0], [0], []],
        ],
    )
    sizes = np.array([3, 2, 1])
    learnt = training_examples(rows, sizes, BEGINNING, per_element=False)
    assert [(row["word"].tolist(), row["target"].tolist()) for row in learnt] == [
        ([1], [5, 6, 0]),
        ([1], [7, 0]),
        ([2], [8, 0]),
    ]
    assert [row["present"].tolist() for row in learnt] == [[1, 1, 1], [1, 1], [1, 1]]
    scored = scoring_examples(rows, sizes, BEGINNING, per_element=False)
    assert [row["target"].tolist() for row in scored] == [[5, 6, 0], [8, 0], [0]]


def test_a_target_keeps_its_cells_where_the_input_is_cut(tmp_path: Path) -> None:
    rows = table(
        tmp_path,
        "word",
        "target",
        "present",
        rows=[[[1] * 6, [5] * 9, [1] * 9], [[1] * 8, [5, 5, 0], [1] * 3]],
    )
    sizes = np.array([9, 8])
    for made in (training_examples, scoring_examples):
        examples = made(rows, sizes, BEGINNING, per_element=False)
        assert dict(zip(examples.rows.tolist(), examples.sizes.tolist(), strict=True)) == {
            0: 9,
            1: 4,
        }
