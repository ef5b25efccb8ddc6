"""The picture of attention in a comparison: whose, of which sentence, and why there is none."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from seqtag.checkpoint import BEST
from seqtag.comparison.comparison import Comparison, Disagreement, Example
from seqtag.report.attention_maps import AttentionMap
from seqtag.report.comparison import attention
from seqtag.report.comparison.attention import AttentionPicture, NoPicture, draw_attention

from .made_comparison import made

TINY = (
    "encoder=attention",
    "encoder.dim=8",
    "encoder.num_heads=2",
    "encoder.num_kv_heads=1",
    "encoder.feedforward_dim=8",
)
LONG = ["a"] * 26


@pytest.fixture
def make(small_config: Callable[..., Any], save_run: Callable[..., Path]) -> Callable[..., Path]:
    """Call it with a name, lines of predictions, and a task with its overrides."""

    def save(
        name: str, sentences: Sequence[list[str]], task: str = "tagging", *overrides: str
    ) -> Path:
        run = save_run(small_config(task, *overrides), name)
        lines = [
            {"tokens": tokens, "file": "test", "line": number, "gold": ["N"], "predicted": ["V"]}
            for number, tokens in enumerate(sentences, 1)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (run / "predictions.jsonl").write_text(text)
        return run

    return save


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[AttentionMap]:
    """The maps that were drawn."""
    found: list[AttentionMap] = []
    draw = attention._draw

    def keep(one: Any, chart: AttentionMap, sentence: Any) -> AttentionPicture:
        found.append(chart)
        return draw(one, chart, sentence)

    monkeypatch.setattr(attention, "_draw", keep)
    return found


def compare(*runs: Path | None, examples: Sequence[str] = ()) -> Comparison:
    comparison = made(len(runs), seeds=1)
    for one, run in zip(comparison.contenders, runs, strict=False):
        one.runs = [] if run is None else [str(run)]
    comparison.disagreements = [
        Disagreement(
            first="attention",
            second="cnn",
            first_better=1,
            second_better=0,
            alike=0,
            for_first=[
                Example(
                    row=0, place="", input=text, gold="", first="", second="", scores=(1.0, 0.0)
                )
                for text in examples
            ],
            for_second=[],
        )
    ]
    return comparison


def test_the_sentence_is_the_first_short_example(
    make: Callable[..., Path], drawn: list[AttentionMap]
) -> None:
    sentences = [["a", "b"], LONG, ["the", "dog", "runs"], ["the", "cat", "sat", "on", "a"]]
    run = make("run", sentences, "tagging", *TINY)
    # The first is too long for a picture; a tokenizer may have joined the second with nothing.
    found = draw_attention(compare(run, examples=[" ".join(LONG), "thedogruns"]), device="cpu")
    assert isinstance(found, AttentionPicture)
    assert found.png.startswith(b"\x89PNG")
    assert found.title == "What attention attends to"
    assert "seed 1" in found.caption
    assert "one of the examples above: gold N; predicted V" in found.caption
    (chart,) = drawn
    assert chart.keys == chart.queries == ["the", "dog", "runs"]
    assert [layer.weights.shape for layer in chart.layers] == [(2, 3, 3)]


def test_an_example_that_was_cut_is_known_by_its_beginning(
    make: Callable[..., Path], drawn: list[AttentionMap]
) -> None:
    words = ["antidisestablishmentarianism", "dog", "runs"]
    run = make("run", [["the", "dog", "sat", "on"], words], "tagging", *TINY)
    for cut in ("antidisestablishmentarianism d...", "antidisestablishmentarianism…"):
        draw_attention(compare(run, examples=[cut]), device="cpu")
        assert drawn.pop().keys == words


def test_without_a_short_example_any_sentence_of_a_fair_length_does(
    make: Callable[..., Path], drawn: list[AttentionMap]
) -> None:
    run = make("run", [LONG, [], ["a"], ["the", "dog", "sat", "here"], ["a"] * 5], "tagging", *TINY)
    found = draw_attention(compare(run, examples=["a b c"]), device="cpu")
    assert isinstance(found, AttentionPicture)
    assert "a short one of the split" in found.caption
    assert drawn[0].keys == ["the", "dog", "sat", "here"]


def test_the_best_contender_that_attends_is_drawn(
    make: Callable[..., Path], drawn: list[AttentionMap]
) -> None:
    window = make("window", [["the", "dog"]])
    attention = make("attention", [["the", "dog"]], "tagging", *TINY)
    found = draw_attention(compare(window, None, attention), device="cpu")
    assert isinstance(found, AttentionPicture)
    assert found.title == "What lstm attends to"
    assert draw_attention(compare(window), device="cpu") == NoPicture("no contender attends")


def test_symbols_of_a_new_sequence_are_no_obstacle(
    make: Callable[..., Path], drawn: list[AttentionMap]
) -> None:
    run = make("run", [["one", "two"]], "seq2seq", *TINY)
    assert isinstance(draw_attention(compare(run), device="cpu"), AttentionPicture)
    assert drawn[0].part == "encoder self-attention"


def test_whatever_is_wrong_with_a_run_is_a_reason(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make("run", [["the", "dog"]], "tagging", *TINY)
    comparison = compare(run)

    def reason() -> str:
        found = draw_attention(comparison, device="cpu")
        assert isinstance(found, NoPicture)
        return found.reason

    file = run / "predictions.jsonl"
    for content in ('{"tokens": ["the"', '{"gold": 1}\n', "[]\n", "\xff", '{"tokens": 5}\n', ""):
        file.write_bytes(content.encode("latin-1"))
        assert reason().startswith("attention: "), content
    file.unlink()
    assert "predictions.jsonl" in reason()
    (run / BEST).write_bytes(b"no checkpoint")
    assert "cannot be read as a checkpoint" in reason()
    (run / BEST).unlink()
    assert "is not a run directory" in reason()
    comparison.contenders[0].runs = [str(tmp_path / "gone")]
    assert "no run directory" in reason()
