"""What holds for every reader and any bytes."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers.formats import (
    Told,
    cmudict,
    conll,
    conllu,
    csv,
    jsonl,
    labelled,
    pairs,
    parallel,
    raw,
    read,
    reported,
    tsv,
    word,
    write,
    write_gold,
)
from seqtag.batch import Output, Row
from seqtag.data.readers.files import GZIP
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Characters, Whitespace

READERS = {
    "conllu": conllu(),
    "conllu misc": conllu(input=1, target="MISC"),
    "conll": conll(),
    "conll tab": conll(separator="tab", target=[1, 2]),
    "conll vectors": conll(input=[0, 1], target=2),
    "tsv": tsv(),
    "tsv header": tsv(header=True),
    "tsv per element": tsv(target_tokenizer=Whitespace()),
    "tsv several": tsv(input=[0], target=[1, 2], target_tokenizer=Whitespace()),
    "csv": csv(),
    "csv without header": csv(header=False, input=0, target=1),
    "csv per element": csv(
        header=False,
        input=0,
        target=1,
        input_tokenizer=Characters(),
        target_tokenizer=Characters(),
    ),
    "conllu features": conllu(features=["XPOS"], numeric_features=["HEAD"]),
    "conll mask": conll(target=1, mask=2, target_tokenizer=Whitespace()),
    "conll features": conll(target=2, features=[1], numeric_features=[0]),
    "tsv features": tsv(features=[2], numeric_features=[-1]),
    "tsv mask": tsv(input_tokenizer=Characters(), target_tokenizer=Characters(), mask=2),
    "tsv references": tsv(sequence_tokenizer=Whitespace(), references=[2], further_input=[2]),
    "labelled": labelled(),
    "labelled per element": labelled(
        input=0, target=1, input_tokenizer=Characters(), target_tokenizer=Whitespace()
    ),
    "cmudict": cmudict(),
    "jsonl": jsonl(),
    "jsonl per element": jsonl(target_tokenizer=Whitespace()),
    "jsonl several": jsonl(target=["label", "o"]),
}

# Bytes that mean something to a format, so that many files are nearly right.
PIECES = [
    *(b"\n", b"\n", b"\r\n", b"\t", b"\t", b" ", b",", b'"', b'"', b"#", b"_", b"1", b"2", b"1-2"),
    *(b"1.1", b"a", b"b", b"text,label\n", b"text\tlabel\n", b"-DOCSTART-", b"\xef\xbb\xbf"),
    *("\u0085 \u2028 \u00a0 é".encode(), b"\x0c", b"\r", b"\x00", b"\xff", b"nan", b"1e999"),
    *(b"{", b"}", b"[", b"]", b":", b'{"text": "a b", "label": "x"}', b'"text": [', b'"label": '),
    *(b'{"text":["a"],"label":[', b'{"text": [[1, 2]], "label": ', b"null", b"true", b"\\ud800"),
    *(word(1, "a").encode(), word(2, "b").encode(), word("1-2", "ab").encode()),
    *(b"a(2) B # c\n", b"a A\n", b"b\n", b"#", b";;; c\n", b"(2)", b"101\t", b"1\t0\t1\n"),
    *(b"a\tb\n", b"a b\tX Y\n", b"1\t2\t3\n", b"1 2 3\n", b"a,b\n", b'"a\nb",c\n'),
]
FILES = (
    st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join) | st.binary(max_size=40)
).filter(lambda data: not data.startswith(GZIP))


unhurried = settings(deadline=None)  # a busy machine is no failure
brief = settings(unhurried, max_examples=50)  # where another property runs over the same files


def outcome(reader: Reader, data: bytes) -> tuple[list[Row], str]:
    """The rows of a file, or none and why it cannot be read."""
    try:
        return read(reader, data), ""
    except ValueError as error:
        return [], str(error)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
@unhurried
@given(data=FILES)
def test_any_bytes_are_rows_that_give_the_file_back_or_a_value_error(
    reader: Reader, data: bytes
) -> None:
    rows, message = outcome(reader, data)
    assert message.startswith("f:") or not message
    assert "\n" not in message
    if rows:
        assert write_gold(reader, data) == data


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
@brief
@given(data=FILES)
def test_a_report_is_told_first_what_is_raised_without_one(reader: Reader, data: bytes) -> None:
    rows, message = outcome(reader, data)
    all_rows, told = reported(reader, data)
    assert told.errors[:1] == ([message] if message else [])
    if not message:
        assert all_rows == rows
    assert all(text.startswith("f:") and "\n" not in text for text in told.errors + told.warnings)
    # A line has one fault at most; the rest of what is said of it are warnings.
    places = [text.split(": ")[0] for text in told.errors]
    assert len(set(places)) == len(places)


@brief
@given(source=FILES, target=FILES)
def test_any_two_files_are_parallel_text_or_a_value_error(source: bytes, target: bytes) -> None:
    reader = parallel()
    with TemporaryDirectory() as folder:
        prefix = f"{folder}/f"
        Path(f"{prefix}.de").write_bytes(source)
        Path(f"{prefix}.en").write_bytes(target)
        told = Told()
        with reader.reporting(told):
            rows = list(reader.read_all(prefix))
        if told.errors:
            with pytest.raises(ValueError, match=r"f\.(de|en):") as error:
                list(reader.read_all(prefix))
            assert str(error.value) == told.errors[0]
        elif rows:
            written = "".join(reader.write(row, Output(row["target"])) for row in rows)
            assert written.encode() == target


@unhurried
@given(data=FILES)
def test_any_bytes_are_raw_lines_or_a_value_error(data: bytes) -> None:
    rows, message = outcome(raw(), data)
    if not message:
        text = data.decode().removeprefix("\ufeff")
        assert len(rows) == text.count("\n") + (text[-1:] not in ("", "\n"))


WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters=" \t\r\n"), min_size=1, max_size=5
).filter(lambda text: text not in ("_", "-DOCSTART-", "\ufeff") and text[0] != "\ufeff")
SENTENCES = st.lists(
    st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), min_size=1, max_size=4
)
Sentences = list[list[tuple[str, str, str]]]


def check_reading_back(reader: Reader, data: bytes, sentences: Sentences) -> None:
    """Predict the third word of each triple over the second, and read it back."""
    predictions = [[label for _, _, label in sentence] for sentence in sentences]
    expected = [
        ([form for form, _, _ in sentence], labels)
        for sentence, labels in zip(sentences, predictions, strict=True)
    ]
    assert pairs(reader, write(reader, data, predictions).encode()) == expected


@unhurried
@given(sentences=SENTENCES)
def test_conllu_predictions_are_read_back(sentences: Sentences) -> None:
    texts = [
        "".join(word(n, form, gold) for n, (form, gold, _) in enumerate(sentence, 1))
        for sentence in sentences
    ]
    check_reading_back(conllu(), "\n".join(texts).encode(), sentences)


@pytest.mark.parametrize("separator", ["\t", " "])
@unhurried
@given(sentences=SENTENCES)
def test_conll_predictions_are_read_back(separator: str, sentences: Sentences) -> None:
    texts = [
        "".join(f"{form}{separator}{gold}\n" for form, gold, _ in sentence)
        for sentence in sentences
    ]
    check_reading_back(conll(), "\n".join(texts).encode(), sentences)


@pytest.mark.parametrize("target", [False, True])
@unhurried
@given(sentences=SENTENCES)
def test_tsv_predictions_are_read_back(target: bool, sentences: Sentences) -> None:
    reader = tsv(target_tokenizer=Whitespace(), read_target=target, max_line_bytes=10_000)
    texts = []
    for sentence in sentences:
        forms, golds, _ = zip(*sentence, strict=True)
        texts.append(" ".join(forms) + ("\t" + " ".join(golds) if target else "") + "\n")
    predictions = [[label for _, _, label in sentence] for sentence in sentences]
    written = write(reader, "".join(texts).encode(), predictions)
    forms_and_labels = [
        ([form for form, _, _ in sentence], labels)
        for sentence, labels in zip(sentences, predictions, strict=True)
    ]
    again = tsv(target_tokenizer=Whitespace(), max_line_bytes=10_000)
    assert pairs(again, written.encode()) == forms_and_labels


@unhurried
@given(sentences=SENTENCES)
def test_predicted_labels_are_read_back_before_their_texts(sentences: Sentences) -> None:
    triples = [triple for sentence in sentences for triple in sentence]
    data = "".join(f"{gold} {form} {form}\n" for form, gold, _ in triples)
    labels = [label for _, _, label in triples]
    written = write(labelled(), data.encode(), labels)
    expected = [([form, form], label) for form, _, label in triples]
    assert pairs(labelled(), written.encode()) == expected


SYMBOLS = WORDS.filter(lambda text: "#" not in text)


@unhurried
@given(
    entries=st.lists(
        st.tuples(
            WORDS.filter(lambda text: not text.startswith(("##", ";;;")) and text[-1] != ")"),
            st.lists(SYMBOLS, min_size=1, max_size=3),
            st.lists(SYMBOLS, min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_predicted_pronunciations_are_read_back(
    entries: list[tuple[str, list[str], list[str]]],
) -> None:
    data = "".join(f"{word} {' '.join(gold)}  # remark\n" for word, gold, _ in entries)
    predictions = [" ".join(symbols) for _, _, symbols in entries]
    written = write(cmudict(), data.encode(), predictions)
    expected = [(list(word), text) for (word, _, _), text in zip(entries, predictions, strict=True)]
    assert pairs(cmudict(max_line_bytes=10_000), written.encode()) == expected


@unhurried
@given(sentences=SENTENCES)
def test_jsonl_predictions_are_read_back(sentences: Sentences) -> None:
    lines = [json.dumps({"text": [form for form, _, _ in sentence]}) for sentence in sentences]
    predictions = [[label for _, _, label in sentence] for sentence in sentences]
    data = "\n".join(lines).encode()
    written = write(jsonl(read_target=False, max_line_bytes=10_000), data, predictions)
    rows = pairs(jsonl(max_line_bytes=10_000), written.encode())
    assert [target for _, target in rows] == predictions


@unhurried
@given(cells=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r")), min_size=1))
def test_csv_predictions_are_read_back(cells: list[str]) -> None:
    predictions: list[Any] = [cell.strip(" \t\n") for cell in cells]
    data = "text\n" + "a b\n" * len(cells)
    written = write(csv(read_target=False), data.encode(), predictions)
    expected = [None if cell in ("", "_") else cell for cell in predictions]
    assert [target for _, target in pairs(csv(max_line_bytes=10_000), written.encode())] == expected
