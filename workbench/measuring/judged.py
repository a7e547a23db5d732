"""Reads verdicts with gold: the runs that are measured, and their outcomes in the order of the items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.core.errors import Command, UsageError
from workbench.core.project import Project
from workbench.core.run import IMPORTED, ConfiguredVerifier
from workbench.core.selection import Selection
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.data.store import browsing
from workbench.data.store.columns import ORIGINS
from workbench.measuring.columns import Columns, columns
from workbench.measuring.store import figures
from workbench.statistics.records.probe import JUDGES_NOTHING

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray


BASELINE: Final = "always-incorrect"
"""The baseline that accepts nothing; it needs no run."""


class VerifierRun(Struct, frozen=True):
    """A verifier and the run that provides its verdicts.

    Attributes:
        run: None for a baseline without a run.
        expected: Number of verdicts that a run which has never been complete will have; None for other runs.
    """

    name: str
    run: int | None
    expected: int | None = None


class JudgedSelection(Struct, frozen=True, kw_only=True, eq=False):
    """The selected items with their gold and each verifier's outcomes, as arrays with one value for each item.

    Attributes:
        item: Row ids of the completions, ascending (int64).
        question: Row ids of their questions, the clusters (int64).
        gold: 1 correct, 0 incorrect, -1 none (int8).
        judges: The verifiers in order.
        outcomes: For each verifier the `OutcomeCode` of each item (int8): -1 without a verdict, and for failures of a
            verifier that failed on all items.
        failed: Verifiers that failed on every item -> number of items; they are not measured.
        columns: The columns of all visible items, from which these are selected.
        kept: A mask of the selected ones among them; None if all are selected.
        gold_choice: The choice of gold.
    """

    item: IntArray
    question: IntArray
    gold: IntArray
    judges: tuple[VerifierRun, ...]
    outcomes: tuple[IntArray, ...]
    failed: dict[str, int]
    columns: Columns
    kept: BoolArray | None
    gold_choice: GoldChoice

    @property
    def gold_counts(self) -> dict[str, int]:
        """Return the selected items with gold by its source; see `Columns.gold_counts`."""
        return self.columns.gold_counts(self.gold_choice, self.kept)

    def scores(self) -> tuple[FloatArray | None, ...]:
        """Return each verifier's scores of the items, NaN without a score; None for a verifier without scores."""
        scores = (self.columns.score(judge.run) for judge in self.judges)
        return tuple(score if score is None or self.kept is None else score[self.kept] for score in scores)


def judges_of(
    project: Project, verifiers: tuple[str, ...] = (), run: int | None = None, *, live: bool = False
) -> tuple[VerifierRun, ...]:
    """Return the newest complete run of each verifier, or exactly one run.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.
        run: Use exactly this run.
        live: Also include verifiers whose first complete run is in progress.

    Raises:
        UsageError: A verifier or run is unknown, or a verifier has no complete run.
    """
    reader = project.database.reader()
    if run is not None:
        name = figures.verifier_of_run(reader, run)
        if verifiers and name not in verifiers:
            raise UsageError(f"Run {run} is of {name!r}, not of {', '.join(verifiers)}.")
        return (VerifierRun(name, run),)
    runs = browsing.runs_so_far(reader, without=() if verifiers else JUDGES_NOTHING)
    there = [VerifierRun(name, *found) for name, found in runs.items() if live or found[1] is None]
    names = {judge.name for judge in there}
    unknown = set(verifiers) - names - {BASELINE}
    if unknown:
        known = ", ".join(sorted(names)) or "none yet"
        raise UsageError(
            f"No complete run of {', '.join(map(repr, sorted(unknown)))}.",
            f"Complete: {known}. Start one: {Command('verify DB NAME')}",
        )
    found = [judge for judge in there if not verifiers or judge.name in verifiers]
    if BASELINE in verifiers and BASELINE not in names:
        found.append(VerifierRun(BASELINE, None))
    return tuple(found)


def everybody(project: Project) -> tuple[str, ...]:
    return tuple(judge.name for judge in judges_of(project))


def judged(
    project: Project, verifiers: tuple[str, ...] = (), *, gold: GoldChoice = "final", selection: Selection | None = None
) -> JudgedSelection:
    """Return gold and the outcomes of the verifiers' newest complete runs on the selected items.

    Args:
        verifiers: As for `judges_of`.

    Raises:
        UsageError: See `judges_of`; or the selection names something unknown.
    """
    import numpy as np

    from workbench.statistics.confusion import failed_throughout

    everything = columns(project)
    judges = judges_of(project, verifiers)
    kept = everything.chosen(selection or Selection())
    rows = slice(None) if kept is None else kept
    known_gold = everything.gold(gold)[rows]
    own = own_gold(project, everything, gold)
    outcomes = [measurable(everything.outcome(judge.run), own.get(judge.name))[rows] for judge in judges]
    failed = {
        judge.name: int((outcome == OutcomeCode.ERROR).sum())
        for judge, outcome in zip(judges, outcomes, strict=True)
        if failed_throughout(outcome, known_gold)
    }
    return JudgedSelection(
        item=everything.item[rows],
        question=everything.question[rows],
        gold=known_gold,
        judges=judges,
        outcomes=tuple(
            np.where(outcome == OutcomeCode.ERROR, np.int8(-1), outcome) if judge.name in failed else outcome
            for judge, outcome in zip(judges, outcomes, strict=True)
        ),
        failed=failed,
        columns=everything,
        kept=kept,
        gold_choice=gold,
    )


def own_gold(project: Project, everything: Columns, choice: GoldChoice) -> dict[str, BoolArray]:
    found: dict[str, BoolArray] = {}
    columns = figures.gold_columns(project.database.reader(), IMPORTED) if choice != "people" else []
    if not columns:
        return found
    from workbench.data.formats.fields import fold
    from workbench.data.formats.first_look import verifier_name

    gold = everything.gold(choice) >= 0
    imported = gold & (everything.origin == ORIGINS.index("imported")) if choice == "final" else gold
    for name, column, first, many in columns:
        if fold(verifier_name(column)) == fold(name):
            its = imported & (everything.item >= first) & (everything.item < first + many)
            found[name] = its | found.get(name, False)
    return found


def measurable(outcome: IntArray, own: BoolArray | None) -> IntArray:
    import numpy as np

    return outcome if own is None else np.where(own, np.int8(-1), outcome)


def nothing_measured(failed: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        f"{name} failed on all {counted(number, 'item')} and has no metrics. Each run shows the reason."
        for name, number in failed.items()
    )


# -- The line above a table that states protocol and gold.


def counting(protocol: Protocol3, choice: GoldChoice, gold: Mapping[str, int]) -> str:
    sources = ", ".join(f"{number:,} {name}" for name, number in gold.items())
    return f"protocol {protocol}, gold {choice} ({sources})"


# -- Names of models: the model behind a verifier, and equality of names.


def model_of(verifier: ConfiguredVerifier) -> str | None:
    model = verifier.config.get("model")
    return str(model) if model else verifier.name if verifier.kind == IMPORTED else None


def plain_name(model: str) -> str:
    """Normalize a model's name, dropping publisher and case: ``Qwen/Qwen3-32B`` and ``qwen3-32b`` are the same
    model."""
    return model.rpartition("/")[2].casefold()
