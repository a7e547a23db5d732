"""Scores of models that were trained with verifiers: read from a file, or measured by their completions in the project.

Source of avg@k: VerifyBench (arXiv 2505.15801), appendix D: 16 samples of each example, and their mean accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection, is_usable_number
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.data.formats.documents import TABLES, SourceDocument, documents
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.rows import field_in_message
from workbench.data.formats.source import detect_format, open_stream
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
    """Measures models by their completions in a project, which is read when a line first names a model.

    Args:
        scored_by: The verifier whose verdicts count as truth; None for gold.
        protocol: How the verifier's undecided verdicts are counted: not at all under ``decided``, else as incorrect.
    """

    def __init__(self, project: Project, *, scored_by: str | None, protocol: Protocol3, gold: GoldChoice) -> None:
        self._project, self._scored_by, self._gold = project, scored_by, gold
        self._decided = protocol == "decided"
        self._found: list[tuple[DownstreamLine, ModelAverage]] = []

    @cached_property
    def _known(self) -> Columns:
        return columns(self._project)

    @cached_property
    def _truth(self) -> tuple[IntArray, IntArray]:
        """The truth of each item by gold or the verifier (1 correct, 0 incorrect, -1 unknown), and a mask of the items
        that the verifier left undecided."""
        import numpy as np

        if self._scored_by is None:
            found = self._known.gold(self._gold)
            return found, np.zeros(len(found), dtype=np.bool_)
        (judge,) = judges_of(self._project, (self._scored_by,))
        outcome = self._known.outcome(judge.run)
        undecided = (outcome == OutcomeCode.ABSTAIN) | (outcome == OutcomeCode.ERROR)
        return np.where(outcome < 0, -1, outcome == OutcomeCode.CORRECT), undecided

    def scores(self, line: TrainedModelLine) -> list[DownstreamLine]:
        """Return a model's average on each data set with its completions, in the order of the data sets' names.

        Raises:
            RefusedError: The model has no completions that count.
            UsageError: The verifier has no complete run.
        """
        found = [(record_from(DownstreamLine, one, score=one.accuracy), one) for one in self._averages(line)]
        if not found:
            on = "" if line.benchmark is None else f" in the data set {line.benchmark!r}"
            wanted = "gold" if self._scored_by is None else f"a verdict of {self._scored_by!r} that counts"
            raise RefusedError("missing_field", "model", f"No completion of {line.model!r}{on} has {wanted}.")
        self._found += found
        return [score for score, _ in found]

    def taken(self, lines: Sequence[DownstreamLine]) -> list[ModelAverage]:
        there = {id(line) for line in lines}
        return [average for score, average in self._found if id(score) in there]

    def _averages(self, line: TrainedModelLine) -> Iterator[ModelAverage]:
        models, datasets = self._known.groups("model"), self._known.groups("dataset")
        own = models.code == (models.names.index(line.model) if line.model in models.names else -1)
        if (kept := self._known.chosen(_IN)) is not None:
            own &= kept
        for name in sorted(datasets.names):
            if line.benchmark in (None, name):
                yield from self._average_of_benchmark(line, name, own & (datasets.code == datasets.names.index(name)))

    def _average_of_benchmark(self, line: TrainedModelLine, benchmark: str, rows: IntArray) -> Iterator[ModelAverage]:
        import numpy as np

        from workbench.statistics.best_of import mean_interval

        said, undecided = (one[rows] for one in self._truth)
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


# -- A file of scores, JSON lines or a table: each line is a score, or a model to be scored.


FORM: Final = 'A line is {"verifier": …, "benchmark": …, "score": …}, optionally with step, seed and n.'
MODEL_FORM: Final = 'Or it is {"verifier": …, "model": …}: the scores are those of that model\'s completions here.'
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_WANTED = {
    "verifier": "a name",
    "benchmark": "a name",
    "model": "a name",
    "score": "a number",
    "step": "a whole number from 0",
    "seed": "a whole number from 0",
    "n": "a whole number from 1",
}
Measure = Callable[[TrainedModelLine], Sequence[DownstreamLine]]
"""Returns the scores of a model; raises `RefusedError` if it has none."""


def unmeasured(_line: TrainedModelLine) -> Sequence[DownstreamLine]:
    raise RefusedError("missing_field", "score", f"score is missing. {FORM}")


class DownstreamScores(Struct, frozen=True):
    lines: list[DownstreamLine]
    refused: list[Refusal]


def read_downstream(path: Path, measure: Measure = unmeasured) -> DownstreamScores:
    """Read a file of downstream scores, gzipped or not.

    A second score of a verifier on a benchmark with the same step and seed is rejected.

    Args:
        measure: Returns the scores of a line that names a model instead of a score.

    Raises:
        FormatError: The file can't be read in its format.
    """
    found = DownstreamScores([], [])
    seen: dict[tuple[object, ...], int] = {}
    kind = detect_format(path)
    with open_stream(path) as (stream, _):
        for row in documents(stream, kind, path):
            if isinstance(row, Refusal):
                found.refused.append(row)
                continue
            try:
                lines = _scores_of_line(row, measure, is_table=kind in TABLES)
                for one in lines:
                    before = seen.get((one.verifier, one.benchmark, one.step, one.seed))
                    if before is not None:
                        message = f"This score is on line {before} already. Give each its own seed or step."
                        raise RefusedError("duplicate_key", "verifier", message)
            except RefusedError as error:
                found.refused.append(make_refusal(row.line, row.raw, error))
                continue
            seen |= {(one.verifier, one.benchmark, one.step, one.seed): row.line for one in lines}
            found.lines.extend(lines)
    return found


def _scores_of_line(row: SourceDocument, measure: Measure, *, is_table: bool) -> Sequence[DownstreamLine]:
    try:
        row.json.decode()
        tokens = _OBJECT.decode(row.json)
        values = {name: msgspec.json.decode(tokens[name]) for name in _WANTED if name in tokens}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise explain_document(row.json) from None
    if is_table:
        values = {name: _parse_cell(name, cell) for name, cell in values.items() if cell.strip()}
    there = {name: value for name, value in values.items() if value is not None}
    is_model = "model" in there and "score" not in there
    kind: type[DownstreamLine] | type[TrainedModelLine] = TrainedModelLine if is_model else DownstreamLine
    try:
        line = msgspec.convert(there, kind)
    except msgspec.ValidationError as error:
        name = field_in_message(str(error)) or ""
        if name not in there:
            raise RefusedError("missing_field", name, f"{name} is missing. {FORM} {MODEL_FORM}") from None
        raise RefusedError("wrong_type", name, f"{name} is not {_WANTED[name]}.") from None
    if isinstance(line, TrainedModelLine):
        return measure(line)
    if not is_usable_number(line.score):
        raise RefusedError("wrong_type", "score", "score is not a finite number, or above 1e100.")
    return (line,)


def _parse_cell(name: str, cell: str) -> float | str:
    """Return the number in a table's cell, as an integer if it is whole (200.0); the cell's text if it isn't a
    number."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return cell if _WANTED[name] == "a name" else int(number) if number.is_integer() else number
