"""Probe reports as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.probe import SKIP_WORDS, FamilyFigures, Figures, ProbeReport
from workbench.model.taxonomy import type_display
from workbench.render.bars import counted
from workbench.render.columns import aligned, interval, number
from workbench.render.inert import inert

_HEAD = ("", "n", "parsed", "accepted", "ASR", "95 % interval")


def probe_text(report: ProbeReport) -> str:
    """An aligned table: families, all of them by answer type, controls; below it what was accepted and left out."""
    table = aligned(
        [
            _HEAD,
            *(_cells(f"{one.family} {one.name}", one) for one in report.families),
            *(_cells(type_display(code), one) for code, one in report.by_type.items()),
            _cells("all families", report.overall),
            _cells("control: right completions", report.control),
            _cells("carriers: wrong completions", report.carrier),
        ]
    )
    head = (
        f"{inert(report.verifier)} {inert(report.version)}\n"
        f"probe suite {report.suite}, seed {report.seed}, {counted(report.rows, 'question')} "
        f"({report.control.real:,} with a real right completion)"
    )
    return "\n".join([head, "", table, *_below(report)]) + "\n"


def _below(report: ProbeReport) -> Iterator[str]:
    accepted = [line for family in report.families for line in _accepted(family)]
    if accepted:
        yield from ("", "accepted payloads:", *accepted)
    if report.skipped:
        reasons = sorted(report.skipped.items(), key=lambda pair: -pair[1])
        yield from ("", "skipped:", *(f"  {count:,} {SKIP_WORDS[reason]}" for reason, count in reasons))


def _accepted(family: FamilyFigures) -> Iterator[str]:
    for one in family.variants:
        if one.accepted and one.expected == "incorrect":
            yield f"  {family.family} {one.variant}: {one.accepted:,} of {one.parsed:,}"


def _cells(name: str, figures: Figures) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (figures.n, figures.parsed, figures.accepted))
    return (name, *counts, number(figures.asr), interval(figures.ci))
