import pytest

from seqtag.comparison.words import Evidence, say_p, verdict


def said(
    corrected: float,
    p_seeds: float | None = None,
    *,
    one_seed: bool = False,
    ahead: bool = True,
) -> str:
    evidence = Evidence(corrected=corrected, p_seeds=p_seeds, one_seed=one_seed)
    return verdict("cnn", evidence, ahead=ahead)


def test_a_verdict_without_reserve_needs_rows_and_seeds() -> None:
    assert said(0.003, 0.02) == "better than cnn (p = 0.003; over seeds p = 0.02)"
    assert said(0.003, 0.02, ahead=False) == "worse than cnn (p = 0.003; over seeds p = 0.02)"


def test_rows_alone_are_said_to_be_alone() -> None:
    assert said(0.003, 0.2) == (
        "better than cnn on these rows (p = 0.003), not told apart over seeds (p = 0.2)"
    )
    assert said(0.0001, None, one_seed=True) == (
        "better than cnn on these rows with these models (p < 0.001; one seed)"
    )
    assert said(0.01) == "better than cnn (p = 0.01; every seed scores the same)"


def test_seeds_alone_are_said_to_be_alone() -> None:
    assert said(0.2, 0.01) == (
        "not told apart from cnn on these rows (p = 0.2); better over seeds (p = 0.01)"
    )


def test_what_is_not_told_apart() -> None:
    assert said(0.41, 0.6) == "not told apart from cnn (p = 0.41; over seeds p = 0.6)"
    assert said(0.41, one_seed=True) == "not told apart from cnn (p = 0.41)"
    assert said(0.41, ahead=False) == "not told apart from cnn (p = 0.41)"


def test_without_a_score_there_is_no_verdict() -> None:
    assert said(float("nan")) == "not compared with cnn: a score is not defined"


@pytest.mark.parametrize(
    ("p", "spelled"),
    [
        (0.00099, "p < 0.001"),
        (0.001, "p = 0.001"),
        (0.0496, "p = 0.0496"),
        (0.04996, "p = 0.04996"),
        (0.05, "p = 0.05"),
        (0.0504, "p = 0.05"),
        (0.0123, "p = 0.012"),
        (0.414, "p = 0.41"),
        (1.0, "p = 1"),
    ],
)
def test_p_never_crosses_the_level_by_rounding(p: float, spelled: str) -> None:
    assert say_p(p) == spelled
