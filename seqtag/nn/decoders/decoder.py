"""What every decoder is: symbols so far and an encoded input, to scores of the next symbol."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from seqtag.batch import Layout


class State(ABC):
    """What a decoder keeps between two steps."""

    @abstractmethod
    def select(self, rows: Tensor) -> State:
        """The state of these rows ``[n]``, in their order; a row may be given several times."""


class Decoder(nn.Module, ABC):
    """Built as ``decoder(memory_dim, classes=classes)``.

    A sequence begins with ``END`` as the symbol before its first one, and is over when ``END`` is
    the next. Each row's scores depend on that row alone, not on its neighbours in the batch or on
    padding; and those of ``step`` are those that ``forward`` gives at the same place.

    Attributes:
        longest: most symbols that it can make, the end counted, so the most steps that it can
            take; None where there is no limit.
    """

    longest: int | None = None

    @abstractmethod
    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        """Scores of the symbol that follows each given one, all at once (teacher forcing).

        Args:
            target_in: ids ``[batch, target]``, beginning with ``END``; any behind the end.
            memory: ``[batch, source, memory_dim]``; anything at padding.
            layout: which elements of the memory are real.

        Returns:
            Logits ``[batch, target, classes]``; unspecified behind the end.
        """

    @abstractmethod
    def start(self, memory: Tensor, layout: Layout) -> State:
        """The state before the first symbol.

        Args:
            memory: ``[batch, source, memory_dim]``; anything at padding.
            layout: which elements of the memory are real.
        """

    @abstractmethod
    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Scores of the next symbol, one step on.

        Args:
            symbols: ids ``[batch]`` of the symbol before, ``END`` in the first step.
            state: of the step before; it may not be used again.

        Returns:
            Logits ``[batch, classes]``, and the state for the next step.
        """
