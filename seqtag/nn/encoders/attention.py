"""Self-attention stacked with fully-connected layers."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.blueprint import Blueprint
from seqtag.nn.encoders.encoder import Encoder, check_sizes, projection
from seqtag.nn.padding import zero_padding
from seqtag.nn.positions.distance import distances
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


class AttentionEncoder(Encoder):
    """The encoder of Vaswani et al. 2017, its norms where ``pre_norm`` says.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements inside and out.
        num_layers: number of layers, each self-attention and fully-connected; 0 for none.
        num_heads: number of attention heads.
        num_kv_heads: number of key and value heads, a divisor of ``num_heads``.
        head_dim: width of queries, keys and values in each head; None for ``dim / num_heads``.
        feedforward_dim: width of the hidden fully-connected layer; 0 for attention alone.
        tied: whether all layers are one and the same, run ``num_layers`` times (Dehghani et al.
            2019; Lan et al. 2020, section 3.1).
        radius: how many neighbours on either side an element attends to in a layer, itself aside;
            None for all elements. The scores of the others are computed all the same.
        pre_norm: whether a norm stands before each sublayer and one behind the last layer (Xiong
            et al. 2020); else one behind each sum (Vaswani et al. 2017, section 3.1).
        dropout: share of what each sublayer adds set to zero in training.
        feedforward_dropout: share of the hidden fully-connected layer, likewise.
        attention_dropout: share of the attention weights, likewise.
        input_dropout: share of the elements with their positions, likewise.
        position: builds the position, ``position(dim=, num_heads=, head_dim=, num_layers=)``.
        scorer: builds the scorer of a layer, ``scorer(head_dim=, num_heads=)``.
        norm: builds a norm, ``norm(dim)``.
        activation: builds the activation of the hidden layer, ``activation()``.

    Raises:
        ValueError: ``head_dim`` is None and ``num_heads`` does not divide ``dim``, or
            ``num_kv_heads`` does not divide ``num_heads``; ``num_layers`` or ``radius`` is
            negative.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        dim: int,
        num_layers: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int | None,
        feedforward_dim: int,
        tied: bool,
        radius: int | None,
        pre_norm: bool,
        dropout: float,
        feedforward_dropout: float,
        attention_dropout: float,
        input_dropout: float,
        position: Callable[..., Position],
        scorer: Callable[..., Scorer],
        norm: Callable[[int], nn.Module],
        activation: Callable[[], nn.Module],
    ) -> None:
        super().__init__()
        check_sizes(0, {"num_layers": num_layers})
        if radius is not None and radius < 0:
            raise ValueError(f"encoder.radius is {radius}; it must be 0 or more, or null for all")
        blueprint = Blueprint(
            dim=dim,
            num_heads=num_heads,
            num_kv_heads=num_kv_heads,
            head_dim=head_dim,
            feedforward_dim=feedforward_dim,
            pre_norm=pre_norm,
            norm=norm,
            activation=activation,
            scorer=scorer,
            dropout=dropout,
            feedforward_dropout=feedforward_dropout,
            attention_dropout=attention_dropout,
        )
        distinct = min(num_layers, 1) if tied else num_layers
        self.output_dim = dim
        self.radius = radius
        self.runs = num_layers if tied else 1
        self.project = projection(input_dim, dim)
        self.position = blueprint.position(position, num_layers=distinct)
        self.longest = self.position.longest
        self.dropout = nn.Dropout(input_dropout)
        self.layers = nn.ModuleList(
            AttentionLayer(blueprint, self.position.layer(index)) for index in range(distinct)
        )
        self.norm = blueprint.last_norm()

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context ``[batch, source, dim]``; see ``Encoder.forward``."""
        # From here on padding is finite. As queries it may ask; as keys each attention masks it.
        x = self.project(zero_padding(x, layout.valid))
        x = self.dropout(self.position.embed(x, layout.positions))
        valid = layout.valid if layout.has_padding else None
        near = None if self.radius is None else neighbours(layout.positions, self.radius)
        for _ in range(self.runs):
            for layer in self.layers:
                x = layer(x, valid, near, layout.positions)
        normed: Tensor = self.norm(x)
        return normed


class AttentionLayer(nn.Module):
    """Self-attention, then a fully-connected sublayer.

    Args:
        blueprint: what its parts are.
        position: that of this layer.
    """

    def __init__(self, blueprint: Blueprint, position: Position) -> None:
        super().__init__()
        self.residual = blueprint.residual()
        self.attention = blueprint.attention(key_dim=blueprint.dim, position=position)
        self.feedforward = blueprint.feedforward()

    def forward(
        self, x: Tensor, valid: Tensor | None, near: Tensor | None, positions: Tensor
    ) -> Tensor:
        """One layer.

        Args:
            x: ``[batch, source, dim]``, finite at padding.
            valid: bool ``[batch, source]``, or None where all elements are real.
            near: bool ``[batch, 1, source, source]``, where ``batch`` may be 1, which element may
                attend to which; None for each to all.
            positions: ``[batch, source]``.

        Returns:
            ``[batch, source, dim]``.
        """
        given = self.residual.before(x)
        attended = self.attention(
            given,
            given,
            given,
            valid=valid,
            mask=near,
            query_positions=positions,
            key_positions=positions,
        )
        x = self.feedforward(self.residual.after(x, attended))
        return x


def neighbours(positions: Tensor, radius: int) -> Tensor:
    """Which elements are at most ``radius`` apart.

    Args:
        positions: ``[batch, source]``.
        radius: the largest distance, of any size.

    Returns:
        bool ``[batch, 1, source, source]``, where ``batch`` is 1 as in ``distances``.
    """
    return distances(positions, positions).abs().le(min(radius, 2**62)).unsqueeze(1)
