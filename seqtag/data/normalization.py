"""One spelling for characters that Unicode can spell in several ways."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class Normalization:
    """Brings each element of a sequence into a Unicode normal form (Unicode Annex 15).

    An element is normalised by itself, so that there are as many elements as before.

    Args:
        form: one of ``FORMS``; None leaves everything as it is.

    Raises:
        ValueError: there is no such form.
    """

    def __init__(self, form: Any) -> None:
        if form is not None and form not in FORMS:
            raise ValueError(
                f"data.normalization is {form!r}; it must be {', '.join(FORMS)}, or null for none"
            )
        self.form: str | None = form

    def __call__(self, text: str) -> str:
        """The text in this form."""
        # The stubs of typeshed list the four forms; FORMS has been checked.
        return text if self.form is None else unicodedata.normalize(self.form, text)  # type: ignore[arg-type]

    def each(self, sequence: Sequence[str]) -> Sequence[str]:
        """The elements in this form; the sequence itself where there is none."""
        return sequence if self.form is None else [self(element) for element in sequence]
