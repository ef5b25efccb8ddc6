"""The whole model: embedding, encoder, head."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

from torch import Tensor, nn

from seqtag.batch import Batch, Prediction, TargetSpec
from seqtag.configuration import build
from seqtag.nn.embeddings import InputEmbedding
from seqtag.nn.encoders.encoder import Encoder
from seqtag.nn.heads import Head
from seqtag.nn.search import Search

KINDS = (nn.Module, Search)
"""What a model is made of."""

BUDGET = "parameters"
"""Key of an encoder's node that sizes it before it is built (see ``seqtag.budget``)."""

HEAD_PARTS = ("decoder", "search")
"""Nodes of a config that a head is given, where the config has them."""


class Model(nn.Module):
    """Turns a batch into a loss or a prediction; knows no variant of any part.

    Args:
        embedding: inputs to ``[batch, source, embedding.output_dim]``.
        encoder: to ``[batch, source, encoder.output_dim]``, each element in its context.
        head: to a loss, or to a prediction.
    """

    def __init__(self, *, embedding: InputEmbedding, encoder: Encoder, head: Head) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = encoder
        self.head = head

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], vocabularies: Mapping[str, Sized], target: TargetSpec
    ) -> Model:
        """Build the parts, each from the width of the one before.

        Args:
            config: with the nodes ``embedding``, ``encoder`` and ``head``, and those of
                ``HEAD_PARTS`` that the head takes.
            vocabularies: input fields; the length of each is its number of ids, or its width.
            target: what the training targets taught.

        Raises:
            ValueError: a node names a wrong class or argument, sizes do not fit, or the encoder
                has a budget that has not been worked out.
        """
        embedding = build(config["embedding"], vocabularies, kinds=KINDS, name="embedding")
        _expect(embedding, InputEmbedding, "embedding")
        encoder = build(encoder_node(config), embedding.output_dim, kinds=KINDS, name="encoder")
        _expect(encoder, Encoder, "encoder")
        parts = {
            part: build(config[part], kinds=KINDS, name=part)
            for part in HEAD_PARTS
            if part in config
        }
        head = build(
            config["head"], encoder.output_dim, kinds=KINDS, name="head", target=target, **parts
        )
        _expect(head, Head, "head")
        return cls(embedding=embedding, encoder=encoder, head=head)

    def encode(self, batch: Batch) -> Tensor:
        """States ``[batch, source, encoder.output_dim]``."""
        states: Tensor = self.encoder(self.embedding(batch.inputs, batch.layout), batch.layout)
        return states

    def forward(self, batch: Batch) -> Tensor:
        """The mean loss over the targets that are present."""
        return self.head.loss(self.encode(batch), batch)

    def predict(self, batch: Batch) -> Prediction:
        """What the model says of the batch."""
        return self.head.predict(self.encode(batch), batch)

    def parameters_by_part(self) -> dict[str, int]:
        """How many trained numbers each part holds."""
        return {
            name: sum(p.numel() for p in part.parameters() if p.requires_grad)
            for name, part in self.named_children()
        }


def encoder_node(config: Mapping[str, Any]) -> dict[str, Any]:
    """The encoder's node as its class takes it, without the budget.

    Raises:
        ValueError: there is a budget, which the sizes may not keep.
    """
    node = config["encoder"]
    if not isinstance(node, Mapping):
        raise ValueError(f"encoder is {node!r}; an option of it is chosen by encoder=OPTION")
    if node.get(BUDGET) is not None:
        raise ValueError(
            f"encoder.{BUDGET} is {node[BUDGET]!r}, and this model has its sizes already; only "
            "a training works them out, and stores null with them"
        )
    return {key: value for key, value in node.items() if key != BUDGET}


def _expect(part: nn.Module, kind: type, name: str) -> None:
    if not isinstance(part, kind):
        raise ValueError(f"{name} is a {type(part).__name__}; it must be a {kind.__name__}")
