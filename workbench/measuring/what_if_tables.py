"""Renders the changes that other options would make as sentences and tables, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Final

from workbench.core.errors import opt
from workbench.core.options import TableForm
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, compact_count, counted, dollars, percent
from workbench.core.text.inert import inert
from workbench.statistics.records.flips import FlipKind, FlippedItem, FlipRow, WhatIfReport
from workbench.tables.document import Tone
from workbench.tables.files import add_protocol_to_caption, format_tables, records_csv
from workbench.tables.table import Columns, aligned_rows, count, counts, metric_column, table, word

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

ROWS: Columns[FlipRow] = (
    word("type", lambda row: "all" if row.group is None else type_display(row.group), room=(3, 24)),
    count("n", lambda row: row.n),
    metric_column("before", lambda row: row.accuracy_before),
    metric_column("after", lambda row: row.accuracy_after),
    *counts("fixed", "broken"),
    count("now decided", lambda row: row.now_decided),
    count("now undecided", lambda row: row.now_undecided),
)
FLIPPED: Columns[FlippedItem] = (
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
        said = [fill(inert(words), _WIDTH) for words in coverage_words(report)]
        return "\n\n".join([*blocks, *(["\n".join(said)] if said else [])]) + "\n"
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
