"""What the commands share: arguments, JSON on stdout, narration on stderr."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from typing import Any, Protocol, TypeVar

import click
import msgspec

from workbench.app.cli.progress import showing_progress
from workbench.core.project import Project, opened_project
from workbench.core.selection import Selection, parse_condition
from workbench.core.text.inert import inert

T = TypeVar("T")

database_argument = click.argument("database", metavar="DB", type=click.Path(dir_okay=False))
whole_number = click.IntRange(1, 2**63 - 1)
"""What counts and numbers may be: SQLite's integers."""


class NumberRange(click.FloatRange):
    """A number within bounds; "nan", which click lets through all of them, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number.

        Raises:
            click.BadParameter: It is none, or out of bounds.
        """
        number: float = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number


@contextmanager
def project_at(path: str, *, create: bool = False) -> Iterator[Project]:
    """The project for one command, whose ``--where`` (and ``--on``), if it was given any, chooses something there.

    How far the command is, is shown.

    Raises:
        UsageError: It chooses nothing, or names what is not there.
        StoreError: As `opened_project`.
    """
    given = click.get_current_context().params
    with showing_progress(), opened_project(path, create=create) as project:
        for name in ("where", "on"):
            if given.get(name):
                _require_items(project, selection_of(given[name]), given.get("verifiers") or ())
        yield project


def _require_items(project: Project, selection: Selection, verifiers: Sequence[str]) -> None:
    from workbench.data.querying import require_items

    # Of several verdicts that could be meant the command itself knows which.
    require_items(project, selection.judged_by(verifiers) if verifiers else selection)


REFUSED_SOME = 3
"""Exit code: done, but some rows, lines or items were refused."""

SHOWN = 20
"""Entries of a list that are spelled out on stderr."""

_CONTROLS = re.compile("[\x7f-\x9f]")


def selection_of(where: tuple[str, ...], limit: int | None = None) -> Selection:
    """The selection that ``--where`` and ``--limit`` spell."""
    return Selection(tuple(parse_condition(text) for text in where), limit)


def required_selection(where: tuple[str, ...], limit: int | None = None) -> Selection:
    """The selection of a command that changes items: never all of them because nothing was said.

    Raises:
        click.UsageError: There is no condition.
    """
    if not where:
        raise click.UsageError("Say which items: --where FIELD=VALUE")
    return selection_of(where, limit)


def options_of(texts: tuple[str, ...]) -> dict[str, str]:
    """The options that ``-o KEY=VALUE`` gives.

    Raises:
        click.BadParameter: One of them has no such form.
    """
    return dict(key_and_value(text, "-o") for text in texts)


def key_and_value(text: str, flag: str) -> tuple[str, str]:
    """The two sides of ``KEY=VALUE``.

    Raises:
        click.BadParameter: It has no such form; ``flag`` is where it was given.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        # What stands there may be a key: it is not shown.
        raise click.BadParameter("It is not KEY=VALUE.", param_hint=flag)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.BadParameter(f"{inert(key)}: it is no UTF-8 text.", param_hint=flag)
    return key, value


def trusting(action: Callable[[bool], T], trust: bool) -> T:
    """Do what may need the user's trust; at a terminal they are asked for it.

    Args:
        action: Called with whether the user has given it, and once more after they have.
        trust: Whether they gave it with ``--trust``.

    Raises:
        NotTrustedError: They have not.
    """
    from workbench.runs.trust import NotTrustedError

    try:
        return action(trust)
    except NotTrustedError as error:
        for grant in error.grants:
            say(f"  {grant.text}")
            for line in grant.content.splitlines():
                say(f"    | {line}")
        asked = sys.stdin.isatty() and sys.stderr.isatty()
        if not asked or not click.confirm("Accept this for the project?", err=True):
            raise
    return action(True)


def print_json(value: Any) -> None:
    """One JSON document on stdout; non-ASCII stays readable."""
    _write(msgspec.json.format(msgspec.json.encode(value), indent=2))
    sys.stdout.buffer.flush()


def print_line(value: Any) -> None:
    """One compact JSON line on stdout."""
    _write(msgspec.json.encode(value))


def _write(document: bytes) -> None:
    if sys.stdout.isatty():
        # JSON leaves DEL and the C1 controls as they are; a terminal would obey them.
        document = _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", document.decode()).encode()
    sys.stdout.buffer.write(document + b"\n")


def say(text: str) -> None:
    """A line of narration on stderr; control characters in it are shown, not obeyed."""
    click.echo(inert(text), err=True)


def say_some(lines: Sequence[str]) -> None:
    """The first `SHOWN` lines of narration, and how many more there are."""
    for line in some(lines):
        say(line)


def some(lines: Sequence[str]) -> list[str]:
    """The first `SHOWN` lines, and how many more there are."""
    if len(lines) <= SHOWN:
        return list(lines)
    return [*lines[:SHOWN], f"… and {len(lines) - SHOWN:,} more; --json has them all."]


class NotTaken(Protocol):
    """A line of a file that was refused."""

    @property
    def line(self) -> int:
        """Its number, from 1."""

    @property
    def field(self) -> str | None:
        """The field at fault, if one is."""

    @property
    def message(self) -> str:
        """What is wrong."""


def refusal_lines(place: object, refused: Iterable[NotTaken]) -> list[str]:
    """Lines of a file that were not taken, and why, each with where it is."""
    return [f"{place}:{one.line}:{one.field or 'line'}: {one.message}" for one in refused]


@contextmanager
def log_on_stderr(name: str) -> Iterator[None]:
    """Have what a part of the program logs written to stderr, a line each, while a command runs."""
    log = logging.getLogger(name)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)


def show(text: str = "") -> None:
    """A line of a report on stdout; control characters in it are shown, not obeyed."""
    click.echo(inert(text))
