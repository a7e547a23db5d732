"""``workbench merge DB OTHER…``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import REFUSED_SOME, SHOWN, say, say_some, show
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.believing import Origin, Trusted
    from workbench.labelling.merging import Merged, SubjectName


class MergeOptions(Options, frozen=True, kw_only=True):
    others: Annotated[tuple[Path, ...], argument("OTHER…")]
    whole: Annotated[bool, option("Believe all that the files say of anybody: a colleague's database, no bundle.")] = (
        False
    )


@verb
def command(project: Project, options: MergeOptions) -> Output:
    """Take the labels of bundles that came back, or with --whole of other databases; those are left as they are.

    A bundle is believed its person, on its items, since it was made. Everything else in it is refused, named and
    counted, and the exit code is 3 then. --whole believes a file whatever it says of anybody, and says what that is.

    The order doesn't matter, and merging a file twice changes nothing. Labels are matched to items by their ids and
    texts, and to people by name. Labels more than an item was assigned to people are kept, listed, and counted in
    agreement.
    """
    from workbench.labelling.merging import merge_all, together

    reports = merge_all(project, options.others, whole=options.whole, tell=_tell)
    refused = any(report.refused for report in reports)
    return Output(together(reports), lambda _: _print(reports), code=REFUSED_SOME if refused else 0)


def _tell(file: Path, trusted: Trusted) -> None:
    """What a whole database is about to be believed."""
    say(f"{file} is believed as a whole: {_trusted(trusted)}.")


def _trusted(trusted: Trusted) -> str:
    if not trusted.people:
        return "nothing in it is new"
    parts = [f"{_counts(trusted.people)} ({_counts(trusted.kinds)})"]
    if trusted.coordinators:
        parts.append(f"coordinators that are new here: {', '.join(trusted.coordinators)}")
    if trusted.guidelines:
        parts.append(f"guidelines: {trusted.guidelines} versions")
    return "; ".join(parts)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _print(reports: Sequence[Merged]) -> None:
    for report in reports:
        _print_one(report)


def _print_one(report: Merged) -> None:
    refused = sum(row.events for row in report.refused)
    if report.not_believed:
        show(f"{report.file}: nothing was taken: {report.not_believed}")
    else:
        show(f"{report.file}: {report.events_new} new events, {report.unchanged} here already, {refused} refused")
    if report.bundle is not None:
        show(f"  {_origin(report.bundle)}")
    if report.kinds:
        show(f"  {_counts(report.kinds)}")
    for name, number in report.people.items():
        show(f"  {name}: {number}")
    if report.contradicting:
        show(f"  {report.contradicting:,} verdicts with marks that contradict them or each other")
    for version in report.guidelines:
        show(f"  guidelines: version {version}")
    _list("labelled by one person in two places, the newest counts", [(row, row.annotator) for row in report.heads])
    _list("labels beyond the overlap, kept", [(row, row.annotator) for row in report.surplus])
    _list("settled before, now open again", [(row, "") for row in report.reopened])
    _print_refused(report)


def _origin(bundle: Origin) -> str:
    made = bundle.made_at[:16].replace("T", " ")
    said = f"bundle of {bundle.annotator}, made {made}, {bundle.items} items"
    if not bundle.sealed:
        return (
            f"{said}: made by an earlier version, without a seal; believed what {bundle.annotator} says of what was "
            "away for them when this database was brought up to date"
        )
    return said if bundle.recorded else f"{said}: not recorded here (an older backup?), but sealed by this database"


def _print_refused(report: Merged) -> None:
    groups = Counter[tuple[str, str, str]]()
    for row in report.refused:
        groups[row.annotator, row.kind, row.field] += row.events
    for (name, kind, field), number in groups.most_common(SHOWN):
        say(f"{report.file}: refused {number:,} × {kind or 'row'} of {name or 'nobody known'}: {field}")
    if len(groups) > SHOWN:
        say(f"… and {len(groups) - SHOWN:,} more; --json has them all.")
    if any(row.field == "bundle" for row in report.refused):
        say("To believe all that it says of anybody: workbench merge DB FILE --whole")
    if not report.not_believed:
        say_some([f"{report.file}: {row.what}: {row.field}: {row.message}" for row in report.refused])


def _list(what: str, rows: list[tuple[SubjectName, str]]) -> None:
    if rows:
        show(f"  {len(rows)} {what}:")
    for place, name in rows[:SHOWN]:
        item = place.completion_id or f"type of {place.question_id}"
        show(f"    {place.dataset} {item} {name}".rstrip())
    if len(rows) > SHOWN:
        say(f"… and {len(rows) - SHOWN:,} more; --json has them all.")
