import importlib.util
import json
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "measure_preparation.py"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells own memory")
def test_costs_are_told_and_the_second_time_is_cheaper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "train.conll"
    file.write_text("".join(f"w{n % 500}\tL{n % 3}\n\n" for n in range(20_000)), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("measure_preparation", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main([str(file), "data=conll"])
    found = json.loads(capsys.readouterr().out)
    assert found["elements"] == 20_000
    assert 0 < found["again"]["cpu"] < found["seconds"]["cpu"]
    assert found["megabytes"]["at most"] >= found["megabytes"]["before"] > 0
