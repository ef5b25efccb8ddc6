"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.encoders.encoder import Encoder, check_sizes, projection
from seqtag.nn.padding import zero_padding

FURTHEST = 10_000
"""Places from one element of a kernel to the next; the zeros beyond an end take as much memory."""


class CNNEncoder(Encoder):
    """Kernels of several sizes side by side (Kim 2014), in layers that may reach ever further.

    The taps of a kernel in layer ``i`` (from 0) are ``dilation ** i`` elements apart (Yu and Koltun
    2016, equation 2), so that an element sees ``(max(kernel_sizes) - 1) / 2 * dilation ** i`` more
    neighbours on each side for each layer. Layers are residual and normalised as in
    ``AttentionEncoder``; with one kernel of size ``2 r + 1`` a layer is that of a window of radius
    ``r``.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements inside and out, shared out among the kernels of a layer.
        num_layers: number of layers.
        kernel_sizes: elements that each kernel of a layer spans, odd numbers.
        dilation: how many times as far apart the taps of each layer are as those of the one before;
            1 for no dilation.
        global_pooling: whether each layer also tells every element what the whole sequence holds:
            a linear map of the mean and the maximum of its elements.
        dropout: share of what each layer adds set to zero in training.

    Raises:
        ValueError: ``kernel_sizes`` is no list of odd numbers, a size is less than 1, or ``dim`` is
            less than the number of kernels.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        dim: int,
        num_layers: int,
        kernel_sizes: Sequence[int],
        dilation: int,
        global_pooling: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        _check_kernels(kernel_sizes, dim)
        check_sizes(1, {"dim": dim, "num_layers": num_layers, "dilation": dilation})
        if dilation ** (num_layers - 1) > FURTHEST:
            raise ValueError(
                f"encoder.dilation is {dilation} and encoder.num_layers {num_layers}: the last "
                f"layer would leave out {dilation ** (num_layers - 1)} places, and may at most "
                f"{FURTHEST}"
            )
        self.output_dim = dim
        self.project = projection(input_dim, dim)
        self.layers = nn.ModuleList(
            CNNLayer(
                dim=dim,
                kernel_sizes=kernel_sizes,
                dilation=dilation**index,
                global_pooling=global_pooling,
                dropout=dropout,
            )
            for index in range(num_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context ``[batch, source, dim]``; see ``Encoder.forward``."""
        x = self.project(zero_padding(x, layout.valid))
        if x.shape[1] == 0:
            return x  # no element has no maximum
        for layer in self.layers:
            x = layer(x, layout)
        normed: Tensor = self.norm(x)
        return normed


class CNNLayer(nn.Module):
    """``x + gelu(convolutions(norm(x)) + pooled(norm(x)))``.

    Args:
        dim: width of the elements.
        kernel_sizes: elements that each kernel spans.
        dilation: how far apart the taps of a kernel are.
        global_pooling: whether there is the second term.
        dropout: share of what the layer adds set to zero in training.
    """

    def __init__(
        self,
        *,
        dim: int,
        kernel_sizes: Sequence[int],
        dilation: int,
        global_pooling: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        share, rest = divmod(dim, len(kernel_sizes))
        self.kernels = nn.ModuleList(
            nn.Conv1d(
                dim,
                share + (index < rest),
                size,
                padding=(size - 1) // 2 * dilation,
                dilation=dilation,
            )
            for index, size in enumerate(kernel_sizes)
        )
        self.pooled = nn.Linear(2 * dim, dim) if global_pooling else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """One layer, ``[batch, source, dim]`` to the same, for a ``source`` of at least 1."""
        # Norm and bias make padding nonzero again, and a row alone has zeros there.
        normed = zero_padding(self.norm(x), layout.valid)
        channels = normed.transpose(1, 2)
        found = torch.cat([kernel(channels) for kernel in self.kernels], dim=1).transpose(1, 2)
        if self.pooled is not None:
            found = found + self.pooled(_mean_and_maximum(normed, layout)).unsqueeze(1)
        added: Tensor = self.dropout(functional.gelu(found))
        return x + added


def _mean_and_maximum(x: Tensor, layout: Layout) -> Tensor:
    """Of each row's elements ``[batch, 2 dim]``; zeros for an empty row. ``x`` is 0 at padding."""
    lengths = layout.lengths.unsqueeze(1)
    mean = x.sum(dim=1) / lengths.clamp(min=1)
    maximum = x.masked_fill(~layout.valid.unsqueeze(-1), float("-inf")).amax(dim=1)
    return torch.cat([mean, torch.where(lengths > 0, maximum, 0)], dim=1)


def _check_kernels(kernel_sizes: Sequence[int], dim: int) -> None:
    wrong = f"encoder.kernel_sizes is {kernel_sizes!r}; it must be a list of odd whole numbers, "
    wrong += "such as [3, 5]"
    if not isinstance(kernel_sizes, list | tuple) or not kernel_sizes:
        raise ValueError(wrong)
    for size in kernel_sizes:
        # An even kernel has no middle, and would see further to one side.
        if isinstance(size, bool) or not isinstance(size, int) or size < 1 or size % 2 == 0:
            raise ValueError(wrong)
    if dim < len(kernel_sizes):
        raise ValueError(
            f"encoder.dim is {dim}; it is shared out among the {len(kernel_sizes)} kernels of "
            "encoder.kernel_sizes, and must be at least as large"
        )
