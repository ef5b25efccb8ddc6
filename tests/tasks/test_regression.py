from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import Prediction, Row, Target, TargetSpec
from seqtag.data.tokenizers import Whitespace
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.tasks.numbers import TARGETS_PER_STEP
from seqtag.tasks.regression import Regression

TASK = Regression(
    metrics={"rmse": partial(RootMeanSquaredError)},
    selection=["rmse"],
    target_tokenizer=Whitespace(),
)
ONE = TargetSpec(mean=(2.0,), deviation=(1.0,))
TWO = TargetSpec(mean=(2.0, 10.0), deviation=(1.0, 1.0))


def row(target) -> Row:
    return {"tokens": ["a", "b"], "target": target, "file": "f.csv", "line": 3}


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ("-1.5", [-1.5]),
        ("1e3", [1000.0]),
        (" 2 ", [2.0]),
        (0.1, [0.1]),
        (7, [7.0]),
        (None, [None]),
        (["1", None, 2.5], [1.0, None, 2.5]),
    ],
)
def test_a_cell_is_a_number_or_several(cell, numbers) -> None:
    assert TASK.parse(row(cell)) == numbers


@pytest.mark.parametrize("cell", ["high", "NA", "nan", "-inf", "1e999", "1_000", False, [[1.0]]])
def test_what_is_no_number_is_an_error_with_file_and_line(cell) -> None:
    with pytest.raises(ValueError, match=r"^f.csv:3: the target .* is not a number; .*missing"):
        TASK.parse(row(cell))


def test_a_number_that_float32_does_not_hold_is_an_error_with_file_and_line() -> None:
    with pytest.raises(ValueError, match=r"^f.csv:3: the target '-1e300' is too large"):
        TASK.parse(row("-1e300"))


class TestFit:
    def test_each_number_has_its_own_mean_and_deviation(self) -> None:
        spec = TASK.fit(lambda: [[1.0, 10.0], [3.0, None], [None], [None, 10.0]])
        assert spec == TargetSpec(mean=(2.0, 10.0), deviation=(1.0, 1.0))
        assert spec.width == 2

    def test_many_targets_give_what_numpy_gives(self) -> None:
        values = np.random.default_rng(0).normal(1e4, 1.0, 2 * TARGETS_PER_STEP + 7)
        spec = TASK.fit(lambda: ([value] for value in values.tolist()))
        assert spec.mean == pytest.approx([values.mean()], rel=1e-12)
        assert spec.deviation == pytest.approx([values.std()], rel=1e-6)

    @pytest.mark.parametrize("targets", [[1e9, 1e9 + 1], [1e38, -1e38], [0.0, 1e31]])
    def test_targets_that_float32_cannot_tell_apart_are_refused(self, targets) -> None:
        with pytest.raises(ValueError, match="subtract an offset, or take another unit"):
            TASK.fit(lambda: [[value] for value in targets])

    def test_the_width_is_known_however_late_the_first_number_comes(self) -> None:
        missing = [[None]] * (TARGETS_PER_STEP + 1)
        assert TASK.fit(lambda: [*missing, [1.0, 5.0], [3.0, 5.0]]).mean == (2.0, 5.0)

    def test_no_number_at_all_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="every target is missing"):
            TASK.fit(lambda: [[None], [None]])
        with pytest.raises(ValueError, match="number 2 of the target is missing in all"):
            TASK.fit(lambda: [[1.0, None], [2.0, None]])

    def test_another_width_is_left_to_encode_which_knows_the_place(self) -> None:
        assert TASK.fit(lambda: [[1.0], [7.0, 7.0], [3.0]]) == ONE
        with pytest.raises(ValueError, match="a target of 2 numbers, where the first one has 1"):
            TASK.encode([7.0, 7.0], ONE)


def test_missing_numbers_are_zero_and_not_present() -> None:
    encoded = [TASK.encode(numbers, TWO) for numbers in ([1.5, None], [None], [3.0, 4.0])]
    target = TASK.collate(encoded, np.array([9, 2, 1]))
    assert target.value.tolist() == [[1.5, 0.0], [0.0, 0.0], [3.0, 4.0]]
    assert target.present.tolist() == [[True, False], [False, False], [True, True]]


def test_decode_undoes_encode() -> None:
    for spec, rows in ((ONE, [[1.5], [-2.0]]), (TWO, [[1.5, 0.5], [-2.0, 8.0]])):
        target = TASK.collate([TASK.encode(numbers, spec) for numbers in rows], np.array([1, 1]))
        outputs = TASK.decode(Prediction(target.value), [1, 1], spec, probabilities=True)
        plain = [numbers[0] if spec.width == 1 else numbers for numbers in rows]
        assert [output.value for output in outputs] == plain
        assert outputs[0].probabilities is None


def test_the_floor_is_the_training_mean() -> None:
    target = Target(torch.zeros(3, 2), torch.ones(3, 2, dtype=torch.bool))
    assert TASK.floor(target, TWO).value.tolist() == [[2.0, 10.0]] * 3


def test_no_other_split_has_anything_unseen() -> None:
    assert TASK.extend(ONE, [[1e9]]) is ONE
