"""From run directories to everything that is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from seqtag.comparison.comparison import Comparison, Contender
from seqtag.comparison.contender_scores import score_contenders
from seqtag.comparison.contenders import Entry, Group, check_same_rows, group_runs
from seqtag.comparison.disagreements import Difference, describe
from seqtag.comparison.entrants import Entrant, find_floors, name_entrants, remark_schemes
from seqtag.comparison.naming import name_contenders
from seqtag.comparison.pairs import compare_pairs, say_of_each
from seqtag.comparison.record import METRICS, Record, find_runs, read_record, read_rows
from seqtag.comparison.remarks import agreeing, remark
from seqtag.comparison.row_scores import advantage, score_rows
from seqtag.evaluation.resampling import Sample

__all__ = ["compare_runs", "find_runs"]


def compare_runs(
    folders: Sequence[Path],
    *,
    names: Mapping[Path, str] | None,
    score: str | None,
    split: str | None,
    examples: int,
    resamples: int,
) -> Comparison:
    """Compare finished runs, and the floors beside them.

    Args:
        folders: run directories, see ``find_runs``.
        names: of the contender that each folder is a run of; None names them by the settings in
            which they differ, and puts together what differs by seed and fold.
        score: name of the measure to test and rank by; None takes the one that chose the epochs.
        split: that the scores are of; None takes test if every run was scored on it, else dev.
        examples: rows to show for each two contenders, each way.
        resamples: of the bootstrap.

    Raises:
        ValueError: there is nothing to compare, the runs were scored on different data, or no run
            has such a score.
    """
    if resamples < 1:
        raise ValueError(f"resamples={resamples}: there must be at least one")
    skipped: dict[str, str] = {}
    notes: list[str] = []
    records = _read(folders, skipped)
    split = _choose_split(records, split, notes)
    entries = []
    for record in records:
        try:
            entries.append(Entry(record=record, table=read_rows(record, split)))
        except ValueError as error:
            skipped[str(record.folder)] = str(error)
    _refuse_none(entries, skipped)
    given = None if names is None else {path.resolve(): name for path, name in names.items()}
    if given is not None:
        given = {entry.folder: given[entry.folder.resolve()] for entry in entries}
    groups, left_out = group_runs(entries, given)
    skipped |= left_out
    _refuse_none(groups, skipped)
    check_same_rows(groups)
    contenders = _named(groups)
    metric = _choose_score(contenders, score, skipped, notes)
    _refuse_none(contenders, skipped)
    measures = list(dict.fromkeys(name for g in contenders.values() for name in g.measures))
    measures = [metric, *(name for name in measures if name != metric)]
    trained = name_entrants(contenders)
    floors, said = find_floors(trained, split, measures)
    entrants = {e.name: e for e in (*trained, *floors) if e.has(metric)}
    higher_is_better = _measure(contenders, metric)

    made, samples, draws, fewer = score_contenders(
        entrants, contenders, measures, metric, resamples
    )
    made.sort(key=lambda contender: _rank(contender.scores[metric].mean, higher_is_better))
    pairs, tested = compare_pairs(
        made, entrants, samples, draws, metric, higher_is_better=higher_is_better
    )
    say_of_each(made, pairs)
    differences, ranked = _differences(made, entrants, samples, metric, measures)
    disagreements, lacking = describe(differences, examples)
    rows = sum(len(entry.table.rows) for entry in groups[0].runs[0])
    if rows == 1:
        notes.append("one row only: its intervals and tests say nothing")
    notes += [*remark(contenders), *remark_schemes(trained, measures), *said]
    notes += [*tested, *fewer, *ranked, *lacking]
    return Comparison(
        split=split,
        metric=metric,
        higher_is_better=higher_is_better,
        rows=rows,
        resamples=resamples,
        contenders=made,
        pairs=pairs,
        disagreements=disagreements,
        notes=notes,
        skipped=skipped,
        environment=agreeing(list(contenders.values())),
    )


def _read(folders: Sequence[Path], skipped: dict[str, str]) -> list[Record]:
    records = []
    for folder in dict.fromkeys(folders):
        if not (folder / METRICS).is_file():
            skipped[str(folder)] = f"not finished: it has no {METRICS}"
            continue
        try:
            records.append(read_record(folder))
        except ValueError as error:
            skipped[str(folder)] = str(error)
    _refuse_none(records, skipped)
    return records


def _refuse_none(left: Sequence[object] | Mapping[str, object], skipped: dict[str, str]) -> None:
    """Refuse to compare nothing."""
    if left:
        return
    if not skipped:
        raise ValueError("there is no run to compare")
    folder, reason = next(iter(skipped.items()))
    more = f"; nor can {len(skipped) - 1} more" if len(skipped) > 1 else ""
    raise ValueError(f"nothing to compare: {folder} cannot be used: {reason}{more}")


def _choose_split(records: Sequence[Record], split: str | None, notes: list[str]) -> str:
    if split is None:
        without = [record for record in records if "test" not in record.splits()]
        split = "dev" if without else "test"
        if without and len(without) < len(records):
            notes.append(
                f"{len(without)} of {len(records)} runs have no scores of test "
                "(evaluate_test=true writes them): dev is compared"
            )
    if split == "dev":
        notes.append("these are dev scores, and dev chose the epochs: they are too good")
    return split


def _named(groups: Sequence[Group]) -> dict[str, Group]:
    """Contenders by name: the given ones, or what their settings say."""
    if all(group.given is not None for group in groups):
        return {str(group.given): group for group in groups}
    return dict(zip(name_contenders([g.settings for g in groups]), groups, strict=True))


def _choose_score(
    contenders: dict[str, Group], score: str | None, skipped: dict[str, str], notes: list[str]
) -> str:
    """The measure to test by; contenders without it are taken out."""
    if score is None:
        chosen = [e.table.selection for g in contenders.values() for e in g.entries]
        score = max(dict.fromkeys(chosen), key=chosen.count)
        if len(set(chosen)) > 1:
            others = sorted(set(chosen) - {score})
            notes.append(f"not all runs chose their epoch by {score}: some by {', '.join(others)}")
    known = sorted({name for group in contenders.values() for name in group.measures})
    if score not in known:
        raise ValueError(f"no run has a score '{score}'; there are: {', '.join(known) or 'none'}")
    for name in [name for name, group in contenders.items() if score not in group.measures]:
        for entry in contenders.pop(name).entries:
            skipped[str(entry.folder)] = f"it was not scored by {score}"
    return score


def _measure(contenders: Mapping[str, Group], metric: str) -> bool:
    """Whether more of a measure is better."""
    table = next(g for g in contenders.values() if metric in g.measures).entries[0].table
    return table.measures[metric].higher_is_better


def _rank(mean: float, higher_is_better: bool) -> tuple[bool, float]:
    """Sorts the better first, and what has no score last."""
    undefined = mean != mean
    return undefined, 0.0 if undefined else (-mean if higher_is_better else mean)


def _differences(
    contenders: Sequence[Contender],
    entrants: Mapping[str, Entrant],
    samples: Mapping[str, Sample],
    metric: str,
    measures: Sequence[str],
) -> tuple[list[Difference], list[str]]:
    """Neighbours in the order and its two ends, row by row."""
    order = [contender.name for contender in contenders if contender.floor is None]
    pairs = list(pairwise(order))
    if len(order) > 2:
        pairs.append((order[0], order[-1]))
    for measure in measures:  # the tested one first
        shared = all(entrants[name].has(measure) for name in order)
        if not pairs or not shared:
            continue
        chosen = samples if measure == metric else {n: entrants[n].sample(measure) for n in order}
        rows = {
            name: score_rows(chosen[name], entrants[name].shared_columns(measure)) for name in order
        }
        if all(np.isnan(found.own).all() for found in rows.values()):
            continue
        kind = entrants[order[0]].runs[0][0].table.measures[measure]
        found = [
            Difference(
                first=entrants[one],
                second=entrants[other],
                ahead=advantage(
                    rows[one],
                    rows[other],
                    higher_is_better=kind.higher_is_better,
                ),
                scores=np.stack([rows[one].own, rows[other].own], axis=1),
            )
            for one, other in pairs
        ]
        said = f"rows are set against each other by {measure}: one row has no {metric}"
        return found, [] if measure == metric else [said]
    return [], []
