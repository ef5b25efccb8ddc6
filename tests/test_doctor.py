from seqtag.datamodule import DataModule
from seqtag.doctor import describe, examine


def told(config) -> list[str]:
    data = DataModule(config)
    data.read_all(test=True)
    return list(examine(data))


def test_every_split_is_counted(small_config) -> None:
    config = small_config("tagging")
    paths = config["data"]
    assert told(config) == [
        f"train: 4 rows, 9 elements, longest 3 ({paths['train']})",
        f"dev: 2 rows, 5 elements, longest 3, 20.0% of the elements unknown ({paths['dev']})",
        f"test: 1 rows, 3 elements, longest 3 ({paths['test']})",
        "3 labels: D N V",
    ]


def test_what_is_left_out_is_counted(small_config) -> None:
    files = {
        "train": '{"text": "a b", "label": "x"}\n{"text": "a", "label": null}\n'
        '{"text": "", "label": "x"}\n',
        "dev": '{"text": "a", "label": "x"}\n',
    }
    lines = told(small_config("classification", files=files, data="jsonl"))
    assert lines[0].startswith(
        "train: 2 rows, 3 elements, longest 2, 1 targets missing, 1 empty rows left out ("
    )
    assert "warning: the training data has one label only; there is nothing to learn" in lines


def test_a_dev_split_that_was_cut_off_is_said_first(small_config) -> None:
    lines = told(small_config("tagging", files={"train": "a\tX\n\nb\tY\n\nc\tX\n"}))
    assert lines[0].startswith("no data.dev: 1 of the 3 rows of ")


def test_the_scheme_of_spans_is_said(small_config) -> None:
    text = "a\tB-PER\nb\tI-PER\nc\tO\n"
    lines = told(small_config("tagging", files={"train": text * 2, "dev": text}))
    assert lines[2] == "3 labels, spans in the scheme IOB2: B-PER I-PER O"


def test_labels_that_training_lacks_are_listed(small_config) -> None:
    files = {"train": "a\tX\nb\tY\n", "dev": "a\tX\nb\tQ\nc\tP\n", "test": "a\tX\n"}
    lines = told(small_config("tagging", files=files))
    assert (
        "warning: dev has labels that training lacks, which always count as wrong: P (1), Q (1)"
        in lines
    )


def test_many_labels_are_counted_after_the_first_twenty(small_config) -> None:
    text = "".join(f"a\tL{n:02}\n" for n in range(25))
    names = " ".join(f"L{n:02}" for n in range(20))
    lines = told(small_config("tagging", files={"train": text, "dev": text}))
    assert lines[2] == f"25 labels: {names} and 5 more"


def test_a_row_that_looks_like_several_is_pointed_at(small_config) -> None:
    text = "a\tX\nb\tY\n\n" * 5
    together = "a\tX\nb\tY\n" * 51
    files = {"train": text + together, "dev": text}
    lines = told(small_config("tagging", files=files))
    (warning,) = [line for line in lines if "several rows" in line]
    assert warning.startswith("warning: ")
    assert "train.conll:16 is a row of 102 elements, where the median is 2" in warning


def test_numbers_have_no_labels_to_tell_of(small_config) -> None:
    config = small_config("regression")
    assert not any(" labels: " in line for line in told(config))


def test_a_split_is_described_in_one_line(small_config) -> None:
    data = DataModule(small_config("tagging"))
    data.read_all(test=True)
    assert "\n" not in describe(data.splits["train"])
