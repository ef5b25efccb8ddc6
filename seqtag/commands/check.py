"""Read data as training would, and say what it holds and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from seqtag.budget import resolve_budget
from seqtag.commands.paths import absolute_data_paths
from seqtag.commands.runs import Runs
from seqtag.datamodule import DataModule
from seqtag.device import choose_device
from seqtag.limits import check_head, check_memory, check_split
from seqtag.model import Model
from seqtag.preparation.rows import check_folds
from seqtag.report.data_page import print_page
from seqtag.scoring import selection_metric
from seqtag.survey.facts import Problem
from seqtag.survey.survey import survey

RUNS = Runs.NONE
TRAINS = True


def check(config: dict[str, Any], overrides: list[str]) -> None:
    """Print a page on the splits that the config names, or JSON.

    Raises:
        ValueError: training would refuse them; the page has been printed by then.
    """
    config = absolute_data_paths(config)
    data = DataModule(config)
    node = config["data"]
    data.read_all(test=node["test"] is not None or check_folds(node), strict=False)
    found = survey(data)
    if not found.error_count:
        refused = [Problem(messages=[message], count=1) for message in _refusals(config, data)]
        found = replace(found, errors=refused, error_count=len(refused))
    if config["json"]:
        print(json.dumps(found.plain(), ensure_ascii=False, indent=2))
    else:
        print_page(found)
    if found.error_count:
        errors = "one error" if found.error_count == 1 else f"{found.error_count:,} errors"
        raise ValueError(f"{errors} in the data: training would refuse it")


def _refusals(config: Mapping[str, Any], data: DataModule) -> Iterator[str]:
    """Yield why no model could be trained on splits that have no fault by themselves."""
    config, _ = resolve_budget(config, data.inputs.fields)
    check_memory(config, data.inputs.fields, data.target, choose_device(config["device"]))
    with torch.device("meta"):  # shapes without numbers: nothing is stored
        model = Model.from_config(config, data.inputs.fields, data.target)
    checks: list[Callable[[], object]] = [
        partial(check_head, model, per_element=data.task.per_element),
        *(partial(check_split, model, split) for split in data.splits.values()),
        partial(selection_metric, data, "dev"),
    ]
    for check_one in checks:
        try:
            check_one()
        except ValueError as error:
            yield str(error)
