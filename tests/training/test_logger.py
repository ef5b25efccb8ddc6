from pathlib import Path

from seqtag.training.logger import EpochLog


def test_what_an_epoch_logs_at_different_moments_stands_in_one_row(tmp_path: Path) -> None:
    log = EpochLog(save_dir=tmp_path)
    log.log_metrics({"dev/accuracy": 0.5, "epoch": 0}, step=9)
    log.log_metrics({"train/loss": 2.0, "epoch": 0}, step=9)
    log.log_metrics({"dev/accuracy": 0.75, "epoch": 1}, step=19)
    assert (tmp_path / "metrics.csv").read_text().splitlines() == [
        "epoch,dev/accuracy,step,train/loss",
        "1,0.5,10,2.0",
        "2,0.75,20,",
    ]


def test_a_restart_keeps_what_is_there(tmp_path: Path) -> None:
    EpochLog(save_dir=tmp_path).log_metrics({"train/loss": 2.0, "epoch": 0}, step=4)
    EpochLog(save_dir=tmp_path).log_metrics({"train/loss": 1.0, "epoch": 1}, step=9)
    assert (tmp_path / "metrics.csv").read_text().splitlines() == [
        "epoch,step,train/loss",
        "1,5,2.0",
        "2,10,1.0",
    ]
