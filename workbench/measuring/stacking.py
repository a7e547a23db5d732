"""Simulates stacks (verifiers in sequence) on stored verdicts: the stack's verdicts, its cost, and the reliability of
each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.measuring.columns import columns
from workbench.measuring.judged import judged, nothing_measured
from workbench.measuring.records.stack import SimulatedStack, StackAlone, StageRow, Took
from workbench.runs.store import calls
from workbench.statistics.records.report import AccuracyRow
from workbench.verifiers.stacks.settling import STAGES, Stage, format_stages, stages

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.stacks import Stacked, StageVerdicts

PARTS: Final = ("calls", "prompt_tokens", "tokens", "seconds", "dollars")
"""Costs of verdicts, in the order of `StackItems.took`."""


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

    def stage(self, stage: Stage) -> StageVerdicts:
        import numpy as np

        from workbench.statistics.stacks import StageVerdicts, decide_by_stage

        place = self.names.index(stage.name)
        outcome, score = self.outcomes[place], self.scores[place]
        return StageVerdicts(
            verifier=place,
            outcome=outcome,
            settles=decide_by_stage(outcome, score, stage.outcomes, stage.least, stage.most),
            asked=np.array([stage.is_for(None if one == UNTYPED else one) for one in self.subtypes])[self.subtype],
        )

    def through(self, found: Sequence[Stage]) -> Stacked:
        from workbench.statistics.stacks import simulate_stack

        return simulate_stack([self.stage(stage) for stage in found], len(self.names))

    def average(self, asked: BoolArray) -> Took:
        import numpy as np

        sums = [
            sum(float(took[part][rows].sum()) for took, rows in zip(self.took, asked, strict=True))
            for part in range(len(PARTS))
        ]
        each = [None if np.isnan(one) else one / max(len(self.item), 1) for one in sums]
        return Took(**dict(zip(PARTS, each, strict=True)))  # type: ignore[arg-type]


def stack_items(
    project: Project, names: tuple[str, ...], gold: GoldChoice, selection: Selection, *, only_gold: bool = True
) -> StackItems:
    """Return the verdicts of the verifiers' newest complete runs on the selected items.

    Args:
        only_gold: Whether to return only items with gold.

    Raises:
        UsageError: A verifier has no complete run, or failed on every item.
    """
    import numpy as np

    found = judged(project, names, gold=gold, selection=selection)
    everything = found.columns
    if found.failed and names:
        raise UsageError(" ".join(nothing_measured(found.failed)))
    judges = [place for place, judge in enumerate(found.judges) if judge.name not in found.failed]
    order = [found.judges[place] for place in judges]
    rows = np.ones(len(everything.item), dtype=np.bool_) if found.kept is None else found.kept
    scores = [everything.score(judge.run) for judge in order]
    kinds, subtypes = everything.groups("type"), everything.groups("subtype")
    whole = StackItems(
        names=tuple(judge.name for judge in order),
        item=found.item,
        question=found.question,
        gold=found.gold,
        outcomes=tuple(found.outcomes[place] for place in judges),
        scores=tuple(None if score is None else score[rows] for score in scores),
        took=tuple(_cost_of_items(project, judge.run, found.item) for judge in order),
        type=kinds.code[rows],
        types=kinds.names,
        subtype=subtypes.code[rows],
        subtypes=subtypes.names,
    )
    return whole.of(found.gold >= 0) if only_gold else whole


def _cost_of_items(project: Project, run: int | None, items: IntArray) -> FloatArray:
    import numpy as np

    from workbench.statistics.confusion import align

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
    items = stack_items(project, names, gold, wanted)
    whole = items.through(found)
    judged_ = whole.outcome >= 0
    kept, said = items.of(judged_), items.of(judged_).through(found)
    return SimulatedStack(
        stages=format_stages(found),
        items=len(kept.item),
        lacking=int((~judged_).sum()),
        figures=figures_of("stack", kept, said.outcome, protocol),
        took=kept.average(said.asked),
        rows=stage_rows(found, kept, said),
        alone=[verifier_alone(kept, place, protocol, said.outcome) for place in range(len(names))],
        protocol=protocol,
        gold=everything.gold_counts(gold, everything.chosen(wanted)),
        gold_choice=gold,
    )


def read_stages(text: str) -> tuple[Stage, ...]:
    """Parse stages in the syntax of the kind ``stack``.

    Raises:
        UsageError: The text has another syntax.
    """
    try:
        return stages(text)
    except ValueError as error:
        said = str(error).removeprefix(f"{STAGES}: ")
        raise UsageError(f"{opt.stages}: {said}.", "Such as: rules:correct, qwen:score>=0.9, gpt") from None


def figures_of(name: str, items: StackItems, outcome: IntArray, protocol: Protocol3) -> AccuracyRow:
    from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows

    return accuracy_rows(name, AccuracyColumns(outcome=outcome, gold=items.gold, question=items.question), protocol)[0]


def verifier_alone(items: StackItems, place: int, protocol: Protocol3, outcome: IntArray | None = None) -> StackAlone:
    """Return the metrics of one verifier on the items that it has judged.

    Args:
        outcome: A stack's outcomes, to be compared with the verifier's.
    """
    import numpy as np

    from workbench.statistics.compare import compare_graded
    from workbench.statistics.confusion import grade

    there = items.outcomes[place] >= 0
    mine = items.of(there)
    asked = np.zeros((len(items.names), len(mine.item)), dtype=np.bool_)
    asked[place] = True
    own = grade(mine.outcomes[place], mine.gold, protocol)
    return StackAlone(
        figures=figures_of(items.names[place], mine, mine.outcomes[place], protocol),
        took=mine.average(asked),
        against=None
        if outcome is None
        else compare_graded(grade(outcome[there], mine.gold, protocol), own, mine.question),
    )


# -- The reliability of each stage.


def stage_rows(found: Sequence[Stage], items: StackItems, said: Stacked) -> list[StageRow]:
    import numpy as np

    from workbench.statistics.accuracy import group_order

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
    from workbench.statistics.intervals import share_interval

    return share_interval(part[whole], question[whole])
