import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from seqtag.batch import END, Prediction, Target, TargetSpec
from seqtag.data.tokenizers import Characters, Whitespace
from seqtag.evaluation.translation import Bleu, Chrf

SYMBOLS = ("the", "cat", "sat", "on", "mat", "(a)", "it's", "3.5", "Ein", "ä", ".")
SPEC = TargetSpec(labels=SYMBOLS[:-2], unseen=SYMBOLS[-2:], sequence=True)


def bleu(spec=SPEC, tokenizer=None, **options):
    stated = {"tokenize": "13a", "lowercase": False, **options}
    return Bleu(spec, tokenizer=tokenizer or Whitespace(), **stated)


def chrf(spec=SPEC, tokenizer=None, **options):
    stated = {"char_order": 6, "word_order": 0, "beta": 2, "lowercase": False, **options}
    return Chrf(spec, tokenizer=tokenizer or Whitespace(), **stated)


def padded(rows):
    longest = max((len(row) for row in rows), default=0)
    return torch.tensor([[*row, *[END] * (longest - len(row))] for row in rows])


def batch(predicted, accepted):
    """Rows of ids; a row without an accepted sequence has no gold value."""
    first = [[*row[0], END] if row else [END] for row in accepted]
    value = padded(first)
    present = torch.zeros_like(value, dtype=torch.bool)
    for number, row in enumerate(first):
        present[number, : len(row)] = bool(accepted[number])
    several = padded([[i for ids in row for i in (*ids, END)] for row in accepted])
    alone = all(len(row) < 2 for row in accepted)
    target = Target(value, present, None if alone else several)
    return Prediction(padded([[*row, END] for row in predicted])), target


def texts(rows, join=" ".join):
    return [join(SYMBOLS[symbol - 1] for symbol in row) for row in rows]


def total(metric, prediction, target):
    return metric.row_statistics(prediction, target).sum(dim=0)


def expected(scorer, predicted, accepted):
    """sacrebleu's score of all rows that have gold, and its signature."""
    rows = [(row, gold) for row, gold in zip(predicted, accepted, strict=True) if gold]
    most = max(len(gold) for _, gold in rows)
    streams = [
        [texts([gold[place]])[0] if place < len(gold) else None for _, gold in rows]
        for place in range(most)
    ]
    score = scorer.corpus_score(texts([row for row, _ in rows]), streams).score
    return score, str(scorer.get_signature())


def test_bleu_by_hand():
    # "the cat sat on mat" for "the cat sat on the mat": 5/5, 3/4, 2/3, 1/2, and too short.
    given_ = batch([[1, 2, 3, 4, 5]], [[[1, 2, 3, 4, 1, 5]]])
    precision = (1 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu().score(total(bleu(), *given_)) == pytest.approx(
        100 * precision * math.exp(1 - 6 / 5)
    )


def test_what_is_equal_scores_a_hundred():
    given_ = batch([[1, 2, 3, 4, 5, 6]], [[[1, 2, 3, 4, 5, 6]]])
    for metric in (bleu(), chrf()):
        assert metric.score(total(metric, *given_)) == pytest.approx(100)


def test_sums_need_not_be_whole():
    # Both are ratios of the counts, where no order is without a right n-gram.
    given_ = batch([[1, 2, 3, 4, 5]], [[[1, 2, 3, 4, 1, 5]]])
    for metric in (bleu(), chrf(word_order=2)):
        whole = total(metric, *given_)
        assert metric.score(0.9 * whole) == pytest.approx(metric.score(whole))


def test_many_sums_score_as_each_by_itself():
    rows = [[1, 2, 3, 4, 5], [6], [7, 8, 9, 1], [2, 2, 3, 4, 1]]
    given_ = batch(rows, [[[1, 2, 3, 4]], [[5, 1, 2, 3, 4]], [], [[2, 2, 3, 4, 1], [1]]])
    for metric, scorer in ((bleu(), BLEU()), (chrf(), CHRF())):
        sums = metric.row_statistics(*given_).cumsum(dim=0)
        sums = torch.cat([sums, metric.row_statistics(*given_), torch.zeros(1, metric.size)])
        counts = sums[:, :-3].int().tolist()
        theirs = [scorer._compute_score_from_stats(counted).score for counted in counts]
        found = metric.scores(sums).tolist()
        nothing = [number for number, score in enumerate(found) if math.isnan(score)]
        assert nothing == [6, 8]
        for number in set(range(9)) - {6, 8}:
            assert found[number] == pytest.approx(theirs[number])


def test_undefined_where_there_is_no_gold():
    prediction, target = batch([[1, 2], [3]], [[], []])
    for metric in (bleu(), chrf()):
        statistics = metric.row_statistics(prediction, target)
        assert statistics.shape == (2, metric.size)
        assert not statistics.any()
        assert math.isnan(metric.score(statistics.sum(dim=0)))


def test_characters_are_joined_to_words():
    letters = TargetSpec(labels=("a", "b", " "), sequence=True)
    rows = batch([[1, 1, 3, 2]], [[[1, 1, 3, 1]]])
    metric = chrf(letters, Characters())
    reference = CHRF().corpus_score(["aa b"], [["aa a"]]).score
    assert metric.score(total(metric, *rows)) == pytest.approx(reference)


def test_the_signature_tells_settings_and_references():
    one = batch([[1]], [[[1]]])
    two = batch([[1], [2]], [[[1], [2]], [[1], [3]]])
    varying = batch([[1], [2]], [[[1], [2]], [[1]]])
    metric = bleu(lowercase=True)
    for rows, count in ((one, "1"), (two, "2"), (varying, "var")):
        signature = metric.signature(total(metric, *rows))
        assert f"nrefs:{count}|case:lc|eff:no|tok:13a|smooth:exp|version:" in signature
    assert "nc:6|nw:2" in chrf(word_order=2).signature(total(chrf(word_order=2), *one))


def test_settings_that_sacrebleu_lacks_are_refused():
    with pytest.raises(ValueError, match="tokenize of BLEU is 'words'; sacrebleu has none, zh"):
        bleu(tokenize="words")
    with pytest.raises(ValueError, match="must be at least 1, 0 and 1"):
        chrf(char_order=0)


@pytest.mark.parametrize("make", [bleu, chrf])
def test_can_be_sent_to_another_process(make):
    rows = batch([[1, 2]], [[[1, 2, 3]]])
    sent = pickle.loads(pickle.dumps(make()))
    assert torch.equal(sent.row_statistics(*rows), make().row_statistics(*rows))


SENTENCE = st.lists(st.integers(1, len(SYMBOLS)), max_size=9)
KNOWN = st.lists(st.integers(1, len(SYMBOLS) - 2), max_size=9)
ROWS = st.lists(
    st.tuples(KNOWN, st.lists(SENTENCE.filter(bool), max_size=3)), min_size=1, max_size=6
).filter(lambda rows: any(gold for _, gold in rows))


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_equal_to_sacrebleu(rows):
    predicted, accepted = [row for row, _ in rows], [gold for _, gold in rows]
    for metric, scorer in (
        (bleu(), BLEU()),
        (bleu(tokenize="char", lowercase=True), BLEU(tokenize="char", lowercase=True)),
        (chrf(), CHRF()),
        (chrf(word_order=2, char_order=4), CHRF(word_order=2, char_order=4)),
    ):
        score, signature = expected(scorer, predicted, accepted)
        whole = total(metric, *batch(predicted, accepted))
        assert metric.score(whole) == pytest.approx(score, rel=1e-12)
        assert metric.signature(whole) == signature
        # Row by row and all at once.
        parts = [
            metric.row_statistics(*batch([row], [gold]))[0]
            for row, gold in zip(predicted, accepted, strict=True)
        ]
        assert torch.equal(torch.stack(parts).sum(dim=0), whole)
