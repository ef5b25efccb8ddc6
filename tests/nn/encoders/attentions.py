"""Small attention encoders for the tests of their options."""

from functools import partial

import torch
from torch import nn

from seqtag.nn.encoders.attention import AttentionEncoder
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import DotProductScorer


def build(**changes) -> AttentionEncoder:
    torch.manual_seed(0)
    settings = {
        "dim": 8,
        "num_layers": 2,
        "num_heads": 2,
        "num_kv_heads": 2,
        "head_dim": None,
        "feedforward_dim": 12,
        "tied": False,
        "radius": None,
        "pre_norm": True,
        "dropout": 0.0,
        "feedforward_dropout": 0.0,
        "attention_dropout": 0.0,
        "input_dropout": 0.0,
        "position": Position,
        "scorer": partial(DotProductScorer, scaled=True),
        "norm": partial(nn.LayerNorm, eps=1e-5),
        "activation": nn.GELU,
    }
    return AttentionEncoder(8, **(settings | changes))


def shaken(encoder: AttentionEncoder) -> AttentionEncoder:
    """The same with biases that are not zero and norms that are not one, in float64."""
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return encoder.double()
