import torch

from seqtag.batch import END
from seqtag.claims.training import FIRST_SYMBOL, accuracy, make_batch, make_model, train


def small(task: str, labels: int):
    overrides = ["encoder.dim=16", "encoder.feedforward_dim=16", "embedding.dim=16"]
    if task == "seq2seq":
        overrides += ["decoder.dim=16", "decoder.feedforward_dim=16", "decoder.num_layers=1"]
    return make_model(overrides, task=task, symbols=4, labels=labels, seed=1)


def copy(generator: torch.Generator):
    symbols = torch.randint(4, (16, 3), generator=generator)
    return make_batch(symbols + FIRST_SYMBOL, symbols)


def test_a_model_learns_what_is_drawn_and_the_same_seed_gives_the_same_model() -> None:
    test = copy(torch.Generator().manual_seed(99))
    losses: list[list[float]] = [[], []]
    models = [small("tagging", 4) for _ in range(2)]
    assert accuracy(models[0], [test]) < 0.9
    for model, heard in zip(models, losses, strict=True):
        watch = lambda step, loss, heard=heard: heard.append(loss)  # noqa: E731
        train(model, copy, steps=40, lr=0.01, seed=3, watch=watch)
    assert losses[0] == losses[1]
    assert accuracy(models[0], [test]) == 1


def test_missing_targets_are_in_no_score() -> None:
    batch = copy(torch.Generator().manual_seed(0))
    assert batch.target is not None
    hidden = make_batch(batch.inputs["word"], torch.full((16, 3), -1))
    assert not hidden.target.present.any()
    model = small("tagging", 4)
    assert accuracy(model, [batch, hidden]) == accuracy(model, [batch])


def test_a_sequence_is_right_as_a_whole_or_not_at_all(monkeypatch) -> None:
    model = small("seq2seq", 4)
    target = torch.tensor([[1, 2, END, -1], [3, END, -1, -1], [1, 2, 3, END]])
    batch = make_batch(torch.full((3, 2), FIRST_SYMBOL), target)
    right = torch.tensor([[1, 2, END], [3, 3, END], [1, 2, 3]])
    said = model.predict(batch)
    said.value = right
    monkeypatch.setattr(model, "predict", lambda batch: said)
    # The first is right, the second too long, the third right but for what lies behind its end.
    assert accuracy(model, [batch]) == 2 / 3
