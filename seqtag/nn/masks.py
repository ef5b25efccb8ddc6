"""Every mask of an attention as one."""

from __future__ import annotations

import torch
from torch import Tensor


def restrictions(
    valid: Tensor | None, mask: Tensor | None, bias: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """All masks as what is allowed (bool) and what is added (finite), each four-dimensional."""
    allowed = None if valid is None else valid[:, None, None, :]
    if mask is not None:
        mask = mask[(None,) * (4 - mask.dim())]
        if mask.dtype != torch.bool:
            permitted = mask != -torch.inf
            added = torch.where(permitted, mask, 0)
            bias = added if bias is None else bias + added
            mask = permitted
        allowed = mask if allowed is None else allowed & mask
    return allowed, bias


def kernel_mask(allowed: Tensor | None, bias: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The one mask that a fused kernel takes; None where nothing masks, for the fastest of them."""
    if bias is None:
        return allowed
    if allowed is not None:
        bias = torch.where(allowed, bias, -torch.inf)
    return bias.to(dtype)
