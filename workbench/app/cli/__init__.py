"""The command line: one module per kind of work; stdout is data, stderr is narration.

verb: a command is a record of options and a function of them. common, writing: what commands share, and where they
write. opening: the app, status, help. data, completions, curate: items and pools. people, labels: annotators, and their
labels. disagreements: reviews. verifiers, verdicts, judges: verifiers, and their verdicts. figures, combined:
tables. sets: frozen ones. code: code. servers: for browsers, trainers and judges.
care: backups, and repairs.

A command's module is imported only when the command runs, so that ``workbench --help`` stays fast.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from io import BytesIO, TextIOWrapper
from textwrap import wrap
from typing import Any, Final, NoReturn

import click

from workbench import __version__
from workbench.app.verbs import COMMANDS, FIRST, FORM_VARIABLE, GROUPS, REMOVED, Refused, in_app
from workbench.core.errors import (
    Command,
    FrontEnd,
    OptionError,
    UsageError,
    WorkbenchError,
    did_you_mean,
    flag_of,
    set_front_end,
)

_ENDINGS = (".db", ".sqlite", ".sqlite3")
_LAST_QUOTED = re.compile(r"'([^']*)' is not one of")


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used.

    Args:
        package: The package of the modules.
        commands: Command name -> (module in the package, one line of help), in the order of a day's work.
        default: The command that runs when a file is named in a command's place.
    """

    def __init__(
        self,
        *args: Any,
        package: str,
        commands: Mapping[str, tuple[str, str]],
        default: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._default = default
        self._package = package
        self._commands = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._commands:
            return None
        module = import_module(f"{self._package}.{self._commands[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command; for a file, the default command.

        Raises:
            click.UsageError: There is no such command; the message suggests a similar one.
        """
        name = args[0]
        if name in self._commands or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if self._default and (os.sep in name or name.endswith(_ENDINGS) or os.path.isfile(name)):
            return self._default, self.get_command(ctx, self._default), args
        meant = REMOVED.get(name) or did_you_mean(name, self._commands)
        raise click.UsageError(f"There is no command {name!r}. {meant}".rstrip(), ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; for an invalid choice, suggest a similar one."""
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
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._commands.items()])


class Overview(LazyGroup):
    """All commands, in help that fits a terminal of 24 lines: the most important first, then names by topic."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview; `workbench help` has one line per command."""
        from workbench.core.installed import find_documentation

        formatter.write(f"{inspect.cleandoc(self.help or '')}\n\nFirst:\n")
        with formatter.indentation():
            formatter.write_dl([(name, COMMANDS[name][1]) for name in FIRST])
        formatter.write("\nThen (workbench help GROUP: a line each; workbench COMMAND --help: options):\n")
        room = max(map(len, GROUPS)) + 4
        for group, there in GROUPS.items():
            names = " ".join(name for name in there if name not in FIRST)
            lines = wrap(names, formatter.width - room, break_on_hyphens=False)
            formatter.write("".join(f"{'' if n else f'  {group}':<{room}}{line}\n" for n, line in enumerate(lines)))
        formatter.write(f"Documentation: {find_documentation()}\n")


@click.group(
    cls=Overview,
    package=__name__,
    commands=COMMANDS,
    default="open",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="workbench")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Usage: workbench COMMAND DB …      workbench DB opens the app on a database
    Annotate verifier data and measure verifiers, in the terminal.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(import_module("workbench.app.cli.opening").open_command)


COMMAND_LINE: Final = FrontEnd(lambda option: f"{flag_of(option.name)} {option.value}".rstrip(), Command.shell)


def main() -> None:
    """Run the command line; an expected error ends it with its exit code, never with a traceback.

    For a form of the app, messages are worded as in the form, and an error is one line of JSON.
    """
    _prepare_streams()
    palette = os.environ.get(FORM_VARIABLE)
    set_front_end(in_app(palette) if palette else COMMAND_LINE)
    try:
        sys.exit(root(standalone_mode=not palette))
    except click.Abort:
        sys.exit(1)
    except click.ClickException as error:
        param = getattr(error, "param", None)
        _exit_with_error(OptionError(param and param.name, error.message))
    except WorkbenchError as error:
        _exit_with_error(error)
    except UnicodeEncodeError as error:
        _exit_with_error(
            UsageError(f"{error.object[:200]!r} is not valid UTF-8 text.", "Is the locale right? See: locale")
        )
    except OSError as error:
        _exit_with_error(WorkbenchError(f"{error.filename or 'The output'}: {error.strerror}."))


def _prepare_streams() -> None:
    if sys.stdout is None:
        sys.stdout = TextIOWrapper(BytesIO(), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _exit_with_error(error: WorkbenchError) -> NoReturn:
    import msgspec

    from workbench.core.text.inert import inert

    if FORM_VARIABLE in os.environ:
        option, wrong = (error.option, error.wrong) if isinstance(error, OptionError) else (None, str(error))
        click.echo(msgspec.json.encode(Refused(inert(wrong), option)), err=True)
        sys.exit(error.exit_code)
    click.echo(f"{error.title}: {inert(error.message)}", err=True)
    if error.hint:
        click.echo(f"  {inert(error.hint)}", err=True)
    sys.exit(error.exit_code)
