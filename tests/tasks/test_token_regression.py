from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import Prediction, Row, Target, TargetSpec
from seqtag.data.tokenizers import Whitespace
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.tasks.token_regression import TokenRegression

TASK = TokenRegression(
    metrics={"rmse": partial(RootMeanSquaredError)},
    selection=["rmse"],
    target_tokenizer=Whitespace(),
)
ONE = TargetSpec(mean=(2.0,), deviation=(1.0,))
TWO = TargetSpec(mean=(2.0, 10.0), deviation=(1.0, 1.0))


def row(target) -> Row:
    return {
        "tokens": ["a", "b"],
        "target": target,
        "file": "f.conll",
        "line": 3,
        "element_lines": [3, 4],
    }


def test_every_element_has_numbers_or_none() -> None:
    assert TASK.parse(row(["1.5", None])) == [[1.5], [None]]
    assert TASK.parse(row([["1", "2"], [3, None]])) == [[1.0, 2.0], [3.0, None]]
    assert TASK.parse(row(None)) == [[None], [None]]


@pytest.mark.parametrize("cell", ["high", "nan", "inf", "1_000", "1,5", "", True, {}, ["1", "x"]])
def test_what_is_no_number_is_an_error_with_the_line_of_its_element(cell) -> None:
    with pytest.raises(ValueError, match=r"^f.conll:4: the target .* is not a number; .*missing"):
        TASK.parse(row([1.0, cell]))


def test_one_number_for_the_sequence_is_an_error_with_file_and_line() -> None:
    with pytest.raises(ValueError, match=r"^f.conll:3: token_regression wants .* is '1.5'$"):
        TASK.parse(row("1.5"))


def test_mean_and_deviation_are_over_the_elements_of_all_rows() -> None:
    assert TASK.fit(lambda: [[[1.0], [None]], [[3.0]]]) == ONE


def test_encoded_targets_are_padded_as_missing() -> None:
    encoded = [TASK.encode(t, TWO) for t in ([[1.0, None], [None]], [[3.0, 4.0]])]
    target = TASK.collate(encoded, np.array([2, 1]))
    assert target.value.tolist() == [[[1, 0], [0, 0]], [[3, 4], [0, 0]]]
    assert target.present.tolist() == [
        [[True, False], [False, False]],
        [[True, True], [False, False]],
    ]
    assert target.value.dtype == torch.float32


def test_no_label_of_another_split_is_unseen() -> None:
    assert TASK.extend(ONE, [[[100.0]]]) is ONE


def test_decode_undoes_encode_and_leaves_padding_out() -> None:
    for spec, rows in (
        (ONE, [[[1.0], [2.5]], [[0.25]]]),
        (TWO, [[[1.0, -1.0], [2.0, 0.5]], [[0.25, 8.0]]]),
    ):
        lengths = [2, 1]
        target = TASK.collate([TASK.encode(t, spec) for t in rows], np.array(lengths))
        outputs = TASK.decode(Prediction(target.value), lengths, spec, probabilities=True)
        plain = [[e[0] if spec.width == 1 else e for e in elements] for elements in rows]
        assert [output.value for output in outputs] == plain
        assert outputs[0].probabilities is None


def test_the_floor_is_the_training_mean() -> None:
    target = Target(torch.zeros(1, 3, 2), torch.ones(1, 3, 2, dtype=torch.bool))
    assert TASK.floor(target, TWO).value.tolist() == [[[2.0, 10.0]] * 3]
