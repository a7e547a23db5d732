"""Shared by the commands: arguments, JSON on stdout, narration on stderr."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isnan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import click
import msgspec

from workbench.core.code import NotRun
from workbench.core.errors import UsageError
from workbench.core.item import Refusal
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.options import LARGEST, option, run_job, split_pair
from workbench.core.progress import BYTES, Listener, Step, listening_with
from workbench.core.project import Project, opened_project
from workbench.core.run import ClusterUse, RunInfo
from workbench.core.selection import Selection, selection_of
from workbench.core.text.figures import Narration, counted, dollars, some
from workbench.core.text.inert import inert
from workbench.core.text.run_words import tokens, usage_words

if TYPE_CHECKING:
    from workbench.runs.generation import Watch
    from workbench.tables.pictures import Picture


# -- Progress of a command on stderr: one line, rewritten on a terminal; elsewhere a line from time to time.


AFTER_S = 2.0
"""Seconds before a step shows progress."""
_REDRAW_S = 0.2
_LOG_S = 10.0
_CLEAR = "\r\x1b[K"
_OWN_LINE = threading.Event()
"""Set while a command shows its own progress line."""


@contextmanager
def showing_progress() -> Iterator[None]:
    listener, over = Listener(), threading.Event()
    shown = threading.Thread(target=_show_progress, args=(listener, over), daemon=True)
    shown.start()
    try:
        with listening_with(listener):
            yield
    finally:
        over.set()
        shown.join()


@contextmanager
def one_line() -> Iterator[Callable[[str], None] | None]:
    """Yield a function that rewrites one terminal line, cleared at the end; None without a terminal.

    The steps are hidden during that time.
    """
    _OWN_LINE.set()
    try:
        if not sys.stderr.isatty():
            yield None
            return
        try:
            yield lambda words: _write_stderr(f"{_CLEAR}{inert(words)}")
        finally:
            _write_stderr(_CLEAR)
    finally:
        _OWN_LINE.clear()


def _show_progress(listener: Listener, over: threading.Event) -> None:
    on_terminal = sys.stderr.isatty()
    every = _REDRAW_S if on_terminal else _LOG_S
    last, is_drawn = -every, False
    while not over.wait(_REDRAW_S):
        steps, now = listener.current_steps(), monotonic()
        is_long = bool(steps) and not _OWN_LINE.is_set() and now - steps[0].began >= AFTER_S
        if is_long and now - last >= every:
            last, is_drawn = now, on_terminal
            line = inert(line_of(steps, now))
            _write_stderr(f"{_CLEAR}{line}" if on_terminal else f"{line}\n")
        elif is_drawn and not steps:
            is_drawn = False
            _write_stderr(_CLEAR)
    if is_drawn:
        _write_stderr(_CLEAR)


def _write_stderr(text: str) -> None:
    # If stderr is closed, continue silently.
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def line_of(steps: Sequence[Step], now: float) -> str:
    """Return the finished steps, each part's progress, and the remaining or elapsed time."""
    left = steps[0].seconds_left(now)
    time = f"{_duration_text(now - steps[0].began)} so far" if left is None else f"{_duration_text(left)} to go"
    return f"{' · '.join(map(_step_words, steps))}, {time}"


def _step_words(step: Step) -> str:
    if step.total is None:
        return f"{step.what}: {step.done:,} {step.unit}".rstrip() if step.done else step.what
    if step.unit == BYTES:
        return f"{step.what}: {min(step.done / max(step.total, 1), 1):.0%}"
    return f"{step.what}: {step.done:,} of {step.total:,} {step.unit}".rstrip()


def _duration_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


T = TypeVar("T")
database_argument = click.argument("database", metavar="DB", type=click.Path(dir_okay=False))


class NumberRange(click.FloatRange):
    """A number within bounds; rejects "nan", which click accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the number.

        Raises:
            click.BadParameter: It is not a number, or out of range.
        """
        number: float = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class WholeRange(click.IntRange):
    """A whole number within bounds; rejects numbers too large for the database, a limit that help leaves out."""

    def __init__(self, least: int | None, most: int | None) -> None:
        super().__init__(least, None if most == LARGEST else most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse the number.

        Raises:
            click.BadParameter: It is not a whole number, or out of range.
        """
        number: int = super().convert(value, param, ctx)
        if number > LARGEST:
            self.fail(f"{value} is too large.", param, ctx)
        return number


@contextmanager
def project_at(path: str, *, create: bool = False) -> Iterator[Project]:
    """Open the project for one command; its ``--where`` (and ``--on``), if given, must match something.

    Shows the command's progress.

    Raises:
        UsageError: The conditions match nothing, or name something unknown.
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

    # If an item has several verdicts, the command determines which one is used.
    require_items(project, selection.judged_by(verifiers) if verifiers else selection)


REFUSED_SOME = 3
"""Exit code: done, but some rows, lines or items were rejected."""
INTERRUPTED = 130
"""Exit code: ended by Ctrl-C."""
_CONTROLS = re.compile("[\x7f-\x9f]")


ExclusionReason = Annotated[
    str | None,
    option(
        "Reason for the exclusion. " + "; ".join(f"{code}: {text}" for code, text in EXCLUSION_REASONS.items()),
        choices=tuple(EXCLUSION_REASONS),
    ),
]
ExclusionNote = Annotated[str, option("Note that explains the reason; required with --reason other.", metavar="TEXT")]


def required_selection(where: tuple[str, ...], limit: int | None = None) -> Selection:
    """Return the selection of a command that changes items; an empty one never means all items.

    Raises:
        click.UsageError: There is no condition.
    """
    if not where:
        raise click.UsageError("Name the items: --where FIELD=VALUE")
    return selection_of(where, limit)


def key_and_value(text: str, flag: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``.

    Raises:
        click.BadParameter: It has another form; ``flag`` is the option's name.
    """
    try:
        return split_pair(text)
    except UsageError as error:
        raise click.BadParameter(error.message, param_hint=flag) from None


def trusting(action: Callable[[bool], T], trust: bool) -> T:
    """Run an action that may need the user's trust; ask for it at a terminal.

    Args:
        action: Called with whether the user trusts the settings, and again once they do.
        trust: Whether the user stated their trust with ``--trust``.

        Raises:
            NotTrustedError: The user does not trust the settings.
    """
    from workbench.runs.trust import NotTrustedError

    try:
        return action(trust)
    except NotTrustedError as error:
        for grant in error.grants:
            say(f"  {grant.text}")
            for line in grant.content.splitlines():
                say(f"    | {line}")
        if not confirmed("Accept this for the project?"):
            raise
    return action(True)


def run_trusted(job: Callable[..., T], options: Any, /, *args: Any, **more: Any) -> T:
    """Call a job with the fields of the options that it takes (see `run_job`), if the user trusts it (see `trusting`).

    Args:
        options: A record with ``trust``.
    """
    return trusting(lambda yes: run_job(job, options, *args, trust=yes, **more), options.trust)


def confirmed(question: str) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(inert(question), err=True)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout; non-ASCII characters stay readable."""
    _write_json_line(msgspec.json.format(msgspec.json.encode(value), indent=2))
    sys.stdout.buffer.flush()


def print_lines(lines: Iterable[Any], place: object = "") -> None:
    """Print records as JSON lines; say which were rejected, and end the command with `REFUSED_SOME` if some were.

    Args:
        place: Where rejected lines are from.
    """
    refused = False
    for line in lines:
        if isinstance(line, Refusal):
            say(f"{place}:{line.line}:{line.field or 'line'}: {line.message}")
            refused = True
        else:
            _write_json_line(msgspec.json.encode(line))
    sys.stdout.flush()
    if refused:
        sys.exit(REFUSED_SOME)


def _write_json_line(document: bytes) -> None:
    if sys.stdout.isatty():
        # JSON leaves DEL and the C1 controls as they are; a terminal would obey them.
        document = _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", document.decode()).encode()
    sys.stdout.buffer.write(document + b"\n")


def say(text: str) -> None:
    """Print a line of narration on stderr; control characters in it are made visible."""
    click.echo(inert(text), err=True)


def draw(plots: Iterable[tuple[str, Picture]], folder: Path | None, *, force: bool) -> None:
    """Write named plots to a folder, if one is given."""
    if folder is not None:
        from workbench.measuring.report.pictures import write_plots

        say(f"{click.format_filename(folder)}: {counted(len(write_plots(folder, plots, force=force)), 'file')}")


def say_without_outcomes(without_tests: int, not_run: Sequence[NotRun]) -> None:
    """Report how many solutions have no line of outcomes and why, if any."""
    if without_tests:
        say(f"Left out: {counted(without_tests, 'solution')} without tests in the suite.")
    for one in not_run:
        say(f"Left out: {one.words}.")


def say_some(lines: Sequence[str]) -> None:
    """Print the first `SHOWN` lines of narration, and the number of further lines."""
    for line in some(lines):
        say(line)


class RejectedLine(Protocol):
    @property
    def line(self) -> int:
        """Its number, from 1."""

    @property
    def field(self) -> str | None:
        """Return the field at fault, if there is one."""

    @property
    def message(self) -> str:
        """Return the reason."""


def refusal_lines(place: object, refused: Iterable[RejectedLine]) -> list[str]:
    """Return one message per rejected line, with its place and reason."""
    return [f"{place}:{one.line}:{one.field or 'line'}: {one.message}" for one in refused]


@contextmanager
def log_on_stderr(name: str) -> Iterator[None]:
    """Write a logger's messages to stderr, one line each, while the context runs."""
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
    """Print a line of a report, narration on stderr; control characters in it are made visible."""
    click.echo(inert(text), err=isinstance(text, Narration))


# -- Watching a run from the command line; the run doesn't depend on it.


def follow(project: Project, info: RunInfo, database: str) -> RunInfo:
    """Show a run's progress until it ends; Ctrl-C ends the command but not the run."""
    from workbench.runs.run_status import run_costs, run_info, wait

    try:
        with one_line() as line:
            return wait(project, info.run, shown_run(line))
    except KeyboardInterrupt:
        click.echo(err=True)
        say(f"Run {info.run} continues in the background.")
        runs = f"workbench runs {shlex.quote(database)}"
        say(f"  Watch it: {runs}   Cancel it: {runs} cancel {info.run}")
        if run_costs(project, run_info(project, info.run)).batches:
            say(
                f"  The provider processes its batch even if this machine is off. To collect the results: {runs} "
                f"resume {info.run}"
            )
        sys.exit(INTERRUPTED)


def unended(ended: RunInfo, database: str) -> list[str]:
    """Return why a run is not complete, and the command that continues it; empty if it is."""
    if ended.state == "complete":
        return []
    runs = f"workbench runs {shlex.quote(database)} resume {ended.run}"
    return [ended.message or f"Run {ended.run} is {ended.state}.", f"  Continue it: {runs}"]


def shown_run(line: Callable[[str], None] | None = None) -> Callable[[RunInfo], None]:
    """Return a function that shows a run's progress on one line; without ``line`` it reports only waiting, once."""
    told: str | None = None
    warned: set[str] = set()

    def show(now: RunInfo) -> None:
        nonlocal told
        for warning in {*(now.usage.warnings if now.usage else ())} - warned:
            if line is not None:
                say("")  # The line of progress is left as it is.
            say(f"  Run {now.run}: {warning}")
            warned.add(warning)
        if line is not None:
            line(_run_progress_text(now))
        elif now.waiting != told and now.waiting is not None:
            say(f"  Run {now.run} is {now.waiting}. It then continues by itself; nothing is lost.")
        told = now.waiting

    return show


def _run_progress_text(info: RunInfo) -> str:
    pace = f", {info.rate:.0f}/s, {info.eta:.0f} s to go" if info.rate and info.eta is not None else ""
    used = f", {tokens(info.usage.prompt_tokens, info.usage.completion_tokens)}" if info.usage else ""
    money = f", {dollars(info.usage.cost)}" if info.usage and info.usage.cost else ""
    state = info.waiting or info.state
    return f"run {info.run} {state}: {info.done:,} of {info.items:,}{pace}{used}{money}"


# -- Shared by the commands that have models write texts: the model, progress, and cost.


def model_option(use: str, *flags: str) -> Any:
    where = "NAME of a table [models.NAME] in workbench.toml, or a model name on the server at base_url."
    return option(f"{use}: {where}", *flags, metavar="NAME")


Models = Annotated[tuple[str, ...], model_option("Model to use (repeatable)", "--model")]
ModelSettings = Annotated[
    dict[str, str],
    option(
        "Set an option of the model (repeatable): base_url, api_key_env, temperature, max_tokens, seed, "
        "max_calls, max_cost, rpm … (docs/code-synthetic.md).",
        "-o",
        "--option",
        metavar="KEY=VALUE",
        read=split_pair,
    ),
]


@contextmanager
def drawing(noun: str = "replies") -> Iterator[Watch | None]:
    """Yield a progress display on one terminal line, cleared at the end; None without a terminal.

    Args:
        noun: The counted things.
    """
    with one_line() as line:
        yield line and (lambda step, done, of: line(f"{step}: {done:,} of {of:,} {noun}"))


def asked(work: Callable[..., T], trust: bool, noun: str = "replies") -> T:
    """Have models asked, if the user trusts them, and show the progress.

    Args:
        work: Called with ``trust`` and ``watch``.
        trust: As for `trusting`.
        noun: As for `drawing`.
    """
    with drawing(noun) as watch:
        return trusting(lambda yes: work(trust=yes, watch=watch), trust)


def cluster_at(address: str | None) -> ClusterUse | None:
    """Return an empty record of the cluster that ``--on`` names."""
    return None if address is None else ClusterUse(address=address)


def say_nodes(cluster: ClusterUse | None) -> None:
    from workbench.core.text.run_words import node_lines

    for line in node_lines(cluster):
        say(f"  {line}")


def say_calls(project: Project, run: int) -> None:
    """Report the usage of a generation's calls, over all its starts."""
    from workbench.runs.run_status import run_info

    used = run_info(project, run).usage
    if used is not None:
        say(f"  Run {run}: {'; '.join(usage_words(used))}")
        for warning in used.warnings:
            say(f"  Warning: {warning}")


def failed_calls(failed: int) -> str:
    """Return how to go on after calls failed for good; empty if none did."""
    return f"  {counted(failed, 'call')} failed permanently; the same command tries them again." if failed else ""


_MIN_TOKEN = 16


def token_of(variable: str | None) -> str | None:
    """Return the token in an environment variable.

    Raises:
        UsageError: The variable is unset, or its token is easily guessed.
    """
    if variable is None:
        return None
    token = os.environ.get(variable, "")
    if len(token) < _MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{variable} must hold a token of at least {_MIN_TOKEN} letters and digits.",
            f'Make one: export {variable}="$(openssl rand -hex 24)"',
        )
    return token
