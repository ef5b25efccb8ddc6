"""A comparison as the tests of difference would give it, of any number of contenders."""

from __future__ import annotations

import math
import random
from itertools import combinations, pairwise

from seqtag.comparison.comparison import (
    Comparison,
    Contender,
    Curve,
    Disagreement,
    Example,
    Pair,
    Score,
)

EVIL = "<script>alert(1)</script>|`x`_a_ \"q\" 'p' &amp; \x1b[31m\u202eevil\u200b\r\n$x^2$ \udc80"
ARABIC = "ذهب الولد إلى المدرسة في الصباح الباكر"
CHINESE = "我爱北京天安门" * 20
ENDLESS = "pneumono" * 60


def made(
    count: int = 5, *, seeds: int = 5, floors: bool = True, evil: bool = False, folds: bool = False
) -> Comparison:
    """A comparison of so many contenders, each better than the next, and two floors."""
    chance = random.Random(0)
    names = ["attention", "cnn", "lstm", "window", "pointwise"]
    names += [f"attention dim={16 * n} layers={1 + n % 6}" for n in range(6, 60)]
    if evil:
        names[1] = EVIL
        names[2] = "نموذج $5 model_with_a_name_that_does_not_end_before_the_column_does"
    contenders = [contender(names[n], n, seeds, chance, folds) for n in range(count)]
    found = list(combinations(contenders, 2))
    pairs = [pair(first, second, seeds) for first, second in found]
    for one in contenders:
        one.words = words(one.name, pairs)
    if floors:
        contenders += [
            floor("floor", "the most frequent label everywhere", 0.1307),
            floor("floor_word", "each word's most frequent label in training", 0.86),
        ]
    runs = [one for one in contenders if one.floor is None]
    near = [*pairwise(runs), *([(runs[0], runs[-1])] if count > 2 else [])]
    return Comparison(
        split="test",
        metric="accuracy",
        higher_is_better=True,
        rows=2077,
        resamples=2000,
        contenders=contenders,
        pairs=pairs,
        disagreements=[disagreement(first, second, evil) for first, second in near],
        notes=[
            "the runs had different budgets: trainer.max_epochs is 10 or 20",
            f"a note of {EVIL if evil else 'seqtag'}",
        ],
        skipped={"runs/tagging-lstm/2026-01-01_10-00-00-abcdef": "not finished: no metrics.json"},
        environment={
            "python": "3.11.2",
            "packages": {"torch": "2.13.0", "numpy": "2.4"},
            "data": {"test": {"path": EVIL if evil else "data/test.conllu", "rows": 2077}},
        },
    )


def contender(name: str, n: int, seeds: int, chance: random.Random, folds: bool) -> Contender:
    mean = 0.93 - 0.004 * n
    values = [mean + chance.gauss(0, 0.002) for _ in range(seeds)]
    curves = [
        Curve(
            seed=seed,
            fold=None,
            epochs=list(range(1, 11 + seed)),
            loss=[None if epoch == 2 else 1 / epoch for epoch in range(1, 11 + seed)],
            dev=[
                None if epoch == 3 and seed == 2 else mean - 0.3 * math.exp(-epoch / 2) / seed
                for epoch in range(1, 11 + seed)
            ],
        )
        for seed in range(1, seeds + 1)
    ]
    spread = None
    if seeds > 1:
        middle = sum(values) / seeds
        spread = math.sqrt(sum((value - middle) ** 2 for value in values) / (seeds - 1))
    return Contender(
        name=name,
        floor=None,
        settings={
            "encoder._target_": f"seqtag.nn.encoders.kind_{n}.Encoder",
            "encoder.dim": 16 * (n + 1),
            "encoder.num_layers": 1 + n % 4,
            **({"encoder.position": None, "encoder.gated": True} if n % 2 else {}),
        },
        seeds=list(range(1, seeds + 1)),
        folds=5 if folds else None,
        scores={
            "accuracy": Score(
                mean=mean, low=mean - 0.006, high=mean + 0.005, spread=spread, seeds=values
            ),
            "macro_f1": Score(
                mean=mean - 0.1,
                low=mean - 0.13,
                high=mean - 0.08,
                spread=spread,
                seeds=[value - 0.1 for value in values],
            ),
            "rmse": Score(mean=23.456 + n, low=20.0, high=30.0, spread=spread, seeds=values),
        },
        dev={"accuracy": mean + 0.01},
        parameters=12_345 * (n + 1) ** 2,
        seconds=12.3 * (60 - n),
        tokens_per_second=34_567.8 / (n + 1),
        best_epochs=[3 + seed for seed in range(seeds)],
        runs=[f"runs/tagging-{n}/2026-12-01_00-00-00-{seed:06x}" for seed in range(seeds)],
        curves=curves,
    )


def floor(name: str, meaning: str, mean: float) -> Contender:
    score = Score(mean=mean, low=mean - 0.01, high=mean + 0.01, spread=None, seeds=[mean])
    return Contender(
        name=name,
        floor=meaning,
        settings={},
        seeds=[],
        folds=None,
        scores={"accuracy": score},
    )


def pair(first: Contender, second: Contender, seeds: int) -> Pair:
    difference = first.scores["accuracy"].mean - second.scores["accuracy"].mean
    p = math.exp(-difference * 400)
    corrected = min(1.0, 3 * p)
    told = corrected < 0.05
    return Pair(
        first=first.name,
        second=second.name,
        difference=difference,
        low=difference - 0.005,
        high=difference + 0.005,
        p=p,
        corrected=corrected,
        p_seeds=(0.2 if difference < 0.013 else 0.003) if seeds > 1 else None,
        test="approximate randomisation",
        words=f"better than {second.name}, p = {corrected:.3f}"
        if told
        else f"not told apart from {second.name}, p = {corrected:.3f}",
    )


def words(name: str, pairs: list[Pair]) -> list[str]:
    return [
        one.words
        if one.first == name
        else one.words.replace("better", "worse", 1).replace(one.second, one.first)
        for one in pairs
        if name in (one.first, one.second)
    ]


def disagreement(first: Contender, second: Contender, evil: bool) -> Disagreement:
    examples = [
        Example(
            row=7,
            place="test.tsv:7",
            input="I saw the saw",
            gold="PRON VERB DET NOUN",
            first="PRON VERB DET NOUN",
            second="PRON NOUN DET VERB",
            scores=(1.0, 0.5),
        ),
        Example(
            row=8,
            place="test.tsv:8",
            input=ARABIC,
            gold="a b",
            first="a b",
            second="a",
            scores=(1.0, 0.0),
        ),
        Example(
            row=9,
            place="test.tsv:9",
            input=CHINESE,
            gold=CHINESE,
            first="x",
            second="y",
            scores=(0.5, 0.25),
        ),
        Example(
            row=10,
            place="test.tsv:10",
            input=ENDLESS,
            gold="yes",
            first="yes",
            second="no",
            scores=(1.0, 0.0),
        ),
    ]
    if evil:
        examples.append(
            Example(
                row=11,
                place="test.tsv:11",
                input=EVIL,
                gold=EVIL,
                first=EVIL,
                second="",
                scores=(1.0, math.nan),
            )
        )
    return Disagreement(
        first=first.name,
        second=second.name,
        first_better=120,
        second_better=1,
        alike=1956,
        for_first=examples,
        for_second=examples[:1],
    )
