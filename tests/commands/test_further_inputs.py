"""Features, word vectors and vocabulary files from training to prediction, as a user types them."""

import random
from pathlib import Path

import pytest

import seqtag
from seqtag.commands.front import run_command

WORDS = [f"{first}{rest}" for first in "bcdfg" for rest in ("ax", "ex", "ix", "ox")]
TINY = [
    "data=conll",
    "embedding/spelling=none",
    "embedding.dim=16",
    "embedding.dropout=0",
    "embedding.word_dropout=0.2",
    "encoder=pointwise",
    "encoder.dim=16",
    "encoder.dropout=0",
    "optimizer.lr=0.05",
    "trainer.max_epochs=8",
    "batching.max_tokens=100",
    "device=cpu",
]


def sentences(count: int, words: list[str], *, seed: int) -> list[list[tuple[str, ...]]]:
    """Words with a category, a number, and a label that all three determine."""
    drawn = random.Random(seed)
    made = []
    for _ in range(count):
        sentence = []
        for _ in range(4):
            word, kind, number = drawn.choice(words), drawn.choice("xy"), drawn.choice([10, 90])
            label = f"{'front' if word[1] in 'ae' else 'back'}-{kind}-{number > 50}"
            sentence.append((word, kind, str(number), label))
        made.append(sentence)
    return made


def write(path: Path, made: list[list[tuple[str, ...]]]) -> Path:
    text = "\n".join("".join("\t".join(line) + "\n" for line in sentence) for sentence in made)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_checkpoint_needs_no_file_to_predict_from_all_that_it_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    seen = [word for number, word in enumerate(WORDS) if number % 5]
    assert {word[1] for word in WORDS if word not in seen} == set("aeio")
    write(tmp_path / "train.conll", sentences(150, seen, seed=1))
    write(tmp_path / "dev.conll", sentences(20, seen, seed=2))
    # Names that Hydra would stumble at, relative to where the command is typed.
    vectors, vocabulary = Path("vectors, (1)=a.txt"), Path("symbols (1).txt")
    monkeypatch.chdir(tmp_path)
    vectors.write_text(
        "".join(f"{word} {1 if word[1] in 'ae' else -1} 0.5\n" for word in WORDS), encoding="utf-8"
    )
    vocabulary.write_text("".join(f"{word}\n" for word in seen), encoding="utf-8")
    given = [
        "data.train=train.conll",
        "data.dev=dev.conll",
        "data.features=[1]",
        "data.numeric_features=[2]",
        f"data.word_vectors={vectors}",
        f"data.vocabulary={vocabulary}",
        "data.normalization=NFKC",
        "runs=runs",
    ]
    assert run_command("train", [*given, *TINY]) == 0
    (run,) = (tmp_path / "runs" / "tagging-pointwise").iterdir()
    log = (run / "log.txt").read_text(encoding="utf-8")
    assert "data.vocabulary: 16 symbols; they cover 100% of the 600 training elements" in log
    assert "data.word_vectors: 20 words, 2 numbers each; of the 600 training elements 100%" in log

    vectors.unlink()
    vocabulary.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    # Words that only the vectors know, in letters that only the normalisation knows.
    unseen = sentences(20, [word for word in WORDS if word not in seen], seed=3)
    wide = [[(chr(0xFF21 + ord(w[0]) - 97) + w[1:], *rest) for w, *rest in s] for s in unseen]
    source = write(elsewhere / "new.conll", wide)
    capfd.readouterr()
    assert run_command("predict", [str(run), f"input={source}", "output=found.conll"]) == 0
    assert (elsewhere / "found.conll").read_text("utf-8") == source.read_text("utf-8")
    assert "80 of the 80 elements are unknown to the model" in capfd.readouterr().err

    predictor = seqtag.load(run, device="cpu")
    items = [
        {
            "tokens": [word for word, *_ in sentence],
            "features": {
                "1": [kind for _, kind, *_ in sentence],
                "2": [float(number) for _, _, number, _ in sentence],
            },
        }
        for sentence in wide
    ]
    answers = [output.value for output in predictor.predict(items)]
    assert answers == [[label for *_, label in sentence] for sentence in wide]

    with pytest.raises(ValueError, match=r"^item:1: no feature '1', which this model reads beside"):
        next(predictor.predict(["bax"]))
