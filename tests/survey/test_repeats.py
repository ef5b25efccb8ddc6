import numpy as np

from seqtag.survey.repeats import Hashes, find_overlap, find_repeats


def hashes(name: str, inputs: list[int], targets: list[int | None]) -> Hashes:
    """Rows with these inputs and targets; row n is of n + 1 elements."""
    return Hashes(
        name=name,
        inputs=np.array(inputs),
        rows=np.array([100 * i + (t or 0) for i, t in zip(inputs, targets, strict=True)]),
        scored=np.array([t is not None for t in targets]),
        lengths=np.arange(1, len(inputs) + 1),
        place=lambda row: f"{name}:{row}",
    )


def test_rows_with_the_same_input_are_counted_once_each() -> None:
    found = find_repeats(hashes("a", [7, 5, 7, 6, 5, 7], [1, 1, 1, 1, 1, 1]))
    assert (found.groups, found.rows) == (2, 3)
    assert found.first == ["a:2 as line 0", "a:4 as line 1", "a:5 as line 0"]
    assert (found.conflicts, found.conflict_rows, found.first_conflicts) == (0, 0, [])


def test_the_first_repeats_are_those_of_the_file() -> None:
    found = find_repeats(hashes("a", [9, 9, *([1] * 9)], [1] * 11))
    assert found.rows == 9
    assert found.first[0] == "a:1 as line 0"
    assert len(found.first) == 5


def test_a_document_that_is_there_twice_is_a_run() -> None:
    found = find_repeats(hashes("a", [7, 1, 2, 3, 7, 1, 2, 3, 9, 3, 2], [1] * 11))
    assert (found.run, found.run_places) == (4, "a:4 as line 0")
    assert find_repeats(hashes("a", [1, 2, 3], [1] * 3)).run == 0


def test_other_targets_of_the_same_input_are_a_conflict() -> None:
    found = find_repeats(hashes("a", [7, 5, 7, 7, 5], [1, 2, 1, 3, 4]))
    assert (found.conflicts, found.conflict_rows) == (2, 5)
    assert found.first_conflicts == ["a:0 and line 3", "a:1 and line 4"]


def test_a_missing_target_is_in_conflict_with_none() -> None:
    found = find_repeats(hashes("a", [7, 7, 5], [None, 1, None]))
    assert (found.rows, found.conflicts) == (1, 0)


def test_no_row_at_all_repeats_nothing() -> None:
    assert find_repeats(hashes("a", [], [])).rows == 0
    assert find_repeats(hashes("a", [3], [None])).conflicts == 0


def test_rows_that_another_split_has_are_counted() -> None:
    train = hashes("train", [1, 2, 3, 4], [1, 1, 1, None])
    dev = hashes("dev", [9, 3, 1, 4], [1, 1, 2, None])
    found = find_overlap(dev, train)
    assert found is not None
    assert (found.rows, found.of_rows, found.same_target, found.median) == (3, 4, 1, 3)
    assert found.first[0] == "dev:1 as train:2"


def test_splits_with_nothing_in_common_have_no_overlap() -> None:
    assert find_overlap(hashes("dev", [1], [1]), hashes("train", [2], [1])) is None
