"""Malformed and odd files of TSV and CSV."""

from __future__ import annotations

import gzip

from data.readers.formats import csv, tsv
from data.readers.odd import Odd
from seqtag.data.tokenizers import Characters, Whitespace

C = Characters()
W = Whitespace()

DELIMITED = [
    Odd(
        "tsv: unequal columns",
        tsv(),
        b"a\t1\nb\nc\t2\td\ne\t3\n",
        [(["a"], "1"), (["e"], "3")],
        errors=[
            "f:2: 1 column where line 1 has 2: 'b'",
            "f:3: 3 columns where line 1 has 2: 'c\\t2\\td'",
        ],
    ),
    Odd(
        "tsv: commas",
        tsv(),
        b"a,1\nb,2\nc,3\n",
        [],
        errors=[
            ("f:1: data.target=1: no such column besides the input's, the line has 1 column: 'a,1'")
        ],
        warnings=[
            (
                "f:1: one column, where 'comma' as data.reader.separator would "
                "give 2 in each of the first 3 lines"
            )
        ],
    ),
    Odd(
        "tsv: a header read as a row",
        tsv(),
        b"text\tlabel\na\t1\nb\t0\nc\t1\n",
        [(["text"], "label"), (["a"], "1"), (["b"], "0"), (["c"], "1")],
        warnings=[
            (
                "f:1: the target 'label' where all others are numbers; if this "
                "line names the columns, set data.reader.header=true"
            )
        ],
    ),
    Odd(
        "tsv: a row read as a header",
        tsv(header=True),
        b"a\t1\nb\t0\nc\t1\nd\t1\n",
        [(["b"], "0"), (["c"], "1"), (["d"], "1")],
        warnings=[
            (
                "f:1: the header calls the target '1', which looks like a "
                "target; if this line is a row, set data.reader.header=false"
            )
        ],
    ),
    Odd(
        "tsv: a label read as a header",
        tsv(header=True),
        b"a\tpos\nb\tpos\nc\tneg\nd\tpos\n",
        [(["b"], "pos"), (["c"], "neg"), (["d"], "pos")],
        warnings=[
            (
                "f:1: the header calls the target 'pos', which looks like a "
                "target; if this line is a row, set data.reader.header=false"
            )
        ],
    ),
    Odd(
        "tsv: columns of elements",
        tsv(),
        b"a\tX\nb\tY\n\nc\tX\n\nd\tX\n",
        [(["a"], "X"), (["b"], "Y"), ([], None), (["c"], "X"), ([], None), (["d"], "X")],
        warnings=[
            ("f:1: one element in every row, and empty lines between them: is this data=conll?")
        ],
    ),
    Odd(
        "tsv: no target in any line",
        tsv(),
        b"a\nb\nc\n",
        [],
        errors=[
            ("f:1: data.target=1: no such column besides the input's, the line has 1 column: 'a'")
        ],
    ),
    Odd(
        "tsv: an empty text with a label, and a blank line",
        tsv(),
        b"\t1\n\na\t\n",
        [([], "1"), ([], None), (["a"], None)],
    ),
    Odd(
        "tsv: a column twice in the header",
        tsv(header=True, input="a"),
        b"a\ta\nx\ty\n",
        [],
        errors=["f:1: the header has 'a' 2 times: 'a\\ta'"],
    ),
    Odd(
        "tsv: a header that lacks a column, and bad bytes",
        tsv(header=True, input="a"),
        b"b\tc\nx\ty\n\xff\tz\n",
        [],
        errors=[
            "f:1: data.input=a: no such column, the header has 'b, c': 'b\\tc'",
            ("f:3: byte 1 is not utf-8; convert the file or set data.encoding: b'\\xff\\tz\\n'"),
        ],
    ),
    Odd(
        "tsv: quotes are letters",
        tsv(),
        b'"a\t1\nb"\t0\n',
        [(['"a'], "1"), (['b"'], "0")],
    ),
    Odd(
        "tsv: targets that do not fit",
        tsv(target_tokenizer=W),
        b"a b\tX Y\na b\tX\na\tX Y\n",
        [(["a", "b"], ["X", "Y"])],
        errors=[
            "f:2: 1 targets for 2 elements: 'a b\\tX'",
            "f:3: 2 targets for 1 elements: 'a\\tX Y'",
        ],
    ),
    Odd(
        "tsv: a mask that is too short",
        tsv(input_tokenizer=C, target_tokenizer=C, mask=2),
        b"MKV\tHEC\t110\nMKV\tHEC\t11\nMKV\tHEC\t\nMKV\tHEC\t1x1\nMKV\tHEC\t0 1 1\n",
        [(["M", "K", "V"], ["H", "E", None]), (["M", "K", "V"], [None, "E", "C"])],
        errors=[
            "f:2: a mask of 2 for 3 elements: 'MKV\\tHEC\\t11'",
            "f:3: a mask of 0 for 3 elements: 'MKV\\tHEC\\t'",
            ("f:4: data.mask=2 holds '1x1'; it must be made of 0 and 1: 'MKV\\tHEC\\t1x1'"),
        ],
    ),
    Odd(
        "tsv: a feature of the wrong count",
        tsv(target_tokenizer=W, features=[2]),
        b"a b\tX Y\tN V\na b\tX Y\tN V N\na b\tX Y\t\na b\tX Y\tN\n",
        [
            (["a", "b"], ["X", "Y"], {"features": {"2": ["N", "V"]}}),
            (["a", "b"], ["X", "Y"], {"features": {"2": ["", ""]}}),
            (["a", "b"], ["X", "Y"], {"features": {"2": ["N", "N"]}}),
        ],
        errors=["f:2: 3 values of the feature 2 for 2 elements: 'a b\\tX Y\\tN V N'"],
    ),
    Odd(
        "tsv: a feature of the sequence",
        tsv(features=[2], numeric_features=[3]),
        b"a b\tX\tnews\t1.5\nc\tY\tweb\tx\nd\tZ\t\t\n",
        [
            (["a", "b"], "X", {"features": {"2": ["news", "news"], "3": [1.5, 1.5]}}),
            (["d"], "Z", {"features": {"2": [""], "3": [None]}}),
        ],
        errors=["f:2: the feature 3: 'x' is not a finite number: 'c\\tY\\tweb\\tx'"],
    ),
    Odd(
        "tsv: references",
        tsv(sequence_tokenizer=W, references=[2, 3]),
        b"a\tx\ty\tx\nb\tx\t\t\nc\t\ty\t\n",
        [(["a"], "x", {"references": ["x", "y"]}), (["b"], "x")],
        errors=[("f:3: a further target, 'y', where the target itself is missing: 'c\\t\\ty\\t'")],
    ),
    Odd(
        "tsv: a further input",
        tsv(sequence_tokenizer=W, input_tokenizer=C, further_input=[2]),
        b"go\tw e n t\tV;PST\ngo\tg o\t\n",
        [(["g", "o", "+V", "+PST"], "w e n t"), (["g", "o"], "g o")],
    ),
    Odd(
        "tsv: letters that look like layout",
        tsv(),
        "a\u00a0b\u0085c\u2028d e\u0301 \u05d0 \U0001f469\u200d\U0001f680\t1\n".encode(),
        [(["a\xa0b\x85c\u2028d", "e\u0301", "\u05d0", "\U0001f469\u200d\U0001f680"], "1")],
    ),
    Odd(
        "csv: a quote left open",
        csv(),
        b'text,label\na,x\n"b,y\nc,z\nd,x\n',
        [(["a"], "x"), (["c"], "z"), (["d"], "x")],
        errors=["f:3: not valid CSV (unexpected end of data): '\"b,y'"],
    ),
    Odd(
        "csv: a quote left open, and closed much later",
        csv(),
        b'text,label\n"b,y\nc,z\n"d",x\n',
        [(["c"], "z"), (["d"], "x")],
        errors=["f:2: not valid CSV (',' expected after '\"'): '\"b,y'"],
    ),
    Odd(
        "csv: letters behind a quote",
        csv(),
        b'text,label\n"a"b,x\nc,y\n',
        [(["c"], "y")],
        errors=["f:2: not valid CSV (',' expected after '\"'): '\"a\"b,x'"],
    ),
    Odd(
        "csv: a record longer than the limit",
        csv(max_line_bytes=20),
        b'text,label\n"w\n' + b"w,x\n" * 6,
        [(["w"], "x"), (["w"], "x"), (["w"], "x"), (["w"], "x"), (["w"], "x"), (["w"], "x")],
        errors=[("f:2: a record longer than data.max_line_bytes=20; is a quote left open?: '\"w'")],
    ),
    Odd(
        "csv: bad bytes inside a quoted cell",
        csv(),
        b'text,label\n"a\n\xff\nb",x\nc,y\n',
        [(["c"], "y")],
        errors=[("f:3: byte 1 is not utf-8; convert the file or set data.encoding: b'\\xff\\n'")],
    ),
    Odd(
        "csv: semicolons",
        csv(),
        b"text;label\na;x\nb;y\n",
        [],
        errors=[
            ("f:1: data.input=text: no such column, the header has 'text;label': 'text;label'")
        ],
        warnings=[
            (
                "f:1: one column, where 'semicolon' as data.reader.separator "
                "would give 2 in each of the first 3 lines"
            )
        ],
    ),
    Odd(
        "csv: semicolons that are named",
        csv(separator="semicolon"),
        b"text;label\na, b;x\n",
        [(["a,", "b"], "x")],
    ),
    Odd(
        "csv: line ends inside quotes",
        csv(),
        b'text,label\r\n"a\r\nb",x\r\n',
        [(["a", "b"], "x")],
    ),
    Odd(
        "csv: no rows",
        csv(),
        b"text,label\n",
        [],
    ),
    Odd(
        "csv: an empty file",
        csv(),
        b"",
        [],
    ),
    Odd(
        "csv: blanks around the header",
        csv(),
        b" text , label \na,x\n",
        [(["a"], "x")],
    ),
    Odd(
        "tsv: compressed, and cut off",
        tsv(),
        gzip.compress(b"a\t1\n" * 9, mtime=0)[:-4],
        raises=(
            "f:10: the file is damaged or cut off (Compressed file ended "
            "before the end-of-stream marker was reached)"
        ),
    ),
    Odd(
        "tsv: a NUL, and a label of control characters",
        tsv(),
        b"a\x00b\t1\x07\n",
        [(["a\x00b"], "1\x07")],
        warnings=["f:1: a NUL character; is this a text file?"],
    ),
    Odd(
        "tsv: a bare carriage return",
        tsv(),
        b"a\t1\rb\t2\nc\t3\n",
        [(["c"], "3")],
        errors=[
            (
                "f:1: a carriage return inside the line; convert the file's line "
                "ends to \\n: 'a\\t1\\rb\\t2'"
            )
        ],
    ),
    Odd(
        "tsv: carriage returns before line feeds, and none at the end",
        tsv(),
        b"a\t1\r\nb\t2",
        [(["a"], "1"), (["b"], "2")],
    ),
    Odd(
        "csv: a feature by name",
        csv(features=["pos"], target_tokenizer=W),
        b"text,label,pos\na b,X Y,N V\n",
        [(["a", "b"], ["X", "Y"], {"features": {"pos": ["N", "V"]}})],
    ),
]
