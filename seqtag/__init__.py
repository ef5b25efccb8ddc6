"""Train self-attention models on sequences of any length, evaluate them and use them.

``seqtag.load(RUN)`` gives a predictor from a run directory or a checkpoint. Importing the package
imports nothing heavy: torch is loaded at the first use.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqtag.predictor import load

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def __getattr__(name: str) -> Any:
    if name == "load":
        from seqtag.predictor import load

        return load
    raise AttributeError(f"module 'seqtag' has no attribute {name!r}")
