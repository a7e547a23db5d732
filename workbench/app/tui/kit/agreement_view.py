"""An agreement report as lines, cells and rows: every metric is shown with its n and without a rating."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from msgspec import structs
from textual.content import Content

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.core.text.figures import NONE, compact_count, counted, number, percent
from workbench.labelling.agreement import text as words
from workbench.measuring.briefing import agreement_sentence
from workbench.statistics.records.agreement import AgreementReport, AnnotatorQuality, Figures, PairAgreement, Share
from workbench.tables.table import Column, Columns

Measure = Literal["kappa", "agreement", "differing"]
MEASURES: dict[Measure, str] = {
    "kappa": "Cohen's kappa (n)",
    "agreement": "agreement in % (n)",
    "differing": "items they disagree on, of n",
}
"""What a cell of the matrix shows, by measure."""

View = Literal["people", "groups", "time", "pairs"]
VIEWS: dict[View, str] = {
    "people": "each person, in % (n){of_people}",
    "groups": "by {by}",
    "time": "over time, in blocks of items",
    "pairs": "pairs, with what they share",
}
"""Titles of the lower table, by view."""

_LEVELS = "▁▂▃▄▅▆▇█"
_MAX_VALUES = 5

_FIRST: Final = (
    "The command Assign has two or more people label the same items; each labels them blind, in Annotate. Their "
    "agreement is then shown here."
)
"""Advice if there is no label."""
_OF_TYPES: Final = "People give types only for data sets whose types were not accepted from the imported file."
"""Advice if there is no label of an answer type."""


def conclusion(report: AgreementReport) -> str:
    """Return a sentence on the level of agreement, or why it is unknown and what to do."""
    why = words.why_nothing(report)
    said = f"{agreement_sentence(report)} {words.why_low(report)}".strip()
    if said:
        return said
    if report.unblinded:
        return f"{why} Blind labels count: people open the project under their own name, or in a browser."
    if report.labels:
        return why
    return f"{why} {_OF_TYPES if report.task == 'type' else _FIRST}"


def metrics_text(report: AgreementReport) -> Content:
    lines = [Content(printable(words.head(report)))]
    if report.paired:
        lines += [_agreement_line(report), _chance_corrected_line(report)]
    if report.labels:
        lines.append(_value_shares(report))
    lines += [_ceiling_line(report), _confounding_line(report)]
    return Content("\n").join([line for line in lines if line])


def _agreement_line(report: AgreementReport) -> Content:
    return Content.assemble(
        "agreement ",
        (f"{percent(report.percent_agreement)} %", "bold"),
        f" {words.percent_interval_text(report.percent_ci) or f'[{words.TOO_FEW}]'} · alpha ",
        (number(report.krippendorff_alpha), "bold"),
        f" {_interval_text(report.alpha_ci, report.krippendorff_alpha)}",
    )


def _chance_corrected_line(report: AgreementReport) -> Content:
    fleiss = f" · Fleiss {number(report.fleiss_kappa)}" if report.fleiss_kappa is not None else ""
    own = f" · own repeats {words.share_text(report.repeats)}" if report.repeats.n else ""
    return Content.assemble(
        "AC1 ",
        (number(report.gwet_ac1), "bold"),
        f" {_interval_text(report.ac1_ci, report.gwet_ac1)} · PABAK {number(report.pabak)}{fleiss}{own}",
    )


def _interval_text(ends: tuple[float, float] | None, value: float | None) -> str:
    return f"[{words.TOO_FEW}]" if ends is None and value is not None else words.interval_text(ends)


def _value_shares(report: Figures) -> Content:
    shares = sorted((report.prevalence or {}).items(), key=lambda share: -share[1])
    texts = [f"{value_with_symbol(name)} {percent(share)} %" for name, share in shares[:_MAX_VALUES]]
    more = f" · {len(shares) - _MAX_VALUES} more" if len(shares) > _MAX_VALUES else ""
    return Content(f"said {' · '.join(texts)}{more}")


def value_with_symbol(value: str) -> str:
    mark = "⊘" if value == "unsuitable" else OUTCOME_MARKS[value][0] if value in OUTCOME_MARKS else ""
    return printable(f"{mark} {value}".strip())


_MIN_ITEMS_FOR_DIGIT: Final = 1_000
"""Number of items from which a share is shown with a digit after the decimal point."""


def _ceiling_line(report: AgreementReport) -> Content:
    if not report.ceiling:
        return Content()
    found = report.ceiling[-1]
    decimals = 0 if report.paired < _MIN_ITEMS_FOR_DIGIT else 1
    worst, best, highest, alone = (
        _below_all(share, decimals) for share in (*found.sensitivity, found.highest_accuracy, found.annotator_accuracy)
    )
    on_checks = " on checks" if found.source == "checks" else ""
    most = "at most " if worst != best == highest else ""
    between = "" if worst == best else f" ({worst} at worst)" if most else f" ({worst} to {best})"
    return Content.assemble(
        f"even a perfect verifier would get {most}",
        (f"{highest} %", "bold"),
        f"{between}: annotators err, a single one is right on {alone} %{on_checks}",
    )


def _below_all(share: float, decimals: int) -> str:
    """Format a share as a percentage; a share below 1 is never rounded up to 100: ``over 99``."""
    text = percent(share, decimals)
    return f"over {percent(1 - 10.0 ** -(2 + decimals), decimals)}" if share < 1 and float(text) == 100 else text


def _confounding_line(report: AgreementReport) -> Content:
    if not report.confounded:
        return Content()
    more = f" · {len(report.confounded) - 1} more" if len(report.confounded) > 1 else ""
    return Content.styled(printable(f"! {words.confounding(report.confounded[0])}{more}"), "$text-warning")


# -- the matrix ------------------------------------------------------------------------------------


def pair_text(pair: PairAgreement | None, measure: Measure) -> str:
    """Return the cell of two annotators: a block as high as their kappa or agreement, the value, and n."""
    if pair is None:
        return NONE
    n = compact_count(pair.n)
    if measure == "differing":
        return f"{level(pair.agreement)} ≠ {compact_count(differing(pair))} of {n}"
    if measure == "agreement":
        return f"{level(pair.agreement)} {percent(pair.agreement)} ({n})"
    return f"{NONE if pair.kappa is None else level(pair.kappa)} {number(pair.kappa)} ({n})"


def own_text(person: AnnotatorQuality) -> str:
    """Return a cell of the diagonal: how often an annotator's second label of an item equals the first."""
    return f"↺ {words.share_text(person.repeats)}" if person.repeats.n else "·"


def level(share: float) -> str:
    """Return one of eight block characters, as high as the share; the lowest one for a negative value."""
    return _LEVELS[min(max(int(share * 8), 0), 7)]


def differing(pair: PairAgreement) -> int:
    return pair.n - round(pair.agreement * pair.n)


def cell_sentence(
    row: AnnotatorQuality | None, column: AnnotatorQuality | None, pair: PairAgreement | None, report: AgreementReport
) -> Content:
    if row is None or column is None:
        return Content("")
    if row.name == column.name:
        return Content.assemble(
            (printable(row.name), "bold"),
            f" · {counted(row.labels, 'label')} · own repeats ↺ {_share_text(row.repeats, report)}"
            f"\nwith others {_share_text(row.with_others, report)}",
        )
    names = Content.assemble((printable(row.name), "bold"), " – ", (printable(column.name), "bold"))
    if pair is None:
        unblinded = row.unblinded + column.unblinded
        why = f" that counts: {counted(unblinded, 'label')} of theirs unblinded" if unblinded else ""
        return names + Content(f" · no common item{why}")
    kappa = "undefined (one class)" if pair.kappa is None else number(pair.kappa)
    by = report.shared_by
    shares = f"in common: {words.shared_groups_text(pair, by=by)}" if by else ""
    return names + Content(
        f" · {counted(pair.n, 'item')}, ≠ {differing(pair):,} · agreement {percent(pair.agreement)} %"
        f" · kappa {kappa} {_interval_text(pair.ci, pair.kappa)}\n{printable(shares)}"
    )


def _share_text(found: Share, report: AgreementReport) -> str:
    if found.share is None:
        return NONE
    return f"{words.share_text(found)} {words.percent_interval_text(found.ci) or words.few_of(report)}"


# -- the lower table -------------------------------------------------------------------------------


def table_title(report: AgreementReport, view: View, by: str) -> str:
    if view == "groups":
        return f"{VIEWS[view].format(by=by)}{f'; {words.AC1_BY_GROUP}' if words.counts_single(report) else ''}"
    modelled = any(person.sensitivity is not None for person in report.per_annotator)
    return VIEWS[view].format(by=by, of_people="; sens and spec by the consensus model" if modelled else "")


def table(report: AgreementReport, view: View) -> tuple[Columns[Any], Sequence[Any]]:
    columns: Columns[Any]
    records: Sequence[Any]
    if view == "people":
        columns, records = words.people_columns(report.per_annotator), report.per_annotator
    elif view == "pairs":
        columns, records = words.pair_columns("common items"), report.cohen_kappa
    elif view == "groups":
        columns, records = words.group_columns("group", report.by), report.groups
    else:
        columns, records = words.group_columns("group", None), report.over_time
    return [_narrow_column(one) for one in columns], records


def _narrow_column(one: Column[Any]) -> Column[Any]:
    if one.heading == "95 % interval":
        return structs.replace(one, words=True)
    return structs.replace(one, heading=one.key or one.heading)
