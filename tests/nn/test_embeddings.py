from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.embeddings import InputEmbedding
from seqtag.nn.padding import zero_padding
from seqtag.nn.spelling import AffixEmbedding, CharacterCNN

WORDS = range(50)
LAYOUT = Layout.of(torch.tensor([3, 1]))
IDS = torch.tensor([[4, 1, 7], [4, 0, 0]])
SPELLING = {
    "affixes": partial(AffixEmbedding, buckets=100, width=4, prefixes=1, suffixes=1, dropout=0.0),
    "characters": partial(CharacterCNN, character_dim=8, kernels=[3], filters=40),
}
SPELT = {"word": WORDS, "affixes": range(5), "characters": range(20)}


def build(vocabularies, *, dropout: float = 0.0, word_dropout: float = 0.0) -> InputEmbedding:
    torch.manual_seed(0)
    return InputEmbedding(
        vocabularies, dim=32, dropout=dropout, word_dropout=word_dropout, spelling=SPELLING
    )


def spelt(ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """Inputs whose words are spelt as their ids say."""
    columns = torch.arange(5)
    affixes = ids.unsqueeze(-1) * 4 + columns
    return {"word": ids.clone(), "affixes": affixes, "characters": affixes % 20}


def test_equal_words_have_equal_vectors_and_padding_has_zeros() -> None:
    embedding = build({"word": WORDS})
    vectors = embedding({"word": IDS}, LAYOUT)
    assert vectors.shape == (2, 3, embedding.output_dim)
    assert vectors[0, 0].equal(vectors[1, 0])
    assert not vectors[0, 0].equal(vectors[0, 2])
    assert vectors[1, 1:].count_nonzero() == 0


def test_fields_are_summed() -> None:
    both = build({"word": WORDS, "vectors": range(5)})
    inputs = {"word": IDS, "vectors": torch.randn(2, 3, 5)}
    whole = both(inputs, LAYOUT)
    parts = both.word(IDS) + both.vectors(inputs["vectors"])
    torch.testing.assert_close(whole[LAYOUT.valid], parts[LAYOUT.valid] / 2**0.5)


@pytest.mark.parametrize(
    "vocabularies",
    [
        ("word",),
        ("vectors",),
        ("word", "vectors"),
        ("word", "affixes"),
        ("word", "characters"),
        ("word", "affixes", "characters"),
    ],
)
def test_starts_at_unit_variance(vocabularies) -> None:
    sizes = {
        "word": range(2_000),
        "vectors": range(40),
        "affixes": range(5),
        "characters": range(60),
    }
    embedding = build({name: sizes[name] for name in vocabularies})
    inputs = {
        "word": torch.randint(2, 2_000, (20, 50)),
        "vectors": torch.randn(20, 50, 40),
        "affixes": torch.randint(0, 2**31, (20, 50, 5)),
        "characters": torch.randint(2, 60, (20, 50, 7)),
    }
    vectors = embedding(inputs, Layout.of(torch.full((20,), 50)))
    torch.testing.assert_close(vectors.std(), torch.tensor(1.0), atol=0.1, rtol=0)


class Vectors:
    """Word vectors of 40 numbers each, 498 of them."""

    width = 40

    def __init__(self, *, drawn: bool) -> None:
        table = np.random.default_rng(0).normal(size=(500, 40)).astype(np.float32)
        table[:2] = 0
        self.table = table if drawn else None

    def __len__(self) -> int:
        return 500


BESIDE = {"word_vectors": Vectors(drawn=False), "feature:a.b c": range(30), "number:": range(2)}


def beside(source: tuple[int, ...], share: float = 1.0) -> dict[str, torch.Tensor]:
    """Inputs of ``BESIDE`` that training has met; a share of the numbers is there."""
    there = (torch.rand(source) < share).float()
    return {
        "word_vectors": torch.randint(2, 500, source),
        "feature:a.b c": torch.randint(2, 30, source),
        "number:": torch.stack([torch.randn(source) * there, there], dim=-1),
    }


@pytest.mark.parametrize("base", ["word", "vectors"])
@pytest.mark.parametrize("names", [[name] for name in BESIDE] + [list(BESIDE)])
def test_starts_at_unit_variance_with_features_too(base: str, names: list[str]) -> None:
    sizes = {base: range(40), **BESIDE, "word_vectors": Vectors(drawn=True)}
    embedding = build({name: sizes[name] for name in (base, *names)})
    inputs = {
        "word": torch.randint(2, 40, (20, 50)),
        "vectors": torch.randn(20, 50, 40),
        **beside((20, 50)),
    }
    vectors = embedding(inputs, Layout.of(torch.full((20,), 50)))
    # Over all numbers: those of few categories have a mean of their own.
    torch.testing.assert_close(vectors.square().mean().sqrt(), torch.tensor(1.0), atol=0.1, rtol=0)


@pytest.mark.parametrize("poison", [9_999, -1])
def test_features_at_padding_are_never_read(poison: int) -> None:
    embedding = build({"word": WORDS, **BESIDE}).eval()
    inputs = {"word": IDS.clone(), **beside((2, 3))}
    clean = embedding(inputs, LAYOUT)
    assert clean[1, 1:].count_nonzero() == 0
    for name, values in inputs.items():
        values[1, 1:] = float("nan") if name == "number:" else poison
    dirty = embedding(inputs, LAYOUT)
    torch.testing.assert_close(dirty, clean, rtol=0, atol=0)
    dirty.sum().backward()
    assert all(p.grad.isfinite().all() for p in embedding.parameters() if p.grad is not None)


def test_a_category_that_training_never_saw_adds_nothing() -> None:
    embedding = build({"word": WORDS, "feature:k": range(4)}).eval()
    unknown = embedding({"word": IDS, "feature:k": torch.ones(2, 3, dtype=torch.int64)}, LAYOUT)
    bare = zero_padding(embedding.word(IDS), LAYOUT.valid) * embedding.scale
    torch.testing.assert_close(unknown, bare)
    known = embedding({"word": IDS, "feature:k": torch.full((2, 3), 2)}, LAYOUT)
    assert not known.allclose(bare)


def test_word_dropout_leaves_features_to_be_seen() -> None:
    embedding = build(
        {"word": WORDS, **BESIDE, "word_vectors": Vectors(drawn=True)}, word_dropout=1.0
    )
    inputs = {"word": IDS.clone(), **beside((2, 3))}
    hidden = embedding(inputs, LAYOUT)
    embedding.eval()
    assert hidden.equal(embedding({**inputs, "word": torch.where(LAYOUT.valid, 1, 0)}, LAYOUT))
    for name, values in beside((2, 3)).items():
        assert not hidden.allclose(embedding({**inputs, name: values}, LAYOUT))


def test_word_vectors_are_looked_up_and_not_trained() -> None:
    vectors = Vectors(drawn=True)
    embedding = build({"word": WORDS, "word_vectors": vectors})
    part = embedding.word_vectors
    ids = torch.tensor([[5, 1, 7], [2, 0, 0]])
    expected = torch.from_numpy(vectors.table)[ids] @ part.project.weight.T
    torch.testing.assert_close(part(ids, LAYOUT.valid), expected)
    assert [name for name, _ in part.named_parameters()] == ["project.weight", "project.bias"]


def test_a_state_fills_word_vectors_that_were_not_given() -> None:
    embedding = build({"word": WORDS, **BESIDE, "word_vectors": Vectors(drawn=True)})
    again = build({"word": WORDS, **BESIDE})
    assert again.word_vectors.table.count_nonzero() == 0
    again.load_state_dict(embedding.state_dict())
    inputs = {"word": IDS.clone(), **beside((2, 3))}
    assert again(inputs, LAYOUT).equal(embedding(inputs, LAYOUT))


def test_without_features_the_weights_are_called_what_they_were() -> None:
    names = list(build({"word": WORDS}).state_dict())
    assert names == ["word.table.weight"]


def test_features_need_an_input_that_they_stand_beside() -> None:
    with pytest.raises(ValueError, match="the data have feature:k, and this embedding is made of"):
        build({"feature:k": range(4)})


def test_shapes_are_known_without_numbers() -> None:
    with torch.device("meta"):
        embedding = build({"word": WORDS, **BESIDE, "word_vectors": Vectors(drawn=True)})
    trained = sum(p.numel() for p in embedding.parameters() if p.requires_grad)
    assert trained == 50 * 32 + (40 + 1) * 32 + 30 * 32 + (2 + 1) * 32
    assert embedding.word.table.weight.is_meta


@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_vectors_at_padding_are_never_read(poison: float) -> None:
    embedding = build({"vectors": range(5)})
    torch.nn.init.ones_(embedding.vectors.bias)
    x = torch.randn(2, 3, 5)
    x[1, 1:] = poison
    vectors = embedding({"vectors": x}, LAYOUT)
    assert vectors[1, 1:].count_nonzero() == 0
    vectors.sum().backward()
    gradient = embedding.vectors.weight.grad
    torch.testing.assert_close(gradient, x[LAYOUT.valid].sum(dim=0).expand(32, 5))


@pytest.mark.parametrize("poison", [99, -1, 2**31])
def test_symbols_and_spelling_at_padding_are_never_read(poison: int) -> None:
    embedding = build(SPELT).eval()
    torch.nn.init.normal_(embedding.spelling["affixes"].table.weight)
    inputs = spelt(IDS)
    clean = embedding(inputs, LAYOUT)
    for values in inputs.values():
        values[1, 1:] = poison
    torch.testing.assert_close(embedding(inputs, LAYOUT), clean, rtol=0, atol=0)
    assert clean[1, 1:].count_nonzero() == 0


def test_fields_that_the_data_has_not_are_left_out() -> None:
    assert list(build({"word": WORDS}).spelling) == []
    assert list(build({"vectors": WORDS}).spelling) == []
    assert list(build(SPELT).spelling) == ["affixes", "characters"]


def test_padding_takes_no_gradient() -> None:
    embedding = build({"word": WORDS})
    embedding({"word": IDS}, LAYOUT).sum().backward()
    rows = embedding.word.table.weight.grad.abs().sum(dim=1).nonzero().flatten()
    assert rows.tolist() == [1, 4, 7]


def test_word_dropout_reads_words_as_unknown_in_training_only() -> None:
    embedding = build({"word": WORDS}, word_dropout=1.0)
    unknown = torch.where(LAYOUT.valid, 1, 0)
    hidden = embedding({"word": IDS}, LAYOUT)
    embedding.eval()
    assert hidden.equal(embedding({"word": unknown}, LAYOUT))
    assert not hidden.equal(embedding({"word": IDS}, LAYOUT))


def test_word_dropout_leaves_the_spelling_to_be_seen() -> None:
    embedding = build(SPELT, word_dropout=1.0)
    torch.nn.init.normal_(embedding.spelling["affixes"].table.weight)
    hidden = embedding(spelt(IDS), LAYOUT)
    embedding.eval()
    unknown = torch.where(LAYOUT.valid, 1, 0)
    assert hidden.equal(embedding({**spelt(IDS), "word": unknown}, LAYOUT))
    assert not hidden[0, 0].allclose(hidden[0, 2])
    for name in ("affixes", "characters"):
        other = {**spelt(IDS), "word": unknown, name: spelt(IDS + 1)[name]}
        assert not hidden.allclose(embedding(other, LAYOUT))


def test_word_dropout_hides_the_share_it_says() -> None:
    embedding = build({"word": WORDS}, word_dropout=0.2)
    ids = torch.full((100, 100), 4)
    vectors = embedding({"word": ids}, Layout.of(torch.full((100,), 100)))
    unknown = embedding.word.table.weight[1] * 32**0.5
    share = (vectors == unknown).all(dim=-1).float().mean()
    assert 0.18 < share < 0.22


def test_dropout_acts_in_training_only() -> None:
    embedding = build({"word": WORDS}, dropout=0.5)
    assert not embedding({"word": IDS}, LAYOUT).equal(embedding({"word": IDS}, LAYOUT))
    embedding.eval()
    assert embedding({"word": IDS}, LAYOUT).equal(embedding({"word": IDS}, LAYOUT))


def test_nothing_to_embed_is_refused() -> None:
    with pytest.raises(ValueError, match="data have nothing"):
        build({})
    with pytest.raises(ValueError, match="data have affixes"):
        build({"affixes": range(5)})
    with pytest.raises(ValueError, match=r"the data have word, colour, and this"):
        build({"word": WORDS, "colour": range(3)})
