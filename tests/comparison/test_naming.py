from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.comparison.naming import differing, name_contenders, unique

ATTENTION: dict[str, Any] = {
    "encoder._target_": "seqtag.nn.encoders.attention.AttentionEncoder",
    "encoder.num_heads": 4,
    "encoder.position._target_": "seqtag.nn.positions.rotary.Rotary",
    "encoder.dim": 64,
    "optimizer.lr": 0.001,
}
LSTM: dict[str, Any] = {
    "encoder._target_": "seqtag.nn.encoders.lstm.LSTMEncoder",
    "encoder.bidirectional": True,
    "encoder.dim": 64,
    "optimizer.lr": 0.001,
}


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ([LSTM], ["lstm"]),
        ([ATTENTION, LSTM], ["attention", "lstm"]),
        ([ATTENTION, LSTM | {"encoder.dim": 32}], ["attention", "lstm"]),
        ([LSTM, LSTM | {"encoder.dim": 128}], ["dim=64", "dim=128"]),
        (
            [ATTENTION, LSTM, LSTM | {"optimizer.lr": 0.01}],
            ["attention", "lstm, lr=0.001", "lstm, lr=0.01"],
        ),
        (
            [
                ATTENTION,
                ATTENTION
                | {
                    "encoder.position._target_": "seqtag.nn.positions.alibi.Alibi",
                    "encoder.position.base": 2,
                },
                {k: v for k, v in ATTENTION.items() if "position" not in k},
            ],
            ["position=rotary", "position=alibi", "position=null"],
        ),
        ([LSTM, LSTM | {"data.dim": 3}], ["dim=null", "dim=3"]),
        (
            [LSTM | {"a.x": 1, "b.x": 1}, LSTM | {"a.x": 2, "b.x": 1}, LSTM | {"a.x": 2, "b.x": 2}],
            ["a.x=1", "a.x=2, b.x=1", "a.x=2, b.x=2"],
        ),
        (
            [LSTM | {"data.features": ["POS", "CASE"]}, LSTM],
            ['features=["POS","CASE"]', "features=null"],
        ),
        ([{}, {}], ["run", "run"]),
    ],
)
def test_names_say_what_tells_contenders_apart(
    settings: list[dict[str, Any]], names: list[str]
) -> None:
    assert name_contenders(settings) == unique(names)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "a.b", "encoder._target_", "head._target_", "c.b", "head.d"]),
            st.sampled_from([1, "1", None, 0.5, "x.y.Z", "x.w.Z", [1]]),
        ),
        max_size=8,
    )
)
def test_no_two_names_are_alike(settings: list[dict[str, Any]]) -> None:
    names = name_contenders(settings)
    assert len(set(names)) == len(settings)


def test_keys_that_differ_are_found_in_order() -> None:
    assert differing([{"b": 1, "a": 1, "c": 2}, {"b": 2, "a": 1}]) == ["b", "c"]
    assert differing([]) == []
