"""Computes what other options of a verifier would change: the items of a run that flip, counted against gold.

Nothing is stored except new replies of model servers, if they are requested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.errors import Command, UsageError, opt
from workbench.core.options import (
    NONE_GIVEN,
    Basis,
    Options,
    Run,
    Seed,
    TableForm,
    Trust,
    VerifierSettings,
    Whole,
    argument,
    option,
    record_from,
)
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, compact_count, counted, dollars, percent
from workbench.core.text.inert import inert
from workbench.core.verdict import OutcomeCode, OutcomeWord, Verdict
from workbench.data.records import BrowseQuery, BrowseRow
from workbench.measuring.browsing import ItemTable
from workbench.measuring.columns import Columns, columns
from workbench.runs import configuring
from workbench.runs.configuring import FormOption
from workbench.runs.rejudging import Rejudging, Variant, asking, estimate_missing_calls, start, variant
from workbench.runs.run_status import run_row
from workbench.runs.verdict_files import run_of
from workbench.statistics.records.flips import (
    FLIP_KINDS,
    FlipKind,
    FlippedItem,
    FlipRow,
    Means,
    RejudgedItems,
    WhatIfReport,
)
from workbench.statistics.records.report import NO_REASON
from workbench.tables.document import Tone
from workbench.tables.files import add_protocol_to_caption, format_tables, records_csv
from workbench.tables.table import Columns as TableColumns
from workbench.tables.table import aligned_rows, count, counts, metric_column, table, word

if TYPE_CHECKING:
    from workbench.runs.store.runs import RunRow
    from workbench.statistics.confusion import IntArray


NAMED: Final = 50
"""Default number of items that a report lists."""
THRESHOLD: Final = "threshold"
PARSER: Final = "parser"


class WhatIfOptions(Options, frozen=True, kw_only=True):
    """The verifier, its changed options, and the items.

    An option without a value is removed, so that its default applies.
    """

    verifier: Annotated[str, argument("VERIFIER")]
    settings: VerifierSettings = NONE_GIVEN
    parser: Annotated[
        str | None,
        option("Parser that reads the verdict from stored replies, instead of the verifier's own.", metavar="NAME"),
    ] = None
    threshold: Annotated[float | None, option("Minimum score of a completion that counts as correct.")] = None
    run: Run = None
    basis: Basis = Basis()
    sample: Annotated[Whole | None, option("Judge only a random sample of this many items.")] = None
    seed: Seed = 0
    ask: Annotated[bool, option("Request missing replies from the model servers.")] = False
    save: Annotated[str | None, option("Start a run with these options under this name.", metavar="NAME")] = None
    trust: Trust = False

    @property
    def changes(self) -> dict[str, str | None]:
        parser = {} if self.parser is None else {PARSER: self.parser}
        return {key: value or None for key, value in (self.settings | parser).items()}


class _SelectedItems(Struct, frozen=True, kw_only=True, eq=False):
    """The items of a what-if query.

    Attributes:
        before: Every item's outcome in the run, -1 without a verdict.
        gold: Every item's gold: 1 correct, 0 incorrect, -1 none.
        drawn: Positions of the items to judge again.
        chosen: Number of requested items.
        judged: Number of requested items with a verdict in the run.
    """

    run: RunRow
    everything: Columns
    before: IntArray
    gold: IntArray
    drawn: IntArray
    chosen: int
    judged: int


class _NewOutcomes(Struct, frozen=True, kw_only=True, eq=False):
    """The outcomes with the changed options.

    Attributes:
        after: Every item's new outcome, -1 without one.
        means: How the outcomes were obtained.
        verdicts: Row id -> new verdict, for items whose verdict differs or was requested.
        missing: Row ids of items whose new verdict needs replies that are not stored.
        calls: Number of requests that were sent.
        trouble: The error that ended the work early; None without one.
    """

    after: IntArray
    means: Means
    verdicts: dict[int, Verdict]
    missing: list[int]
    calls: int = 0
    trouble: str | None = None


class ItemChange(Struct, frozen=True, kw_only=True):
    """The change of one item.

    Attributes:
        before: The run's verdict; None without one.
        after: The new verdict; None without one.
        kind: The kind of change; None if the verdict is unchanged.
        reason: The new verdict's reason code; None if it was not kept.
    """

    before: OutcomeWord | None
    after: OutcomeWord | None
    kind: FlipKind | None
    reason: str | None


class WhatIf:
    """A what-if report, and the items behind it.

    Attributes:
        ids: Row ids of the items whose verdict changes, in the order of the report.
    """

    def __init__(self, project: Project, report: WhatIfReport, asked: _SelectedItems, found: _NewOutcomes) -> None:
        import numpy as np

        from workbench.statistics.flips import flips

        self._table = ItemTable(project, BrowseQuery())
        self._scope, self._found = asked, found
        self._kinds = flips(asked.before, found.after, asked.gold, report.protocol)
        places = np.flatnonzero(self._kinds >= 0)
        ordered = places[np.argsort(self._kinds[places], kind="stable")]
        self.ids: list[int] = asked.everything.item[ordered].tolist()
        named = [self._item(row) for row in self._table.rows(self.ids[:NAMED])]
        self.report = structs.replace(report, flips=named, more=len(self.ids) - len(named))

    def named(self, most: int) -> WhatIfReport:
        flips = self.rows(self.ids[:most])
        return structs.replace(self.report, flips=flips, more=len(self.ids) - len(flips))

    def after(self, item: int) -> Verdict | None:
        return self._found.verdicts.get(item)

    def change(self, item: int) -> ItemChange:
        import numpy as np

        asked = self._scope
        place = int(np.searchsorted(asked.everything.item, item))
        after, kind = int(self._found.after[place]), int(self._kinds[place])
        return ItemChange(
            before=OutcomeCode(int(asked.before[place])).word if asked.before[place] >= 0 else None,
            after=OutcomeCode(after).word if after >= 0 else None,
            kind=FLIP_KINDS[kind] if kind >= 0 else None,
            reason=None if (found := self.after(item)) is None else found.reason,
        )

    def rows(self, ids: Sequence[int]) -> list[FlippedItem]:
        return [self._item(row) for row in self._table.rows(ids)]

    def _item(self, row: BrowseRow) -> FlippedItem:
        import numpy as np

        asked = self._scope
        place = int(np.searchsorted(asked.everything.item, row.id))
        reasons = asked.everything.reasons(asked.run.id)
        before = reasons.names[reasons.code[place]]
        after = self.after(row.id)
        gold = int(asked.gold[place])
        return record_from(
            FlippedItem,
            row,
            kind=FLIP_KINDS[self._kinds[place]],
            gold=None if gold < 0 else OutcomeCode(gold).word,
            before=OutcomeCode(int(asked.before[place])).word,
            after=OutcomeCode(int(self._found.after[place])).word,
            reason_before=None if before == NO_REASON else before,
            reason_after=None if after is None else after.reason,
        )


class Changeable(Struct, frozen=True, kw_only=True):
    """The options of a verifier that can be changed in a what-if query.

    Attributes:
        values: Option -> its value in the run.
    """

    run: int
    kind: str
    options: tuple[FormOption, ...]
    values: dict[str, str]


def changeable(project: Project, verifier: str, run: int | None = None) -> Changeable:
    """Return the options of a verifier that can be changed, with a threshold if the run has scores.

    Raises:
        UsageError: The verifier or run does not exist.
    """
    found = _original_run(project, WhatIfOptions(verifier=verifier, run=run))
    options = configuring.verdict_options(found.verifier.kind)
    if THRESHOLD not in {option.name for option in options} and columns(project).score(found.id) is not None:
        about = "minimum score of a correct completion; stored scores are compared with it"
        options = (FormOption(name=THRESHOLD, about=about), *options)
    return Changeable(run=found.id, kind=found.verifier.kind, options=options, values=found.verifier.options)


def what_if(project: Project, options: WhatIfOptions, beside: Sequence[int] = ()) -> WhatIf:
    """Judge a run's items again with other options, and count the changes.

    Args:
        beside: Row ids of items that are always in the sample, and whose new verdicts are always kept.

    Raises:
        UsageError: The verifier, run, option or field does not exist, no item is chosen, nothing is changed, or such
            verdicts need a separate run.
        NotTrustedError: The user has not accepted the servers to call or the model to load.
        VerifierError: The verifier is unusable.
    """
    asked = _scope(project, options, beside)
    of_scores, changed = _threshold_of_scores(asked, options), None
    if of_scores is None:
        changed = variant(project, asked.run.id, _changed_settings(options), options.save)
        found = _outcomes_by_judging(project, asked, changed, options, frozenset(beside))
    elif options.ask:
        raise UsageError("Scores are stored: no server is called.", f"Leave {opt.ask} out.")
    else:
        found = _outcomes_by_scores(asked, of_scores)
    return WhatIf(project, _make_report(project, asked, found, changed, of_scores, options), asked, found)


def save(project: Project, options: WhatIfOptions, *, trust: bool = False) -> RunInfo:
    """Start the run of a verifier with these options on all items of the original run.

    Raises:
        UsageError: The name belongs to another configuration, or nothing can be run.
        NotTrustedError: The user has not accepted the servers or the template.
        RunError: The runner can't be started.
    """
    run = _original_run(project, options)
    return start(project, variant(project, run.id, _changed_settings(options), options.save), trust=trust)


def _original_run(project: Project, options: WhatIfOptions) -> RunRow:
    number = run_of(project, options.verifier, options.run)
    if number is None:
        raise UsageError(f"{options.verifier!r} has no run yet.", "Start one", Command("verify DB NAME"))
    return run_row(project.database.reader(), number)


def _scope(project: Project, options: WhatIfOptions, beside: Sequence[int]) -> _SelectedItems:
    import numpy as np

    run, everything = _original_run(project, options), columns(project)
    selection = options.basis.selection
    kept = everything.chosen(selection.judged_by((options.verifier,)))
    before = everything.outcome(run.id)
    judged = before >= 0 if kept is None else kept & (before >= 0)
    places = np.flatnonzero(judged)
    if not len(places):
        raise UsageError(f"Run {run.id} has no verdict on {selection}.", "See what it has", Command("verdicts DB"))
    drawn = places
    if options.sample is not None:
        wanted = places[np.isin(everything.item[places], np.asarray(beside, dtype=np.int64))]
        others = np.random.default_rng(options.seed).permutation(places[~np.isin(places, wanted)])
        drawn = np.sort(np.concatenate([wanted, others])[: options.sample])
    return _SelectedItems(
        run=run,
        everything=everything,
        before=before,
        gold=everything.gold(options.basis.gold),
        drawn=drawn,
        chosen=len(before) if kept is None else int(kept.sum()),
        judged=len(places),
    )


def _threshold_of_scores(asked: _SelectedItems, options: WhatIfOptions) -> float | None:
    """Return the threshold for stored scores if nothing else is changed; else None.

    Raises:
        UsageError: The threshold is not a number, or there are no scores.
    """
    changes, has_scores = options.changes, asked.everything.score(asked.run.id) is not None
    if options.threshold is None:
        return _parse_finite(changes[THRESHOLD]) if has_scores and changes.keys() == {THRESHOLD} else None
    if not isfinite(options.threshold):
        raise UsageError(f"{options.threshold} is not a valid threshold.", "Give a number.")
    if changes:
        return None
    if not has_scores:
        raise UsageError(
            f"{options.verifier} gives no scores.",
            "Reward models, similarity metrics and judges with top_logprobs give scores.",
        )
    return options.threshold


def _parse_finite(text: str | None) -> float | None:
    with suppress(ValueError):
        if text is not None and isfinite(value := float(text)):
            return value
    return None


def _changed_settings(options: WhatIfOptions) -> dict[str, str | None]:
    threshold = {} if options.threshold is None else {THRESHOLD: repr(options.threshold)}
    return options.changes | threshold


def _outcomes_by_scores(asked: _SelectedItems, threshold: float) -> _NewOutcomes:
    import numpy as np

    from workbench.statistics.scores import at_threshold

    after = np.full(len(asked.before), -1, dtype=np.int8)
    score, before = asked.everything.score(asked.run.id), asked.before[asked.drawn]
    assert score is not None
    new = at_threshold(before, score[asked.drawn], threshold)
    after[asked.drawn] = np.where(before == OutcomeCode.ERROR, -1, new)
    return _NewOutcomes(after=after, means="scores", verdicts={}, missing=[])


def _outcomes_by_judging(
    project: Project, asked: _SelectedItems, changed: Variant, options: WhatIfOptions, beside: frozenset[int]
) -> _NewOutcomes:
    import numpy as np

    items: list[int] = asked.everything.item[asked.drawn].tolist()
    if options.ask:
        work = asking(project, changed, items, trust=options.trust)
    else:
        work = Rejudging(project, changed, items, trust=options.trust)
    after = np.full(len(asked.before), -1, dtype=np.int8)
    verdicts: dict[int, Verdict] = {}
    for item, verdict in work:
        at = np.searchsorted(asked.everything.item, item)
        after[at] = verdict.outcome.code
        if after[at] != asked.before[at] or verdict.outcome.code >= OutcomeCode.ABSTAIN or item in beside:
            verdicts[item] = verdict
    means: Means = "local" if not changed.calls_servers else "calls" if work.calls else "replies"
    return record_from(_NewOutcomes, work, after=after, means=means, verdicts=verdicts)


def _make_report(
    project: Project,
    asked: _SelectedItems,
    found: _NewOutcomes,
    changed: Variant | None,
    threshold: float | None,
    options: WhatIfOptions,
) -> WhatIfReport:
    import numpy as np

    from workbench.statistics.flips import flip_code, flip_rows, flips

    protocol, run, drawn = options.basis.protocol or protocol_of(project), asked.run, asked.drawn
    before, after, gold = asked.before[drawn], found.after[drawn], asked.gold[drawn]
    groups = asked.everything.groups("type")
    total, *types = flip_rows(before, after, gold, protocol, groups.code[drawn], groups.names)
    kinds = flips(before, after, gold, protocol)
    kept = np.zeros(len(asked.before), dtype=np.bool_)
    kept[drawn] = True
    items = _count_items(asked, found)
    unread = asked.everything.item[drawn[after < 0]].tolist() if changed and changed.calls_servers else []
    return WhatIfReport(
        **structs.asdict(total),
        verifier=run.verifier.name,
        run=run.id,
        name=changed.name if changed else run.verifier.name,
        kind=run.verifier.kind,
        changed={THRESHOLD: (run.verifier.options.get(THRESHOLD), repr(threshold))}
        if changed is None
        else changed.changed,
        threshold=threshold,
        means=found.means,
        version=changed.verifier.version if changed else run.version,
        ran=run.version,
        protocol=protocol,
        gold=asked.everything.gold_counts(options.basis.gold, kept),
        gold_choice=options.basis.gold,
        items=items,
        without_gold=int(np.count_nonzero(kinds == flip_code("without_gold"))),
        seed=None if options.sample is None else options.seed,
        calls=found.calls,
        needed=estimate_missing_calls(project, changed, unread) if changed else None,
        trouble=found.trouble,
        types=types,
        flips=[],
        more=0,
    )


def _count_items(asked: _SelectedItems, found: _NewOutcomes) -> RejudgedItems:
    import numpy as np

    drawn, read = len(asked.drawn), int(np.count_nonzero(found.after >= 0))
    failed = 0
    if found.means == "scores":
        failed = int(np.count_nonzero(asked.before[asked.drawn] == OutcomeCode.ERROR))
    reasons = Counter(
        verdict.reason or NO_REASON
        for verdict in found.verdicts.values()
        if verdict.outcome.code >= OutcomeCode.ABSTAIN
    )
    return RejudgedItems(
        chosen=asked.chosen,
        judged=asked.judged,
        drawn=drawn,
        read=read,
        missing=len(found.missing),
        failed=failed,
        left=drawn - read - len(found.missing) - failed,
        undecided=dict(reasons.most_common()),
    )


# -- As sentences and tables.


KINDS: Final[dict[FlipKind, str]] = {
    "fixed": "fixed",
    "broken": "broken",
    "now_decided": "now decided",
    "now_undecided": "now undecided",
    "other": "undecided otherwise",
    "without_gold": "changed, no gold",
}
"""Kind of change -> its display name."""
_TONES: Final[dict[FlipKind, Tone]] = {"fixed": "success", "broken": "error"}
_WIDTH: Final = 79
_MEANS: Final = {
    "scores": "by the stored scores",
    "replies": "by the stored replies, without a call",
    "local": "judged again on this machine",
    "calls": "by stored and new replies",
}

ROWS: TableColumns[FlipRow] = (
    word("type", lambda row: "all" if row.group is None else type_display(row.group), room=(3, 24)),
    count("n", lambda row: row.n),
    metric_column("before", lambda row: row.accuracy_before),
    metric_column("after", lambda row: row.accuracy_after),
    *counts("fixed", "broken"),
    count("now decided", lambda row: row.now_decided),
    count("now undecided", lambda row: row.now_undecided),
)
FLIPPED: TableColumns[FlippedItem] = (
    word("change", lambda one: KINDS[one.kind], room=(6, 16), tone=lambda one: _TONES.get(one.kind, "")),
    word("completion", lambda one: one.completion_id, room=(8, 24)),
    word("type", lambda one: one.subtype or NONE),
    word("gold", lambda one: one.gold or NONE, room=9),
    word("before", lambda one: one.before, room=9),
    word("after", lambda one: one.after, room=9),
    word("because", lambda one: one.reason_after or NONE, room=(8, 24)),
)


def what_if_as(report: WhatIfReport, form: TableForm) -> str:
    if form.format == "csv":
        every = {"verifier": report.verifier, "run": report.run, "protocol": report.protocol}
        return records_csv(report.flips, every | {"gold_choice": report.gold_choice})
    if form.format == "text" and not form.is_choosing:
        blocks = [
            f"What if {inert(report.verifier)}, run {report.run}, had {inert(change_words(report))}?\n"
            f"protocol {report.protocol}, gold {report.gold_choice}, {_MEANS[report.means]}",
            fill(sentence(report), _WIDTH),
            aligned_rows(ROWS, [report, *report.types]),
        ]
        if report.flips:
            more = f"\nand {report.more:,} more: {opt.limit}, or {opt.json}" if report.more else ""
            blocks.append(aligned_rows(FLIPPED, report.flips) + more)
        lines = [fill(inert(words), _WIDTH) for words in coverage_words(report)]
        return "\n\n".join([*blocks, *(["\n".join(lines)] if lines else [])]) + "\n"
    caption = f"What if {report.verifier}, run {report.run}: {change_words(report)}"
    found = table(caption, ROWS, [report, *report.types], notes=tuple(coverage_words(report)))
    return format_tables((add_protocol_to_caption(found, report.protocol, report.gold_choice),), form)


def change_words(report: WhatIfReport) -> str:
    if report.changed:
        return ", ".join(
            f"{key} {_value_text(after)} instead of {_value_text(before)}"
            for key, (before, after) in report.changed.items()
        )
    if report.threshold is not None:
        return f"threshold {report.threshold!r}"
    return f"version {report.version} instead of {report.ran}"


def _value_text(text: str | None) -> str:
    return "its default" if text is None else text


def sentence(report: WhatIfReport) -> str:
    if not report.items.read:
        return "There is no new verdict yet."
    if not report.n:
        return f"No item has gold and a new verdict; {counted(report.without_gold, 'verdict')} without gold changed."
    others = report.now_decided + report.now_undecided + report.other
    beside = [f"{others:,} changed otherwise"] * bool(others)
    beside += [f"{report.without_gold:,} without gold changed"] * bool(report.without_gold)
    return (
        f"{report.fixed:,} fixed and {report.broken:,} broken of {counted(report.n, 'item')} with gold: accuracy "
        f"{percent(report.accuracy_before)} before, {percent(report.accuracy_after)} after"
        f"{''.join(f'; {words}' for words in beside)}."
    )


def type_words(report: WhatIfReport) -> str:
    return " · ".join(
        f"{row.group}: {row.fixed:,} fixed, {row.broken:,} broken of {row.n:,}"
        for row in report.types
        if row.fixed or row.broken
    )


def coverage_words(report: WhatIfReport) -> Iterator[str]:
    items = report.items
    if items.judged < items.chosen:
        yield f"{items.chosen - items.judged:,} of {counted(items.chosen, 'item')} have no verdict in run {report.run}."
    if items.drawn < items.judged:
        yield f"A sample of {items.drawn:,} of {items.judged:,} (seed {report.seed})."
    if items.missing:
        yield f"{counted(items.missing, 'item')} not read again: the replies are not stored."
    if items.failed:
        yield f"{counted(items.failed, 'item')} left out: run {report.run} failed on them."
    if items.left:
        yield f"{counted(items.left, 'item')} not judged."
    if report.trouble:
        yield report.trouble
    if items.undecided:
        reasons = ", ".join(f"{many:,} {reason}" for reason, many in items.undecided.items())
        yield f"New undecided verdicts: {reasons}."
    if report.needed is not None:
        yield calls_words(report)
    if report.ran != report.version:
        yield f"Run {report.run} is of version {report.ran}; what version {report.version} changes is among these."


def calls_words(report: WhatIfReport) -> str:
    """Describe the cost of the missing replies in a sentence; "" if no reply is missing."""
    found = report.needed
    if found is None:
        return ""
    cost = "cost unknown: no price in workbench.toml" if found.cost is None else f"at most {dollars(found.cost)}"
    return (
        f"To judge {counted(found.items, 'item')} more: about {counted(found.calls, 'call')}, "
        f"{compact_count(found.prompt_tokens)} tokens in, at most {compact_count(found.completion_tokens)} out, {cost}."
    )
