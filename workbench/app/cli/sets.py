"""``workbench sets DB list``, ``show NAME`` and ``diff A B``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.common import say, show
from workbench.app.cli.verb import Output, verb
from workbench.benchmarks.set_text import changed_lines, diff_lines, flip_lines, left_out_lines, report_lines
from workbench.core.options import Options, argument
from workbench.core.project import Project
from workbench.core.text.columns import aligned
from workbench.core.text.figures import NONE

if TYPE_CHECKING:
    from workbench.benchmarks.set_views import SetDetail, SetLine

_NAMES = {"list": 0, "show": 1, "diff": 2}


class SetsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[str, argument(choices=tuple(_NAMES))] = "list"
    names: Annotated[tuple[str, ...], argument("[NAME[@VERSION]]…")] = ()


@verb
def command(project: Project, options: SetsOptions) -> Output:
    """List frozen sets, show one with all that is known of it, or compare two.

    workbench sets DB show hard

    workbench sets DB diff hard@1 hard@2

    A set has the gold and the answer types that stood when it was frozen. Items of one are chosen with --where
    set=NAME in every command that takes --where.
    """
    if len(options.names) != _NAMES[options.verb]:
        raise click.UsageError("Write: workbench sets DB list, show NAME or diff A B")
    if options.verb == "diff":
        from workbench.benchmarks.building.comparing import set_diff

        return Output(set_diff(project, *options.names), diff_lines)
    from workbench.benchmarks.building.showing import every_set, set_detail

    if options.verb == "show":
        return Output(set_detail(project, options.names[0]), _show)
    return Output(every_set(project), _list)


def _list(found: list[SetLine]) -> None:
    if not found:
        say("There is no set yet: workbench build DB picks | balanced | hard")
        return
    head = ("set", "kind", "questions", "tuples", "decided", "waiting", "conflict", "short", "digest", "frozen")
    _lines(aligned([head, *map(_row, found)], left=(0, 1, 8, 9)).split("\n"))
    for one in found:
        if other := one.changed["gold"]:
            say(f"{one.full_name}: {other:,} items have another gold now.")


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        show(line)


def _row(one: SetLine) -> tuple[str, ...]:
    people = (NONE,) * 3 if one.progress is None else tuple(f"{count:,}" for count in one.progress)
    size = (f"{one.questions:,}", f"{one.tuples:,}")
    return one.full_name, one.kind, *size, *people, f"{one.short:,}", one.digest[:12], one.created_at


def _show(detail: SetDetail) -> None:
    _lines(report_lines(detail.report))
    show(f"frozen {detail.set.created_at} by version {detail.set.code_version}" + _guideline(detail))
    for key, value in detail.config.items():
        show(f"{key}: {value}")
    _lines(flip_lines(detail.flips))
    _lines(left_out_lines(detail.report))
    for line in changed_lines(detail.changed):
        say(line)


def _guideline(detail: SetDetail) -> str:
    return f", guidelines {detail.set.guideline}" if detail.set.guideline else ""
