"""Compare every metric of a project with its plain computation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple, get_args

from tests.auditing import shown
from tests.auditing.plain import accuracy, agreement, calibration, code, compare, confusion, estimates
from tests.auditing.records import AuditDifference, AuditedFamily, AuditReport, Family
from tests.auditing.store import frames
from workbench.core.errors import UsageError
from workbench.core.progress import stepping
from workbench.core.project import Project
from workbench.core.verdict import Protocol3

TOLERANCE: Final = 1e-9
MOST: Final = 20
"""The maximum number of differences listed per family."""
_BY: Final = (None, "type", "subtype", "model")
_PROTOCOLS: Final[tuple[Protocol3, ...]] = get_args(Protocol3)
_TASKS: Final = ("correctness", "type")
_PASSES: Final = (1, 5)


class Audited(NamedTuple):
    """The metrics of one subject from both implementations, by name."""

    name: str
    shown: shown.Figures
    plain: shown.Figures


class _Project(NamedTuple):
    """The data from which families are computed.

    Attributes:
        judged: Verifier -> all items with its outcomes.
    """

    project: Project
    judged: dict[str, Any]


def audit(project: Project, only: Sequence[str] = ()) -> AuditReport:
    """Compute every covered metric a second time, and report the differences.

    Args:
        only: Names of families; empty for all.

    Raises:
        UsageError: There is no such family.
    """
    names = get_args(Family)
    for name in only:
        if name not in names:
            raise UsageError(f"There is no family of figures {name!r}.", f"Families: {', '.join(names)}.")
    known = _read(project)
    families, differences = [], []
    for family in stepping([name for name in names if not only or name in only], "auditing", "families"):
        found = [one for part in _FAMILIES[family](known) for one in _compared(family, part)]
        differ = [one for one, off in found if off]
        families.append(_summary(family, [one for one, _ in found], len(differ)))
        differences += differ[:MOST]
    return AuditReport(tolerance=TOLERANCE, families=families, differences=differences)


def _read(project: Project) -> _Project:
    names = shown.verifiers(shown.table(project, "forced", None))
    reader = project.database.reader()
    known = frames.items(reader)
    return _Project(project, {name: frames.judged(reader, known, name) for name in names})


def _compared(family: Family, one: Audited) -> Iterator[tuple[AuditDifference, bool]]:
    """Return each metric, and whether the two values differ."""
    for name in dict.fromkeys((*one.shown, *one.plain)):
        here, there = one.shown.get(name), one.plain.get(name)
        absent: Any = "shown" if name not in one.shown else "plain" if name not in one.plain else None
        differs = (here is None) != (there is None) or absent is not None
        # NaN is never within a tolerance.
        differs |= here is not None and there is not None and not abs(here - there) <= TOLERANCE
        figure = AuditDifference(family=family, figure=f"{one.name} | {name}", shown=here, plain=there, absent=absent)
        yield figure, differs


def _summary(family: Family, found: list[AuditDifference], differ: int) -> AuditedFamily:
    off = [abs(one.shown - one.plain) for one in found if one.shown is not None and one.plain is not None]
    reason = None if found else _WHY[family]
    largest = max(off, default=None)
    return AuditedFamily(family=family, figures=len(found), differences=differ, largest=largest, reason=reason)


def _accuracy(known: _Project) -> Iterator[Audited]:
    for protocol in _PROTOCOLS:
        for by in _BY:
            report = shown.table(known.project, protocol, by)
            for name, frame in known.judged.items():
                plain = accuracy.figures(frame, protocol, by)
                yield Audited(f"{protocol} | {name}", shown.accuracy_rows(report, name), plain)


def _confusion(known: _Project) -> Iterator[Audited]:
    for protocol in _PROTOCOLS:
        report = shown.table(known.project, protocol, None)
        for name, frame in known.judged.items():
            yield Audited(f"{protocol} | {name}", shown.counts(report, name), confusion.figures(frame, protocol))
    for a, b in combinations(known.judged, 2):
        plain = confusion.together(known.judged[a], known.judged[b])
        yield Audited(f"{a} and {b}", shown.joint(known.project, a, b), plain)


def _compare(known: _Project) -> Iterator[Audited]:
    for protocol in _PROTOCOLS:
        for a, b in combinations(known.judged, 2):
            plain = compare.figures(known.judged[a], known.judged[b], protocol)
            yield Audited(f"{protocol} | {a} and {b}", shown.comparison(known.project, a, b, protocol), plain)


def _agreement(known: _Project) -> Iterator[Audited]:
    reader = known.project.database.reader()
    for task in _TASKS:
        labels = frames.labels(reader, task)
        if len(labels):
            yield Audited(task, shown.agreement(known.project, task), agreement.figures(labels))


def _estimates(known: _Project) -> Iterator[Audited]:
    for name, own in known.judged.items():
        others = tuple(other for other in known.judged if other != name)
        frame = estimates.of_accuracy(own, [known.judged[other] for other in others])
        if not others or frame["truth"].isna().all():
            continue
        prevalence = estimates.of_prevalence(own, [known.judged[other] for other in others])
        plain: shown.Figures = {}
        for quantity, part in (("accuracy", frame), ("prevalence", prevalence)):
            rows = {"all": estimates.figures(part), "all, by type": estimates.figures(part, "type")}
            rows |= {f"type {kind}": estimates.figures(some) for kind, some in part.groupby("type")}
            plain |= {f"{quantity} | {at} | {key}": value for at, row in rows.items() for key, value in row.items()}
        yield Audited(name, shown.estimates(known.project, name, others), plain)


def _code(known: _Project) -> Iterator[Audited]:
    for name, frame in known.judged.items():
        if frame["problem"].any():
            for k in _PASSES:
                yield Audited(name, shown.passes(known.project, name, k), code.passes(frame, k))
    for one in shown.rankings(known.project):
        plain = code.ranks(one.problems)
        yield Audited(one.name, one.shown, {key: plain[key] for key in one.shown})


def _calibration(known: _Project) -> Iterator[Audited]:
    for name, frame in known.judged.items():
        if found := shown.calibration(known.project, name):
            yield Audited(name, found, calibration.figures(frame))


_FAMILIES: Final[dict[Family, Callable[[_Project], Iterator[Audited]]]] = {
    "accuracy": _accuracy,
    "confusion": _confusion,
    "compare": _compare,
    "agreement": _agreement,
    "estimates": _estimates,
    "code": _code,
    "calibration": _calibration,
}
_WHY: Final[dict[Family, str]] = {
    "accuracy": "no verifier has a complete run",
    "confusion": "no verifier has a complete run",
    "compare": "fewer than two verifiers have a complete run, or no gold",
    "agreement": "nobody has labelled",
    "estimates": "fewer than two verifiers, or no gold",
    "code": "no code problems with verdicts",
    "calibration": "no verifier with enough scores and gold of both kinds",
}
