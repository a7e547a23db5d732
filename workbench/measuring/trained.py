"""Measures models that were trained with verifiers by their completions in the project: avg@k on each data set.

Source: VerifyBench (arXiv 2505.15801), appendix D: 16 samples of each example, and their mean accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.core.errors import UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.data.formats.lines import RefusedError
from workbench.measuring.columns import Columns, columns
from workbench.measuring.judged import judges_of
from workbench.statistics.records.combined import DownstreamLine, ModelAverage, TrainedModelLine
from workbench.tables.document import Table
from workbench.tables.table import Columns as TableColumns
from workbench.tables.table import count, table, text, with_interval, word

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray

_IN: Final = Selection((Condition("state", "!=", "excluded"),))


class TrainedModels:
    """Measures models by their completions in a project.

    Args:
        scored_by: The verifier whose verdicts count as truth; None for gold.
        protocol: How the verifier's undecided verdicts are counted: not at all under ``decided``, else as incorrect.

    Raises:
        UsageError: The verifier has no complete run.
    """

    def __init__(self, project: Project, *, scored_by: str | None, protocol: Protocol3, gold: GoldChoice) -> None:
        import numpy as np

        known = columns(project)
        self._known = known
        self._decided = protocol == "decided"
        self._wanted = "gold" if scored_by is None else f"a verdict of {scored_by!r} that counts"
        kept = known.chosen(_IN)
        self._kept = np.ones(len(known.item), dtype=np.bool_) if kept is None else kept
        self._said, self._undecided = item_truth(project, known, scored_by, gold)
        self._models, self._datasets = known.groups("model"), known.groups("dataset")

    def averages(self, line: TrainedModelLine) -> list[ModelAverage]:
        """Return one average for each data set with completions of the model, in the order of the data sets' names.

        Raises:
            RefusedError: The model has no completions that count.
        """
        own = self._kept & (self._models.code == _name_code(self._models.names, line.model))
        names = [name for name in sorted(self._datasets.names) if line.benchmark in (None, name)]
        found = [
            one
            for name in names
            for one in self._average_of_benchmark(
                line, name, own & (self._datasets.code == _name_code(self._datasets.names, name))
            )
        ]
        if not found:
            on = "" if line.benchmark is None else f" in the data set {line.benchmark!r}"
            why = f"No completion of {line.model!r}{on} has {self._wanted}."
            raise RefusedError("missing_field", "model", why)
        return found

    def _average_of_benchmark(self, line: TrainedModelLine, benchmark: str, rows: IntArray) -> Iterator[ModelAverage]:
        import numpy as np

        from workbench.statistics.best_of import mean_interval

        said, undecided = self._said[rows], self._undecided[rows]
        counts = (said >= 0) & ~(undecided & self._decided)
        if not counts.any():
            return
        _, question, samples = np.unique(self._known.question[rows][counts], return_inverse=True, return_counts=True)
        share = np.bincount(question, weights=said[counts] == 1) / samples
        yield record_from(
            ModelAverage,
            line,
            benchmark=benchmark,
            questions=len(samples),
            samples=(int(samples.min()), int(samples.max())),
            undecided=int(undecided.sum()),
            left_out=int(len(said) - counts.sum()),
            accuracy=float(share.mean()),
            ci=mean_interval(share, int(samples.sum())),
        )


def _name_code(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else -1


def item_truth(project: Project, known: Columns, scored_by: str | None, gold: GoldChoice) -> tuple[IntArray, IntArray]:
    """Return the truth of each item by gold or a verifier (1 correct, 0 incorrect, -1 unknown), and a mask of the
    items that the verifier left undecided."""
    import numpy as np

    if scored_by is None:
        found = known.gold(gold)
        return found, np.zeros(len(found), dtype=np.bool_)
    (judge,) = judges_of(project, (scored_by,))
    outcome = known.outcome(judge.run)
    undecided = (outcome == OutcomeCode.ABSTAIN) | (outcome == OutcomeCode.ERROR)
    return np.where(outcome < 0, -1, outcome == OutcomeCode.CORRECT), undecided


class MeasuredModels:
    """A `TrainedModels` that is created when a line of a file first names a model, with the same arguments and
    errors."""

    def __init__(self, project: Project, *, scored_by: str | None, protocol: Protocol3, gold: GoldChoice) -> None:
        self._make = partial(TrainedModels, project, scored_by=scored_by, protocol=protocol, gold=gold)
        self._models: TrainedModels | None = None
        self._found: list[tuple[DownstreamLine, ModelAverage]] = []

    def scores(self, line: TrainedModelLine) -> Sequence[DownstreamLine]:
        """Return a model's scores. It raises the errors of `TrainedModels.averages`."""
        self._models = self._models or self._make()
        averages = self._models.averages(line)
        found = [(record_from(DownstreamLine, one, score=one.accuracy), one) for one in averages]
        self._found += found
        return [score for score, _ in found]

    def taken(self, lines: Sequence[DownstreamLine]) -> list[ModelAverage]:
        there = {id(line) for line in lines}
        return [average for score, average in self._found if id(score) in there]


# -- As a table.


_COLUMNS: TableColumns[ModelAverage] = (
    word("benchmark", lambda one: one.benchmark),
    word("verifier", lambda one: one.verifier),
    word("model", lambda one: one.model),
    text("step", lambda one: "" if one.step is None else f"{one.step:,}", by=lambda one: one.step),
    text("seed", lambda one: "" if one.seed is None else str(one.seed), by=lambda one: one.seed),
    count("questions", lambda one: one.questions),
    text("samples", lambda one: "–".join(map(str, dict.fromkeys(one.samples))), by=lambda one: one.samples[1]),
    *with_interval("avg@k", "accuracy", "ci"),
)


def averages_table(averages: Sequence[ModelAverage], scored_by: str | None) -> Table:
    caption = "Mean accuracy of models' samples: the mean over questions of the share that is correct"
    return table(caption, _COLUMNS, averages, notes=_table_notes(averages, scored_by))


def _table_notes(averages: Sequence[ModelAverage], scored_by: str | None) -> Iterator[str]:
    yield f"Truth is from {'gold' if scored_by is None else scored_by}."
    if scored_by is not None and any(one.verifier == scored_by for one in averages):
        yield f"{scored_by} also rewarded some of them: what it accepts wrongly counts for them."
    if undecided := sum(one.undecided for one in averages):
        yield f"It leaves {counted(undecided, 'sample')} undecided."
    if left := sum(one.left_out for one in averages):
        yield f"{counted(left, 'sample')} of the models don't count: without gold, a verdict, or a decided one."


def require_models(scored_by: str | None, averages: Sequence[ModelAverage]) -> None:
    """Reject a verifier in `scored_by` if there is nothing to score.

    Raises:
        UsageError: No line names a model.
    """
    if scored_by is not None and not averages:
        raise UsageError(
            f"{opt.scored_by} decides which completions of a model are correct, but no line names a model.",
            'Write: {"verifier": …, "model": …}',
        )
