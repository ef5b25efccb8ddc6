"""Dev as the loop scores it, without a trainer."""

import pytest
import torch

from seqtag.datamodule import DataModule
from seqtag.training.fit import make_loop


@pytest.mark.parametrize("weights", ["null", "{no: 5.0}"])
def test_the_dev_loss_is_one_mean_over_all_targets(small_config, monkeypatch, weights: str) -> None:
    config = small_config(
        "classification", f"head.class_weights={weights}", "batching.max_rows=2", "seed=3"
    )
    # Three rows in batches of two: the last batch has one target only.
    dev = "text\tlabel\ngood cat\tyes\nbad cat\tno\ngood\tyes\n"
    with open(config["data"]["dev"], "w") as stream:
        stream.write(dev)
    data = DataModule(config)
    data.read_all(test=False)
    loop = make_loop(config, data).eval()
    logged = {}
    monkeypatch.setattr(loop, "log", lambda name, value, **_: logged.update({name: value}))
    monkeypatch.setattr(loop, "log_dict", logged.update)
    loop.on_validation_epoch_start()
    total, weight = 0.0, 0.0
    with torch.no_grad():
        for number, batch in enumerate(data.batches("dev", shuffle=False)):
            loop.validation_step(batch, number)
            chances = loop.model.predict(batch).probabilities
            for row, label in enumerate(batch.target.value.tolist()):
                name = data.target.labels[label]
                own = 5.0 if name == "no" and weights != "null" else 1.0
                total -= own * float(chances[row, label].log())
                weight += own
    loop.on_validation_epoch_end()
    assert number == 1
    assert float(logged["dev/loss"]) == pytest.approx(total / weight, rel=1e-5)
