"""Simulates stacks (verifiers in sequence) on stored verdicts: the stack's verdicts, its cost, and the reliability of
each stage."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import UsageError, opt
from workbench.core.options import TableForm
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection
from workbench.core.taxonomy import UNTYPED
from workbench.core.text.figures import NONE, counted
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.measuring.accuracy_tables import metric_columns
from workbench.measuring.columns import columns
from workbench.measuring.comparing_tables import describe_difference
from workbench.measuring.costs import THOUSAND
from workbench.measuring.judged import counting, judged, nothing_measured
from workbench.runs.store import calls
from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows, group_order
from workbench.statistics.compare import compare_graded
from workbench.statistics.confusion import align, grade
from workbench.statistics.intervals import share_interval
from workbench.statistics.records.comparison import PairedFigures
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.document import Table
from workbench.tables.files import format_tables
from workbench.tables.table import Columns, column, count, counts, ends, table, with_interval, word
from workbench.verifiers.stacks.stack import STAGES, Stage, format_stages, stages

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

PARTS: Final = ("calls", "prompt_tokens", "tokens", "seconds", "dollars")
"""Costs of verdicts, in the order of `StackItems.took`."""
NOTHING: Final = np.int8(-1)
"""No verdict; as a stage's result, the item is deferred."""
Interval = tuple[float, float]


class Took(Struct, frozen=True, kw_only=True):
    """The average cost of an item's verdict, computed as if no reply had been cached.

    Attributes:
        calls: Number of replies behind the verdict.
        prompt_tokens: Tokens of the prompts; None if a server didn't report them.
        tokens: Tokens written, including reasoning; None if a server didn't report them.
        seconds: Time from request to reply, summed over calls; for stages without a server, their computing time.
        dollars: Price of the calls; None if the price of a call is unknown.
    """

    calls: float
    prompt_tokens: float | None
    tokens: float | None
    seconds: float
    dollars: float | None


class StageRow(Struct, frozen=True, kw_only=True):
    """The results of one stage on the items with gold that reached it.

    Attributes:
        stage: The stage's position, from 1.
        settles: The stage as written in the stack.
        group: An answer type; None for all items.
        reached: Number of items that reached the stage.
        accepted: Number of items that it accepted.
        accepted_wrong: Number of accepted items whose gold is incorrect.
        refused: Number of items that it rejected.
        refused_right: Number of rejected items whose gold is correct.
        left: Number of items deferred to the next stage; for the last stage, of items that it left undecided.
        wrong: Number of incorrect completions that reached it.
        right: Number of correct completions that reached it.
        fpr: Share of the incorrect completions that reached it which it accepted; None without any.
        fpr_ci: Its 95 % interval, clustered by question.
        fnr: Share of the correct completions that reached it which it rejected; None without any.
        fnr_ci: Its 95 % interval, clustered by question.
    """

    stage: int
    settles: str
    group: str | None
    reached: int
    accepted: int
    accepted_wrong: int
    refused: int
    refused_right: int
    left: int
    wrong: int
    right: int
    fpr: float | None
    fpr_ci: Interval | None
    fnr: float | None
    fnr_ci: Interval | None


class StackAlone(Struct, frozen=True, kw_only=True):
    """One verifier of a stack, applied to all items on its own.

    Attributes:
        figures: The verifier's metrics.
        took: The cost of its verdicts.
        against: The stack (A) compared with the verifier (B); None if no item counts for both.
    """

    figures: AccuracyRow
    took: Took
    against: PairedFigures | None


class SimulatedStack(Struct, frozen=True, kw_only=True):
    """A stack simulated on stored verdicts.

    Attributes:
        stages: The stages in the syntax of the kind ``stack``.
        items: Number of items with gold that have a verdict of every stage that they reach.
        lacking: Number of items with gold that lack such a verdict and are left out.
        figures: The metrics of the stack's verdicts.
        took: The cost of the verdicts.
        rows: For each stage one row for all items, then one for each type.
        alone: Each of its verifiers applied on its own to all of the same items.
    """

    stages: str
    items: int
    lacking: int
    figures: AccuracyRow
    took: Took
    rows: list[StageRow]
    alone: list[StackAlone]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice


class StackItems(Struct, frozen=True, kw_only=True, eq=False):
    """The selected items with gold, and each verifier's verdicts and costs: arrays with one value for each item.

    Attributes:
        names: The verifiers' names.
        outcomes: Each verifier's outcomes, -1 without a verdict.
        scores: Each verifier's scores; None for a verifier without scores.
        took: Each verifier's costs of an item in the units of `PARTS`, NaN if unknown.
        type: Each item's answer type, as a position in ``types``.
        types: The answer types.
        subtype: Each item's subtype, as a position in ``subtypes``.
    """

    names: tuple[str, ...]
    item: IntArray
    question: IntArray
    gold: IntArray
    outcomes: tuple[IntArray, ...]
    scores: tuple[FloatArray | None, ...]
    took: tuple[FloatArray, ...]
    type: IntArray
    types: tuple[str, ...]
    subtype: IntArray
    subtypes: tuple[str, ...]

    def of(self, rows: BoolArray) -> StackItems:
        return structs.replace(
            self,
            outcomes=tuple(one[rows] for one in self.outcomes),
            scores=tuple(None if one is None else one[rows] for one in self.scores),
            took=tuple(one[:, rows] for one in self.took),
            **{name: getattr(self, name)[rows] for name in ("item", "question", "gold", "type", "subtype")},
        )

    def through(self, found: Sequence[Stage]) -> Stacked:
        """Run the items through the stages."""
        size = len(self.item)
        outcome = np.full(size, OutcomeCode.ABSTAIN, dtype=np.int8)
        place = np.full(size, -1, dtype=np.int64)
        open_, by_itself = np.ones(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        reached = np.zeros((len(found), size), dtype=np.bool_)
        asked = np.zeros((len(self.names), size), dtype=np.bool_)
        for number, stage in enumerate(found):
            verifier = self.names.index(stage.name)
            own = self.outcomes[verifier]
            settled = decide_by_stage(own, self.scores[verifier], stage)
            is_for = np.array([stage.is_for(None if one == UNTYPED else one) for one in self.subtypes])
            here = open_ & is_for[self.subtype]
            reached[number] = here
            asked[verifier] |= here
            done = here & (settled != NOTHING)
            outcome = np.where(done, settled, np.where(here, own, outcome))
            place[here] = number
            by_itself |= done
            open_ &= ~done & ~(here & (own == NOTHING))
        return Stacked(outcome, place, by_itself, reached, asked)

    def average(self, asked: BoolArray) -> Took:
        sums = [
            sum(float(took[part][rows].sum()) for took, rows in zip(self.took, asked, strict=True))
            for part in range(len(PARTS))
        ]
        each = [None if np.isnan(one) else one / max(len(self.item), 1) for one in sums]
        return Took(**dict(zip(PARTS, each, strict=True)))  # type: ignore[arg-type]


class Stacked(NamedTuple):
    """A stack's verdicts on items.

    Attributes:
        outcome: "abstain" if no stage applies to the item; -1 if a needed verdict of a stage is missing.
        stage: The stage of each verdict; -1 if no stage applies to the item.
        by_itself: Whether that stage decided the item; otherwise no stage did, and the last stage's verdict is used.
        reached: Items that reach each stage, by stage.
        asked: Items on which each verifier is called, by verifier; a verifier in two stages is called once.
    """

    outcome: IntArray
    stage: IntArray
    by_itself: BoolArray
    reached: BoolArray
    asked: BoolArray


def decide_by_stage(outcome: IntArray, score: FloatArray | None, stage: Stage) -> IntArray:
    """Return a stack's verdict on each item after one stage (int8), `NOTHING` where the item is deferred; the same as
    `Stage.settled` item by item.

    Args:
        outcome: The verdicts of the stage's verifier.
        score: Its scores, NaN for none.
    """
    found: IntArray = np.where(np.isin(outcome, [one.code for one in stage.outcomes]), outcome, NOTHING)
    if score is not None:
        scored = (outcome >= 0) & (outcome != OutcomeCode.ERROR)
        if stage.most is not None:
            found = np.where(scored & (score <= stage.most), np.int8(OutcomeCode.INCORRECT), found)
        if stage.least is not None:
            found = np.where(scored & (score >= stage.least), np.int8(OutcomeCode.CORRECT), found)
    return found.astype(np.int8)


def stack_items(project: Project, names: tuple[str, ...], gold: GoldChoice, selection: Selection) -> StackItems:
    """Return the verdicts of the verifiers' newest complete runs on the selected items.

    Raises:
        UsageError: A verifier has no complete run, or failed on every item.
    """
    found = judged(project, names, gold=gold, selection=selection)
    everything = found.columns
    if found.failed:
        raise UsageError(" ".join(nothing_measured(found.failed)))
    rows = np.ones(len(everything.item), dtype=np.bool_) if found.kept is None else found.kept
    kinds, subtypes = everything.groups("type"), everything.groups("subtype")
    return StackItems(
        names=tuple(judge.name for judge in found.judges),
        item=found.item,
        question=found.question,
        gold=found.gold,
        outcomes=tuple(found.outcomes),
        scores=found.scores(),
        took=tuple(_cost_of_items(project, judge.run, found.item) for judge in found.judges),
        type=kinds.code[rows],
        types=kinds.names,
        subtype=subtypes.code[rows],
        subtypes=subtypes.names,
    )


def _cost_of_items(project: Project, run: int | None, items: IntArray) -> FloatArray:
    found = [] if run is None else calls.by_item(project.database.reader(), run)
    asks = any(one.calls for one in found)
    values = np.array(
        [
            (one.calls, one.prompt_tokens, one.completion_tokens, (one.ms if asks else one.own_ms) / 1e3, one.cost)
            for one in found
        ],
        dtype=np.float64,
    ).reshape(-1, len(PARTS))
    keys = np.array([one.item for one in found], dtype=np.int64)
    return np.stack([align(items, keys, values[:, part], np.float64(0)) for part in range(len(PARTS))])


@at_one_moment
def simulate(
    project: Project,
    text: str,
    *,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> SimulatedStack:
    """Simulate a stack on the newest complete runs of its stages; no request is sent to a server.

    Args:
        text: Stages in the syntax of the kind ``stack``.

    Raises:
        UsageError: A stage is malformed, or has no complete run.
    """
    protocol = protocol or protocol_of(project)
    found = read_stages(text)
    wanted = check_names(project.database.reader(), selection or Selection())
    everything = columns(project)
    names = tuple(dict.fromkeys(stage.name for stage in found))
    everyone = stack_items(project, names, gold, wanted)
    items = everyone.of(everyone.gold >= 0)
    has_verdict = items.through(found).outcome >= 0
    kept = items.of(has_verdict)
    outcomes = kept.through(found)
    return SimulatedStack(
        stages=format_stages(found),
        items=len(kept.item),
        lacking=int((~has_verdict).sum()),
        figures=_metrics("stack", kept, outcomes.outcome, protocol),
        took=kept.average(outcomes.asked),
        rows=stage_rows(found, kept, outcomes),
        alone=[_verifier_alone(kept, place, protocol, outcomes.outcome) for place in range(len(names))],
        protocol=protocol,
        gold=everything.gold_counts(gold, everything.chosen(wanted)),
        gold_choice=gold,
    )


def read_stages(text: str) -> tuple[Stage, ...]:
    """Parse stages in the syntax of the kind ``stack``.

    Raises:
        UsageError: There is no stage, or the text has another syntax.
    """
    if not text.strip():
        raise UsageError(f"Name the verifiers of a stack in order: {opt.stages:'rules:correct, qwen:score>=0.9, gpt'}")
    try:
        return stages(text)
    except ValueError as error:
        message = str(error).removeprefix(f"{STAGES}: ")
        raise UsageError(f"{opt.stages}: {message}.", "Such as: rules:correct, qwen:score>=0.9, gpt") from None


def _metrics(name: str, items: StackItems, outcome: IntArray, protocol: Protocol3) -> AccuracyRow:
    return accuracy_rows(name, AccuracyColumns(outcome=outcome, gold=items.gold, question=items.question), protocol)[0]


def _verifier_alone(items: StackItems, place: int, protocol: Protocol3, outcome: IntArray) -> StackAlone:
    there = items.outcomes[place] >= 0
    mine = items.of(there)
    asked = np.zeros((len(items.names), len(mine.item)), dtype=np.bool_)
    asked[place] = True
    own = grade(mine.outcomes[place], mine.gold, protocol)
    return StackAlone(
        figures=_metrics(items.names[place], mine, mine.outcomes[place], protocol),
        took=mine.average(asked),
        against=compare_graded(grade(outcome[there], mine.gold, protocol), own, mine.question),
    )


# -- The reliability of each stage.


def stage_rows(found: Sequence[Stage], items: StackItems, said: Stacked) -> list[StageRow]:
    rows = []
    for number, stage in enumerate(found):
        rows.append(_stage_row(number, stage, None, items, said, np.ones(len(items.item), dtype=np.bool_)))
        types = sorted({items.types[code] for code in items.type[said.reached[number]].tolist()}, key=group_order)
        rows += [_stage_row(number, stage, name, items, said, items.type == items.types.index(name)) for name in types]
    return rows


def _stage_row(
    number: int, stage: Stage, group: str | None, items: StackItems, said: Stacked, inside: BoolArray
) -> StageRow:
    reached = said.reached[number] & inside
    here = reached & (said.stage == number) & said.by_itself
    accepted, refused = here & (said.outcome == OutcomeCode.CORRECT), here & (said.outcome == OutcomeCode.INCORRECT)
    wrong, right = reached & (items.gold == 0), reached & (items.gold == 1)
    return StageRow(
        stage=number + 1,
        settles=str(stage),
        group=group,
        reached=int(reached.sum()),
        accepted=int(accepted.sum()),
        accepted_wrong=int((accepted & wrong).sum()),
        refused=int(refused.sum()),
        refused_right=int((refused & right).sum()),
        left=int((reached & ~here).sum()),
        wrong=int(wrong.sum()),
        right=int(right.sum()),
        fpr=_share_of(accepted, wrong),
        fpr_ci=_interval_of_share(accepted, wrong, items.question),
        fnr=_share_of(refused, right),
        fnr_ci=_interval_of_share(refused, right, items.question),
    )


def _share_of(part: BoolArray, whole: BoolArray) -> float | None:
    return float((part & whole).sum() / whole.sum()) if whole.any() else None


def _interval_of_share(part: BoolArray, whole: BoolArray, question: IntArray) -> tuple[float, float] | None:
    return share_interval(part[whole], question[whole])


# -- Tables and text.


class _WorthRow(Struct, frozen=True):
    name: str
    figures: AccuracyRow
    took: Took


_WORTH: Final[Columns[_WorthRow]] = (
    word("", lambda row: row.name),
    count("n", lambda row: row.figures.n),
    *metric_columns("accuracy", of="figures"),
    ends(lambda row: row.figures.ci),
    *metric_columns("fpr", "fnr", "mcc", of="figures"),
    column("calls", lambda row: row.took.calls, lambda value: _per_thousand_text(value)),
    column("tokens in", lambda row: row.took.prompt_tokens, lambda value: _per_thousand_text(value)),
    column("tokens", lambda row: row.took.tokens, lambda value: _per_thousand_text(value)),
    column("seconds", lambda row: row.took.seconds, lambda value: f"{value * THOUSAND:,.1f}"),
    column("$", lambda row: row.took.dollars, lambda value: NONE if value is None else f"{value * THOUSAND:,.3f}"),
)
_WIDTH: Final = 79
_COSTS_NOTE: Final = "Calls, tokens, seconds and dollars are per 1,000 items, as if no reply had been stored before."


def _per_thousand_text(value: float | None) -> str:
    return NONE if value is None else f"{value * THOUSAND:,.0f}"


def _stages_table(rows: Sequence[StageRow]) -> Table:
    shown: Columns[StageRow] = (
        word("stage", lambda row: f"{row.stage} {row.settles}" if row.group is None else ""),
        word("type", lambda row: row.group or "all"),
        *counts("reached", "accepted"),
        count("wrongly", lambda row: row.accepted_wrong),
        *with_interval("FPR", "fpr", worst="high"),
        count("refused", lambda row: row.refused),
        count("wrongly", lambda row: row.refused_right, key="refused wrongly"),
        *with_interval("FNR", "fnr", worst="high"),
        count("left", lambda row: row.left),
    )
    notes = ["FPR: of the wrong completions that reached a stage, those that it accepted. FNR: the reverse."]
    return table("Decisions of each stage", shown, rows, notes=notes)


def _simulated_tables(report: SimulatedStack) -> tuple[Table, Table]:
    rows = [_WorthRow("stack", report.figures, report.took)]
    rows += [_WorthRow(one.figures.verifier, one.figures, one.took) for one in report.alone]
    fewer = [f"{row.name} {row.figures.n:,}" for row in rows if row.figures.n < report.figures.n]
    notes = [_COSTS_NOTE, *([f"Not all count the same items: n of {', '.join(fewer)}."] if fewer else [])]
    caption = f"{report.stages}: {counting(report.protocol, report.gold_choice, report.gold)}"
    return table(caption, _WORTH, rows, notes=notes), _stages_table(report.rows)


def simulated_text(report: SimulatedStack, form: TableForm) -> str:
    tables = format_tables(_simulated_tables(report), form)
    if form.format != "text":
        return tables
    words = [
        fill(describe_difference(one.against, "the stack", one.figures.verifier), _WIDTH)
        for one in report.alone
        if one.against
    ]
    if report.lacking:
        lacks = f"{counted(report.lacking, 'item')} with gold that a stage has not judged can't be simulated."
        words.append(fill(lacks, _WIDTH))
    return "\n".join([tables, *words]) + "\n"
