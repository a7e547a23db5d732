"""What the commands share: arguments, JSON on stdout, narration on stderr."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from typing import Any, TypeVar

import click
import msgspec

from workbench.cli.progress import showing_progress
from workbench.model.selection import FIELDS, Selection, parse_condition
from workbench.model.verdict import Protocol3
from workbench.render.inert import inert
from workbench.services.project import Project, opened_project

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

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


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
where_option = click.option(
    "--where",
    "where",
    multiple=True,
    metavar="FIELD=VALUE",
    help=f"Only these items (also !=, <, >; repeated = and). Fields: {', '.join(FIELDS)}, verdict:NAME.",
)

limit_option = click.option("--limit", type=whole_number, help="At most so many items.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="Of the draw; the first N of a seed are the first of any larger draw.",
)
draw_option = click.option("--limit", type=whole_number, help="At most so many items, drawn by chance.")
force_option = click.option("--force", is_flag=True, help="Replace an existing file.")
by_option = click.option("--by", default="coordinator", show_default=True, metavar="NAME", help="Who decides it.")
option_option = click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the verifier."
)
trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Accept the servers, key variables and template that workbench.toml or the database names.",
)
unsafe_option = click.option(
    "--allow-unsafe-execution",
    "allow_unsafe",
    is_flag=True,
    help="Let solutions run with limits alone (L1), where one that tries can read and change your files.",
)
verifiers_option = click.option(
    "--verifier", "verifiers", multiple=True, metavar="NAME", help="Only these (repeatable)."
)
table_format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "csv", "markdown", "latex"]),
    default="text",
    show_default=True,
    help="CSV has all figures in full; LaTeX needs the package booktabs.",
)
gold_option = click.option(
    "--gold",
    type=click.Choice(["final", "people", "imported"]),
    default="final",
    show_default=True,
    help="Adjudicated, else agreed, else imported; people's only; the imported one only.",
)


def protocol_option_with(default: Protocol3) -> Callable[[F], F]:
    """``--protocol``, for a command with that default."""
    return click.option(
        "--protocol",
        type=click.Choice(["forced", "strict", "decided"]),
        default=default,
        show_default=True,
        help='Undecided rows count as "incorrect", as wrong, or not at all.',
    )


protocol_option = protocol_option_with("forced")


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
    from workbench.services.querying import require_items

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
    from workbench.services.trust import NotTrustedError

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
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"… and {len(lines) - SHOWN:,} more; --json has them all.")


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
