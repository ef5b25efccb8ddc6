"""Settings that no run can have: refused in two lines at most, before anything is made."""

from pathlib import Path

import pytest

from seqtag.commands.front import run_command

REFUSED = {
    "encoder.attention_dropout=2": "attention_dropout is 2; it must lie in [0, 1]",
    "encoder.dropout=nan": "encoder.dropout is nan; it must be a number",
    "encoder.dropout=5": "encoder: dropout probability has to be between 0 and 1",
    "encoder.num_kv_heads=[1]": "encoder.num_kv_heads is [1]; it must be a whole number",
    "encoder.dim=[]": "encoder.dim is []; it must be a whole number",
    "encoder=cnn encoder.dilation=100000 encoder.num_layers=8": "encoder.dilation is 100000",
    "encoder/position=peaked encoder.position.offsets=1": "offsets is 1; it must be a list",
    "encoder/position=peaked encoder.position.offsets=[0.5]": "position.offsets is [0.5]",
    "encoder/position=peaked encoder.position.strength=1e40": "position.strength is 1e+40",
    "encoder.dim=1000000": "training this model takes",
    "encoder=window_full encoder.limit=1000000000000": "training this model takes",
    "encoder.parameters=20000M dry_run=true": "training this model takes",
    "encoder.norm=rms": "encoder/norm=rms",
    "head=regression": "this head gives numbers, and the task's targets are none",
    "head=classification": "the task wants an answer for every element",
    "data.features=[null]": "data.features holds None, which is no column",
    "data.input=null": "data.input=null: name the column of the input",
    "data.encoding=idna": "data.encoding=idna: no such text encoding",
    "data.streaming=true data.stream_buffer=0": "data.stream_buffer=0",
    f"cache={__file__}": f"cache={__file__}: ",
    "data=table data.skip_lines=1 data.train=x.parquet": "data.skip_lines=1: this format has rows",
}


@pytest.mark.parametrize(("words", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_a_silly_setting_is_refused_and_leaves_nothing_behind(
    words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("train", [*words.split(), f"runs={tmp_path / 'runs'}"]) == 1
    error = capsys.readouterr().err.rpartition("error: ")[2]
    assert message in error
    assert len(error.splitlines()) <= 2
    assert not (tmp_path / "runs").exists()


def test_a_radius_of_any_size_is_all() -> None:
    assert run_command("train", ["encoder.radius=99999999999999999999999999", "dry_run=true"]) == 0
