"""Rows of every kind that files hold, mixed: ordinary, empty, giant, of odd characters.

Each row is one of a few hundred bodies behind a token that no other row has. No model knows that
token, so that its answer to a row is its answer to the body alone, which is worked out once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

VOCABULARY = [f"w{number}" for number in range(40)]
ODD = [
    *(
        "\u00a0",
        "a\u00a0b",
        "\u0085",
        "x\u0085y",
        "\u2028",
        "\u2029x",
        "\u200b",
        "\u200d",
        "\ufeffx",
    ),
    *(
        "👩\u200d👩\u200d👧",
        "🇩🇰",
        "שלום",
        "\u202eabc\u202c",
        "e\u0301",
        "\u0301",
        "か\u3099",
        "𝔘𝔫𝔦",
    ),
    *(
        '"',
        "'",
        '"open',
        'close"',
        '""',
        "#",
        "#tag",
        "_",
        "-",
        "--",
        ",",
        ";",
        ":",
        "|",
        "\\",
        "\\t",
    ),
    *(
        "null",
        "NaN",
        "1e5",
        "[",
        "{",
        "}",
        "=",
        "<a>",
        "&amp;",
        "%s",
        "+",
        "*",
        "\x0b",
        "\x0c",
        "\x1c",
    ),
    *("-DOCSTART-x", "\u0130", "ß", "ﬁ", "W" * 3000, "長" * 200),
]
"""Tokens without blanks, tabs or line ends."""
MARKERS = ["-DOCSTART-", "# text = x", "###"]
"""Tokens that begin lines which some format does not read."""
SPACED = ["New York", "a  b", "1 2 3", "x y\u00a0z", "# a", '" "']
"""Tokens with blanks inside."""

EMPTY_SHARE = 0.05
GIANTS = (5_003, 9_001, 20_000)
UNKNOWN = "r"
"""What the token of each row begins with; a number follows."""

Row = list[Any]


@dataclass(frozen=True)
class Mixed:
    """Rows in the order of a file, each with the body that it was made of.

    Attributes:
        rows: elements of each; an empty list for an empty row.
        bodies: number of the body of each; -1 for an empty row.
        pool: the bodies, with an unknown token before each where elements are tokens.
    """

    rows: list[Row]
    bodies: list[int]
    pool: list[Row]

    def filled(self) -> Mixed:
        """The same without the empty rows, for formats that cannot hold them."""
        kept = [number for number, row in enumerate(self.rows) if row]
        return Mixed([self.rows[n] for n in kept], [self.bodies[n] for n in kept], self.pool)


def mix_words(
    count: int, *, extra: list[str] | None = None, giants: tuple[int, ...] = GIANTS, seed: int = 1
) -> Mixed:
    """Rows of words.

    Args:
        count: rows.
        extra: tokens that the format can hold besides.
        giants: elements of the giant rows.
        seed: of the draw.
    """
    drawn = random.Random(seed)
    odd = ODD + (extra or [])

    def word() -> str:
        return drawn.choice(odd if drawn.random() < 0.15 else VOCABULARY)

    bodies = _bodies(count, giants, drawn, lambda size: [word() for _ in range(size)])
    # Every odd token comes first and last in some row, and alone in another.
    bodies += [[token] for token in odd] + [[token, "w1", token] for token in odd]
    mixed = _mix(count, bodies, len(giants), drawn)
    rows = [[f"{UNKNOWN}{n}", *row] if row else [] for n, row in enumerate(mixed.rows)]
    return Mixed(rows, mixed.bodies, [[UNKNOWN, *body] for body in mixed.pool])


def mix_characters(count: int, *, blanks: bool, giants: tuple[int, ...] = GIANTS) -> Mixed:
    """Rows whose elements are single characters; no row begins or ends with a blank."""
    drawn = random.Random(2)
    letters = "abcdefghij\u00a0\u0085\u2028\u200d👩שé\u0301\"'_" + (" #," if blanks else "")

    def body(size: int) -> Row:
        inner = [drawn.choice(letters) for _ in range(size)]
        return [drawn.choice("abcde"), *inner, drawn.choice("abcde")]

    return _mix(count, _bodies(count, giants, drawn, body), len(giants), drawn)


def mix_vectors(count: int, *, giants: tuple[int, ...] = GIANTS) -> Mixed:
    """Rows whose elements are pairs of numbers."""
    drawn = random.Random(3)

    def body(size: int) -> Row:
        return [[round(drawn.gauss(0, 2), 3), round(drawn.gauss(5, 1), 3)] for _ in range(size)]

    return _mix(count, _bodies(count, giants, drawn, body), len(giants), drawn)


def _bodies(
    count: int, giants: tuple[int, ...], drawn: random.Random, make: Callable[[int], Row]
) -> list[Row]:
    """The giants first, then ordinary ones."""
    ordinary = min(300, count // 2)
    return [make(size) for size in (*giants, *(drawn.randint(1, 30) for _ in range(ordinary)))]


def _mix(count: int, bodies: list[Row], giants: int, drawn: random.Random) -> Mixed:
    chosen = [
        -1 if drawn.random() < EMPTY_SHARE else drawn.randrange(giants, len(bodies))
        for _ in range(count)
    ]
    chosen[0] = chosen[-1] = -1  # where it is lost most easily
    chosen[count // 2 : count // 2 + 2] = [-1, -1]
    for number, place in enumerate(drawn.sample(range(1, count // 2), giants)):
        chosen[place] = number
    return Mixed([bodies[n] if n >= 0 else [] for n in chosen], chosen, bodies)
