"""What every decoder promises, whatever it is made of."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from seqtag.batch import END, Layout
from seqtag.configuration import build as build_node
from seqtag.configuration import compose, options
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.search import GreedySearch

CLASSES, MEMORY_DIM = 7, 6
LENGTHS = torch.tensor([5, 2, 1, 3])
SMALL = {
    "dim": 8,
    "num_heads": 2,
    "num_kv_heads": 2,
    "feedforward_dim": 12,
    "dropout": 0.1,
    "attention_dropout": 0.1,
}
CROSS_POSITIONS = [name for name in options("encoder/position") if name != "sinusoidal"]
ATTENTION = [
    *(f"encoder/position@decoder.position={name}" for name in options("encoder/position")),
    *(f"encoder/position@decoder.cross_position={name}" for name in CROSS_POSITIONS),
    *(f"encoder/scorer@decoder.scorer={name}" for name in options("encoder/scorer")),
    "decoder.num_kv_heads=1",
    "decoder.head_dim=6",
    "decoder.feedforward_dim=0",
    "decoder.num_layers=1",
]
OPTIONS = [*(f"decoder={name}" for name in options("decoder")), *ATTENTION]


def shipped(option: str) -> Callable[..., Decoder]:
    """The decoder of a yaml, made small; it is tested by being there."""
    node = compose("train", ["task=seq2seq", "data.train=x", option])["decoder"]
    chosen = option.partition("=")[0].removeprefix("decoder.")
    node |= {key: value for key, value in SMALL.items() if key in node and key != chosen}
    made: Callable[..., Decoder] = build_node(node, kinds=(nn.Module,), name="decoder")
    return made


@pytest.fixture(params=OPTIONS)
def decoder(request: pytest.FixtureRequest) -> Decoder:
    torch.manual_seed(0)
    made = shipped(request.param)(MEMORY_DIM, classes=CLASSES)
    with torch.no_grad():
        for parameter in made.parameters():
            # Biases start at zero and norms at one, which would hide what training brings out.
            parameter += 0.3 * torch.randn_like(parameter)
    return made.double().eval()


def memory() -> tuple[Tensor, Layout]:
    torch.manual_seed(1)
    return torch.randn(4, 5, MEMORY_DIM).double(), Layout.of(LENGTHS)


def targets() -> Tensor:
    torch.manual_seed(2)
    symbols = torch.randint(1, CLASSES, (4, 6))
    symbols[:, 0] = END
    return symbols


def stepped(decoder: Decoder, symbols: Tensor, states: Tensor, layout: Layout) -> Tensor:
    """The logits of every step with a cache, ``[batch, target, classes]``."""
    state, logits = decoder.start(states, layout), []
    for place in range(symbols.shape[1]):
        scores, state = decoder.step(symbols[:, place], state)
        logits.append(scores)
    return torch.stack(logits, dim=1)


def test_positions_that_are_written_into_elements_are_refused_between_input_and_output() -> None:
    with pytest.raises(ValueError, match="cross_position is Sinusoidal"):
        shipped("encoder/position@decoder.cross_position=sinusoidal")(MEMORY_DIM, classes=CLASSES)


def test_steps_with_a_cache_give_what_the_whole_sequence_gives(decoder: Decoder) -> None:
    whole = decoder(targets(), *memory())
    assert whole.shape == (4, 6, CLASSES)
    torch.testing.assert_close(stepped(decoder, targets(), *memory()), whole)


def test_a_symbol_does_not_know_those_behind_it(decoder: Decoder) -> None:
    changed = targets()
    changed[:, 3:] = 1 + changed[:, 3:] % (CLASSES - 1)
    before, after = decoder(targets(), *memory()), decoder(changed, *memory())
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3:], before[:, 3:])


def test_a_row_alone_gives_what_it_gives_in_a_batch(decoder: Decoder) -> None:
    states, layout = memory()
    batched = decoder(targets(), states, layout)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = states[row : row + 1, :length]
        single = decoder(targets()[row : row + 1], alone, Layout.of(LENGTHS[row : row + 1]))
        torch.testing.assert_close(single[0], batched[row])


@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_padding_changes_nothing_and_gives_no_gradient(decoder: Decoder, poison: float) -> None:
    states, layout = memory()
    clean = decoder(targets(), states, layout)
    poisoned = states.masked_fill(~layout.valid.unsqueeze(-1), poison).requires_grad_()
    given = decoder(targets(), poisoned, layout)
    torch.testing.assert_close(given, clean)
    torch.testing.assert_close(stepped(decoder, targets(), poisoned, layout), clean)
    given.sum().backward()
    assert poisoned.grad is not None
    assert (poisoned.grad[~layout.valid] == 0).all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in decoder.parameters())


def test_the_input_matters(decoder: Decoder) -> None:
    states, layout = memory()
    assert not torch.allclose(
        decoder(targets(), states, layout), decoder(targets(), states + 1, layout)
    )


def test_rows_of_a_state_can_be_dropped_repeated_and_reordered(decoder: Decoder) -> None:
    states, layout = memory()
    symbols, chosen = targets(), torch.tensor([3, 0, 0])
    state = decoder.start(states, layout)
    for place in range(3):
        _, state = decoder.step(symbols[:, place], state)
    scores, _ = decoder.step(symbols[chosen, 3], state.select(chosen))
    expected = decoder(symbols, states, layout)[chosen, 3]
    torch.testing.assert_close(scores, expected)


def test_greedy_search_takes_the_best_symbol_of_the_uncached_scores(decoder: Decoder) -> None:
    states, layout = memory()
    search = GreedySearch(max_length=6, length_factor=1.0, length_extra=0)
    found = search.search(decoder, states, layout)
    for row in range(len(states)):
        symbols, log_probability = [END], 0.0
        while len(symbols) <= 6:
            so_far = torch.tensor([symbols]).expand(len(states), -1)
            scores = decoder(so_far, states, layout)[row, -1].float().log_softmax(dim=0)
            symbols.append(int(scores.argmax()))
            log_probability += float(scores.detach().max())
            if symbols[-1] == END:
                break
        padded = [*symbols[1:], *[END] * 7][: found.symbols.shape[1]]
        assert found.symbols[row].tolist() == padded
        assert float(found.log_probability[row]) == pytest.approx(log_probability, rel=1e-5)
