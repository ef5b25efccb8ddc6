"""How far keys are from queries, for the kinds that know nothing else."""

from __future__ import annotations

from torch import Tensor


def distances(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Key position minus query position: negative for what comes before.

    Args:
        query_positions: ``[batch, query]``, where ``batch`` may be 1.
        key_positions: ``[batch, key]``, likewise.

    Returns:
        ``[batch, query, key]``, where ``batch`` is 1 if all rows are known to be the same.
    """
    # Elements in order share one row of positions in memory: no need to tell each row the same.
    query, key = (
        positions[:1] if positions.stride(0) == 0 else positions
        for positions in (query_positions, key_positions)
    )
    return key.unsqueeze(1) - query.unsqueeze(2)


def clipped_index(distance: Tensor, max_distance: int) -> Tensor:
    """From 0, for ``-max_distance`` and less, up to ``2 * max_distance``."""
    return distance.clamp(-max_distance, max_distance) + max_distance


def at_distance(table: Tensor, index: Tensor) -> Tensor:
    """What a table with a row per head has at each index.

    Args:
        table: ``[heads, n]``.
        index: ``[batch, query, key]``, each at least 0 and less than ``n``.

    Returns:
        ``[batch, heads, query, key]``.
    """
    return table[:, index].transpose(0, 1)


def checked_max_distance(max_distance: int) -> int:
    """The same number.

    Raises:
        ValueError: it is less than 1.
    """
    if max_distance < 1:
        raise ValueError(
            f"position.max_distance is {max_distance}; it must be at least 1, so that left and "
            "right differ"
        )
    return max_distance
