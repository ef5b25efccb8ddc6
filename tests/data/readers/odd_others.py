"""Malformed and odd files of the other text formats."""

from __future__ import annotations

import gzip

from data.readers.formats import cmudict, jsonl, labelled, parallel, raw
from data.readers.odd import Odd
from seqtag.data.tokenizers import Whitespace

W = Whitespace()

OTHERS = [
    Odd(
        "jsonl: two bad lines",
        jsonl(),
        b'{"text": "a", "label": "x"}\n{"text": }\n\n{"text": "b", "label": "y"}\n',
        [(["a"], "x"), (["b"], "y")],
        errors=[
            "f:2: not JSON (Expecting value, character 10): '{\"text\": }'",
            "f:3: not JSON (Expecting value, character 1): ''",
        ],
    ),
    Odd(
        "lines: bad bytes",
        raw(),
        b"a b\n\xff\n\nc\n",
        [(["a", "b"], None), ([], None), (["c"], None)],
        errors=[("f:2: byte 1 is not utf-8; convert the file or set data.encoding: b'\\xff\\n'")],
    ),
    Odd(
        "lines: further inputs",
        raw(further_input=[2], sequence_tokenizer=W),
        b"hablar\tV;PST\n\nhablar\na\tb\tc\n",
        [(["hablar", "+V", "+PST"], None), ([], None)],
        errors=[
            (
                "f:3: 1 column between tabs, where the input and "
                "data.further_input=[2] are 2: 'hablar'"
            ),
            (
                "f:4: 3 columns between tabs, where the input and "
                "data.further_input=[2] are 2: 'a\\tb\\tc'"
            ),
        ],
    ),
    Odd(
        "labelled: labels and texts",
        labelled(),
        "3 a b\n1\tc\n2  d\u00a0e \n".encode(),
        [(["a", "b"], "3"), (["c"], "1"), (["d\xa0e"], "2")],
    ),
    Odd(
        "labelled: a label without a text",
        labelled(),
        b"3\n3 \n\n \n",
        [([], "3"), ([], "3"), ([], None), ([], None)],
        warnings=["f:1: nothing behind the first blank", "f:2: nothing behind the first blank"],
    ),
    Odd(
        "labelled: a text without a label",
        labelled(),
        b" a b\n_ c\n",
        [(["a", "b"], None), (["c"], None)],
        warnings=["f:1: nothing before the first blank"],
    ),
    Odd(
        "cmudict: variants and remarks",
        cmudict(),
        b";;; version\nread R IY D # now\nread(2) R EH D # then\nreads R IY D Z\n",
        [
            (["r", "e", "a", "d"], "R IY D", {"references": ["R IY D", "R EH D"]}),
            (["r", "e", "a", "d", "s"], "R IY D Z"),
        ],
    ),
    Odd(
        "cmudict: a variant without its word",
        cmudict(),
        b"aislinn(2) A S\nakey A K\nb(2) B IY\nb(3) B EH\n",
        [
            (["a", "i", "s", "l", "i", "n", "n"], "A S"),
            (["a", "k", "e", "y"], "A K"),
            (["b"], "B IY", {"references": ["B IY", "B EH"]}),
        ],
        warnings=[
            "f:1: a variant of 'aislinn' without the word",
            "f:3: a variant of 'b' without the word",
        ],
    ),
    Odd(
        "cmudict: a word without a pronunciation",
        cmudict(),
        b"a\nb B\nb(2) # odd\nc # none\n",
        [(["a"], None), (["b"], "B"), (["c"], None)],
        warnings=[
            "f:1: no pronunciation of 'a'",
            "f:3: no pronunciation of 'b'",
            "f:4: no pronunciation of 'c'",
        ],
    ),
    Odd(
        "cmudict: the same twice, and words of signs",
        cmudict(),
        b"a A\na(2) A\n#hash-mark HH AE SH\n(paren P\na(x) B\n",
        [
            (["a"], "A"),
            (["#", "h", "a", "s", "h", "-", "m", "a", "r", "k"], "HH AE SH"),
            (["(", "p", "a", "r", "e", "n"], "P"),
            (["a", "(", "x", ")"], "B"),
        ],
    ),
    Odd(
        "cmudict: the same word later",
        cmudict(),
        b"a A\nb B\na(2) EY\n",
        [(["a"], "A"), (["b"], "B"), (["a"], "EY")],
        warnings=["f:3: a variant of 'a' without the word"],
    ),
    Odd(
        "cmudict: two blanks, tabs, blank lines",
        cmudict(),
        b"\n;;; top\nA  EY1\n\n;;; between\nA(1)\tAH0\nB  B\n;;; end\n",
        [(["A"], "EY1", {"references": ["EY1", "AH0"]}), (["B"], "B")],
    ),
    Odd(
        "cmudict: bad bytes",
        cmudict(),
        b"a A\n\xff B\nc C\n",
        [(["a"], "A"), (["c"], "C")],
        errors=[("f:2: byte 1 is not utf-8; convert the file or set data.encoding: b'\\xff B\\n'")],
    ),
    Odd(
        "lines: an empty file of a mark alone",
        raw(),
        b"\xef\xbb\xbf",
        [],
    ),
    Odd(
        "lines: only blank lines",
        raw(),
        b"\n \n\t",
        [([], None), ([], None), ([], None)],
    ),
    Odd(
        "lines: a line of the limit, and a longer one",
        raw(max_line_bytes=4),
        b"abc\nabcd\ne\n",
        [(["abc"], None), (["e"], None)],
        errors=["f:2: the line is longer than data.max_line_bytes=4: b'abcd\\n'"],
    ),
    Odd(
        "parallel: the input's file alone",
        parallel(),
        b"a b\n\n\xff\nc\n",
        [(["a", "b"], None), ([], None), (["c"], None)],
        errors=[("f:3: byte 1 is not utf-8; convert the file or set data.encoding: b'\\xff\\n'")],
    ),
    Odd(
        "parallel: the input's file alone, with further inputs",
        parallel(further_input=["tags"]),
        b"go\tV;PST\ngo\n",
        [(["go", "+V", "+PST"], None)],
        errors=[
            (
                "f:2: 1 column between tabs, where the input and "
                "data.further_input=['tags'] are 2: 'go'"
            )
        ],
    ),
    Odd(
        "cmudict: compressed",
        cmudict(),
        gzip.compress(b"a A # x\n", mtime=0),
        [(["a"], "A")],
    ),
]
