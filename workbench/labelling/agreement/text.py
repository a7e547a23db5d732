"""Renders an agreement report as text: metrics with n and interval, without adjectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Final

from workbench.core.errors import Command, opt
from workbench.core.selection import NAMELESS
from workbench.core.taxonomy import UNTYPED, type_display
from workbench.core.text.figures import NONE, counted, number, percent
from workbench.core.text.inert import inert
from workbench.statistics.records.agreement import (
    FEWEST_ALIKE,
    FEWEST_DIFFERING,
    FEWEST_RARER,
    AgreementReport,
    AnnotatorQuality,
    Ceiling,
    Confounded,
    Ends,
    Figures,
    GroupFigures,
    PairAgreement,
    Share,
)
from workbench.tables.document import Table
from workbench.tables.table import Column, Columns, cells, column, count, metric_column, table, text, word
from workbench.tables.table_text import plain_table

_WIDTH = 79

TOO_FEW = "too few"
"""Shown instead of an interval if there are too few questions."""
SHOWN = 30
"""Maximum number of pairs, people or groups that are listed."""


AC1_BY_GROUP: Final = "AC1 estimates chance agreement from all labels of a group, including single ones"
"""Why a group's coefficient can differ from that of all items, even on the same paired items."""


def counts_single(report: AgreementReport) -> bool:
    return report.items > report.paired > 0


def agreement_text(report: AgreementReport) -> str:
    blind = f"Blind labels count: {Command('open DB', as_='NAME')}" if report.unblinded else ""
    why = why_nothing(report)
    blocks = [
        head(report),
        f"{why} {blind}".strip() if why else "",
        fill(why_low(report), _WIDTH),
    ]
    tables = sorted(agreement_tables(report, most=SHOWN), key=lambda one: one.caption != _COEFFICIENTS)
    return "\n\n".join(filter(None, (*blocks, *(plain_table(one).rstrip("\n") for one in tables)))) + "\n"


_COEFFICIENTS: Final = "Coefficients"
_HEADLINE: Columns[tuple[str, str, str, str]] = (
    word("", lambda line: line[0]),
    text("value", lambda line: line[1]),
    text("95 % interval", lambda line: line[2]),
    text("", lambda line: line[3]),
)


def agreement_tables(report: AgreementReport, most: int | None = None) -> tuple[Table, ...]:
    """Return the tables of pairs, coefficients, people, groups and time; none without a label.

    Args:
        most: Maximum number of pairs and of people that are listed; None for all.
    """
    if not report.labels:
        return ()
    shared = f"common items by {report.shared_by}" if report.shared_by else "common items"
    ceilings = [f"Ceiling: {ceiling_in_words(one)}" for one in report.ceiling]
    modelled = any(person.sensitivity is not None for person in report.per_annotator)
    pairs, people, alone = report.cohen_kappa, report.per_annotator, report.confounded[:most]
    found = (
        table("Pairs", pair_columns(shared), pairs[:most], notes=[*_more_notes(pairs, most), *map(confounding, alone)]),
        table(_COEFFICIENTS, _HEADLINE, _headline_rows(report), notes=[_shares_text(report), *ceilings]),
        table(
            f"People, in % (n){'; sens and spec by the consensus model' if modelled else ''}",
            people_columns(people),
            people[:most],
            notes=_more_notes(people, most),
        ),
        table(
            f"By {report.by}",
            group_columns("group", report.by),
            report.groups,
            notes=[f"{AC1_BY_GROUP}."] if counts_single(report) else [],
        ),
        table("Over time, in blocks of items", group_columns("group", None), report.over_time),
    )
    return tuple(one for one in found if one.rows)


def _more_notes(rows: Sequence[object], most: int | None) -> list[str]:
    left = 0 if most is None else len(rows) - most
    return [f"{left:,} more; {opt.json} has them all."] if left > 0 else []


def why_nothing(report: AgreementReport) -> str:
    if report.paired:
        return ""
    if report.unblinded and not report.labels:
        said = f"No labels count yet: {counted(report.unblinded, 'label')}, all unblinded."
    elif report.unblinded:
        said = f"No item has two labels that count; {counted(report.unblinded, 'unblinded label')} left out."
    elif report.labels:
        return "No item has two people's labels yet."
    else:
        return "There are no labels yet."
    return f"{said} The annotators had seen, or could see, gold, verdicts or others' labels."


_SKEWED_SHARE = 0.75
"""Share of one value above which chance agreement is high."""
_LOW_ALPHA = 0.667
"""Alpha below which no conclusion can be drawn (Krippendorff)."""


def why_low(report: AgreementReport) -> str:
    """Explain that alpha and kappa are low because nearly all labels are equal; "" if that isn't so."""
    alpha, agree, shares = report.krippendorff_alpha, report.percent_agreement, report.prevalence
    if alpha is None or agree is None or not shares or alpha >= _LOW_ALPHA:
        return ""
    name, most = max(shares.items(), key=lambda share: share[1])
    by_chance = sum(one * one for one in shares.values())
    if most < _SKEWED_SHARE or agree < 0.5:
        return ""
    return (
        f"Alpha and kappa measure agreement above chance; {percent(most)} % of the labels say {inert(name)}: chance "
        f"alone would agree on {percent(by_chance)} %. AC1 and PABAK depend less on it."
    )


def head(report: AgreementReport) -> str:
    about = "ratings" if report.task is None else "types by letter" if report.coarse else report.task
    left_out = f"; {counted(report.unblinded, 'unblinded label')} left out" if report.unblinded else ""
    surplus = f"; {report.surplus:,} beyond the overlap" if report.surplus else ""
    return (
        f"{about} · {counted(report.items, 'item')}, {report.paired:,} with two labels or more · "
        f"{'1 person' if report.annotators == 1 else f'{report.annotators:,} people'} · "
        f"{counted(report.labels, 'label')}{of_round(report)}{surplus}{left_out}"
    )


def of_round(report: AgreementReport) -> str:
    return f" of the {report.round} round ({report.reopened:,} reopened)" if report.reopened else ""


def _headline_rows(report: AgreementReport) -> list[tuple[str, str, str, str]]:
    rows = [
        (
            "agreement %",
            percent(report.percent_agreement),
            percent_interval_text(report.percent_ci),
            _percent_note(report),
        ),
        _coefficient_row(report, f"alpha {report.level}", report.krippendorff_alpha, report.alpha_ci),
        _coefficient_row(report, "AC1", report.gwet_ac1, report.ac1_ci),
        *((f"AC2 {name}", number(value), "", "") for name, value in (report.gwet_ac2 or {}).items()),
        _fleiss_row(report),
        ("PABAK", number(report.pabak), "", ""),
    ]
    if report.repeats.n:
        own = report.repeats
        rows.append(
            (
                "own repeats %",
                percent(own.share),
                percent_interval_text(own.ci),
                f"n {own.n:,}: second labels equal to the first{'' if own.ci else f'; {few_of(report)}'}",
            )
        )
    return rows


def _percent_note(report: AgreementReport) -> str:
    if not report.paired:
        return "undefined: no item has two labels"
    return f"Wilson by {report.interval_by}" if report.percent_ci else few_of(report)


def few_of(report: AgreementReport) -> str:
    return f"too few {report.interval_by}s to say"


def _coefficient_row(
    report: AgreementReport, name: str, value: float | None, ci: Ends | None
) -> tuple[str, str, str, str]:
    if value is None:
        return name, number(value), "", ""
    behind = f"jackknife by {report.interval_by}" if ci else too_few(report, report.interval_by)
    return name, number(value), interval_text(ci), behind


def too_few(figures: Figures, by: str) -> str:
    known = (
        (f"people disagree in {figures.differing:,} ({FEWEST_DIFFERING} needed)", figures.differing, FEWEST_DIFFERING),
        (f"people agree on a rarer label in {figures.alike:,} ({FEWEST_ALIKE} needed)", figures.alike, FEWEST_ALIKE),
        (f"{figures.rarer:,} hold a rarer label ({FEWEST_RARER} needed)", figures.rarer, FEWEST_RARER),
    )
    few = [said for said, there, needed in known if there < needed]
    return f"too few {by}s to say{': ' if few else ''}{', '.join(few)}"


def _fleiss_row(report: AgreementReport) -> tuple[str, str, str, str]:
    if report.fleiss_kappa is not None or report.percent_agreement is None:
        return _coefficient_row(report, "Fleiss' kappa", report.fleiss_kappa, report.fleiss_ci)
    return "Fleiss' kappa", NONE, "", "undefined: label counts differ, or one category only"


def _shares_text(report: Figures) -> str:
    if report.prevalence is None:
        return "labels: more values than can be listed"
    shares = sorted(report.prevalence.items(), key=lambda share: -share[1])
    return "labels: " + (", ".join(f"{inert(name)} {percent(share)} %" for name, share in shares) or "nothing yet")


def ceiling_in_words(ceiling: Ceiling) -> str:
    low, high = (percent(end, 2) for end in ceiling.highest_ci)
    worst, best = (percent(end, 2) for end in ceiling.sensitivity)
    return (
        f"Estimated from {'agreement' if ceiling.source == 'agreement' else 'checks'}, a single annotator is right on "
        f"{percent(ceiling.annotator_accuracy)} % {percent_interval_text(ceiling.accuracy_ci)}. "
        f"{_gold_in_words(ceiling)} A perfect verifier would have a measured accuracy of "
        f"{percent(ceiling.highest_accuracy, 2)} % [{low}, {high}], "
        f"if annotators err independently and equally on both classes; at {worst} to {best} % if their "
        "errors on an item are correlated (up to .3) or all are in one class. A verifier that errs on the same items "
        "as annotators can be measured higher."
    )


def _gold_in_words(ceiling: Ceiling) -> str:
    gold, wrong = ceiling.gold, percent(ceiling.wrong, 2)
    if gold is None or not gold.agreed + gold.adjudicated:
        differ = f"{ceiling.conflicts_per_1000:.0f} of 1,000 items"
        return f"Two annotators and an adjudicator would leave {wrong} % of labels wrong and disagree on {differ}."
    conflicts = f"; {counted(gold.in_conflict, 'open conflict')} left out" if gold.in_conflict else ""
    return (
        f"Of the annotators' gold ({gold.agreed:,} agreed, {gold.adjudicated:,} adjudicated{conflicts}; without "
        f"imported labels) {wrong} % is then wrong."
    )


def confounding(found: Confounded) -> str:
    a, b = found.pair
    return f"{inert(a)} and {inert(b)} share {inert(found.group or '(none)')} only ({counted(found.n, 'item')})"


def pair_columns(shared_by: str) -> Columns[PairAgreement]:
    return (
        word("pair", lambda pair: " – ".join(map(inert, pair.pair)), room=(12, 28), tone="bold"),
        count("n", lambda pair: pair.n, room=6),
        column("agree %", lambda pair: pair.agreement, percent, room=7),
        column("kappa", lambda pair: pair.kappa, lambda kappa: "one class" if kappa is None else number(kappa), room=9),
        word(
            "95 % interval", lambda pair: "" if pair.kappa is None else interval_text(pair.ci) or TOO_FEW, room=(15, 16)
        ),
        word(shared_by, shared_groups_text, room=(14, 60)),
    )


def shared_groups_text(pair: PairAgreement, most: int = 3, by: str | None = None) -> str:
    """Describe a pair's common items by group, the largest first.

    Args:
        by: The kind of groups, one of `GROUPS`; answer types are shown with their names.
    """
    groups = sorted(pair.shared.items(), key=lambda group: -group[1])
    words = [f"{inert(group_name(name, by))} {n:,}" for name, n in groups[:most]]
    return ", ".join(words) + (f", {len(groups) - most} more" if len(groups) > most else "")


def interval_text(interval: Ends | None) -> str:
    return "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"


def percent_interval_text(interval: Ends | None) -> str:
    return "" if interval is None else f"[{percent(interval[0])}, {percent(interval[1])}]"


def share_text(found: Share) -> str:
    """Format a share with its n: ``"81.2 (16)"``."""
    return NONE if found.share is None else f"{percent(found.share)} ({found.n:,})"


def _share_column(name: str, found: Callable[[AnnotatorQuality], Share], room: int) -> Column[AnnotatorQuality]:
    return column(f"{name} %", found, share_text, by=lambda person: found(person).share, key=name, room=room)


_PEOPLE: Columns[AnnotatorQuality] = (
    word("person", lambda person: inert(person.name), room=(8, 20), tone="bold"),
    count("labels", lambda person: person.labels, room=6),
    _share_column("with others", lambda person: person.with_others, 12),
    _share_column("consensus", lambda person: person.consensus, 12),
    metric_column("sens", lambda person: person.sensitivity, room=5),
    metric_column("spec", lambda person: person.specificity, room=5),
    _share_column("upheld", lambda person: person.upheld, 11),
    _share_column("imported", lambda person: person.imported, 12),
    _share_column("checks", lambda person: person.checks, 11),
    _share_column("repeats", lambda person: person.repeats, 11),
    column("median s", lambda person: person.median_ms, lambda ms: NONE if ms is None else f"{ms / 1000:.1f}", room=8),
    column("fast %", lambda person: person.fast.share, percent, room=6),
    count("unblinded", lambda person: person.unblinded, room=9),
)


def people_columns(people: Sequence[AnnotatorQuality]) -> Columns[AnnotatorQuality]:
    rows = [cells(_PEOPLE, person) for person in people]
    return [one for place, one in enumerate(_PEOPLE) if place < 2 or any(row[place] not in (NONE, "0") for row in rows)]


def group_columns(title: str, by: str | None) -> Columns[GroupFigures]:
    return (
        word(title, lambda group: inert(group_name(group.group, by)), room=(16, 28), tone="bold"),
        count("items", lambda group: group.paired, room=6),
        column("agree %", lambda group: group.percent_agreement, percent, room=7),
        column(
            "95 % interval",
            lambda group: group.percent_ci,
            percent_interval_text,
            key="agree % interval",
            room=(13, 14),
        ),
        metric_column("alpha", lambda group: group.krippendorff_alpha, room=6),
        column("95 % interval", lambda group: group.alpha_ci, interval_text, key="alpha interval", room=(15, 16)),
        metric_column("AC1", lambda group: group.gwet_ac1, room=6),
    )


def group_name(name: str, by: str | None) -> str:
    return type_display(name) if by in ("type", "subtype") and name != UNTYPED else name or NAMELESS
