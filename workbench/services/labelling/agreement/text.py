"""An agreement report as text: figures with their n and interval, and never one adjective."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from workbench.model.agreement import (
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
from workbench.model.breakdown import NAMELESS
from workbench.model.taxonomy import UNTYPED, type_display
from workbench.render.bars import NONE, counted, percent
from workbench.render.columns import aligned, number
from workbench.render.inert import inert

_WIDTH = 79

SHOWN = 30
"""Pairs, people and groups that are spelled out."""


def agreement_text(report: AgreementReport) -> str:
    """The whole report for a terminal."""
    blocks = [
        head(report),
        "\n".join(f"{name:<22}{value:>8}  {ends:<18}{words}" for name, value, ends, words in _headline(report)),
        _said(report),
    ]
    blocks += [_sentence(ceiling) for ceiling in report.ceiling]
    blocks += [_pairs(report), _people(report.per_annotator)]
    if report.groups:
        names = [group_name(group.group, report.by) for group in report.groups]
        blocks.append(_table(f"by {report.by}", names, report.groups))
    if len(report.over_time) > 1:
        names = [group.group for group in report.over_time]
        blocks.append(_table("over time (blocks of items in the order of completion)", names, report.over_time))
    return "\n\n".join(filter(None, blocks)) + "\n"


def head(report: AgreementReport) -> str:
    """What is counted, and what is left out."""
    about = "ratings" if report.task is None else "types by letter" if report.coarse else report.task
    left_out = f"; {counted(report.unblinded, 'unblinded label')} left out" if report.unblinded else ""
    surplus = f"; {report.surplus:,} beyond the overlap" if report.surplus else ""
    return (
        f"{about} · {counted(report.items, 'item')}, {report.paired:,} with two labels or more · "
        f"{'1 person' if report.annotators == 1 else f'{report.annotators:,} people'} · "
        f"{counted(report.labels, 'label')}{surplus}{left_out}"
    )


def _headline(report: AgreementReport) -> list[tuple[str, str, str, str]]:
    """The figures: name, value, interval, and what stands behind it."""
    drawn = f"bootstrap of {report.interval_by}s, {report.bootstrap:,} samples, seed {report.seed}"
    behind = drawn if report.bootstrap and report.paired else ""
    undefined = f"; undefined in {report.undefined:,} samples" if report.undefined else ""
    rows = [
        (
            "agreement %",
            percent(report.percent_agreement),
            _percents(report.percent_ci),
            f"Wilson by {report.interval_by}" if report.paired else "undefined: no item has two labels",
        ),
        (f"alpha {report.level}", number(report.krippendorff_alpha), ends(report.alpha_ci), f"{behind}{undefined}"),
        ("AC1", number(report.gwet_ac1), ends(report.ac1_ci), behind),
        *((f"AC2 {name}", number(value), "", "") for name, value in (report.gwet_ac2 or {}).items()),
        ("Fleiss' kappa", number(report.fleiss_kappa), ends(report.fleiss_ci), _why_no_fleiss(report)),
        ("PABAK", number(report.pabak), "", ""),
    ]
    if report.repeats.n:
        own = report.repeats
        rows.append(
            ("own repeats %", percent(own.share), _percents(own.ci), f"n {own.n:,}: second labels like the first")
        )
    return rows


def _why_no_fleiss(report: Figures) -> str:
    if report.fleiss_kappa is not None or report.percent_agreement is None:
        return ""
    return "undefined: label counts differ, or one category only"


def _said(report: Figures) -> str:
    """What was said how often."""
    if report.prevalence is None:
        return "said: more values than can be listed"
    shares = sorted(report.prevalence.items(), key=lambda share: -share[1])
    return "said: " + (", ".join(f"{inert(name)} {percent(share)} %" for name, share in shares) or "nothing yet")


def _sentence(ceiling: Ceiling) -> str:
    """What label noise allows to measure."""
    source = "From their agreement" if ceiling.source == "agreement" else "On checks"
    low, high = (percent(end, 2) for end in ceiling.highest_ci)
    text = (
        f"ceiling: {source} one person alone is right on {percent(ceiling.annotator_accuracy)} % "
        f"{_percents(ceiling.accuracy_ci)}. Two and a third then leave {percent(ceiling.wrong, 2)} % of labels wrong "
        f"and disagree on {ceiling.conflicts_per_1000:.0f} of 1,000 items; no verifier can be measured above "
        f"{percent(ceiling.highest_accuracy, 2)} % [{low}, {high}], less if people err alike."
    )
    return fill(text, _WIDTH)


def confounding(found: Confounded) -> str:
    """Two people who did one domain only."""
    a, b = found.pair
    return f"{inert(a)} and {inert(b)} share {inert(found.group or '(none)')} only ({counted(found.n, 'item')})"


def _pairs(report: AgreementReport) -> str:
    if not report.cohen_kappa:
        return "pairs: no two people have an item in common"
    rows = [("pair", "n", "agree %", "kappa", "95 % interval", f"by {report.shared_by}" if report.shared_by else "")]
    rows += [pair_cells(pair) for pair in report.cohen_kappa[:SHOWN]]
    more = len(report.cohen_kappa) - SHOWN
    lines = [aligned(rows, left=(0, 5)), *([f"… and {more:,} more; --json has them all"] if more > 0 else [])]
    alone = [confounding(found) for found in report.confounded[:SHOWN]]
    if alone:
        lines.append(f"Can't be told apart from the {report.shared_by}: {'; '.join(alone)}.")
    return "\n".join(lines)


def pair_cells(pair: PairAgreement) -> tuple[str, str, str, str, str, str]:
    """A pair's row: names, n, agreement, kappa, its interval, and what they share."""
    a, b = pair.pair
    kappa = "one class" if pair.kappa is None else number(pair.kappa)
    return (f"{inert(a)} – {inert(b)}", f"{pair.n:,}", percent(pair.agreement), kappa, ends(pair.ci), shared(pair))


def shared(pair: PairAgreement, most: int = 3) -> str:
    """A pair's common items by group, the largest first."""
    groups = sorted(pair.shared.items(), key=lambda group: -group[1])
    words = [f"{inert(name or '(none)')} {n:,}" for name, n in groups[:most]]
    return ", ".join(words) + (f", {len(groups) - most} more" if len(groups) > most else "")


PEOPLE_COLUMNS = (
    "person",
    "labels",
    "with others %",
    "consensus %",
    "sens",
    "spec",
    "upheld %",
    "imported %",
    "checks %",
    "repeats %",
    "median s",
    "fast %",
    "unblinded",
)


def _people(people: Sequence[AnnotatorQuality]) -> str:
    if not people:
        return ""
    kept = filled(people)
    rows = [PEOPLE_COLUMNS, *(person_cells(person) for person in people[:SHOWN])]
    table = aligned([tuple(row[column] for column in kept) for row in rows])
    more = len(people) - SHOWN
    return table + (f"\n… and {more:,} more; --json has them all" if more > 0 else "")


def filled(people: Sequence[AnnotatorQuality]) -> list[int]:
    """The columns in which somebody has something: places in `PEOPLE_COLUMNS`, the first two always."""
    rows = [person_cells(person) for person in people]
    return [
        column
        for column in range(len(PEOPLE_COLUMNS))
        if column < 2 or any(row[column] not in (NONE, "0") for row in rows)
    ]


def person_cells(person: AnnotatorQuality) -> tuple[str, ...]:
    """A person's row, in the order of `PEOPLE_COLUMNS`."""
    seconds = NONE if person.median_ms is None else f"{person.median_ms / 1000:.1f}"
    return (
        inert(person.name),
        f"{person.labels:,}",
        share(person.with_others),
        share(person.consensus),
        number(person.sensitivity),
        number(person.specificity),
        share(person.upheld),
        share(person.imported),
        share(person.checks),
        share(person.repeats),
        seconds,
        percent(person.fast.share),
        f"{person.unblinded:,}",
    )


def share(found: Share) -> str:
    """A share with its n: ``"81.2 (16)"``."""
    return NONE if found.share is None else f"{percent(found.share)} ({found.n:,})"


def _table(title: str, names: Sequence[str], groups: Sequence[GroupFigures]) -> str:
    rows = [(title, "items", "agree %", "95 % interval", "alpha", "95 % interval", "AC1")]
    rows += [(inert(name), *group_cells(group)) for name, group in zip(names, groups, strict=True)]
    return aligned(rows[: SHOWN + 1])


def group_cells(group: Figures) -> tuple[str, str, str, str, str, str]:
    """A group's figures: paired items, agreement, alpha and AC1 with their intervals."""
    return (
        f"{group.paired:,}",
        percent(group.percent_agreement),
        _percents(group.percent_ci),
        number(group.krippendorff_alpha),
        ends(group.alpha_ci),
        number(group.gwet_ac1),
    )


def group_name(name: str, by: str | None) -> str:
    """A group in words."""
    if by in ("type", "subtype") and name != UNTYPED:
        return type_display(name)
    return name or NAMELESS


def ends(interval: Ends | None) -> str:
    """A coefficient's interval."""
    return "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"


def _percents(interval: Ends | None) -> str:
    return "" if interval is None else f"[{percent(interval[0])}, {percent(interval[1])}]"
