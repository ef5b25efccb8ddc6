"""A head whose readout ignores the states, so that every number can be checked by hand."""

import math

import pytest
import torch

from seqtag.batch import END, Batch, Layout, Target, TargetSpec
from seqtag.nn.heads import LabelHead
from seqtag.nn.multi_label import MultiLabelHead
from seqtag.nn.pooling import MeanPooling

SPEC = TargetSpec(labels=("a", "b", "c"), counts=(6, 2, 1), multi=True)
LAYOUT = Layout.of(torch.tensor([3, 1]))
STATES = torch.ones(2, 3, 5)
CHANCES = (0.75, 0.5, 0.25)
NOTHING = [END, END, END]


def head(*, threshold: float | None = None, class_weights=None) -> MultiLabelHead:
    """Gives the labels 3/4, 1/2 and 1/4, whatever comes."""
    made = MultiLabelHead(
        5,
        target=SPEC,
        pooling=MeanPooling,
        dropout=0.0,
        class_weights=class_weights,
        threshold=threshold,
    )
    with torch.no_grad():
        made.readout.linear.weight.zero_()
        made.readout.linear.bias.copy_(torch.tensor([math.log(p / (1 - p)) for p in CHANCES]))
    return made


def batch(value=None, present=None) -> Batch:
    if value is not None and present is None:
        present = [[True] * len(row) for row in value]
    target = None if value is None else Target(torch.tensor(value), torch.tensor(present))
    return Batch(
        inputs={"word": torch.ones(2, 3)}, layout=LAYOUT, target=target, rows=torch.arange(2)
    )


def test_the_loss_is_the_mean_over_labels_and_rows_that_have_a_target() -> None:
    # The first row has a and c; the second has no target.
    given = batch([[1, 3, END], NOTHING], [[True] * 3, [False] * 3])
    states = STATES.clone().requires_grad_()
    loss = head().loss(states, given)
    assert loss.item() == pytest.approx((math.log(4 / 3) + math.log(2) + math.log(4)) / 3)
    loss.backward()
    assert states.grad.isfinite().all()
    assert head().loss_weight(given).item() == 3


def test_a_row_to_which_no_label_applies_is_learnt_from() -> None:
    given = batch([NOTHING, NOTHING], [[True, False, False], [False] * 3])
    expected = (math.log(4) + math.log(2) + math.log(4 / 3)) / 3
    assert head().loss(STATES, given).item() == pytest.approx(expected)


def test_labels_unseen_in_training_are_in_no_loss() -> None:
    known = head().loss(STATES, batch([[1, END, END], NOTHING]))
    unseen = head().loss(STATES, batch([[1, 4, 5, END], [END] * 4]))
    assert unseen.item() == known.item()


def test_a_label_counts_by_its_weight_where_a_row_has_it() -> None:
    # Only a is weighted, and only in the first row, which has it.
    given = batch([[1, END], [END, END]])
    made = head(class_weights={"a": 5})
    rest = math.log(2) + math.log(4 / 3)
    expected = (5 * math.log(4 / 3) + rest + math.log(4) + rest) / (5 + 5)
    assert made.loss(STATES, given).item() == pytest.approx(expected)
    assert made.loss_weight(given).item() == 10
    # Balanced: 9 labels of 3 kinds.
    assert head(class_weights="balanced").weights.tolist() == pytest.approx([1 / 2, 3 / 2, 3])


def test_no_target_gives_no_loss_and_a_gradient_of_zero() -> None:
    for made in (head(), head(class_weights={"a": 0.1})):
        loss = made.loss(STATES, batch([[END], [END]], [[False], [False]]))
        assert loss.item() == 0
        loss.backward()
        assert all(p.grad.count_nonzero() == 0 for p in made.parameters())


def test_labels_above_the_threshold_are_predicted_with_the_probability_of_each() -> None:
    for threshold, expected in (
        (0.4, [1, 2, END]),
        (0.6, [1, END]),
        (0.9, [END]),
        (0.1, [1, 2, 3, END]),
    ):
        prediction = head(threshold=threshold).predict(STATES, batch())
        assert prediction.value.tolist() == [expected] * 2
        torch.testing.assert_close(prediction.probabilities, torch.tensor([CHANCES] * 2))


@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_states_at_padding_never_reach_the_loss(poison: float) -> None:
    torch.manual_seed(0)
    made = MultiLabelHead(
        5, target=SPEC, pooling=MeanPooling, dropout=0.0, class_weights=None, threshold=None
    )
    states, results = torch.randn(2, 3, 5), []
    for content in (poison, 0.0):
        filled = torch.where(LAYOUT.valid.unsqueeze(-1), states, content).requires_grad_()
        made.zero_grad()
        loss = made.loss(filled, batch([[1, END], [2, END]]))
        loss.backward()
        results.append([loss.detach(), filled.grad, made.readout.linear.weight.grad.clone()])
    for poisoned, clean in zip(*results, strict=True):
        assert poisoned.isfinite().all()
        assert poisoned.equal(clean)


def test_dev_chooses_the_threshold_and_is_scored_with_it() -> None:
    made = head()
    prediction = made.predict(STATES, batch([[1, END], [END, END]]))
    assert prediction.value.tolist() == [[1, END]] * 2  # above 1/2 there is a alone
    for value in ([[1, 2, END]] * 2, [[1, END, END], [1, 2, END]]):
        given = batch(value)
        assert made.hold(made.predict(STATES, given), given) == []
    released = made.release()
    # Of four rows all have a and three have b: a and b are 2 * 7 / (8 + 7), a alone 2 * 4 / 11.
    assert made.threshold.item() == pytest.approx((0.5 + 0.25) / 2)
    assert [p.value.tolist() for p, _ in released] == [[[1, 2, END]] * 2] * 2
    assert all(not each.inputs for _, each in released)
    assert made.predict(STATES, batch()).value.tolist() == [[1, 2, END]] * 2
    assert made.release() == []


def chosen(*batches: Batch) -> float:
    """The threshold after these batches of dev."""
    made = head()
    for given in batches:
        assert made.hold(made.predict(STATES, given), given) == []
    made.release()
    return made.threshold.item()


def test_labels_that_training_lacks_take_part_in_the_choice() -> None:
    # Of four rows all have a and one has b: a alone is 2 * 4 / (4 + 5), a and b 2 * 5 / (8 + 5).
    plain = batch([[1, END], [1, END]])
    assert chosen(batch([[1, 2, END], [1, END, END]]), plain) == pytest.approx(0.625)
    # With ten more that nothing finds: 8 / 19 and 10 / 23.
    more = batch([[1, 2, 4, 5, 6, 7, 8, END], [1, 4, 5, 6, 7, 8, END, END]])
    more.target.present[1, -1] = False
    assert chosen(more, plain) == pytest.approx(0.375)


def test_rows_without_a_target_take_no_part_in_the_choice() -> None:
    # One row has a and c, for which all three labels are best, 4 / 5. Were the seven others rows
    # to which no label applies, a alone would be.
    first = batch([[1, 3, END], NOTHING], [[True] * 3, [False] * 3])
    missing = batch([NOTHING, NOTHING], [[False] * 3, [False] * 3])
    assert chosen(first, missing, missing, missing) == pytest.approx(0.125)
    empty = batch([NOTHING, NOTHING], [[True, False, False]] * 2)
    assert chosen(first, empty, empty, empty) == pytest.approx(0.625)


def test_a_fixed_threshold_stays_whatever_was_chosen_before() -> None:
    made = head(threshold=0.6)
    made.load_state_dict({**head().state_dict(), "threshold": torch.tensor(0.1)})
    given = batch([[1, 2, END], [1, 2, END]])
    prediction = made.predict(STATES, given)
    assert made.hold(prediction, given) == [(prediction, given)]
    assert made.release() == []
    assert made.predict(STATES, given).value.tolist() == [[1, END]] * 2


def test_the_threshold_is_part_of_the_weights_kept() -> None:
    made = head()
    made.threshold.fill_(0.125)
    other = head()
    other.load_state_dict(made.state_dict())
    assert other.threshold.item() == 0.125


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5, 7.0])
def test_an_impossible_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"head\.threshold is .*between 0 and 1"):
        head(threshold=threshold)


def test_heads_refuse_targets_of_another_kind() -> None:
    for target in (
        TargetSpec(labels=("a",), counts=(1,)),
        TargetSpec(labels=("a",), counts=(1,), sequence=True),
        TargetSpec(mean=(0.0,), deviation=(1.0,)),
    ):
        with pytest.raises(ValueError, match="several labels"):
            MultiLabelHead(
                5,
                target=target,
                pooling=MeanPooling,
                dropout=0.0,
                class_weights=None,
                threshold=None,
            )
    with pytest.raises(ValueError, match="one label"):
        LabelHead(
            5,
            target=SPEC,
            pooling=MeanPooling,
            dropout=0.0,
            label_smoothing=0.0,
            class_weights=None,
            temperature=1.0,
        )
