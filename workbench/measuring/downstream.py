"""Compares scores of models trained with verifiers with the verifiers' accuracy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import QuarantinedRow
from workbench.core.options import grouped, record_from
from workbench.core.project import Project
from workbench.core.selection import Selection, group_name
from workbench.core.text.figures import NONE, counted, p_value
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.data.store import browsing
from workbench.measuring.accuracy import accuracy
from workbench.measuring.downstream_scores import (
    FORM,
    DownstreamScores,
    Measure,
    TrainedModels,
    averages_table,
    read_downstream,
    unmeasured,
)
from workbench.measuring.judged import BASELINE, counting
from workbench.measuring.records.documents import BenchmarkScore
from workbench.statistics.records.combined import (
    Association,
    DownstreamLine,
    DownstreamPoint,
    DownstreamReport,
    DownstreamRow,
    DownstreamStep,
)
from workbench.statistics.records.comparison import LEVEL
from workbench.statistics.records.probe import JUDGES_NOTHING
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.document import Table
from workbench.tables.table import Columns, Ends, column, count, ends, table, text, with_interval, word
from workbench.tables.table_text import plain_table

if TYPE_CHECKING:
    from workbench.statistics.correlation import Associations
    from workbench.tables.pictures import Curves


class _BenchmarkScores(Struct, frozen=True):
    """Verifiers' scores on one benchmark, or their mean ranks over all benchmarks.

    Attributes:
        benchmark: The benchmark's name; None for mean ranks over all.
        steps: The training steps compared.
        of: Verifier -> its score or mean rank, and the lines behind it.
    """

    benchmark: str | None
    steps: list[int]
    of: dict[str, tuple[float, list[DownstreamLine]]]


def downstream(
    project: Project,
    path: Path,
    *,
    by: str | None = None,
    scored_by: str | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> DownstreamReport:
    """Correlate the ranks of verifiers' accuracy and downstream scores (VerifyBench, arXiv 2505.15801, 5.2).

    Args:
        path: JSON lines or a table; see `DownstreamLine` and `TrainedModelLine` of
            `workbench.statistics.records.combined`.
        by: The property that forms groups of items, as for accuracy; None for all items only.
        scored_by: The verifier that scores the completions of the models in the file; None for gold.

    Raises:
        FormatError: The file can't be read, or has no valid line.
        UsageError: No verifier in it has a complete run, or there is nothing for ``scored_by`` to score.
    """
    protocol = protocol or protocol_of(project)
    from workbench.statistics import correlation

    models = TrainedModels(project, scored_by=scored_by, protocol=protocol, gold=gold)
    read, reader = _read_scores(path, models.scores), project.database.reader()
    averages = models.taken(read.lines)
    if scored_by is not None and not averages:
        raise UsageError(
            f"{opt.scored_by} decides which completions of a model are correct, but no line names a model.",
            'Write: {"verifier": …, "model": …}',
        )
    named = dict.fromkeys(line.verifier for line in read.lines)
    here = _verifiers_with_run(project, path, named)
    wanted = check_names(reader, selection or Selection())
    report = accuracy(
        project, verifiers=here, by=by, protocol=protocol, gold=gold, selection=wanted, seed=None, notes=False
    )
    accuracies = _by_group(report.rows, here)
    scores = _scores_by_benchmark([line for line in read.lines if line.verifier in here])
    return DownstreamReport(
        lines=len(read.lines),
        refused=len(read.refused),
        refusals=[record_from(QuarantinedRow, line) for line in read.refused],
        unmeasured=[name for name in named if name not in here],
        samples=correlation.SAMPLES,
        seed=correlation.SEED,
        points=[point for found in scores for point in _downstream_points(found, accuracies[None])],
        steps=steps_of([line for line in read.lines if line.verifier in here]),
        averages=averages,
        scored_by=scored_by,
        rows=[_association_row(found, group, rows) for found in scores for group, rows in accuracies.items()],
        by=by,
        protocol=protocol,
        gold=report.gold,
        gold_choice=gold,
    )


def _read_scores(path: Path, measure: Measure = unmeasured) -> DownstreamScores:
    read = read_downstream(path, measure)
    if not read.lines:
        why = f"{len(read.refused):,} lines, none of them valid" if read.refused else "the file has no lines"
        first = [f"line {line.line}, {line.field or 'as a whole'}: {line.message}" for line in read.refused[:1]]
        raise FormatError(f"{path}: {why}.", " ".join(first) or FORM)
    return read


def scores_elsewhere(path: Path) -> list[BenchmarkScore]:
    """Return verifiers' scores on other benchmarks in the file's order, each averaged over the lines with the same
    verifier and benchmark.

    Raises:
        FormatError: The file can't be read, or a line is rejected.
        UsageError: A score is not from 0 to 1.
    """
    read = _read_scores(path)
    if read.refused:
        first = read.refused[0]
        raise FormatError(f"{path}:{first.line}:{first.field or 'line'}: {first.message}", FORM)
    found: dict[tuple[str, str], list[float]] = {}
    for line in read.lines:
        if not 0 <= line.score <= 1:
            raise UsageError(f"{path}: {line.verifier} has {line.score:g} on {line.benchmark}.", "Use shares, 0 to 1.")
        found.setdefault((line.verifier, line.benchmark), []).append(line.score)
    return [
        BenchmarkScore(verifier=verifier, benchmark=benchmark, score=sum(scores) / len(scores))
        for (verifier, benchmark), scores in found.items()
    ]


def _verifiers_with_run(project: Project, path: Path, named: Iterable[str]) -> tuple[str, ...]:
    known = {*browsing.newest_runs(project.database.reader(), without=JUDGES_NOTHING).values(), BASELINE}
    here = tuple(name for name in named if name in known)
    if not here:
        raise UsageError(
            f"{path}: no verifier in it has a complete run here: {_name_some(named)}.",
            f"Complete: {_name_some(sorted(known))}.",
        )
    return here


def _name_some(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:20])


def _by_group(rows: Sequence[AccuracyRow], verifiers: tuple[str, ...]) -> dict[str | None, dict[str, AccuracyRow]]:
    found: dict[str | None, dict[str, AccuracyRow]] = {}
    for row in rows:
        if row.verifier in verifiers:
            found.setdefault(row.group, {})[row.verifier] = row
    return found


def _scores_by_benchmark(lines: Sequence[DownstreamLine]) -> list[_BenchmarkScores]:
    by_benchmark: dict[str, dict[str, list[DownstreamLine]]] = {}
    for line in lines:
        by_benchmark.setdefault(line.benchmark, {}).setdefault(line.verifier, []).append(line)
    found = [_scores_at_common_steps(benchmark, of) for benchmark, of in by_benchmark.items()]
    return [*found, _mean_ranks(found)] if len(found) > 1 else found


def _scores_at_common_steps(benchmark: str, of: Mapping[str, list[DownstreamLine]]) -> _BenchmarkScores:
    steps = set.intersection(*({line.step for line in lines} for lines in of.values()))
    scores = {}
    for verifier, lines in of.items() if steps else ():
        used = [line for line in lines if line.step in steps]
        at = [[line.score for line in used if line.step == step] for step in steps]
        scores[verifier] = (_mean([_mean(seeds) for seeds in at]), used)
    return _BenchmarkScores(benchmark, sorted(step for step in steps if step is not None), scores)


def _mean_ranks(found: Sequence[_BenchmarkScores]) -> _BenchmarkScores:
    import numpy as np
    from scipy.stats import rankdata

    everywhere = [name for name in found[0].of if all(name in scores.of for scores in found)]
    ranks = np.mean([rankdata([scores.of[name][0] for name in everywhere]) for scores in found], axis=0)
    lines = [[line for scores in found for line in scores.of[name][1]] for name in everywhere]
    return _BenchmarkScores(None, [], dict(zip(everywhere, zip(ranks.tolist(), lines, strict=True), strict=True)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _downstream_points(found: _BenchmarkScores, rows: Mapping[str, AccuracyRow]) -> list[DownstreamPoint]:
    from workbench.statistics.intervals import count_interval

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
                score_ci=count_interval(score * size, size) if size is not None and is_share else None,
                scores=len(lines),
            )
        )
    return sorted(points, key=lambda point: -1 if point.accuracy is None else point.accuracy, reverse=True)


def _association_row(found: _BenchmarkScores, group: str | None, rows: Mapping[str, AccuracyRow]) -> DownstreamRow:
    import numpy as np

    from workbench.statistics.correlation import associations, is_exact, orders_of

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
        reason=_missing_reason(found, len(both), measured),
    )


def _missing_reason(found: _BenchmarkScores, verifiers: int, measured: Associations) -> str | None:
    from workbench.statistics.correlation import FEWEST

    if not found.of:
        return "No training step has a score for every verifier."
    if verifiers < 2:
        return f"{verifiers} verifier{'' if verifiers == 1 else 's'} with an accuracy and a score."
    if measured.spearman.coefficient is None:
        return "All accuracies or all scores are equal."
    if verifiers < FEWEST:
        return f"No interval: a bootstrap needs {FEWEST} verifiers."
    if measured.spearman.ci is None or measured.kendall.ci is None:
        return "No interval: nearly all samples of verifiers are in the same order, or have one value."
    return None


# -- Downstream scores as text: bars of accuracy next to bars of scores, and their rank correlation.


_ALL = "all benchmarks"
_MAX_REFUSALS = 5


def downstream_text(report: DownstreamReport) -> str:
    measured = [averages_table(report.averages, report.scored_by)] if report.averages else []
    tables = map(plain_table, (*measured, scores_table(report)))
    return "\n\n".join([downstream_head(report), *tables, plain_table(associations_table(report))])


def downstream_head(report: DownstreamReport) -> str:
    refused = f"; {counted(report.refused, 'line')} rejected" if report.refused else ""
    return (
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n{counted(report.lines, 'score')} read{refused}"
    )


def scores_table(report: DownstreamReport) -> Table:
    columns: Columns[DownstreamPoint] = (
        word("benchmark", lambda point: point.benchmark or _ALL),
        word("verifier", lambda point: point.verifier),
        count("n", lambda point: point.n),
        *with_interval("accuracy", "accuracy", "ci"),
        text(
            "score",
            lambda point: f"{point.score:{'.1f' if point.benchmark is None else 'g'}}",
            by=lambda point: point.score,
        ),
        ends(lambda point: point.score_ci),
        count("scores", lambda point: point.scores),
    )
    caption = "Accuracy of the verifiers, and scores of the models trained with them"
    return table(caption, columns, report.points, notes=_rejection_notes(report))


def _rejection_notes(report: DownstreamReport) -> Iterator[str]:
    if any(point.benchmark is None for point in report.points):
        yield f"{_ALL}: the mean of the ranks, 1 being the lowest score."
    for line in report.refusals[:_MAX_REFUSALS]:
        yield f"Rejected: line {line.line}, {line.field or 'as a whole'}: {line.message}"
    if report.refused > _MAX_REFUSALS:
        yield f"{report.refused - _MAX_REFUSALS:,} more were rejected."


def associations_table(report: DownstreamReport) -> Table:
    columns: Columns[DownstreamRow] = (
        word("benchmark", lambda one: one.benchmark or _ALL),
        word("items", lambda one: group_name(one.group, report.by)),
        count("verifiers", lambda one: one.verifiers),
        *_association_columns("Spearman", lambda one: one.spearman),
        *_association_columns("Kendall", lambda one: one.kendall),
    )
    caption = "Order of the verifiers by accuracy against their order by score"
    return table(caption, columns, report.rows, notes=_association_notes(report))


def _association_columns(name: str, found: Callable[[DownstreamRow], Association]) -> Columns[DownstreamRow]:
    return (
        column("coefficient", lambda one: found(one).coefficient, _coefficient_text, over=name),
        column("p", lambda one: found(one).p, p_value, over=name),
        ends(lambda one: found(one).ci, _interval_text, over=name),
    )


def _coefficient_text(value: float | None) -> str:
    return NONE if value is None else f"{value:+.2f}"


def _interval_text(ends: Ends) -> str:
    return NONE if ends is None else f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"


def _association_notes(report: DownstreamReport) -> Iterator[str]:
    fewest = min((one for one in report.rows if one.spearman.least_p), key=lambda one: one.verifiers, default=None)
    words = "p is one-sided: does a more accurate verifier go with a higher score?"
    if fewest is not None and fewest.spearman.least_p is not None:
        share = fewest.spearman.least_p
        words += f" With {fewest.verifiers} verifiers it can't be below {p_value(share)}"
        words += (
            ", even in perfect order: with so few verifiers the result can't be significant." if share >= LEVEL else "."
        )
    yield words
    whole = (one for one in report.rows if one.reason is not None and one.group is None)
    for reason, benchmarks in grouped((one.reason, one.benchmark or _ALL) for one in whole).items():
        yield f"{', '.join(benchmarks)}: {reason}"
    for name, scores in grouped((one.benchmark, one.score) for one in report.steps).items():
        shares = sum(0 < score <= 1 for score in scores)
        if shares and max(scores) > 1:
            own = " A model's mean accuracy here is a share." if report.averages else ""
            yield (
                f"{name}: {shares:,} of {len(scores):,} scores lie between 0 and 1, others above: if these are shares "
                f"and those percentages, the order is of no use.{own}"
            )
    if report.unmeasured:
        yield f"Without a complete run here, and left out: {', '.join(report.unmeasured)}."


# -- Scores by training step (VerifyBench, figure 3): as a table and as a plot.


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


def steps_of(lines: Sequence[DownstreamLine]) -> list[DownstreamStep]:
    """Return the mean score at each step, ordered by benchmark and verifier as in the lines, then by step."""
    at: dict[tuple[str, str], dict[int | None, list[float]]] = {}
    of: dict[str, None] = {}
    for line in lines:
        of.setdefault(line.benchmark)
        at.setdefault((line.benchmark, line.verifier), {}).setdefault(line.step, []).append(line.score)
    return [step for benchmark in of for step in _steps_of_benchmark(benchmark, at)]


def _steps_of_benchmark(
    benchmark: str, at: dict[tuple[str, str], dict[int | None, list[float]]]
) -> Iterator[DownstreamStep]:
    own = {verifier: scores for (name, verifier), scores in at.items() if name == benchmark}
    shared = Counter(step for scores in own.values() for step in scores)
    for verifier, scores in own.items():
        for step in sorted(scores, key=lambda step: -1 if step is None else step):
            yield DownstreamStep(
                benchmark=benchmark,
                verifier=verifier,
                step=step,
                score=sum(scores[step]) / len(scores[step]),
                scores=len(scores[step]),
                compared=shared[step] == len(own),
            )


def curved(steps: Sequence[DownstreamStep]) -> Iterator[tuple[str, dict[str, dict[int, float]]]]:
    for benchmark, of in groupby(steps, key=lambda one: one.benchmark):
        found: dict[str, dict[int, float]] = {}
        for one in of:
            if one.step is not None:
                found.setdefault(one.verifier, {})[one.step] = one.score
        if len({step for scores in found.values() for step in scores}) > 1:
            yield benchmark, found


def is_curved(steps: Sequence[DownstreamStep]) -> bool:
    return any(True for _ in curved(steps))


def step_curves(steps: Sequence[DownstreamStep]) -> Iterator[tuple[str, Curves]]:
    """Yield the names and the curves of the benchmarks with scores at several steps.

    Raises:
        UsageError: There is none.
    """
    from workbench.tables.pictures import Curve, Curves

    if not is_curved(steps):
        raise UsageError("No benchmark has scores at several steps: there is no curve to draw.", FORM)

    for place, (benchmark, found) in enumerate(curved(steps), 1):
        caption = f"{benchmark}: score of what each verifier trained, by step of training."
        lines = tuple(Curve(label=name, points=tuple(sorted(scores.items()))) for name, scores in found.items())
        name = f"steps-{place}-{_UNSAFE.sub('-', benchmark)[:40]}"
        yield name, Curves(caption=caption, x_label="step", y_label="score", lines=lines)
