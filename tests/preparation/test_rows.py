from pathlib import Path
from typing import Any

import pytest

from seqtag.datamodule import DataModule
from seqtag.training.fit import make_loop


def read(config: dict[str, Any]) -> DataModule:
    data = DataModule(config)
    data.read_all(test=False)
    return data


@pytest.mark.parametrize("streaming", ["false", "true"])
def test_further_pronunciations_count_though_the_first_word_has_one(
    small_config: Any, streaming: str
) -> None:
    text = "AA  A\nBB  B I\nBB(2)  B\n"
    config = small_config(
        "seq2seq", f"data.streaming={streaming}", files={"train": text, "dev": text}, data="cmudict"
    )
    data = read(config)
    assert data.splits["dev"].rows["references"][:] == [["A"], ["B I", "B"]]
    learnt = [row for batch in data.train_dataloader() for row in batch.target.value.tolist()]
    assert sorted([symbol for symbol in row if symbol] for row in learnt) == [[1], [2], [2, 3]]


def test_files_of_one_split_may_be_several(small_config: Any, tmp_path: Path) -> None:
    config = small_config("tagging")
    (tmp_path / "parts").mkdir()
    for name, text in (("b", "d\tD\n"), ("a", "c\tN\n\ne\tV\n")):
        (tmp_path / "parts" / f"{name}.conll").write_text(text, encoding="utf-8")
    for given in ("parts", "parts/*.conll"):
        config["data"]["train"] = str(tmp_path / given)
        rows = read(config).splits["train"].rows
        assert rows["tokens"][:] == [["c"], ["e"], ["d"]]
        assert [Path(file).name for file in rows["file"]] == ["a.conll", "a.conll", "b.conll"]
    (tmp_path / "parts" / "README.md").write_text("hello world\n", encoding="utf-8")
    config["data"]["train"] = str(tmp_path / "parts")
    with pytest.raises(ValueError, match=r"files of several kinds \(\.conll, \.md\); name those"):
        read(config)


def test_the_name_of_a_file_counts_with_its_content(small_config: Any, tmp_path: Path) -> None:
    config = small_config("tagging")
    config["data"]["train"] = str(tmp_path / "part*")
    for name in ("part1", "part2"):
        for old in tmp_path.glob("part*"):
            old.unlink()
        (tmp_path / name).write_text("the\tD\ncat\tN\nruns\tV\n", encoding="utf-8")
        (file,) = read(config).splits["train"].rows["file"]
        assert Path(file).name == name


def test_tokens_among_vectors_are_refused_by_line(small_config: Any, tmp_path: Path) -> None:
    config = small_config("classification", data="jsonl")
    (tmp_path / "parts").mkdir()
    for name, element in (("a", '"w"'), ("b", "[1.5]")):
        text = f'{{"text": [{element}], "label": "x"}}\n'
        (tmp_path / "parts" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    config["data"]["train"] = config["data"]["dev"] = str(tmp_path / "parts")
    with pytest.raises(ValueError, match=r"b\.jsonl:1: vectors, where the first row .* tokens"):
        read(config)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("tagging", ["data.features=[1]"]),
        ("tagging", ["data.features=[-1]"]),
        ("classification", ["data.further_input=[label]"]),
        ("regression", ["data.numeric_features=[1]"]),
    ],
)
def test_a_model_does_not_read_its_target(small_config: Any, task: str, words: list[str]) -> None:
    with pytest.raises(ValueError, match="must not read what it is to predict"):
        read(small_config(task, *words))


def test_repaired_span_labels_are_counted(small_config: Any) -> None:
    text = "a\tB-X\nb\tI-X\n\nc\tO\nd\tI-X\n"
    data = read(small_config("tagging", "data.scheme=BIOES", files={"train": text, "dev": text}))
    assert data.notes == [
        "span labels are converted from IOB2 to IOBES, and written back; 1 rows (1 elements) "
        "broke it and are repaired"
    ]


def test_windows_serve_where_the_encoder_has_a_limit(small_config: Any) -> None:
    text = "a\tX\n" * 30
    config = small_config(
        "tagging",
        "encoder=attention",
        "encoder.num_heads=2",
        "encoder.feedforward_dim=8",
        "encoder/position=learned",
        "encoder.position.max_positions=20",
        "data.max_length=10",
        files={"train": text, "dev": text},
    )
    make_loop(config, read(config))
