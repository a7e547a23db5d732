"""Scores of models trained with verifiers, beside the verifiers' accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.database.selection import check_names
from workbench.core.errors import FormatError, UsageError
from workbench.core.item import QuarantinedRow
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.data.formats import downstream as files
from workbench.data.formats.downstream import DownstreamScores
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.store import browsing
from workbench.measuring.columns import columns, gold_counts
from workbench.measuring.judged import BASELINE, judged
from workbench.statistics.records.downstream import DownstreamLine, DownstreamPoint, DownstreamReport, DownstreamRow
from workbench.statistics.records.report import AccuracyRow
from workbench.statistics.records.study import JUDGES_NOTHING

if TYPE_CHECKING:
    from workbench.statistics.ranks import Associations


class _BenchmarkScores(Struct, frozen=True):
    """Scores on one benchmark, or mean ranks on all.

    Attributes:
        benchmark: None for all.
        steps: The training steps compared.
        of: Verifier -> its score and the lines behind it.
    """

    benchmark: str | None
    steps: list[int]
    of: dict[str, tuple[float, list[DownstreamLine]]]


def downstream(
    project: Project,
    path: Path,
    *,
    by: str | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> DownstreamReport:
    """Rank correlation between verifiers' accuracy and downstream scores (VerifyBench, arXiv 2505.15801, 5.2).

    Args:
        path: JSON lines or a table; see `workbench.statistics.records.downstream.DownstreamLine`.
        by: What items are grouped by, as for accuracy.

    Raises:
        FormatError: The file can't be read, or has no line that can be taken.
        UsageError: None of its verifiers has a complete run.
    """
    from workbench.statistics import ranks

    read, reader = _read(path), project.database.reader()
    named = dict.fromkeys(line.verifier for line in read.lines)
    here = _measured(project, path, named)
    wanted = check_names(reader, selection or Selection())
    accuracies = _accuracies(project, here, by, protocol, gold, wanted)
    scores = _scores([line for line in read.lines if line.verifier in here])
    return DownstreamReport(
        lines=len(read.lines),
        refused=len(read.refused),
        refusals=[
            QuarantinedRow(line=line.line, field=line.field, code=line.code, message=line.message)
            for line in read.refused
        ],
        unmeasured=[name for name in named if name not in here],
        samples=ranks.SAMPLES,
        seed=ranks.SEED,
        points=[point for found in scores for point in _points(found, accuracies[None])],
        rows=[_row(found, group, rows) for found in scores for group, rows in accuracies.items()],
        by=by,
        protocol=protocol,
        gold=gold_counts(project, wanted, gold),
        gold_choice=gold,
    )


def _read(path: Path) -> DownstreamScores:
    read = files.read(path, DEFAULT_MAX_LINE)
    if not read.lines:
        why = f"{len(read.refused):,} lines, none of which can be taken" if read.refused else "there is no line in it"
        first = [f"line {line.line}, {line.field or 'as a whole'}: {line.message}" for line in read.refused[:1]]
        raise FormatError(f"{path}: {why}.", " ".join(first) or files.FORM)
    return read


def _measured(project: Project, path: Path, named: Iterable[str]) -> tuple[str, ...]:
    """Those of the file's verifiers that have a complete run.

    Raises:
        UsageError: None has.
    """
    known = {*browsing.newest_runs(project.database.reader(), without=JUDGES_NOTHING).values(), BASELINE}
    here = tuple(name for name in named if name in known)
    if not here:
        raise UsageError(
            f"{path}: no verifier in it has a complete run here: {_some(named)}.", f"Complete: {_some(sorted(known))}."
        )
    return here


def _some(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:20])


def _accuracies(
    project: Project,
    verifiers: tuple[str, ...],
    by: str | None,
    protocol: Protocol3,
    gold: GoldChoice,
    wanted: Selection,
) -> dict[str | None, dict[str, AccuracyRow]]:
    """Group -> verifier -> its row of the accuracy table; None for all items, first."""
    from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows

    everything = columns(project)
    found = judged(project, verifiers, gold=gold, selection=wanted, known=everything)
    kept = everything.chosen(wanted)
    rows: dict[str | None, dict[str, AccuracyRow]] = {None: {}}
    for judge, outcome in zip(found.judges, found.outcomes, strict=True):
        groups = None if by is None else everything.groups(by, judge.run)
        seen = AccuracyColumns(
            outcome=outcome,
            gold=found.gold,
            question=found.question,
            group=None if groups is None else groups.code if kept is None else groups.code[kept],
            names=() if groups is None else groups.names,
            parts=() if groups is None else groups.parts,
        )
        for row in accuracy_rows(judge.name, seen, protocol):
            rows.setdefault(row.group, {})[judge.name] = row
    return rows


def _scores(lines: Sequence[DownstreamLine]) -> list[_BenchmarkScores]:
    """The scores of each benchmark in the order of the file, then the mean ranks where there are several."""
    by_benchmark: dict[str, dict[str, list[DownstreamLine]]] = {}
    for line in lines:
        by_benchmark.setdefault(line.benchmark, {}).setdefault(line.verifier, []).append(line)
    found = [_compared(benchmark, of) for benchmark, of in by_benchmark.items()]
    return [*found, _ranked(found)] if len(found) > 1 else found


def _compared(benchmark: str, of: Mapping[str, list[DownstreamLine]]) -> _BenchmarkScores:
    """Verifiers at the steps they all have, so that none is ahead for having been trained longer."""
    steps = set.intersection(*({line.step for line in lines} for lines in of.values()))
    scores = {}
    for verifier, lines in of.items() if steps else ():
        used = [line for line in lines if line.step in steps]
        at = [[line.score for line in used if line.step == step] for step in steps]
        scores[verifier] = (_mean([_mean(seeds) for seeds in at]), used)
    return _BenchmarkScores(benchmark, sorted(step for step in steps if step is not None), scores)


def _ranked(found: Sequence[_BenchmarkScores]) -> _BenchmarkScores:
    """The mean of the ranks on all benchmarks, of the verifiers that have a score on each."""
    import numpy as np
    from scipy.stats import rankdata

    everywhere = [name for name in found[0].of if all(name in scores.of for scores in found)]
    ranks = np.mean([rankdata([scores.of[name][0] for name in everywhere]) for scores in found], axis=0)
    lines = [[line for scores in found for line in scores.of[name][1]] for name in everywhere]
    return _BenchmarkScores(None, [], dict(zip(everywhere, zip(ranks.tolist(), lines, strict=True), strict=True)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _points(found: _BenchmarkScores, rows: Mapping[str, AccuracyRow]) -> list[DownstreamPoint]:
    from workbench.statistics.intervals import wilson

    points = []
    for verifier, (score, lines) in found.of.items():
        sizes = {line.n for line in lines}
        size = sizes.pop() if len(sizes) == 1 and found.benchmark is not None else None
        is_share = all(0 <= line.score <= 1 for _, other in found.of.values() for line in other)
        row = rows[verifier]
        points.append(
            DownstreamPoint(
                verifier=verifier,
                benchmark=found.benchmark,
                accuracy=row.accuracy,
                ci=row.ci,
                n=row.n,
                score=score,
                score_ci=wilson(score * size, size) if size is not None and is_share else None,
                scores=len(lines),
            )
        )
    return sorted(points, key=lambda point: -1 if point.accuracy is None else point.accuracy, reverse=True)


def _row(found: _BenchmarkScores, group: str | None, rows: Mapping[str, AccuracyRow]) -> DownstreamRow:
    import numpy as np

    from workbench.statistics.ranks import associations, is_exact, orders_of

    accuracies = {name: row.accuracy for name, row in rows.items() if row.accuracy is not None}
    both = [(accuracies[name], score) for name, (score, _) in found.of.items() if name in accuracies]
    x, y = (np.array([pair[side] for pair in both]) for side in (0, 1))
    measured = associations(x, y)
    return DownstreamRow(
        benchmark=found.benchmark,
        group=group,
        verifiers=len(both),
        steps=found.steps,
        spearman=measured.spearman,
        kendall=measured.kendall,
        exact=is_exact(len(both)),
        permutations=orders_of(len(both)),
        reason=_reason(found, len(both), measured),
    )


def _reason(found: _BenchmarkScores, verifiers: int, measured: Associations) -> str | None:
    from workbench.statistics.ranks import FEWEST

    if not found.of:
        return "No training step has a score for every verifier."
    if verifiers < 2:
        return f"{verifiers} verifier{'' if verifiers == 1 else 's'} with an accuracy and a score."
    if measured.spearman.coefficient is None:
        return "All accuracies or all scores are equal."
    if verifiers < FEWEST:
        return f"No interval: a bootstrap needs {FEWEST} verifiers."
    if measured.spearman.ci is None or measured.kendall.ci is None:
        return "No interval: nearly all samples of verifiers are in the same order, or hold one value."
    return None
