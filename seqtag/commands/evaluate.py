"""Score a trained model."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

TAKES_RUN = True

log = logging.getLogger(__name__)


def evaluate(config: dict[str, Any], overrides: list[str]) -> float:
    """Score a split, print tables, write everything to a folder and print its path last.

    Returns:
        The selection score.
    """
    from seqtag.checkpoint import load_checkpoint
    from seqtag.commands.paths import absolute_data_paths
    from seqtag.datamodule import DataModule
    from seqtag.doctor import describe
    from seqtag.floors import score_floor
    from seqtag.predictor import choose_device
    from seqtag.report.analysis import (
        LabelAnalysis,
        find_worst,
        print_label_analysis,
        print_worst,
    )
    from seqtag.report.tables import print_scores
    from seqtag.scoring import empty_scores, predict_batches
    from seqtag.training.results import write_predictions, write_row_table
    from seqtag.training.run_directory import create_directory, describe_environment, write_json

    name = config["split"]
    if name not in ("dev", "test"):
        raise ValueError(f"split={name}; it is dev or test")
    checkpoint = load_checkpoint(config["run"])
    config = absolute_data_paths(config)
    checkpoint.config = config
    data = DataModule(config, inputs=checkpoint.inputs, target=checkpoint.target)
    split = data.read_split(name)
    for line in (*data.notes, f"scoring {checkpoint.path}", describe(split)):
        log.info(line)
    if split.spec.unseen:
        log.info("labels that training lacks, always wrong: %s", " ".join(split.spec.unseen))

    scores = empty_scores(data, name)
    analysis = (
        LabelAnalysis(split, per_element=data.task.per_element) if split.spec.labels else None
    )
    device = choose_device(config["device"])
    for batch, prediction in predict_batches(checkpoint.model(), data, name, device):
        scores.update(prediction, batch)
        if analysis is not None:
            analysis.update(batch, prediction)
    metrics = {f"{name}/{metric}": value for metric, value in scores.compute().items()}
    floors = {f"{name}/{metric}": value for metric, value in score_floor(data, name).items()}
    selection = data.task.selection(split.spec)
    errors: dict[str, Any] = {"worst": find_worst(data, split, scores, config["worst"])}

    print_scores(metrics, floors)
    if analysis is not None:
        errors |= analysis.content()
        print_label_analysis(errors)
    if errors["worst"]:
        print_worst(errors["worst"], selection)

    folder = create_directory(
        Path(config["output"]).expanduser().absolute()
        if config["output"] is not None
        else checkpoint.path.parent / "evaluations"
    )
    write_json(folder / "metrics.json", metrics | {f"floor/{k}": v for k, v in floors.items()})
    write_json(folder / "errors.json", errors)
    source = {"path": str(split.path), "sha256": split.digest, **split.counts}
    write_json(folder / "environment.json", describe_environment(config["seed"], {name: source}))
    write_row_table(folder / f"{name}_rows.parquet", scores.row_table(), split)
    write_predictions(folder / "predictions.jsonl", checkpoint, split, config["device"])
    print(folder)
    return metrics[f"{name}/{selection}"]
