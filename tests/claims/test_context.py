import pytest
import torch

from seqtag.claims.context import ALONE, NOUN, VERB, Context, sentences
from seqtag.claims.job import make_claim
from seqtag.claims.training import FIRST_SYMBOL
from seqtag.configuration import compose


def context(*overrides: str) -> Context:
    node = compose("claims", ["claim=context", *overrides])["claim"]
    claim = make_claim({**node, "device": "cpu"})
    assert isinstance(claim, Context)
    return claim


def rows_of(answers: dict[str, float], accuracy: float = 0.99) -> list[dict]:
    return [
        {
            "seed": seed,
            "encoder": name,
            "answers_per_word": value,
            "accuracy": 0.5 if name == ALONE else accuracy,
            "parameters": 1000,
        }
        for seed in (1, 2)
        for name, value in answers.items()
    ]


def test_sentences_are_three_clauses_whose_verbs_and_nouns_are_the_same_words():
    batch = sentences(torch.Generator().manual_seed(0), 300)
    clause = "PWD(A){0,2}W"
    kinds = "".join(["P" * 4, "D" * 3, "A" * 6, "W" * 10])
    words = {VERB: set(), NOUN: set()}
    for row in range(300):
        length = int(batch.layout.lengths[row])
        symbols = (batch.inputs["word"][row] - FIRST_SYMBOL)[:length].tolist()
        spelt = "".join(kinds[symbol] for symbol in symbols)
        parts = [part for part in spelt.split("P") if part]
        assert len(parts) == 3, clause
        assert all(part in ("WDW", "WDAW", "WDAAW") for part in parts), clause
        asked = [i for i, kind in enumerate(spelt) if kind == "W"]
        present = batch.target.present[row].nonzero().squeeze(1).tolist()
        assert present == asked
        for place, label in zip(asked, [VERB, NOUN] * 3, strict=True):
            assert int(batch.target.value[row, place]) == label
            words[label].add(symbols[place])
    assert words[VERB] == words[NOUN] == set(range(13, 23))
    assert set(batch.layout.lengths.tolist()) == set(range(12, 19))


def test_a_run_gives_a_row_per_encoder_and_one_answer_to_what_sees_the_word_alone():
    claim = context("claim.steps=[1,1]", "claim.rows=2", "claim.tests=50", "claim.parameters=3k")
    claim.encoders = {name: claim.encoders[name] for name in (ALONE, "lstm")}
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == len(claim.encoders)
    assert {row["encoder"]: row["answers_per_word"] for row in rows}[ALONE] == 1
    assert all(row["parameters"] <= 3000 for row in rows)


@pytest.mark.parametrize(
    ("answers", "accuracy", "held"),
    [
        ({ALONE: 1.0, "lstm": 2.0, "attention": 1.97}, 0.99, True),
        ({ALONE: 1.1, "lstm": 2.0, "attention": 2.0}, 0.99, False),  # sees context after all
        ({ALONE: 1.0, "lstm": 1.5, "attention": 2.0}, 0.99, False),  # one learnt nothing of it
        ({ALONE: 1.0, "lstm": 2.0, "attention": 2.0}, 0.6, False),  # two answers, but at random
    ],
)
def test_the_verdict_follows_the_rows(answers, accuracy, held):
    verdict = context().verdict(rows_of(answers, accuracy))
    assert verdict.held == held
    assert f"pointwise {answers[ALONE]:.2f}" in verdict.line


def test_a_comparison_needs_the_encoder_that_sees_words_alone():
    with pytest.raises(ValueError, match=r"claim.encoders has .*; it must have pointwise"):
        context("~claim.encoders.pointwise")
