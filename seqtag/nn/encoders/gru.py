"""Gated recurrent units."""

from __future__ import annotations

from torch import nn

from seqtag.nn.encoders.recurrent import RecurrentEncoder


class GRUEncoder(RecurrentEncoder):
    """Gated recurrent units (Cho et al. 2014, section 2.3; see ``RecurrentEncoder``).

    The form that torch computes: the reset gate acts on ``U h`` rather than on ``h``.
    """

    cell = nn.GRU
