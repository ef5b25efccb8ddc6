"""Parts of a whole in words."""

from __future__ import annotations


def share(part: int, whole: int) -> str:
    """A part in per cent; never 0 or 100 where it is not."""
    if not part:
        return "0%"
    percent = f"{part / whole:.1%}"
    if percent == "0.0%":
        return "under 0.1%"
    if percent == "100.0%":
        return "100%" if part == whole else "over 99.9%"
    return percent
