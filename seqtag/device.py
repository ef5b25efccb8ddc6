"""Where to compute."""

from __future__ import annotations

import torch


def choose_device(device: str) -> torch.device:
    """``auto`` is a GPU where there is one; anything else is what torch calls it.

    Raises:
        ValueError: torch knows no such device, or it is not there.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"device={device} cannot be used: {reason}") from error
