"""What the recurrent decoders are, next to loops that can be read."""

from functools import partial

import pytest
import torch
from torch import Tensor

from seqtag.batch import END, Layout
from seqtag.nn.attention import record_weights
from seqtag.nn.decoders.lstm import LSTMDecoder
from seqtag.nn.decoders.lstm_attention import LSTMAttentionDecoder
from seqtag.nn.scorers import DotProductScorer

DOT = partial(DotProductScorer, scaled=False)
LAYOUT = Layout.of(torch.tensor([4, 2]))


def without_attention(num_layers: int = 1) -> LSTMDecoder:
    torch.manual_seed(0)
    decoder = LSTMDecoder(3, classes=5, dim=4, num_layers=num_layers, dropout=0.5)
    return decoder.double().eval()


def with_attention(num_heads: int = 1) -> LSTMAttentionDecoder:
    torch.manual_seed(0)
    return (
        LSTMAttentionDecoder(
            3,
            classes=5,
            dim=4,
            num_layers=1,
            num_heads=num_heads,
            num_kv_heads=num_heads,
            dropout=0.5,
            attention_dropout=0.5,
            scorer=DOT,
        )
        .double()
        .eval()
    )


def memory() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(2, 4, 3).double()


SYMBOLS = torch.tensor([[END, 1, 2], [END, 3, 3]])


@pytest.mark.parametrize("num_layers", [1, 2])
def test_without_attention_only_the_ends_of_the_input_are_read(num_layers: int) -> None:
    decoder = without_attention(num_layers)
    scores = decoder(SYMBOLS, memory(), LAYOUT)
    for place, read in ((0, True), (1, False), (2, False), (3, True)):
        changed = memory()
        changed[0, place] += 1
        assert torch.equal(decoder(SYMBOLS, changed, LAYOUT)[0], scores[0]) != read


def test_without_attention_the_input_is_one_vector_of_the_width_of_the_decoder() -> None:
    # However long the input, two whose ends give one vector give one output.
    decoder = without_attention()
    seen = []
    decoder.symbols.first_states.register_forward_hook(lambda _, given, __: seen.append(given[0]))
    decoder(SYMBOLS, memory(), LAYOUT)
    first, last = memory()[1, 0], memory()[1, 1]
    summary = decoder.symbols.summary
    expected = torch.tanh(summary.weight @ torch.cat((first, last)) + summary.bias)
    assert seen[0].shape == (2, 4)
    torch.testing.assert_close(seen[0][1], expected)


def test_a_layer_of_the_first_states_is_what_that_vector_says_of_it() -> None:
    decoder = without_attention(num_layers=2)
    with torch.no_grad():
        decoder.symbols.first_states.weight.zero_()
        decoder.symbols.first_states.bias.copy_(torch.arange(16.0) / 10)
    state = decoder.start(memory(), LAYOUT)
    tenths = torch.arange(16.0).double() / 10
    torch.testing.assert_close(state.hidden[:, 0], tenths[:8].tanh().view(2, 4))
    torch.testing.assert_close(state.cell[:, 1], tenths[8:].view(2, 4))


def test_attention_is_the_loop_of_luong() -> None:
    decoder, states = with_attention(), memory()
    outputs, _ = decoder.symbols(SYMBOLS, decoder.symbols.start(states, LAYOUT))
    cross = decoder.cross_attention
    expected = torch.zeros(2, 3, 5).double()
    for row, length in enumerate(LAYOUT.lengths.tolist()):
        for step in range(3):
            output = outputs[row, step]
            keys = [cross.key(states[row, place]) for place in range(length)]
            scores = torch.stack([cross.query(output) @ key for key in keys])
            weights = scores.exp() / scores.exp().sum()
            values = [cross.value(states[row, place]) for place in range(length)]
            context = cross.output(sum(w * value for w, value in zip(weights, values, strict=True)))
            combined = torch.tanh(decoder.combine(torch.cat((context, output))))
            expected[row, step] = decoder.output(combined)
    torch.testing.assert_close(decoder(SYMBOLS, states, LAYOUT), expected)


def test_its_weights_can_be_looked_at() -> None:
    decoder = with_attention(num_heads=2)
    with record_weights(decoder) as weights:
        decoder(SYMBOLS, memory(), LAYOUT)
    (recorded,) = weights["cross_attention"]
    assert recorded.shape == (2, 2, 3, 4)
    torch.testing.assert_close(recorded.sum(dim=-1), torch.ones(2, 2, 3).double())
    assert (recorded[1, :, :, 2:] == 0).all()


def test_dropout_is_for_training_only() -> None:
    for decoder in (without_attention(), with_attention()):
        before = decoder(SYMBOLS, memory(), LAYOUT)
        assert torch.equal(decoder(SYMBOLS, memory(), LAYOUT), before)
        decoder.train()
        assert not torch.allclose(decoder(SYMBOLS, memory(), LAYOUT), before)


def test_it_starts_by_remembering() -> None:
    lstm = without_attention(num_layers=2).symbols.lstm
    for layer in range(2):
        total = getattr(lstm, f"bias_ih_l{layer}") + getattr(lstm, f"bias_hh_l{layer}")
        assert total[4:8].tolist() == [1.0] * 4
        assert total[:4].tolist() != [1.0] * 4


def test_sizes_that_make_no_decoder_are_refused() -> None:
    with pytest.raises(ValueError, match=r"decoder\.num_layers is 0"):
        without_attention(num_layers=0)
    with pytest.raises(ValueError, match="num_heads"):
        with_attention(num_heads=3)
