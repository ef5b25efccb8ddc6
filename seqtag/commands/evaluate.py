"""Score a trained model."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from seqtag.batch import Output
from seqtag.checkpoint import load_checkpoint
from seqtag.commands.paths import absolute_data_paths, prepare_folder
from seqtag.commands.runs import Runs
from seqtag.data.source import build_reader
from seqtag.datamodule import DataModule
from seqtag.device import choose_device
from seqtag.doctor import describe, name_unseen
from seqtag.floors.fitted import fit_floors
from seqtag.limits import check_split
from seqtag.report.analyses.choice import choose_analysis
from seqtag.report.evaluation import Evaluation
from seqtag.report.predicted_files import write_predicted_files
from seqtag.report.tables import print_scores
from seqtag.report.worst import find_worst, print_worst, ranking_metric
from seqtag.scoring import selection_metric
from seqtag.training.results import known_floors, score_split
from seqtag.training.run_directory import (
    create_directory,
    describe_environment,
    write_configs,
    write_json,
)

RUNS = Runs.ONE
SPLITS = ("dev", "test")

log = logging.getLogger(__name__)


def evaluate(config: dict[str, Any], overrides: list[str]) -> None:
    """Score a split, write everything to a folder, print tables and, last, the folder."""
    name = config["split"]
    if name not in SPLITS:
        raise ValueError(f"split={name}; it is {' or '.join(SPLITS)}")
    if config["worst"] < 0:
        raise ValueError(f"worst is {config['worst']}; it must be 0 or more")
    if config["output"] is not None:
        prepare_folder("output", config["output"])
    config = absolute_data_paths(config)
    checkpoint = load_checkpoint(config["run"])
    trained = checkpoint.config
    checkpoint.use(config)
    data = DataModule(config, inputs=checkpoint.inputs, target=checkpoint.target)
    split = data.read_split(name)
    for line in (f"scoring {checkpoint.path}", *data.notes, describe(split), *name_unseen(split)):
        log.info(line)

    model = checkpoint.model()
    check_split(model, split)
    analysis = choose_analysis(data, split, config["data"]["target"])
    scored = score_split(
        model,
        data,
        name,
        choose_device(config["device"]),
        fit_floors(data),  # those that need no training split: it may be gone
        analysis.update,
    )
    # Those that do were fitted when there was one.
    scored.floors = known_floors(checkpoint.path.parent, split) | scored.floors
    selection = selection_metric(data, name)
    evaluation = Evaluation(data, scored, analysis, selection=selection)
    ranking = ranking_metric(data, scored, [analysis.worst_by or selection, selection])
    worst = find_worst(data, scored, ranking, config["worst"])

    folder = create_directory(
        Path(config["output"]).expanduser().absolute()
        if config["output"] is not None
        else checkpoint.path.parent / "evaluations"
    )
    # As a run has them, so that `compare` reads this folder like one.
    write_configs(folder, {key: config[key] for key in trained}, overrides)
    write_json(folder / "errors.json", {**evaluation.content(), "worst": worst})
    environment = describe_environment(config, {name: split.source()})
    write_json(folder / "environment.json", environment)
    scored.write_rows(folder, selection=selection)
    scored.write_predictions(folder)
    evaluation.write_tables(folder)
    if config["plots"]:
        evaluation.write_pictures(folder)
    task = data.task
    reader = build_reader(
        config["data"],
        per_element=task.per_element,
        sequence=task.sequence,
        several=task.several,
        read_target=True,
    )
    empty = Output([] if task.per_element else None)
    write_predicted_files(reader, config["data"][name], scored.outputs, empty, folder)
    write_json(folder / "metrics.json", scored.metrics | scored.floors)

    print_scores(scored.metrics, scored.floors)
    evaluation.show()
    print_worst(worst, ranking)
    print(folder)
