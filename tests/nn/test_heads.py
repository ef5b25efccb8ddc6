"""Heads whose readout ignores the states, so that every number can be checked by hand."""

import math

import pytest
import torch
from torch import Tensor

from seqtag.batch import END, Batch, Layout, Target, TargetSpec
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.heads import Head, LabelHead, NumberHead, Seq2SeqHead
from seqtag.nn.pooling import MeanPooling
from seqtag.nn.search import GreedySearch

LABELS = TargetSpec(labels=("a", "b"), counts=(1, 1))
NUMBERS = TargetSpec(mean=(10.0, -1.0), deviation=(4.0, 0.5))
LAYOUT = Layout.of(torch.tensor([3, 1]))
STATES = torch.ones(2, 3, 5)
ELEMENT, ROW = None, MeanPooling


def label_head(pooling, label_smoothing: float = 0.0) -> LabelHead:
    """Gives label a 1/4 and label b 3/4 to whatever comes."""
    head = LabelHead(
        5,
        target=LABELS,
        pooling=pooling,
        dropout=0.0,
        label_smoothing=label_smoothing,
        class_weights=None,
        temperature=1.0,
    )
    return fixed(head, [0.0, math.log(3)])


def number_head(pooling) -> NumberHead:
    """Predicts 0.5 and 2 in standard units whatever comes."""
    return fixed(NumberHead(5, target=NUMBERS, pooling=pooling, dropout=0.0), [0.5, 2.0])


def fixed(head, bias: list[float]):
    with torch.no_grad():
        head.readout.linear.weight.zero_()
        head.readout.linear.bias.copy_(torch.tensor(bias))
    return head


def batch(value=None, present=None) -> Batch:
    target = None if value is None else Target(torch.tensor(value), torch.tensor(present))
    return Batch(inputs={}, layout=LAYOUT, target=target, rows=torch.arange(2))


def assert_loss(head: Head, states: Tensor, given: Batch, expected: float) -> None:
    states = states.clone().requires_grad_()
    loss = head.loss(states, given)
    assert loss.item() == pytest.approx(expected)
    loss.backward()
    for tensor in (states, *head.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


def test_label_loss_is_the_mean_over_what_is_present() -> None:
    given = batch([[0, 1, 0], [1, 0, 0]], [[True, True, False], [True, False, False]])
    expected = (math.log(4) + math.log(4 / 3) + math.log(4 / 3)) / 3
    assert_loss(label_head(ELEMENT), STATES, given, expected)


def test_labels_unseen_in_training_stay_out_of_the_loss() -> None:
    given = batch([[0, 2, 3], [1, 0, 0]], [[True, True, True], [True, False, False]])
    assert_loss(label_head(ELEMENT), STATES, given, (math.log(4) + math.log(4 / 3)) / 2)


def test_label_loss_of_rows() -> None:
    given = batch([0, 2], [True, True])
    assert_loss(label_head(ROW), STATES, given, math.log(4))


def test_label_smoothing_spreads_the_gold_probability() -> None:
    given = batch([0, 7], [True, True])
    expected = 0.9 * math.log(4) + 0.1 * math.log(4 / 3)
    assert_loss(label_head(ROW, label_smoothing=0.2), STATES, given, expected)


@pytest.mark.parametrize(
    ("head", "given"),
    [
        (label_head(ELEMENT), batch([[0] * 3] * 2, [[False] * 3] * 2)),
        (label_head(ELEMENT), batch([[2] * 3] * 2, [[True] * 3] * 2)),
        (label_head(ROW), batch([0, 0], [False, False])),
        (number_head(ELEMENT), batch([[[0.0] * 2] * 3] * 2, [[[False] * 2] * 3] * 2)),
        (number_head(ROW), batch([[0.0] * 2] * 2, [[False] * 2] * 2)),
    ],
    ids=["elements", "unseen", "rows", "numbers of elements", "numbers of rows"],
)
def test_no_target_gives_no_loss_and_a_gradient_of_zero(head: Head, given: Batch) -> None:
    head.zero_grad()
    assert_loss(head, STATES, given, 0.0)
    assert all(parameter.grad.count_nonzero() == 0 for parameter in head.parameters())


def test_a_loss_counts_as_much_as_it_has_targets() -> None:
    # Unseen labels are in no loss, and missing ones are in none.
    labels = batch([[0, 2, 0], [1, 0, 0]], [[True, True, False], [True, False, False]])
    assert label_head(ELEMENT).loss_weight(labels) == 2
    assert label_head(ROW).loss_weight(batch([0, 2], [True, True])) == 1
    numbers = batch([[16.0, 0.0], [0.0, 0.0]], [[True, False], [False, False]])
    assert number_head(ROW).loss_weight(numbers) == 1
    symbols = batch([[1, 3, END], [2, END, 0]], [[True, True, True], [True, True, False]])
    assert sequence_head().loss_weight(symbols) == 4


def test_what_is_known_of_a_batch_is_scored_at_once() -> None:
    given = batch([0, 1], [True, True])
    prediction = label_head(ROW).predict(STATES, given)
    assert label_head(ROW).hold(prediction, given) == [(prediction, given)]
    assert label_head(ROW).release() == []


def test_number_loss_is_in_standard_units() -> None:
    # 16 and 0 are 1.5 and 2 in standard units, 0.5 and 2 are predicted: errors of 1 and 0.
    given = batch([[16.0, 0.0], [0.0, 0.0]], [[True, True], [False, False]])
    assert_loss(number_head(ROW), STATES, given, 0.5)
    given = batch([[16.0, 0.0], [0.0, 0.0]], [[True, False], [False, False]])
    assert_loss(number_head(ROW), STATES, given, 1.0)


def test_number_loss_of_elements_leaves_out_what_is_missing() -> None:
    value = [[[16.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [[12.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]
    present = [[[True, True], [False, False], [False, False]], [[True, False]] + [[False] * 2] * 2]
    assert_loss(number_head(ELEMENT), STATES, batch(value, present), 1 / 3)


def test_numbers_are_predicted_in_their_own_units() -> None:
    for pooling, shape in ((ELEMENT, (2, 3, 2)), (ROW, (2, 2))):
        prediction = number_head(pooling).predict(STATES, batch())
        assert prediction.probabilities is None
        assert prediction.value.equal(torch.tensor([12.0, 0.0]).expand(shape))


def test_labels_are_predicted_with_the_probability_of_each() -> None:
    for pooling, shape in ((ELEMENT, (2, 3)), (ROW, (2,))):
        prediction = label_head(pooling).predict(STATES, batch())
        assert prediction.value.equal(torch.ones(shape, dtype=torch.int64))
        torch.testing.assert_close(
            prediction.probabilities, torch.tensor([0.25, 0.75]).expand(*shape, 2)
        )


@pytest.mark.parametrize("pooling", [ELEMENT, ROW])
@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_states_at_padding_never_reach_loss_weights_or_prediction(pooling, poison: float) -> None:
    torch.manual_seed(0)
    labels = LabelHead(
        5,
        target=LABELS,
        pooling=pooling,
        dropout=0.0,
        label_smoothing=0.1,
        class_weights="balanced",
        temperature=1.0,
    )
    numbers = NumberHead(5, target=NUMBERS, pooling=pooling, dropout=0.0)
    states, shape = torch.randn(2, 3, 5), (2,) if pooling else (2, 3)
    present = torch.ones(2, dtype=torch.bool) if pooling else LAYOUT.valid
    width = (*shape, 2)
    for head, target in (
        (labels, Target(torch.zeros(shape, dtype=torch.int64), present)),
        (numbers, Target(torch.ones(width), present.unsqueeze(-1).expand(width))),
    ):
        given = Batch(inputs={}, layout=LAYOUT, target=target, rows=torch.arange(2))
        results = []
        for content in (poison, 0.0):
            filled = torch.where(LAYOUT.valid.unsqueeze(-1), states, content).requires_grad_()
            head.zero_grad()
            loss = head.loss(filled, given)
            loss.backward()
            value = head.predict(filled, given).value
            gradients = [filled.grad, *(parameter.grad for parameter in head.parameters())]
            results.append([loss.detach(), value.detach(), *(g.clone() for g in gradients)])
        for poisoned, clean in zip(*results, strict=True):
            assert poisoned.isfinite().all()
            assert poisoned.equal(clean)


def test_standard_units_are_part_of_the_weights_kept() -> None:
    kept = number_head(ROW).state_dict()
    assert kept["mean"].tolist() == [10.0, -1.0]
    assert kept["deviation"].tolist() == [4.0, 0.5]


SYMBOLS = TargetSpec(labels=("a", "b"), counts=(1, 1), unseen=("new",), sequence=True)


class Next(Decoder):
    """After the end comes a, after a comes b, after b the end, each with a score of 1 against 0."""

    def __init__(self, memory_dim: int, *, classes: int) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(torch.eye(classes).roll(1, dims=1))

    def forward(self, target_in, memory, layout):
        return self.scores[target_in]

    def start(self, memory, layout):
        return Next(1, classes=1)

    def select(self, rows):
        return self

    def step(self, symbols, state):
        return self.scores[symbols], state


def sequence_head(label_smoothing: float = 0.0) -> Seq2SeqHead:
    search = GreedySearch(max_length=9, length_factor=1.0, length_extra=0)
    return Seq2SeqHead(
        5, target=SYMBOLS, decoder=Next, search=search, label_smoothing=label_smoothing
    )


EXPECTED = -math.log(math.e / (math.e + 2))
"""Loss of a symbol that the decoder scores 1, against two that it scores 0."""


def test_sequence_loss_is_the_mean_over_symbols_and_ends() -> None:
    # a b END is all as expected; b END has two surprises: b after END, END after b is expected.
    given = batch([[1, 2, END], [2, END, 0]], [[True, True, True], [True, True, False]])
    assert sequence_head().loss(STATES, given).item() == pytest.approx(EXPECTED + 1 / 5)


def test_smoothing_spreads_gold_over_the_symbols() -> None:
    given = batch([[1, END], [2, END]], [[True, True], [False, False]])
    # Each class of three has 0.1 of gold beside its own 0.7; the scores are 1 and 0 and 0.
    total = math.log(math.e + 2)
    # First a, as expected: 0.7 + 0.1 of the score 1. Then END, where b has it: 0.1 of it.
    expected = ((total - 0.8) + (total - 0.1)) / 2
    assert sequence_head(0.3).loss(STATES, given).item() == pytest.approx(expected)


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, 2.0])
def test_impossible_smoothing_is_refused(smoothing: float) -> None:
    with pytest.raises(ValueError, match="label_smoothing is"):
        sequence_head(smoothing)
    with pytest.raises(ValueError, match="label_smoothing is"):
        label_head(ELEMENT, smoothing)


def test_symbols_unseen_in_training_are_in_no_loss_and_do_not_break_the_next() -> None:
    given = batch([[3, 1, END]], [[True, True, True]])
    # The one after it is scored as if the sequence began there: a as expected, then a surprise.
    assert sequence_head().loss(STATES, given).item() == pytest.approx(EXPECTED + 1 / 2)


def test_a_batch_without_a_target_sequence_has_no_loss_and_no_gradient() -> None:
    loss = sequence_head().loss(STATES, batch([[0], [0]], [[False], [False]]))
    assert loss.item() == 0
    loss.backward()


def test_a_sequence_is_found_with_its_probability() -> None:
    prediction = sequence_head().predict(STATES, batch())
    assert prediction.value.tolist() == [[1, 2, END]] * 2
    assert prediction.probabilities.tolist() == pytest.approx([math.exp(-3 * EXPECTED)] * 2)


def test_heads_refuse_targets_of_another_kind() -> None:
    with pytest.raises(ValueError, match="sequences"):
        Seq2SeqHead(
            5,
            target=LABELS,
            decoder=Next,
            search=GreedySearch(max_length=1, length_factor=1.0, length_extra=0),
            label_smoothing=0.0,
        )
    for target in (SYMBOLS, NUMBERS):
        with pytest.raises(ValueError, match="one label"):
            LabelHead(
                5,
                target=target,
                pooling=None,
                dropout=0.0,
                label_smoothing=0.0,
                class_weights=None,
                temperature=1.0,
            )
