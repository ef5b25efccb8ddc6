"""What every decoder promises, whatever it is made of."""

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqtag.batch import END, Layout
from seqtag.configuration import build as build_node
from seqtag.configuration import compose, options
from seqtag.nn.beam_search import BeamSearch
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.positions.position import Position
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


@lru_cache
def node_of(chosen: str) -> dict[str, Any]:
    """What the options and values ``chosen``, between blanks, make of the decoder's node."""
    node: dict[str, Any] = compose("train", ["task=seq2seq", "data.train=x", *chosen.split()])[
        "decoder"
    ]
    return node


def writes_into_elements(name: str) -> bool:
    """Whether a kind of position does, which between input and output has no meaning."""
    node = node_of(f"encoder/position@decoder.cross_position={name}")["cross_position"]
    position = build_node(node, kinds=(nn.Module,), name="position")
    made = position(dim=8, num_heads=2, head_dim=4, num_layers=2)
    return type(made).embed is not Position.embed


DECODERS, POSITIONS = options("decoder"), options("encoder/position")
WRITTEN = [name for name in POSITIONS if writes_into_elements(name)]
ATTENTIVE = [f"decoder={name}" for name in DECODERS if "num_kv_heads" in node_of(f"decoder={name}")]
OPTIONS = [
    *(f"decoder={name}" for name in DECODERS),
    *(
        f"decoder={name} decoder.num_layers={3 - node_of(f'decoder={name}')['num_layers']}"
        for name in DECODERS
    ),
    *(f"encoder/position@decoder.position={name}" for name in POSITIONS),
    *(
        f"encoder/position@decoder.cross_position={name}"
        for name in POSITIONS
        if name not in WRITTEN
    ),
    *(
        f"{decoder} encoder/scorer@decoder.scorer={name}"
        for decoder in ATTENTIVE
        for name in options("encoder/scorer")
    ),
    *(
        f"{decoder} decoder.num_heads=4 decoder.num_kv_heads={shared}"
        for decoder in ATTENTIVE
        for shared in (1, 2, 4)
    ),
    "decoder.head_dim=6",
    "decoder.feedforward_dim=0",
]


def shipped(chosen: str) -> Callable[..., Decoder]:
    """The decoder of a yaml, made small; it is tested by being there."""
    node = dict(node_of(chosen))
    given = {word.partition("=")[0].removeprefix("decoder.") for word in chosen.split()}
    node |= {key: value for key, value in SMALL.items() if key in node and key not in given}
    if "max_positions" in node.get("position", {}):
        node["position"] = node["position"] | {"max_positions": 7}
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


@pytest.mark.parametrize("name", WRITTEN)
def test_positions_that_are_written_into_elements_are_refused_between_input_and_output(
    name: str,
) -> None:
    with pytest.raises(ValueError, match=r"cross_position is .* written into the elements"):
        shipped(f"encoder/position@decoder.cross_position={name}")(MEMORY_DIM, classes=CLASSES)


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
    with torch.no_grad():
        found = search.search(decoder, states, layout)
        said, scores = torch.full((4, 1), END), torch.zeros(4, 0)
        for _ in range(6):
            best = decoder(said, states, layout)[:, -1].float().log_softmax(dim=1).max(dim=1)
            said = torch.cat((said, best.indices.unsqueeze(1)), dim=1)
            scores = torch.cat((scores, best.values.unsqueeze(1)), dim=1)
    for row, (symbols, steps) in enumerate(zip(said[:, 1:].tolist(), scores.tolist(), strict=True)):
        size = symbols.index(END) + 1 if END in symbols else 6
        assert bool(found.complete[row]) == (END in symbols)
        padded = [*symbols[:size], *[END] * 6][: found.symbols.shape[1]]
        assert found.symbols[row].tolist() == padded
        assert float(found.log_probability[row]) == pytest.approx(sum(steps[:size]), rel=1e-5)


def small_decoder(name: str) -> Decoder:
    """One that says one thing rather than another, and has no dropout."""
    torch.manual_seed(0)
    decoder = shipped(f"decoder={name}")(MEMORY_DIM, classes=CLASSES).eval()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter += 0.5 * torch.randn_like(parameter)
    return decoder


def beam_of(size: int, *, n_best: int, max_length: int, penalty: float) -> BeamSearch:
    return BeamSearch(
        beam_size=size,
        n_best=n_best,
        length_penalty=penalty,
        max_length=max_length,
        length_factor=1.0,
        length_extra=0,
    )


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_widest_beam_ranks_all_outputs_by_the_uncached_scores(
    name: str, penalty: float
) -> None:
    decoder, (states, layout) = small_decoder(name).double(), memory()
    ended = [said for size in range(3) for said in product(range(1, CLASSES), repeat=size)]
    cut = list(product(range(1, CLASSES), repeat=3))
    every = [(*said, END) for said in ended] + cut
    before = torch.tensor([[END, *said, END, END][:3] for said in every])
    symbols = torch.tensor([[*said, END, END][:3] for said in every])
    sizes = torch.tensor([len(said) for said in every])
    counted = torch.arange(3) < sizes.unsqueeze(1)
    search = beam_of(len(every), n_best=len(every), max_length=3, penalty=penalty)
    with torch.no_grad():
        found = search.search(decoder, states, layout)
        greedy = GreedySearch(max_length=3, length_factor=1.0, length_extra=0)
        followed = greedy.search(decoder, states, layout)
        assert found.candidates is not None
        for row, length in enumerate(LENGTHS.tolist()):
            alone = states[row : row + 1, :length].expand(len(every), -1, -1)
            logits = decoder(before, alone, Layout.of(LENGTHS[row].expand(len(every))))
            shares = logits.float().log_softmax(dim=-1).double()
            steps = shares.gather(2, symbols.unsqueeze(2)).squeeze(2).where(counted, 0)
            total = steps.sum(dim=1)
            order = (total / ((5 + sizes) / 6) ** penalty).argsort(descending=True)
            assert torch.equal(found.candidates.symbols[row], symbols[order])
            torch.testing.assert_close(found.candidates.log_probability[row], total[order].float())
    if not penalty:
        assert (found.log_probability >= followed.log_probability - 1e-6).all()


@pytest.mark.parametrize("name", DECODERS)
def test_a_beam_finds_for_a_row_alone_what_it_finds_in_a_batch(name: str) -> None:
    decoder = small_decoder(name)
    torch.manual_seed(3)
    lengths = torch.tensor([5, 2, 1, 3, 8, 4, 1, 6])
    states = torch.randn(8, 8, MEMORY_DIM)
    search = beam_of(4, n_best=4, max_length=9, penalty=0.6)
    with torch.no_grad():
        batched = search.search(decoder, states, Layout.of(lengths)).candidates
        assert batched is not None
        for row, length in enumerate(lengths.tolist()):
            layout = Layout.of(lengths[row : row + 1])
            alone = search.search(decoder, states[row : row + 1, :length], layout).candidates
            assert alone is not None
            steps = alone.symbols.shape[2]
            assert torch.equal(alone.symbols[0], batched.symbols[row, :, :steps])
            assert (batched.symbols[row, :, steps:] == END).all()
            torch.testing.assert_close(alone.log_probability[0], batched.log_probability[row])


@pytest.mark.parametrize("name", DECODERS)
def test_a_beam_of_one_is_greedy_search(name: str) -> None:
    decoder, (states, layout) = small_decoder(name), memory()
    greedy = GreedySearch(max_length=8, length_factor=1.0, length_extra=0)
    with torch.no_grad():
        expected = greedy.search(decoder, states.float(), layout)
        found = beam_of(1, n_best=1, max_length=8, penalty=0.6).search(
            decoder, states.float(), layout
        )
    assert torch.equal(found.symbols, expected.symbols)
    assert torch.equal(found.complete, expected.complete)
    torch.testing.assert_close(found.log_probability, expected.log_probability)


def test_rows_without_an_input_give_finite_scores_alone_and_beside_others(
    decoder: Decoder,
) -> None:
    states, layout = torch.randn(3, 4, MEMORY_DIM).double(), Layout.of(torch.tensor([4, 0, 2]))
    batched = decoder(targets()[:3], states, layout)
    assert batched.isfinite().all()
    alone = Layout.of(torch.tensor([0]))
    assert alone.valid.shape == (1, 0)
    torch.testing.assert_close(decoder(targets()[1:2], states[1:2, :0], alone), batched[1:2])
    torch.testing.assert_close(stepped(decoder, targets()[:3], states, layout), batched)


@pytest.mark.parametrize("chosen", [f"decoder={name}" for name in DECODERS])
def test_mixed_precision_gives_nearly_the_same_and_a_gradient(chosen: str) -> None:
    torch.manual_seed(0)
    decoder = shipped(chosen)(MEMORY_DIM, classes=CLASSES).eval()
    states, layout = memory()
    expected = decoder(targets(), states.float(), layout)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = decoder(targets(), states.float(), layout)
        steps = stepped(decoder, targets(), states.float(), layout)
    torch.testing.assert_close(mixed.float(), expected, atol=0.05, rtol=0.05)
    torch.testing.assert_close(steps.float(), expected, atol=0.05, rtol=0.05)
    mixed.float().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in decoder.parameters())


@pytest.mark.parametrize("name", POSITIONS)
def test_no_output_is_longer_than_the_positions_of_the_decoder(name: str) -> None:
    decoder = shipped(f"encoder/position@decoder.position={name}")(MEMORY_DIM, classes=CLASSES)
    decoder = decoder.double().eval()
    with torch.no_grad():
        dict(decoder.named_parameters())["output.bias"][END] = -1e9  # it never ends by itself
    states, layout = memory()
    longest = 3 if decoder.longest is None else decoder.longest
    with torch.no_grad():
        found = beam_of(2, n_best=1, max_length=longest, penalty=0.0).search(
            decoder, states, layout
        )
    assert found.symbols.shape == (4, longest)
    search = GreedySearch(max_length=longest, length_factor=1.0, length_extra=0)
    assert search.search(decoder, states, layout).symbols.shape == (4, longest)
    if decoder.longest is not None:
        search = GreedySearch(max_length=longest + 1, length_factor=1.0, length_extra=0)
        beam = beam_of(2, n_best=1, max_length=longest + 1, penalty=0.0)
        for each in (search, beam):
            found = each.search(decoder, states, layout)
            assert found.symbols.shape == (4, longest)
            assert not found.complete.any()
        with pytest.raises(ValueError, match=str(longest)):
            decoder(torch.ones(4, longest + 1, dtype=torch.int64), states, layout)
