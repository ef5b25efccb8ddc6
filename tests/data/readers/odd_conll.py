"""Malformed and odd files of columns."""

from __future__ import annotations

from data.readers.formats import conll, word
from data.readers.odd import Odd
from seqtag.data.tokenizers import Whitespace

W = Whitespace()
AB = word(1, "a") + word(2, "b") + "\n"

CONLL = [
    Odd(
        "conll: markers of documents in many spellings",
        conll(),
        b"-DOCSTART- -X- O O\n\n-DOCSTART-\n -DOCSTART- O\n-docstart-\tO\na X\n-Docstart- x\nb Y\n",
        [(["a"], ["X"]), (["b"], ["Y"])],
    ),
    Odd(
        "conll: separators of blanks and of a tab",
        conll(),
        b"a\tX\n\t\nb\tY\n \n\t \nc\tZ\n",
        [(["a"], ["X"]), (["b"], ["Y"]), (["c"], ["Z"])],
    ),
    Odd(
        "conll: elements that begin with #",
        conll(),
        b"#tag\tX\n#\tY\n#a=b\tZ\n",
        [(["#tag", "#", "#a=b"], ["X", "Y", "Z"])],
    ),
    Odd(
        "conll: comments",
        conll(),
        b"# sent_id = 1\n# text = a b\na\tX\nb\tY\n",
        [],
        errors=[
            "f:1: 1 column where line 3 has 2: '# sent_id = 1'",
            "f:2: 1 column where line 3 has 2: '# text = a b'",
        ],
        warnings=[
            (
                "f:1: looks like a comment, and is read as an element, for this "
                "format has none; data=conllu has"
            ),
            (
                "f:2: looks like a comment, and is read as an element, for this "
                "format has none; data=conllu has"
            ),
        ],
    ),
    Odd(
        "conll: a comment with a tab",
        conll(),
        b"# id =\t1\na\tX\n",
        [(["# id =", "a"], ["1", "X"])],
        warnings=[
            (
                "f:1: looks like a comment, and is read as an element, for this "
                "format has none; data=conllu has"
            )
        ],
    ),
    Odd(
        "conll: CoNLL-U",
        conll(),
        (word("1-2", "ab", "_") + AB + AB).encode(),
        [(["1-2", "1", "2"], [None, None, None]), (["1", "2"], [None, None])],
        warnings=[("f:1: ten columns between tabs and words counted from 1: is this data=conllu?")],
    ),
    Odd(
        "conll: unequal columns",
        conll(),
        b"a X\nb\nc Y Z\n\nd X\n\ne\n",
        [(["d"], ["X"])],
        errors=[
            "f:2: 1 column where line 1 has 2: 'b'",
            "f:3: 3 columns where line 1 has 2: 'c Y Z'",
            "f:7: 1 column where line 1 has 2: 'e'",
        ],
    ),
    Odd(
        "conll: a first line that lacks the target",
        conll(),
        b"a\nb X\n\nc\nd Y\n\ne Z\n",
        [(["e"], ["Z"])],
        errors=[
            ("f:1: data.target=-1: no such column besides the input's, the line has 1 column: 'a'"),
            "f:4: 1 column where line 2 has 2: 'c'",
        ],
    ),
    Odd(
        "conll: no line has the target",
        conll(),
        b"a\nb\n\nc\n",
        [],
        errors=[
            ("f:1: data.target=-1: no such column besides the input's, the line has 1 column: 'a'")
        ],
    ),
    Odd(
        "conll: a tab in a file of blanks",
        conll(),
        b"a X\nb c\tY\n",
        [],
        errors=["f:2: a tab in a line whose columns are separated by blanks: 'b c\\tY'"],
    ),
    Odd(
        "conll: blanks in a file of tabs",
        conll(),
        b"a\tX\nb Y\n\nNew York\tZ\n",
        [(["New York"], ["Z"])],
        errors=["f:2: 1 column where line 1 has 2: 'b Y'"],
    ),
    Odd(
        "conll: an element that is empty",
        conll(),
        b"a\tX\n\tY\n \tZ\n",
        [],
        errors=[
            "f:2: the input's column, 0, is empty: '\\tY'",
            "f:3: the input's column, 0, is empty: ' \\tZ'",
        ],
    ),
    Odd(
        "conll: missing targets",
        conll(),
        b"a\t\nb\t_\n_\tY\n",
        [(["a", "b", "_"], [None, None, "Y"])],
    ),
    Odd(
        "conll: a mask",
        conll(target=1, mask=2, target_tokenizer=W),
        b"a X 1\nb Y 0\n",
        [(["a", "b"], ["X", None])],
    ),
    Odd(
        "conll: a mask of other letters",
        conll(target=1, mask=2, target_tokenizer=W),
        b"a X 1\nb Y x\nc Z 2\n",
        [],
        errors=[
            "f:2: data.mask=2 holds 'x'; it must be made of 0 and 1: 'b Y x'",
            "f:3: data.mask=2 holds '2'; it must be made of 0 and 1: 'c Z 2'",
        ],
    ),
    Odd(
        "conll: features",
        conll(target=-1, features=[1], numeric_features=[2]),
        b"a N 1.5 X\nb V _ Y\n",
        [(["a", "b"], ["X", "Y"], {"features": {"1": ["N", "V"], "2": [1.5, None]}})],
    ),
    Odd(
        "conll: a feature that is no number",
        conll(target=-1, numeric_features=[1]),
        b"a 1 X\nb x Y\nc nan Z\n",
        [],
        errors=[
            "f:2: the feature 1: 'x' is not a finite number: 'b x Y'",
            "f:3: the feature 1: 'nan' is not a finite number: 'c nan Z'",
        ],
    ),
    Odd(
        "conll: a feature's column that is not there",
        conll(features=[4]),
        b"a X\nb Y\n",
        [],
        errors=["f:1: data.features=4: no such column, the line has 2 columns: 'a X'"],
    ),
    Odd(
        "conll: vectors with a hole",
        conll(input=[0, 1]),
        b"1 2 X\n1 _ Y\n\n3 4 Z\n",
        [([[3.0, 4.0]], ["Z"])],
        errors=["f:2: '_' is not a finite number: '1 _ Y'"],
    ),
    Odd(
        "conll: a label with a control character",
        conll(),
        b"a\tX\x0b\nb\tY\x00\n",
        [(["a", "b"], ["X\x0b", "Y\x00"])],
        warnings=["f:2: a NUL character; is this a text file?"],
    ),
    Odd(
        "conll: a byte order mark inside a token",
        conll(),
        "Dubbz\ufeff\tX\n".encode(),
        [(["Dubbz\ufeff"], ["X"])],
        warnings=["f:1: a byte order mark (U+FEFF) inside the file, which is read as text"],
    ),
    Odd(
        "conll: NBSP alone on a line is no separator",
        conll(),
        "a X\n\u00a0\nb Y\n".encode(),
        [],
        errors=["f:2: 1 column where line 1 has 2: '\\xa0'"],
    ),
    Odd(
        "conll: a bare carriage return",
        conll(),
        b"a\tX\rb\tY\r\n\nc\tZ\n",
        [(["c"], ["Z"])],
        errors=[
            (
                "f:1: a carriage return inside the line; convert the file's line "
                "ends to \\n: 'a\\tX\\rb\\tY'"
            )
        ],
    ),
    Odd(
        "conll: no line end at the end",
        conll(),
        b"a X\nb Y",
        [(["a", "b"], ["X", "Y"])],
    ),
    Odd(
        "conll: UTF-16",
        conll(),
        "a\tX\n".encode("utf-16"),
        [],
        errors=[
            (
                "f:1: byte 1 is not utf-8; convert the file or set "
                "data.encoding: b'\\xff\\xfea\\x00\\t\\x00X\\x00\\n'"
            ),
            (
                "f:2: data.target=-1: no such column besides the input's, the "
                "line has 1 column: '\\x00'"
            ),
        ],
        warnings=["f:2: a NUL character; is this a text file?"],
    ),
    Odd(
        "conll: a line of blanks that is too long",
        conll(max_line_bytes=10),
        b"a X\n" + b" " * 12 + b"\nb Y\n\nc Z\n",
        [(["c"], ["Z"])],
        errors=["f:2: the line is longer than data.max_line_bytes=10: b'           '"],
    ),
]
