"""Malformed and odd files of CoNLL-U."""

from __future__ import annotations

import gzip

from data.readers.formats import conllu, word
from data.readers.odd import Odd

AB = word(1, "a") + word(2, "b") + "\n"
GOOD = gzip.compress(AB.encode(), mtime=0)

CONLLU = [
    Odd(
        "conllu: a duplicate id",
        conllu(),
        (word(1, "a") + word(1, "b") + word(2, "c") + "\n" + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        errors=[
            (
                "f:2: id '1' where the next word is 2; is a blank line missing "
                "before it?: '1\\tb\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"
            )
        ],
    ),
    Odd(
        "conllu: ids out of order",
        conllu(),
        (word(2, "a") + word(1, "b") + word(3, "c") + "\n").encode(),
        [],
        errors=[
            ("f:1: id '2' where the next word is 1: '2\\ta\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"),
            (
                "f:2: id '1' where the next word is 3; is a blank line missing "
                "before it?: '1\\tb\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"
            ),
            ("f:3: id '3' where the next word is 2: '3\\tc\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"),
        ],
    ),
    Odd(
        "conllu: a missing id in the middle",
        conllu(),
        (word(1, "a") + word(3, "b") + word(4, "c") + "\n").encode(),
        [],
        errors=[("f:2: id '3' where the next word is 2: '3\\tb\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'")],
    ),
    Odd(
        "conllu: no blank line between two sentences",
        conllu(),
        (word(1, "a") + word(2, "b") + word(1, "c") + word(2, "d") + "\n").encode(),
        [],
        errors=[
            (
                "f:3: id '1' where the next word is 3; is a blank line missing "
                "before it?: '1\\tc\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"
            )
        ],
    ),
    Odd(
        "conllu: ids that are none",
        conllu(),
        (
            word("", "a")
            + word("x", "b")
            + word("1a", "c")
            + word("03", "d")
            + word("9" * 30, "e")
            + "\n"
        ).encode(),
        [],
        errors=[
            ("f:1: id '' where the next word is 1: '\\ta\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"),
            ("f:2: id 'x' where the next word is 2: 'x\\tb\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"),
            ("f:3: id '1a' where the next word is 3: '1a\\tc\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"),
            ("f:4: id '03' where the next word is 4: '03\\td\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"),
            (
                "f:5: id '999999999999999999999999999999' where the next word is "
                "4: '999999999999999999999999999999\\te\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"
            ),
        ],
    ),
    Odd(
        "conllu: a range that ends before it begins",
        conllu(),
        (word("2-1", "x", "_") + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:1: range 2-1 does not go from a word to a later one"],
    ),
    Odd(
        "conllu: a range of one word",
        conllu(),
        (word("1-1", "x", "_") + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:1: range 1-1 does not go from a word to a later one"],
    ),
    Odd(
        "conllu: a range behind its words",
        conllu(),
        (word(1, "a") + word(2, "b") + word("1-2", "x", "_") + "\n").encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:3: range 1-2 where the next word is 3"],
    ),
    Odd(
        "conllu: a range before an earlier word",
        conllu(),
        (word("2-3", "x", "_") + word(1, "a") + word(2, "b") + word(3, "c") + "\n").encode(),
        [(["a", "b", "c"], ["X", "X", "X"])],
        warnings=["f:1: range 2-3 where the next word is 1"],
    ),
    Odd(
        "conllu: a range beyond the end",
        conllu(),
        (word("1-5", "x", "_") + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:1: range 1-5 reaches beyond the last word, 2"],
    ),
    Odd(
        "conllu: overlapping ranges",
        conllu(),
        (
            word("1-2", "x", "_")
            + word(1, "a")
            + word("2-3", "y", "_")
            + word(2, "b")
            + word(3, "c")
            + "\n"
        ).encode(),
        [(["a", "b", "c"], ["X", "X", "X"])],
        warnings=["f:3: range 2-3 overlaps the range 1-2"],
    ),
    Odd(
        "conllu: an empty node in the wrong place",
        conllu(),
        (word("1.1", "e") + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:1: empty node 1.1 where only 0.1 could stand"],
    ),
    Odd(
        "conllu: an empty node left out",
        conllu(),
        (word("0.1", "e") + word(1, "a") + word("1.2", "f") + word(2, "b") + "\n").encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:3: empty node 1.2 where only 1.1 could stand"],
    ),
    Odd(
        "conllu: a range that no sentence reaches",
        conllu(),
        (word("1-9999999999", "x", "_") + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:1: 1-9999999999 is no number that a sentence reaches"],
    ),
    Odd(
        "conllu: a sentence of an empty node",
        conllu(),
        (word("0.1", "e") + "\n" + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        errors=[("f:1: a sentence without words: '0.1\\te\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'")],
    ),
    Odd(
        "conllu: a comment inside a sentence",
        conllu(),
        (word(1, "a") + "# c\n" + word(2, "b") + "\n").encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:2: a comment inside a sentence; CoNLL-U has them before it"],
    ),
    Odd(
        "conllu: a comment behind the sentence",
        conllu(),
        (word(1, "a") + "# c\n\n").encode(),
        [(["a"], ["X"])],
        warnings=["f:2: a comment inside a sentence; CoNLL-U has them before it"],
    ),
    Odd(
        "conllu: a comment without a sentence",
        conllu(),
        ("# c\n\n" + AB + "# d\n").encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=[
            "f:1: a comment without a sentence right after it",
            "f:6: a comment without a sentence right after it",
        ],
    ),
    Odd(
        "conllu: no blank line at the end",
        conllu(),
        (word(1, "a") + word(2, "b")).encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:2: no blank line after the last sentence"],
    ),
    Odd(
        "conllu: no line end at the end",
        conllu(),
        (word(1, "a") + word(2, "b"))[:-1].encode(),
        [(["a", "b"], ["X", "X"])],
        warnings=["f:2: no blank line after the last sentence"],
    ),
    Odd(
        "conllu: a line of blanks",
        conllu(),
        (word(1, "a") + " \n" + word(1, "b") + "\t\n" + AB).encode(),
        [(["a"], ["X"]), (["b"], ["X"]), (["a", "b"], ["X", "X"])],
        warnings=["f:2: blanks or tabs in an empty line", "f:4: blanks or tabs in an empty line"],
    ),
    Odd(
        "conllu: too few and too many columns",
        conllu(),
        (
            word(1, "a") + "2\tb\tX\n" + word(3, "c")[:-1] + "\tmore\n" + word(4, "d") + "\n" + AB
        ).encode(),
        [(["a", "b"], ["X", "X"])],
        errors=[
            "f:2: 3 columns between tabs where CoNLL-U has 10: '2\\tb\\tX'",
            (
                "f:3: 11 columns between tabs where CoNLL-U has 10: "
                "'3\\tc\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_\\tmore'"
            ),
        ],
    ),
    Odd(
        "conllu: a range with too few columns",
        conllu(),
        ("1-2\tab\n" + AB).encode(),
        [],
        errors=["f:1: 2 columns between tabs where CoNLL-U has 10: '1-2\\tab'"],
    ),
    Odd(
        "conllu: blanks for tabs",
        conllu(),
        b"1 a _ X _ _ _ _ _ _\n\n",
        [],
        errors=["f:1: 1 column between tabs where CoNLL-U has 10: '1 a _ X _ _ _ _ _ _'"],
    ),
    Odd(
        "conllu: an empty form",
        conllu(),
        (word(1, "") + word(2, "b") + "\n").encode(),
        [],
        errors=["f:1: column FORM is empty: '1\\t\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"],
    ),
    Odd(
        "conllu: an empty target",
        conllu(),
        (word(1, "a", "") + word(2, "b") + "\n").encode(),
        [],
        errors=[
            (
                "f:1: column UPOS is empty; CoNLL-U writes '_': "
                "'1\\ta\\t_\\t\\t_\\t_\\t_\\t_\\t_\\t_'"
            )
        ],
    ),
    Odd(
        "conllu: an empty field that is not read",
        conllu(),
        b"1\ta\t\tX\t_\t_\t\t_\t_\t_\n\n",
        [(["a"], ["X"])],
        warnings=[
            "f:1: column LEMMA is empty; CoNLL-U writes '_'",
            "f:1: column HEAD is empty; CoNLL-U writes '_'",
        ],
    ),
    Odd(
        "conllu: blanks around fields",
        conllu(),
        (word(1, " a", "X ") + "\n").encode(),
        [([" a"], ["X"])],
        warnings=[
            "f:1: a blank at the edge of column FORM: ' a'",
            "f:1: a blank at the edge of column UPOS: 'X '",
        ],
    ),
    Odd(
        "conllu: form of a blank",
        conllu(),
        (word(1, " ") + "\n").encode(),
        [([" "], ["X"])],
        warnings=["f:1: a blank at the edge of column FORM: ' '"],
    ),
    Odd(
        "conllu: a number as a feature",
        conllu(features=["xpos"], numeric_features=["HEAD"]),
        b"1\ta\t_\tX\tA\t_\t2\t_\t_\t_\n2\tb\t_\tY\tB\t_\t_\t_\t_\t_\n\n",
        [(["a", "b"], ["X", "Y"], {"features": {"xpos": ["A", "B"], "HEAD": [2.0, None]}})],
    ),
    Odd(
        "conllu: a feature that is no number",
        conllu(numeric_features=["HEAD"]),
        b"1\ta\t_\tX\tA\t_\tx\t_\t_\t_\n2\tb\t_\tY\tB\t_\t\t_\t_\t_\n\n",
        [],
        errors=[
            (
                "f:1: the feature HEAD: 'x' is not a finite number: "
                "'1\\ta\\t_\\tX\\tA\\t_\\tx\\t_\\t_\\t_'"
            ),
            (
                "f:2: column HEAD is empty; CoNLL-U writes '_': "
                "'2\\tb\\t_\\tY\\tB\\t_\\t\\t_\\t_\\t_'"
            ),
        ],
    ),
    Odd(
        "conllu: a byte order mark",
        conllu(),
        b"\xef\xbb\xbf" + AB.encode(),
        [(["a", "b"], ["X", "X"])],
    ),
    Odd(
        "conllu: two files joined, each with a mark",
        conllu(),
        2 * (b"\xef\xbb\xbf" + AB.encode()),
        [(["a", "b"], ["X", "X"])],
        errors=[
            (
                "f:4: id '\\ufeff1' where the next word is 1: "
                "'\\ufeff1\\ta\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"
            )
        ],
        warnings=["f:4: a byte order mark (U+FEFF) inside the file, which is read as text"],
    ),
    Odd(
        "conllu: carriage returns before line feeds",
        conllu(),
        AB.replace("\n", "\r\n").encode(),
        [(["a", "b"], ["X", "X"])],
    ),
    Odd(
        "conllu: line ends of old Macs",
        conllu(),
        AB.replace("\n", "\r").encode(),
        [],
        errors=[
            (
                "f:1: a carriage return inside the line; convert the file's line "
                "ends to \\n: "
                "'1\\ta\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_\\r2\\tb\\t_\\tX\\t_\\t_\\t_\\t_\\t_"
                "\\t_\\r'"
            )
        ],
    ),
    Odd(
        "conllu: bytes that do not decode",
        conllu(),
        (word(1, "a") + word(2, "caf\u00e9") + word(3, "c") + "\n" + AB).encode("latin-1"),
        [(["a", "b"], ["X", "X"])],
        errors=[
            (
                "f:2: byte 6 is not utf-8; convert the file or set "
                "data.encoding: b'2\\tcaf\\xe9\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_\\n'"
            )
        ],
    ),
    Odd(
        "conllu: another encoding that is named",
        conllu(encoding="latin-1"),
        (word(1, "caf\u00e9") + "\n").encode("latin-1"),
        [(["caf\xe9"], ["X"])],
    ),
    Odd(
        "conllu: a line that is too long",
        conllu(max_line_bytes=60),
        (word(1, "a") + word(2, "b" * 70) + word(3, "c") + "\n" + AB).encode(),
        [(["a", "b"], ["X", "X"])],
        errors=[
            (
                "f:2: the line is longer than data.max_line_bytes=60: "
                "b'2\\tbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                "'"
            )
        ],
    ),
    Odd(
        "conllu: only blank lines",
        conllu(),
        b"\n\n\n",
        [],
    ),
    Odd(
        "conllu: an empty file",
        conllu(),
        b"",
        [],
    ),
    Odd(
        "conllu: letters that look like layout",
        conllu(),
        (
            word(1, "x\u2028y\u0085z\u00a0")
            + word(2, "\u200d")
            + word(3, "e\u0301")
            + word(4, "\u05d0\u200f")
            + word(5, "\U0001f469\u200d\U0001f680")
            + word(6, "New York")
            + "\n"
        ).encode(),
        [
            (
                [
                    "x\u2028y\x85z\xa0",
                    "\u200d",
                    "e\u0301",
                    "\u05d0\u200f",
                    "\U0001f469\u200d\U0001f680",
                    "New York",
                ],
                ["X", "X", "X", "X", "X", "X"],
            )
        ],
    ),
    Odd(
        "conllu: compressed",
        conllu(),
        GOOD,
        [(["a", "b"], ["X", "X"])],
    ),
    Odd(
        "conllu: compressed, and cut off",
        conllu(),
        GOOD[:-4],
        raises=(
            "f:4: the file is damaged or cut off (Compressed file ended "
            "before the end-of-stream marker was reached)"
        ),
    ),
    Odd(
        "conllu: compressed, and damaged",
        conllu(),
        GOOD[:-8] + b"\0" * 4 + GOOD[-4:],
        raises=("f:4: the file is damaged or cut off (CRC check failed 0x0 != 0x25b33618)"),
    ),
    Odd(
        "conllu: tokens that are columns of another file",
        conllu(),
        b"a\tX\nb\tY\n\n",
        [],
        errors=[
            "f:1: 2 columns between tabs where CoNLL-U has 10: 'a\\tX'",
            "f:2: 2 columns between tabs where CoNLL-U has 10: 'b\\tY'",
        ],
    ),
]
