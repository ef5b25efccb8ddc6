"""What is found in small files; the names of tests are the promises."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from seqtag.datamodule import DataModule
from seqtag.survey.facts import Survey
from seqtag.survey.survey import group, survey

TRAIN = "the\tD\ndog\tN\n\na\tD\ncat\tN\n\nthe\tD\n\n"


@pytest.fixture
def surveyed(small_config: Callable[..., dict[str, Any]]) -> Callable[..., Survey]:
    """Survey the texts of splits; task, format and further settings as for ``small_config``."""

    def make(
        task: str = "tagging", *overrides: str, data: str | None = None, **files: str
    ) -> Survey:
        config = small_config(task, *overrides, files=files, data=data)
        module = DataModule(config)
        module.read_all(test=config["data"]["test"] is not None, strict=False)
        return survey(module)

    return make


def warnings(found: Survey) -> list[str]:
    return [message for problem in found.warnings for message in problem.messages]


def warning(found: Survey, part: str) -> str:
    """The one warning with these words."""
    (message,) = [message for message in warnings(found) if part in message]
    return message


def test_sound_data_gives_no_warning(surveyed) -> None:
    found = surveyed(train=TRAIN, dev="a\tD\ndog\tN\n")
    assert warnings(found) == []
    assert found.errors == []
    assert found.remarks == []


def test_everything_is_plain(surveyed) -> None:
    found = surveyed(train=TRAIN, dev="a\tD\ndog\tN\n", test="the\tD\n")
    plain = json.loads(json.dumps(found.plain()))
    train = plain["splits"]["train"]
    assert train["counts"]["elements"] == 5
    assert train["measured"]["tokens"]["types"] == 4
    assert train["measured"]["labels"]["counts"] == {"D": 3, "N": 2}
    assert train["measured"]["lengths"]["histogram"] == [[1, 1, 1], [2, 3, 2]]
    assert len(train["measured"]["files"]) == 1
    assert plain["splits"]["test"]["counts"]["rows"] == 1


def test_all_faults_of_all_files_are_found_in_one_pass(surveyed) -> None:
    found = surveyed(
        train="the\tD\ndog\n\na\tD\ncat\tN\tx\tN\nrat\n\nup\tD\n", dev="the\tD\n\na\n\n"
    )
    messages = [message for problem in found.errors for message in problem.messages]
    assert found.error_count == 4
    assert any("train.conll:2" in message for message in messages)
    assert any("train.conll:6" in message for message in messages)
    assert any("dev.conll:3" in message for message in messages)


def test_labels_that_have_nothing_in_common_are_an_error(surveyed) -> None:
    found = surveyed(train=TRAIN, dev="a\tX\n")
    (problem,) = found.errors
    assert "no label that training has: X here, D N there" in problem.messages[0]


def test_what_was_measured_is_kept(surveyed, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"train": TRAIN, "dev": "a\tD\ncat\tN\n\nx\tN\n", "test": "the\tD\nx\tN\n"}
    first = surveyed(**files)
    monkeypatch.setattr("seqtag.survey.survey.hash_rows", None)  # cannot be called
    assert surveyed(**files) == first
    with pytest.raises(TypeError):
        surveyed(**{**files, "dev": "b\tD\n"})


def test_labels_that_training_lacks_are_counted(surveyed) -> None:
    found = surveyed(train=TRAIN, dev="a\tD\ndog\tV\nx\tV\ny\tQ\n")
    assert warning(found, "training lacks") == (
        "dev has labels that training lacks, which always count as wrong: V (2), Q (1)"
    )
    labels = found.splits["dev"].measured.labels
    assert labels is not None
    assert labels.unseen == {"Q": 1, "V": 2}


def test_unseen_labels_are_counted_as_the_model_learns_them(surveyed) -> None:
    spans = "a\tB-X\nb\tI-X\nc\tO\n\na\tB-X\nb\tI-X\nc\tO\n"
    found = surveyed(
        "tagging", "data.scheme=IOBES", train=spans, dev="a\tB-X\nb\tO\n\nc\tB-X\nd\tI-X\n"
    )
    labels = found.splits["dev"].measured.labels
    assert labels is not None
    assert labels.unseen == {"S-X": 1}
    assert labels.counts == {"B-X": 2, "I-X": 1, "O": 1}
    assert (found.scheme, found.file_scheme) == ("IOBES", "IOB2")


def test_a_label_with_a_blank_or_control_character_is_shown_with_its_place(surveyed) -> None:
    rows = [
        {"text": t, "label": y} for t, y in [("a", "x"), ("b", "y\x07"), ("c", "x"), ("d", "y")]
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    found = surveyed("classification", data="jsonl", train=text, dev=text)
    message = next(m for m in warnings(found) if "control characters" in m and "train" in m)
    assert r"'y\x07'" in message
    assert "train.jsonl:2" in message


def test_labels_that_occur_once_are_shown(surveyed) -> None:
    found = surveyed(train=TRAIN + "up\tP\n", dev="a\tD\n")
    assert warning(found, "once").startswith("training has labels that occur once: P (")
    assert "train.conll:9 (element 1)" in warning(found, "once")


def test_a_label_column_of_words_is_suspected(surveyed) -> None:
    text = "".join(f"word\tlemma{n}\n" for n in range(30))
    found = surveyed(train=text, dev=text)
    assert "the labels look like words: 30 different ones for 30 targets" in warning(
        found, "look like words"
    )


def test_a_label_for_everything_leaves_nothing_to_learn(surveyed) -> None:
    found = surveyed(train="a\tX\n\nb\tX\n", dev="c\tX\n")
    assert warning(found, "one label only")


def test_a_file_that_is_one_row_is_suspected(surveyed) -> None:
    found = surveyed(train="a\tX\nb\tY\n" * 25, dev="a\tX\nb\tY\n")
    assert "one row of 50 elements" in warning(found, "one row")


def test_a_row_that_looks_like_several_is_suspected(surveyed) -> None:
    found = surveyed(train="a\tX\nb\tY\n\n" * 5 + "a\tX\nb\tY\n" * 51, dev="c\tX\nd\tY\n")
    assert "train.conll:16 is a row of 102 elements, where the median is 2" in warning(
        found, "several rows"
    )


@pytest.mark.parametrize(
    ("task", "meant"),
    [("classification", "column file"), ("seq2seq", "input_tokenizer=characters")],
)
def test_rows_of_one_word_each_are_suspected(surveyed, task: str, meant: str) -> None:
    text = "text\tvalue\n" + "".join(f"w{n}\t{n % 2}\n" for n in range(20))
    found = surveyed(task, "data.input=text", "data.target=value", data="tsv", train=text, dev=text)
    message = next(m for m in warnings(found) if "of one element" in m)
    assert message.startswith("20 of the 20 rows of train")
    assert meant in message


def test_constant_numbers_are_suspected(surveyed) -> None:
    found = surveyed(
        "regression",
        train="text\tvalue\na\t1\nb\t2\n",
        dev="text\tvalue\nc\t3\nd\t3\n",
    )
    assert warning(found, "all targets") == "all targets of dev are 3"
    (numbers,) = found.splits["train"].measured.numbers
    assert (numbers.mean, numbers.minimum, numbers.maximum) == (1.5, 1, 2)


def test_vectors_with_a_number_that_never_varies_are_suspected(surveyed) -> None:
    rows = [{"text": [[0.0, float(n)], [0.0, 1.0]], "label": "xy"[n % 2]} for n in range(4)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    found = surveyed("classification", data="jsonl", train=text, dev=text)
    assert warning(found, "varies") == "number 0 of the training vectors (from 0) never varies"


def test_text_of_another_encoding_is_suspected(surveyed) -> None:
    found = surveyed(train="cafÃ©\tX\nitâ€™s\tY\nÃ¼ber\tX\n\n", dev="b\tY\n")
    assert "3 elements of train look like UTF-8" in warning(found, "look like UTF")


def test_mixed_schemes_are_shown_with_their_places(surveyed) -> None:
    good = "a\tB-X\nb\tI-X\nc\tO\n\n" * 9
    found = surveyed(train=good + "a\tO\nb\tI-X\nc\tI-X\n", dev="a\tB-X\n")
    message = warning(found, "span scheme")
    assert message.startswith("the labels of train break the span scheme IOB2 once")
    assert "; rows that fit another one: IOB1 1, IOE1 1: " in message
    assert "train.conll:37 (element 2) I-X after O" in message


def test_a_dev_split_is_held_against_the_scheme_of_training(surveyed) -> None:
    found = surveyed(train="a\tB-X\nb\tI-X\nc\tO\n\n" * 3, dev="a\tI-X\nb\tI-X\nc\tO\n")
    assert "the labels of dev break the span scheme IOB2 once" in warning(found, "span scheme")


def test_tags_without_the_letter_of_a_span_are_not_read_as_spans(surveyed) -> None:
    assert surveyed(train=TRAIN, dev="a\tD\n").splits["train"].measured.spans is None


def test_duplicates_and_conflicts_are_counted(surveyed) -> None:
    text = "a\tX\nb\tY\n\na\tX\nb\tY\n\na\tY\nb\tY\n\n"
    found = surveyed(train=text, dev="c\tX\n")
    repeats = found.splits["train"].measured.repeats
    assert (repeats.groups, repeats.rows) == (1, 2)
    assert (repeats.conflicts, repeats.conflict_rows) == (1, 3)
    assert "train.conll:4 as line 1" in found.remarks[0]
    assert "train.conll:1 and line 7" in found.remarks[1]


def test_leakage_is_counted(surveyed) -> None:
    found = surveyed(
        train=TRAIN, dev="a\tD\ncat\tN\n\nx\tD\n\ny\tD\n\nz\tN\n", test="the\tN\n\nx\tD\n\nu\tN\n"
    )
    pairs = {(o.split, o.other): (o.rows, o.same_target) for o in found.overlaps}
    assert pairs == {("dev", "train"): (1, 1), ("test", "train"): (1, 0), ("test", "dev"): (1, 1)}
    assert "dev: rows with an input that train has too: 1 (25.0%)" in found.remarks[0]


def test_the_same_file_twice_is_suspected(surveyed) -> None:
    found = surveyed(train=TRAIN, dev=TRAIN)
    assert "dev and train are the same: " in warning(found, "the same")


def test_a_split_that_stands_in_training_is_suspected(surveyed) -> None:
    found = surveyed(train=TRAIN, dev="the\tD\ndog\tN\n")
    assert warning(found, "all 1 rows") == "all 1 rows of dev have an input that train has"


def test_a_dev_split_cut_from_a_file_is_not_that_file(surveyed) -> None:
    found = surveyed(train="".join(f"w{n}\t{'XY'[n % 2]}\n\n" for n in range(20)))
    assert warnings(found) == []
    found = surveyed(train="".join(f"w{n % 4}\t{'XY'[n % 2]}\n\n" for n in range(20)))
    assert found.overlaps
    assert not any("the same" in message for message in warnings(found))


@pytest.mark.parametrize(
    ("policy", "said"),
    [("split", "overlapping windows"), ("truncate", "2 of their elements are left out")],
)
def test_long_rows_are_counted_with_what_is_done(surveyed, policy: str, said: str) -> None:
    found = surveyed(
        "tagging",
        "data.max_length=2",
        f"data.too_long={policy}",
        train=TRAIN,
        dev="a\tD\ndog\tN\ndog\tN\ndog\tN\n",
    )
    (remark,) = [r for r in found.remarks if "more than 2 elements" in r]
    assert remark.startswith("dev: rows of more than 2 elements: 1; ")
    assert said in remark
    assert found.splits["dev"].long_rows.elements == 2


def test_missing_targets_are_no_labels(surveyed) -> None:
    found = surveyed(train="a\tX\nb\t_\n\nc\tY\n", dev="a\tX\n")
    labels = found.splits["train"].measured.labels
    assert labels is not None
    assert labels.counts == {"X": 1, "Y": 1}
    assert found.splits["train"].counts["missing"] == 1


def test_symbols_of_target_sequences_are_counted(surveyed) -> None:
    found = surveyed(
        "seq2seq", train="text\tvalue\na b\tX Y\nb a\tY Y\n", dev="text\tvalue\na a\tX Z\n"
    )
    train, dev = (found.splits[name].measured.labels for name in ("train", "dev"))
    assert train is not None
    assert dev is not None
    assert train.counts == {"Y": 3, "X": 1}
    assert dev.unseen == {"Z": 1}
    assert "target symbols that training lacks" in warning(found, "lacks")


def test_sets_of_labels_are_counted(surveyed) -> None:
    found = surveyed(
        "multi_label", train="text\tlabels\na\tx y\nb\tx\n", dev="text\tlabels\nc\tx y\n"
    )
    labels = found.splits["train"].measured.labels
    assert labels is not None
    assert labels.counts == {"x": 2, "y": 1}


def test_further_columns_are_measured(surveyed) -> None:
    found = surveyed(
        "tagging",
        "data.target=1",
        "data.features=[2]",
        "data.numeric_features=[3]",
        train="a\tX\tu\t1\nb\tY\tv\t3\n",
        dev="a\tX\tw\t2\n",
    )
    kinds, numbers = found.splits["train"].measured.features
    assert (kinds.column, kinds.categories, kinds.unknown) == ("2", 2, 0)
    assert numbers.numbers is not None
    assert (numbers.numbers.mean, numbers.numbers.maximum) == (2, 3)
    assert found.splits["dev"].measured.features[0].unknown == 1
    assert "dev: 1 values of the feature 2 are unknown to training" in found.remarks


def test_messages_of_a_kind_are_counted_together() -> None:
    messages = [f"a.tsv:{n}: {n} columns, where 'x{n}' has 2" for n in range(9)]
    first, other = group([messages[0], "b.tsv:1: not UTF-8", *messages[1:]])
    assert (first.count, first.messages) == (9, messages[:5])
    assert (other.count, other.messages) == (1, ["b.tsv:1: not UTF-8"])


def test_many_rows_that_contradict_another_are_suspected(surveyed) -> None:
    text = "text\tvalue\n" + "".join(f"a w{n // 2}\tx y{n}\n" for n in range(20))
    found = surveyed("seq2seq", train=text, dev="text\tvalue\nb b\tx y0\n")
    message = warning(found, "further column")
    assert message.startswith("100% of the rows of train have an input that stands in another")


def test_a_byte_order_mark_is_told_of_once(surveyed) -> None:
    found = surveyed(train=TRAIN + "a\ufeffb\tD\n", dev="a\tD\n")
    assert "train.conll:9: " in warning(found, "U+FEFF")
    rows = '{"text": "a b", "label": "x"}\n{"text": "c\\ufeff", "label": "y"}\n' * 2
    found = surveyed("classification", data="jsonl", train=rows, dev=rows.replace("a b", "d"))
    assert "2 elements of train hold a byte order mark" in "\n".join(warnings(found))


def test_a_document_that_is_there_twice_is_suspected(surveyed) -> None:
    document = "".join(f"w{n}\t{'XY'[n % 2]}\n\n" for n in range(6))
    found = surveyed(train=document + "a\tX\n\n" + document, dev="b\tX\n")
    message = warning(found, "there twice")
    assert message.startswith("6 rows of train, one behind the other, repeat others: ")
    assert "train.conll:15 as line 1;" in message
