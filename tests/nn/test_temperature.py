import math

import pytest
import torch

from seqtag.batch import Batch, Layout, Target, TargetSpec
from seqtag.evaluation.calibration import CalibrationError, NegativeLogLikelihood
from seqtag.nn.heads import LabelHead
from seqtag.nn.pooling import MeanPooling

SPEC = TargetSpec(labels=("a", "b", "c"), counts=(1, 1, 1), unseen=("d",))
ROWS, SCALE = 1500, 4.0


def label_head(temperature, pooling=MeanPooling) -> LabelHead:
    """Takes the states themselves for logits."""
    head = LabelHead(
        3,
        target=SPEC,
        pooling=pooling,
        dropout=0.0,
        label_smoothing=0.0,
        class_weights=None,
        temperature=temperature,
    )
    with torch.no_grad():
        head.readout.linear.weight.copy_(torch.eye(3))
        head.readout.linear.bias.zero_()
    return head.eval().requires_grad_(False)


def overconfident():
    """Rows of one element, whose logits are four times too large."""
    generator = torch.Generator().manual_seed(2)
    logits = 1.5 * torch.randn(ROWS, 3, generator=generator)
    gold = torch.multinomial(logits.softmax(dim=1), 1, generator=generator).squeeze(1)
    gold[:5] = 3  # what training lacks is in no temperature
    present = torch.ones(ROWS, dtype=torch.bool)
    present[5:9] = False
    layout = Layout.of(torch.ones(ROWS, dtype=torch.int64))
    batch = Batch(inputs={}, layout=layout, target=Target(gold, present), rows=torch.arange(ROWS))
    return SCALE * logits.unsqueeze(1), batch


def halves(states, batch):
    for part in (slice(0, 600), slice(600, None)):
        target = Target(batch.target.value[part], batch.target.present[part])
        layout = Layout.of(batch.layout.lengths[part])
        yield states[part], Batch({}, layout, target, batch.rows[part])


def scored(metric, parts) -> float:
    total = sum(metric.row_statistics(p, b.target).sum(dim=0) for p, b in parts)
    return metric.score(total)


def test_logits_are_divided() -> None:
    states, batch = overconfident()
    cold, plain = label_head(2.0), label_head(1)
    assert torch.equal(plain.predict(states, batch).probabilities, states[:, 0].softmax(dim=1))
    found = cold.predict(states, batch)
    torch.testing.assert_close(found.probabilities, (states[:, 0] / 2).softmax(dim=1))
    assert torch.equal(found.value, plain.predict(states, batch).value)
    # The loss is that of the logits.
    assert cold.loss(states, batch) == plain.loss(states, batch)


def test_a_fixed_one_holds_nothing() -> None:
    states, batch = overconfident()
    head = label_head(2.0)
    found = head.predict(states, batch)
    assert head.hold(found, batch) == [(found, batch)]
    assert head.release() == []
    assert float(head.temperature.value) == 2


def test_dev_finds_the_scale_and_lowers_the_calibration_error() -> None:
    states, batch = overconfident()
    head = label_head("fit")
    before = []
    for part, rows in halves(states, batch):
        before.append((head.predict(part, rows), rows))
        assert head.hold(*before[-1]) == []
    after = head.release()
    assert float(head.temperature.value) == pytest.approx(SCALE, rel=0.1)
    assert [len(b.rows) for _, b in after] == [600, ROWS - 600]
    for (old, _), (new, _) in zip(before, after, strict=True):
        assert torch.equal(old.value, new.value)
    error, surprise = CalibrationError(SPEC, bins=15), NegativeLogLikelihood(SPEC)
    assert scored(error, after) < 0.05 < 0.15 < scored(error, before)
    assert scored(surprise, after) < scored(surprise, before)
    # What it says from now on is what dev was scored with.
    now = [(head.predict(part, rows), rows) for part, rows in halves(states, batch)]
    for (given, _), (new, _) in zip(after, now, strict=True):
        torch.testing.assert_close(given.probabilities, new.probabilities)
    # Nothing was forgotten or kept: the next epoch comes to the same.
    for prediction, rows in now:
        head.hold(prediction, rows)
    head.release()
    assert float(head.temperature.value) == pytest.approx(SCALE, rel=0.1)
    assert head.release() == []


def test_it_is_part_of_the_weights() -> None:
    states, batch = overconfident()
    head, other = label_head("fit"), label_head("fit")
    head.hold(head.predict(states, batch), batch)
    head.release()
    other.load_state_dict(head.state_dict())
    assert torch.equal(
        other.predict(states, batch).probabilities, head.predict(states, batch).probabilities
    )


def test_labels_of_elements() -> None:
    states = torch.tensor([[[8.0, 0.0, 0.0], [0.0, 8.0, 0.0]], [[0.0, 0.0, 8.0], [9.0, 9.0, 9.0]]])
    target = Target(torch.tensor([[0, 0], [2, 0]]), torch.tensor([[True, True], [True, False]]))
    batch = Batch({}, Layout.of(torch.tensor([2, 1])), target, torch.arange(2))
    head = label_head("fit", pooling=None)
    head.hold(head.predict(states, batch), batch)
    [(found, _)] = head.release()
    # Two of three are right: the probability of each label that is given becomes two thirds.
    assert found.probabilities[0, 0, 0].item() == pytest.approx(2 / 3, abs=1e-3)
    assert float(head.temperature.value) == pytest.approx(8 / math.log(4), rel=1e-3)


def test_certainty_is_no_infinity() -> None:
    states = torch.tensor([[[900.0, 0.0, 0.0]], [[0.0, 900.0, 0.0]]])
    target = Target(torch.tensor([0, 0]), torch.tensor([True, True]))
    batch = Batch({}, Layout.of(torch.tensor([1, 1])), target, torch.arange(2))
    head = label_head("fit")
    head.hold(head.predict(states, batch), batch)
    [(found, _)] = head.release()
    assert found.probabilities.isfinite().all()
    assert math.isfinite(head.temperature.value)


@pytest.mark.parametrize("setting", [0, -1.0, math.nan, "dev"])
def test_anything_else_is_refused(setting) -> None:
    with pytest.raises(ValueError, match=r"head.temperature is .*; it must be a number above 0"):
        label_head(setting)
