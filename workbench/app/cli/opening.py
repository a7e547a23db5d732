"""``workbench open``, ``demo`` and ``status``; modules that the first screen doesn't need are imported later."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

from msgspec import structs

from workbench.app.cli import root
from workbench.app.cli.common import project_at, say, shown_run
from workbench.app.cli.verb import Output, verb
from workbench.app.verbs import COMMANDS, GROUPS
from workbench.core.errors import UsageError, nearest
from workbench.core.options import DatabaseOrFile, Options, argument, option
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.status import status_lines

if TYPE_CHECKING:
    from workbench.app.tui.start import Beginning
    from workbench.config import Settings
    from workbench.config.settings import RecentProject
    from workbench.statistics.records.report import AccuracyReport


# -- ``workbench demo [DB]``


DEFAULT = "workbench-demo.db"


class DemoOptions(Options, frozen=True, kw_only=True):
    database: Annotated[str, argument("[DB]", names_file=True)] = DEFAULT


@verb
def demo_command(options: DemoOptions, as_json: bool) -> Output | None:
    """Load the sample data into DB, run the rule verifiers, and open the app on it.

    Without a terminal the accuracy of each verifier by answer type and the next steps are printed instead; with --json
    the accuracy table by answer subtype.
    """
    from workbench.app.demo import VERIFIERS
    from workbench.measuring.accuracy import accuracy

    if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
        _open_next_choices(_open_demo(options.database))
        return None
    with project_at(options.database, create=True) as project:
        ended = _load_demo(project, options.database)
        report = accuracy(project, verifiers=VERIFIERS, by="subtype" if as_json else "type")
    return Output(
        report, partial(_demo_text, options.database), code=0 if all(one.state == "complete" for one in ended) else 1
    )


def _load_demo(project: Project, database: str) -> list[RunInfo]:
    from workbench.app.demo import load_sample, verify_sample

    say(f"Loading the sample data into {database}")
    load_sample(project)
    return verify_sample(project, _say_run, shown_run())


def _open_demo(database: str) -> RecentProject | None:
    from workbench.config import settings_of
    from workbench.config.settings import remember_project

    with project_at(database, create=True) as project:
        _load_demo(project, database)
        remember_project(project.path, None)
        return _run_app(project, None, settings_of(project))


def _demo_text(database: str, report: AccuracyReport) -> str:
    from workbench.measuring.accuracy_tables import conclusion, overview
    from workbench.tables.table_text import plain_table

    name = shlex.quote(database)
    then = (
        f"The reasons, by item:      workbench open {name}",
        f"Every metric by subtype:   workbench accuracy {name} --by subtype",
        "The same for your data:    workbench import p.db FILE, then workbench verify p.db",
    )
    shown = plain_table(structs.replace(overview(report), notes=()))
    return "\n".join((shown, fill(" ".join(conclusion(report)), 79), "", *then)) + "\n"


def _say_run(run: RunInfo) -> None:
    detail = f": {run.message}" if run.message else ""
    say(f"  {run.verifier}: {run.done} verdicts, {run.state}{detail}")


# -- ``workbench [open] [DB] [--as NAME] [--at SCREEN]``


class OpenOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    item: Annotated[str | None, argument("[ITEM]")] = None
    annotator: Annotated[
        str | None,
        option(
            "Open the app for this annotator: blind, without gold, verdicts and labels of others.",
            "--as",
            metavar="NAME",
        ),
    ] = None
    screen: Annotated[
        str,
        option(
            "Screen to open first, such as annotate. With --as, the word work opens the annotator's Annotate or "
            "Conflicts screen.",
            "--at",
            metavar="SCREEN",
            shows_default=False,
        ),
    ] = "home"


@verb(json=False)
def open_command(options: OpenOptions) -> None:
    """Open the app on a database; without one a screen offers recent databases, those of this folder, a new one and
    the demo.

    `workbench DB` is short for `workbench open DB`. ITEM is the first item: the id of a completion or question, or the
    end of an id.

    With --as, it is an annotator's app: it shows their queue, conflicts to resolve and history. Without --as, it is the
    coordinator's app: looks at an item's gold, verdicts and labels are recorded, and labels count as not blind.
    """
    # Under another driver of Textual (`workbench serve`) the app draws elsewhere.
    served = "TEXTUAL_DRIVER" in os.environ
    terminal = served or (sys.stdin.isatty() and sys.stdout.isatty())
    if options.database is None:
        if not terminal or served:
            raise UsageError(
                "No database is named.",
                "Write: workbench open DB. New here? workbench demo, or workbench import DB FILE…",
            )
        _open_next_choices(_open_choice(_ask_start_screen(options.annotator), options.screen))
        return
    if options.item is not None and options.annotator is not None:
        raise UsageError("Only the coordinator can open an item.", "Leave --as out, or the item.")
    if not terminal:
        raise UsageError("The app needs a terminal.", "In scripts use the commands: workbench --help")
    _open_next_choices(_open_database(options, is_remembered=not served))


def _open_next_choices(left: RecentProject | None) -> None:
    while left is not None:
        left = _open_choice(_ask_start_screen(None, left))


def _open_choice(begins: Beginning, screen: str = "home") -> RecentProject | None:
    if begins.how == "demo":
        return _open_demo(begins.path)
    options = OpenOptions(database=begins.path, annotator=begins.annotator, screen=screen)
    return _open_database(options, is_new=begins.how == "new")


def _open_database(options: OpenOptions, *, is_new: bool = False, is_remembered: bool = True) -> RecentProject | None:
    # Modules stay: to look among them for garbage is in vain. The app does so again, in its own way.
    gc.disable()
    from workbench.config import settings_of
    from workbench.config.settings import remember_project

    annotator, screen = options.annotator, options.screen
    with project_at(str(options.database), create=is_new) as project:
        project.require_writable()
        if annotator is not None:
            from workbench.labelling.people import require_annotator

            require_annotator(project, annotator)
            if screen == "work":
                from workbench.labelling.rulings import first_screen

                screen = first_screen(project, annotator)
        settings = settings_of(project)
        items = () if options.item is None else _find_items(project, options.item)
        if is_remembered:
            remember_project(project.path, annotator)
        return _run_app(project, annotator, settings, screen, items)


def _run_app(
    project: Project, annotator: str | None, settings: Settings, screen: str = "home", items: Sequence[int] = ()
) -> RecentProject | None:
    from workbench.app.tui.app import run
    from workbench.config.settings import RecentProject

    goes_on = run(project, annotator, settings, screen, items)
    return RecentProject(str(project.path), annotator) if goes_on else None


def _find_items(project: Project, item: str) -> Sequence[int]:
    from workbench.measuring.browsing import find_existing

    return find_existing(project, item)


def _ask_start_screen(annotator: str | None, left: RecentProject | None = None) -> Beginning:
    """Return the choice made on the start screen: a recent project, one in this folder, a new one, the demo.

    Args:
        left: The project that was left for the start screen.
    """
    from workbench.app.tui.start import StartApp, here
    from workbench.config.settings import recent_projects

    known = recent_projects()
    chosen = StartApp([*known, *here(Path.cwd(), known)], DEFAULT, left).run()
    if chosen is None:
        sys.exit(0)
    return chosen._replace(annotator=annotator or chosen.annotator)


# -- ``workbench help``


class HelpOptions(Options, frozen=True, kw_only=True):
    topic: Annotated[str | None, argument("[GROUP|COMMAND]")] = None


@verb(json=False)
def help_command(options: HelpOptions) -> Output | None:
    """List every command in one line, the commands of one group, or the help of one command.

    Groups are data, people, verifiers, figures, benchmarks, code, training and care.
    """
    topic = options.topic
    if topic is None:
        return Output(GROUPS, _help_lines)
    if len(names := list(GROUPS.get(topic, [topic]))) > 1:
        return Output([topic], _help_lines)
    if names[0] not in COMMANDS:
        known = nearest(topic, [*GROUPS, *COMMANDS], "Groups and commands")
        raise UsageError(f"There is no command and no group {topic!r}.", known)
    root.main([names[0], "--help"], prog_name="workbench", standalone_mode=False)
    return None


def _help_lines(groups: Iterable[str]) -> Iterator[str]:
    widest = max(map(len, COMMANDS))
    for group in groups:
        yield f"{group.capitalize()}:"
        yield from (f"  {name:<{widest}}  {words}" for name, (_, words) in GROUPS[group].items())


# -- ``workbench status DB``


@verb
def status_command(project: Project) -> Output:
    """Count items, questions, states, people's progress and runs, and list open tasks.

    The tasks below the counts are those on the app's screen Home, most urgent first, each with its command.
    """
    from workbench.measuring.briefing import briefed

    return Output(briefed(project), partial(status_lines, shlex.quote(str(project.path))))
