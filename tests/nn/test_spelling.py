"""The parts that make vectors of spellings; and what every one of them promises, yaml by yaml."""

from functools import partial

import pytest
import torch
from torch import Tensor, nn

from seqtag.configuration import build as build_node
from seqtag.configuration import compose, options
from seqtag.nn.spelling import AffixEmbedding, CharacterCNN, SpellingEmbedding

FEATURES = range(13)
"""Form, shape, prefixes of 1 to 5, suffixes of 1 to 5."""
CHARACTERS = range(9)
"""Padding, unknown, and seven more."""
VALID = torch.tensor([[True, True, True], [True, False, False]])
WORDS = torch.tensor(
    [[[2, 3, 4, 0, 0], [5, 0, 0, 0, 0], [1, 2, 3, 4, 5]], [[2, 3, 4, 0, 0], [0] * 5, [0] * 5]]
)

affix_embedding = partial(
    AffixEmbedding, dim=6, buckets=50, width=4, prefixes=2, suffixes=3, dropout=0.0
)
character_cnn = partial(CharacterCNN, dim=6, character_dim=4, kernels=[1, 2, 3], filters=5)


def trained(part: nn.Module) -> nn.Module:
    """As after training: nothing that starts at zero or one is still there."""
    torch.manual_seed(0)
    with torch.no_grad():
        for module in part.modules():
            padding = getattr(module, "padding_idx", None)
            for parameter in module.parameters(recurse=False):
                parameter += torch.randn_like(parameter)
                if padding is not None:
                    parameter[padding] = 0
    return part.eval()


class TestAffixEmbedding:
    def hashes(self, *shape: int) -> Tensor:
        torch.manual_seed(1)
        return torch.randint(0, 2**31, (*shape, len(FEATURES)))

    def test_adds_nothing_before_training(self) -> None:
        vectors = affix_embedding(FEATURES)(self.hashes(2, 3), VALID)
        assert vectors.shape == (2, 3, 6)
        assert vectors.count_nonzero() == 0

    def test_an_affix_that_was_never_trained_adds_nothing(self) -> None:
        part = affix_embedding(FEATURES)
        spelling = torch.full((1, 1, 13), 7)
        part(spelling, VALID[:1, :1]).square().sum().backward()
        part(spelling, VALID[:1, :1]).sum().backward()
        optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
        optimizer.step()
        rows = part.table.weight.abs().sum(dim=1).nonzero().flatten()
        assert rows.tolist() == [7]
        assert part(spelling + 1, VALID[:1, :1]).sub(part.project.bias).count_nonzero() == 0
        assert part(spelling, VALID[:1, :1]).sub(part.project.bias).count_nonzero() == 6

    def test_hashes_are_taken_modulo_the_table(self) -> None:
        part = trained(affix_embedding(FEATURES))
        spelling = self.hashes(2, 3)
        assert part(spelling, VALID).equal(part(spelling % 50, VALID))
        assert not part(spelling, VALID).equal(part(spelling % 49, VALID))

    @pytest.mark.parametrize(
        ("prefixes", "suffixes", "columns"),
        [
            (0, 0, [0, 1, 2]),
            (1, 0, [0, 1, 2, 3]),
            (0, 2, [0, 1, 2, 8, 9]),
            (5, 5, list(range(13))),
        ],
    )
    def test_looks_at_the_affixes_it_is_told_to(
        self, prefixes: int, suffixes: int, columns: list[int]
    ) -> None:
        part = trained(affix_embedding(FEATURES, prefixes=prefixes, suffixes=suffixes))
        spelling = self.hashes(1, 1)
        before = part(spelling, VALID[:1, :1])
        seen = []
        for column in FEATURES:
            other = spelling.clone()
            other[..., column] += 1
            if not part(other, VALID[:1, :1]).equal(before):
                seen.append(column)
        assert seen == columns

    def test_numbers_by_hand(self) -> None:
        part = affix_embedding(range(5), dim=1, buckets=10, prefixes=1, suffixes=1)
        with torch.no_grad():
            part.table.weight[:] = torch.arange(10.0).unsqueeze(1)
            part.project.weight[:] = 1
            part.project.bias[:] = 0.5
        # Places 3, 1, 5, 0 and 9, four numbers each, times the root of 4, and the bias.
        found = part(torch.tensor([[[13, 1, 5, 20, 9]]]), torch.tensor([[True]]))
        assert found.tolist() == [[[(3 + 1 + 5 + 0 + 9) * 4 * 2 + 0.5]]]

    @pytest.mark.parametrize(("prefixes", "suffixes"), [(6, 0), (0, 6), (-1, 0)])
    def test_longer_affixes_than_there_are_are_refused(self, prefixes: int, suffixes: int) -> None:
        with pytest.raises(ValueError, match=f"={prefixes} and suffixes={suffixes}.*have 0 to 5"):
            affix_embedding(FEATURES, prefixes=prefixes, suffixes=suffixes)

    def test_dropout_hides_whole_affixes_in_training_only(self) -> None:
        part = affix_embedding(range(3), dim=1, width=1, prefixes=0, suffixes=0, dropout=0.25)
        with torch.no_grad():
            part.table.weight[:] = 1
            part.project.weight[:] = torch.tensor([[1.0, 2.0, 4.0]])
        spelling, valid = torch.zeros(100, 100, 3, dtype=torch.long), torch.ones(100, 100) > 0
        torch.manual_seed(0)
        sums = part(spelling, valid).flatten()
        shares = [(sums == total).float().mean().item() for total in (0, 1, 6, 7)]
        # None left, the first, the others, all: nothing is made larger for what is hidden.
        assert shares == pytest.approx([1 / 64, 3 / 64, 9 / 64, 27 / 64], abs=0.02)
        assert part.eval()(spelling, valid).unique().tolist() == [7.0]

    def test_which_columns_it_looks_at_is_no_part_of_its_weights(self) -> None:
        assert set(affix_embedding(FEATURES).state_dict()) == {
            "table.weight",
            "project.weight",
            "project.bias",
        }


class TestCharacterCNN:
    def test_starts_at_unit_variance(self) -> None:
        torch.manual_seed(0)
        part = CharacterCNN(range(80), dim=200, character_dim=32, kernels=[3], filters=96)
        words = torch.randint(2, 80, (20, 50, 8))
        vectors = part(words, torch.ones(20, 50, dtype=torch.bool))
        torch.testing.assert_close(vectors.std(), torch.tensor(1.0), atol=0.1, rtol=0)

    @torch.no_grad()
    def test_padding_behind_a_word_changes_nothing(self) -> None:
        part = trained(character_cnn(CHARACTERS))
        vectors = part(WORDS, VALID)
        assert vectors.shape == (2, 3, 6)
        torch.testing.assert_close(vectors[0, 0], vectors[1, 0])
        for row, word in ((0, 0), (0, 1), (0, 2)):
            letters = WORDS[row, word][WORDS[row, word] != 0]
            alone = part(letters.view(1, 1, -1), torch.tensor([[True]]))
            torch.testing.assert_close(alone[0, 0], vectors[row, word])
        part.table.weight[0] = float("nan")
        torch.testing.assert_close(part(WORDS, VALID), vectors, rtol=0, atol=0)

    def test_knows_the_end_of_a_word_from_its_middle(self) -> None:
        part = trained(character_cnn(CHARACTERS, kernels=[3]))
        one, other = part(torch.tensor([[[2, 3, 3, 2], [2, 2, 3, 3]]]), VALID[:1, :2])[0]
        assert not one.allclose(other)

    @torch.no_grad()
    def test_numbers_by_hand(self) -> None:
        part = CharacterCNN(range(4), dim=1, character_dim=1, kernels=[1, 2], filters=1)
        part.table.weight[:] = torch.tensor([[0.0], [0.0], [1.0], [-2.0]])
        for convolution in part.convolutions:
            convolution.weight[:] = 1
            convolution.bias[:] = 0
        part.norm, part.project = nn.Identity(), nn.Linear(2, 2)
        part.project.weight[:] = torch.eye(2)
        part.project.bias[:] = 0
        # 1, 1 and -2: the largest is 1; of the sums with the one before (zero in front) 1 + 1.
        # -2 and -2: nothing is above zero.
        found = part(torch.tensor([[[2, 2, 3], [3, 3, 0]]]), torch.tensor([[True, True]]))
        assert found.tolist() == [[[1.0, 2.0], [0.0, 0.0]]]

    def test_padding_characters_take_no_gradient(self) -> None:
        part = character_cnn(CHARACTERS)
        part(WORDS, VALID)[VALID].square().sum().backward()
        rows = part.table.weight.grad.abs().sum(dim=1).nonzero().flatten()
        assert rows.tolist() == [1, 2, 3, 4, 5]


def shipped(option: str, field: str) -> SpellingEmbedding:
    """The part of a yaml; it is tested by being there."""
    torch.manual_seed(0)
    node = compose("train", [f"embedding/spelling={option}"])["embedding"]["spelling"][field]
    sizes = {"affixes": FEATURES, "characters": CHARACTERS}
    return build_node(node, sizes[field], kinds=(nn.Module,), name=field, dim=6)


PARTS = [
    (option, field)
    for option in options("embedding/spelling")
    for field in compose("train", [f"embedding/spelling={option}"])["embedding"]["spelling"]
]
every_part = pytest.mark.parametrize(("option", "field"), PARTS)


def spelling(field: str) -> Tensor:
    return WORDS if field == "characters" else WORDS.repeat(1, 1, 3)[..., : len(FEATURES)]


@every_part
@pytest.mark.parametrize("poison", [7, -5, 2**31 - 1])
def test_padding_changes_no_output_and_no_gradient(option: str, field: str, poison: int) -> None:
    part, clean = trained(shipped(option, field)), spelling(field)
    poisoned = torch.where(VALID.unsqueeze(-1), clean, poison)

    def run(values: Tensor) -> list[Tensor]:
        part.zero_grad()
        vectors = part(values, VALID)
        assert vectors.isfinite().all()
        vectors[VALID].square().sum().backward()
        return [vectors[VALID], *(parameter.grad for parameter in part.parameters())]

    for one, other in zip(run(poisoned), run(clean), strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


@every_part
@torch.no_grad()
def test_a_word_alone_gives_what_it_gives_in_a_batch(option: str, field: str) -> None:
    part, values = trained(shipped(option, field)), spelling(field)
    together = part(values, VALID)
    for row, word in VALID.nonzero().tolist():
        one = values[row : row + 1, word : word + 1]
        alone = part(one, torch.tensor([[True]]))
        torch.testing.assert_close(alone[0, 0], together[row, word])


@every_part
@torch.no_grad()
def test_empty_words_and_empty_batches_are_taken(option: str, field: str) -> None:
    part, values = trained(shipped(option, field)), spelling(field)
    assert part(torch.zeros_like(values), VALID).isfinite().all()
    assert part(values[:, :0], VALID[:, :0]).shape == (2, 0, 6)
    assert part(values[:0], VALID[:0]).shape == (0, 3, 6)


@every_part
@torch.no_grad()
def test_half_precision_follows_single(option: str, field: str) -> None:
    part, values = trained(shipped(option, field)), spelling(field)
    expected = part(values, VALID)
    half = part.bfloat16()(values, VALID)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), expected, atol=0.05 * expected.std().item(), rtol=0.1)


@every_part
def test_steps_of_training_lower_the_loss(option: str, field: str) -> None:
    part, values = shipped(option, field).eval(), spelling(field)
    torch.manual_seed(2)
    gold = torch.randn(2, 3, 6)
    gold[1, 0] = gold[0, 0]  # the same word
    optimizer = torch.optim.Adam(part.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        loss = (part(values, VALID) - gold)[VALID].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
