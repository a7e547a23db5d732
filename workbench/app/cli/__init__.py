"""The command line: one module a kind of work; stdout is data, stderr is narration.

verb: a command is a record of options and a function of them. common, writing: what commands share, and where they
write.
data, completions, curate: items and pools. people, labels: who labels, and what they said. disagreements: reviews.
verifiers, verdicts, judges: what is run, and what came of it. figures, combined: tables. sets: frozen ones. code: code.
servers: for browsers, trainers and judges. care: backups, and what is hurt.

A command's module is imported only when the command runs, so that ``workbench --help`` stays fast.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from io import BytesIO, TextIOWrapper
from typing import Any, NoReturn

import click

from workbench import __version__
from workbench.core.errors import UsageError, WorkbenchError, did_you_mean

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "data": {
        "demo": ("data", "Load the sample data, run the rule verifiers, show the result."),
        "open": ("data", "Open the app on a database."),
        "import": ("data", "Read question / reference / completion tuples from files."),
        "export": ("data", "Write items, labels or verdicts to a file."),
        "status": ("data", "Count items, questions, states and runs."),
        "exclude": ("data", "Take items out of every table, list them, find candidates."),
        "curate": ("curate", "Curate a pool of questions: duplicates, exclusions, types, a draw."),
        "complete": ("completions", "Have models write completions of a set's questions, by a plan."),
        "selected-by": ("data", "Name the judges whose verdicts chose what belongs to a data set."),
        "types": ("data", "Answer types that a model suggests, beside those in force."),
    },
    "people": {
        "annotators": ("people", "Add, list, pause and resume the people who label."),
        "assign": ("people", "Open label slots for annotators."),
        "checks": ("people", "Mix in items whose answer is known: add, list, remove, report."),
        "plan": ("people", "Show how many more labels give ± x points of accuracy, group by group."),
        "serve": ("servers", "Serve the app to annotators in a browser."),
        "reopen": ("people", "Have items labelled anew, with a reason."),
        "guidelines": ("people", "Show what annotators are asked to do, or put a new version in force."),
        "flags": ("people", "Show what annotators have flagged for the coordinator, and answer them."),
        "history": ("people", "Show who did what when, by item or by person."),
        "labels": ("labels", "Read and write labels as JSON lines."),
        "conflicts": ("labels", "List conflicts by kind, and settle many alike."),
        "agreement": ("labels", "Show how far the people who label agree, on items or in any file."),
        "bundle": ("labels", "Write a person's items into a database of its own, to label offline."),
        "merge": ("labels", "Take the labels of other databases, such as bundles that came back."),
    },
    "verifiers": {
        "verifiers": ("verifiers", "List the verifiers that can be run."),
        "verify": ("verifiers", "Run a verifier over the items, in the background or in front."),
        "runs": ("verifiers", "List, show, pause, cancel and resume runs."),
        "verdicts": ("verdicts", "Print a verifier's verdicts, one JSON line an item."),
        "models": ("judges", "Check the model servers of a verifier."),
        "transcripts": ("verdicts", "Print the requests and responses that verdicts rest on, as JSON lines."),
        "preview": ("judges", "Show the exact requests a judge would send about an item."),
        "replay": ("servers", "Serve recorded replies over HTTP, as a model server on this machine."),
        "parse": ("judges", "Read recorded judge outputs again, under any parser."),
        "threshold": ("judges", "Fit the threshold that makes verdicts of a verifier's scores."),
        "sweep": ("judges", "Run a judge under many settings: accuracy and tokens."),
        "duel": ("judges", "Compare the reasoning of two judges, blind and in both orders."),
        "probe": ("judges", "Try to hack a verifier: what does it accept that answers nothing?"),
    },
    "figures": {
        "accuracy": ("figures", "Show how accurate verifiers are, by answer type and more."),
        "tables": ("figures", "Show the tables of the VerifyBench paper for this project."),
        "report": ("figures", "Write one self-contained page with tables, plots and examples."),
        "compare": ("figures", "Compare two verifiers on the items both have judged."),
        "ensemble": ("combined", "Let verifiers vote: k of n, or weighted, against the best of them."),
        "best-of": ("combined", "Let verifiers pick one of n completions: how often is it correct?"),
        "validity": ("combined", "Check what verdicts follow besides correctness: length, authorship, form, chance."),
        "estimate": ("combined", "Estimate a verifier's accuracy from few labels and other verifiers' verdicts."),
        "disagreements": ("disagreements", "List items on which verifiers, gold or people disagree, and why."),
        "review": ("disagreements", "Decide of disagreements: gold is right, label anew, or the verifier erred."),
        "correlate": ("combined", "Show how far a verifier's scores follow the gold labels."),
        "pairs": ("combined", "How often the correct completion of a question scores above the incorrect one."),
        "downstream": ("combined", "Set verifiers' accuracy against scores of models trained with them."),
    },
    "benchmarks": {
        "build": ("sets", "Build sets in the manner of VerifyBench: picks, balanced, hard."),
        "sets": ("sets", "List, show and compare frozen sets."),
        "publish": ("sets", "Write frozen sets into a folder with data card and leaderboard, for others to load."),
    },
    "code": {
        "code": ("code", "Code: outcomes of tests, selections, rankings, and tests that evolve."),
    },
    "training": {
        "reward-server": ("servers", "Serve a verifier's verdicts as rewards over HTTP, for training."),
    },
    "care": {
        "backup": ("care", "Write a checked copy of the database."),
        "restore": ("care", "Go back to a backup, or make a database of an archive."),
        "doctor": ("care", "Check a database and this machine."),
        "rescue": ("care", "Write what can be read of a hurt database into a new one."),
    },
}
"""What commands are about -> command name -> (module in this package, one line of help)."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


_ENDINGS = (".db", ".sqlite", ".sqlite3")
_LAST_QUOTED = re.compile(r"'([^']*)' is not one of")


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used.

    Args:
        package: Where the modules are.
        commands: Command name -> (module in the package, one line of help), in the order of a day's work.
        default: The command that takes a file named in a command's place.
        groups: The same commands by what they are about, if they are many.
    """

    def __init__(
        self,
        *args: Any,
        package: str,
        commands: Mapping[str, tuple[str, str]],
        default: str | None = None,
        groups: Mapping[str, Mapping[str, tuple[str, str]]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._default = default
        self._package = package
        self._commands = commands
        self._groups = groups or {"commands": commands}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in their order."""
        return list(self._commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in self._commands:
            return None
        module = import_module(f"{self._package}.{self._commands[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; a file in its place is for the default one.

        Raises:
            click.UsageError: There is none of this name; the message says which is like it.
        """
        name = args[0]
        if name in self._commands or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if self._default and (os.sep in name or name.endswith(_ENDINGS) or os.path.isfile(name)):
            return self._default, self.get_command(ctx, self._default), args
        raise click.UsageError(f"There is no command {name!r}. {did_you_mean(name, self._commands)}".rstrip(), ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a value that is none of its choices is told with the one that is like it."""
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            choices = error.param.type if error.param is not None else None
            if isinstance(choices, click.Choice) and (value := _LAST_QUOTED.search(error.message)):
                meant = did_you_mean(value[1], map(str, choices.choices))
                if meant and meant not in error.message:
                    raise click.BadParameter(f"{error.message} {meant}", error.ctx, error.param) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        widest = max(map(len, self._commands))
        for group, commands in self._groups.items():
            with formatter.section(group.capitalize()):
                formatter.write_dl([(name.ljust(widest), text) for name, (_, text) in commands.items()])


@click.group(
    cls=LazyGroup,
    package=__name__,
    commands=COMMANDS,
    groups=GROUPS,
    default="open",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="workbench")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Annotate verifier data and measure verifiers, in the terminal.

    The database comes first: workbench COMMAND DB …; workbench DB opens the app on it, and workbench alone on the
    database opened last.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(import_module("workbench.app.cli.data").open_command)


def main() -> None:
    """Run the command line; errors a person can act on end it with their exit code, never a traceback."""
    _prepare_streams()
    try:
        root(standalone_mode=True)
    except WorkbenchError as error:
        _end(error)
    except UnicodeEncodeError as error:
        _end(UsageError(f"{error.object[:200]!r} is no UTF-8 text.", "Is the locale right? See: locale"))
    except OSError as error:
        _end(WorkbenchError(f"{error.filename or 'The output'}: {error.strerror}."))


def _prepare_streams() -> None:
    """Characters that a terminal's encoding lacks are written as escapes; a closed stdout swallows everything."""
    if sys.stdout is None:
        sys.stdout = TextIOWrapper(BytesIO(), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end(error: WorkbenchError) -> NoReturn:
    from workbench.core.text.inert import inert

    click.echo(f"{error.title}: {inert(error.message)}", err=True)
    if error.hint:
        click.echo(f"  {inert(error.hint)}", err=True)
    sys.exit(error.exit_code)
