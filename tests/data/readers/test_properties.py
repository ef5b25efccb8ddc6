"""What holds for every reader and any bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers.formats import (
    conll,
    conllu,
    csv,
    jsonl,
    pairs,
    raw,
    read,
    tsv,
    word,
    write,
    write_gold,
)
from seqtag.batch import Row
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
    *(b"a\tb\n", b"a b\tX Y\n", b"1\t2\t3\n", b"1 2 3\n", b"a,b\n", b'"a\nb",c\n'),
]
FILES = st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join) | st.binary(max_size=40)


unhurried = settings(deadline=None)  # a busy machine is no failure


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
