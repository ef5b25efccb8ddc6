"""What was found wrong, or likely wrong, with the rows of a split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KEPT = 1000
"""Messages of a kind that are kept; the others are counted."""

SHOWN = 2
"""Errors that end a command are shown up to so many."""


class FaultyDataError(ValueError):
    """Ends a command, with everything that was found.

    Args:
        message: the first errors.
        findings: all of them.
    """

    def __init__(self, message: str, findings: Findings) -> None:
        super().__init__(message)
        self.findings = findings


@dataclass
class Findings:
    """Errors and warnings, each with where it is; a ``Report`` of readers.

    Attributes:
        errors: messages of what cannot be read, the first ``KEPT`` of them.
        error_count: how many there were.
        warnings: messages of what can be read and is likely not meant, the first ``KEPT``.
        warning_count: how many there were.
    """

    errors: list[str] = field(default_factory=list)
    error_count: int = 0
    warnings: list[str] = field(default_factory=list)
    warning_count: int = 0

    def error(self, message: str) -> None:
        """See ``Report``."""
        self.error_count += 1
        if len(self.errors) < KEPT:
            self.errors.append(message)

    def warning(self, message: str) -> None:
        """See ``Report``."""
        self.warning_count += 1
        if len(self.warnings) < KEPT:
            self.warnings.append(message)

    def add(self, other: Findings) -> None:
        """Take in what was found elsewhere."""
        self.errors = (self.errors + other.errors)[:KEPT]
        self.warnings = (self.warnings + other.warnings)[:KEPT]
        self.error_count += other.error_count
        self.warning_count += other.warning_count

    def counts(self) -> dict[str, Any]:
        """Plain values, from which ``of_counts`` makes an equal one."""
        return {
            "errors": self.errors,
            "error_count": self.error_count,
            "warnings": self.warnings,
            "warning_count": self.warning_count,
        }

    @classmethod
    def of_counts(cls, counts: dict[str, Any]) -> Findings:
        """What such values say; of several parts of a split, put one behind the other."""
        return cls(
            errors=counts["errors"][:KEPT],
            error_count=counts["error_count"],
            warnings=counts["warnings"][:KEPT],
            warning_count=counts["warning_count"],
        )

    def raise_errors(self) -> None:
        """End here if there is any error.

        Raises:
            FaultyDataError: with the first errors, a line each, and how many more there are.
        """
        if not self.error_count:
            return
        lines = self.errors[:SHOWN]
        if rest := self.error_count - len(lines):
            lines.append(
                f"and {rest:,} more; `python -m seqtag check` with the words of the training shows "
                "them all"
            )
        raise FaultyDataError("\n".join(lines), self)
