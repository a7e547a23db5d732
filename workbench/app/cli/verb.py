"""Commands made of a record of options and a function, by `verb`.

@verb
def command(project: Project, options: ValidityOptions) -> Output:
    \"\"\"The text of ``--help``.\"\"\"
    return Output(validity(project, options), validity_text)
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, overload

import click
from msgspec import NODEFAULT, structs

from workbench.app.cli.common import (
    REFUSED_SOME,
    NumberRange,
    RejectedLine,
    WholeRange,
    print_json,
    project_at,
    refusal_lines,
    say,
    show,
)
from workbench.app.cli.writing import STDOUT, InputPath, OutputPath, standard_output
from workbench.core.errors import UsageError
from workbench.core.options import Options, RecordField, build_record, fields_of, require_fitting
from workbench.core.text.figures import some

T = TypeVar("T")
Texts = str | Iterable[str] | None


class VerbCommand(click.Command):
    """A command, with the record from which it was made.

    Attributes:
        record: The record of its options.
        takes_database: Whether the database is named first, on its own line or its group's.
    """

    record: type[Options]
    takes_database: bool


Function = Callable[..., "Output | None"]


class Output:
    """The result of a command, and its text.

    Args:
        value: The output of ``--json``.
        text: The output without it: text that is safe for a terminal, or lines whose control characters are made
            visible; None if the function has printed it.
        after: Lines of narration after it.
        code: The exit code.
    """

    def __init__(self, value: T, text: Callable[[T], Texts], *, after: Sequence[str] = (), code: int = 0) -> None:
        self._value = value
        self._text: Callable[[Any], Texts] = text
        self._after = after
        self._code = code

    def refusing(self, place: object, refused: Sequence[RejectedLine]) -> Output:
        """Return the output followed by the rejected lines of a file, with their exit code if there are any."""
        return self.lacking(*some(refusal_lines(place, refused)))

    def lacking(self, *reasons: str) -> Output:
        """Return the output followed by why something was left out, with that exit code if there is a reason."""
        if said := [*filter(None, reasons)]:
            self._after, self._code = [*self._after, *said], REFUSED_SOME
        return self

    def tell(self, *, as_json: bool) -> None:
        if as_json:
            print_json(self._value)
        elif isinstance(text := self._text(self._value), str):
            click.echo(text, nl=False)
        else:
            for line in text or ():
                show(line)
        for line in self._after:
            say(line)
        sys.stdout.flush()
        if self._code:
            sys.exit(self._code)


@overload
def verb(function: Function, /) -> click.Command: ...


@overload
def verb(*, json: bool = ..., within: bool = ..., epilog: str | None = ...) -> Callable[[Function], click.Command]: ...


def verb(
    function: Function | None = None, /, *, json: bool = True, within: bool = False, epilog: str | None = None
) -> click.Command | Callable[[Function], click.Command]:
    """Make a command of a function that takes ``options``, a record, and maybe ``project``, the open database.

    Its docstring is the help. The database is named first, unless the record has no field of it and ``project`` is not
    taken.

    Args:
        json: Whether there is ``--json``; it prints the function's result.
        within: Whether the command belongs to a group that receives the database.
        epilog: Text below the help.
    """
    if function is None:
        return partial(verb, json=json, within=within, epilog=epilog)
    takes = inspect.signature(function).parameters
    record = _options_record(function) if "options" in takes else Options
    opens = "project" in takes
    streams = [field.name for field in fields_of(record) if field.written.output == "stream"]

    def run(as_json: bool = False, **given: Any) -> None:
        context = click.get_current_context()
        options = build_record(record, given)
        try:
            require_fitting(options, context.command_path)
        except UsageError as error:
            raise click.UsageError(error.message) from None
        with ExitStack() as stack:
            # The action import reads: there, "-" is standard input.
            if getattr(options, "verb", "") != "import":
                for name in (name for name in streams if getattr(options, name) is STDOUT):
                    options = structs.replace(options, **{name: stack.enter_context(standard_output(as_json=as_json))})
            taken: dict[str, Any] = {"options": options} if "options" in takes else {}
            if "as_json" in takes:
                taken["as_json"] = as_json
            if opens:
                with project_at(str(context.obj if within else given["database"])) as project:
                    output = function(project=project, **taken)
            else:
                output = function(**taken)
            if output is not None:
                output.tell(as_json=as_json)

    params = list(params_of(record))
    if opens and not within and "database" not in record.__struct_fields__:
        params.insert(0, click.Argument(["database"], metavar="DB", type=click.Path(dir_okay=False)))
    if json:
        text = "Print one JSON document and nothing else."
        params.append(click.Option(["--json", "as_json"], is_flag=True, help=text))
    command = VerbCommand("command", callback=run, params=params, help=inspect.getdoc(function), epilog=epilog)
    command.record, command.takes_database = record, within or any(param.name == "database" for param in params)
    return command


def _options_record(function: Function) -> type[Options]:
    said = function.__annotations__["options"]
    found: type[Options] = function.__globals__[said] if isinstance(said, str) else said
    return found


def params_of(record: type[Options]) -> Iterator[click.Parameter]:
    """Yield the command-line parameters for the fields of a record."""
    return map(_make_parameter, fields_of(record))


def _make_parameter(field: RecordField) -> click.Parameter:
    default, written = field.default, field.written
    said: dict[str, Any] = {"required": field.is_required, "metavar": written.metavar}
    if written.read is not None:
        said["callback"] = _parsing_callback(written.read, field, nothing=None if default is None else ())
        if not field.is_required and not field.is_several:
            said["default"] = ",".join(map(str, default or ())) or None
    elif not field.is_required:
        said["default"] = default
    if field.type is not bool and written.read is None:
        said["type"] = _type_of(field)
    if written.is_argument:
        return click.Argument([field.name], nargs=-1 if field.is_several else 1, **said)
    if field.type is bool:
        said["is_flag"] = True
    elif written.bare is not None:
        said |= {"is_flag": False, "flag_value": written.bare}
    shows = written.shows_default
    said["show_default"] = _is_shown_default(default) if shows is None else shows
    return click.Option([*field.flags, field.name], multiple=field.is_several, help=field.description, **said)


def _is_shown_default(default: object) -> bool:
    return default is not NODEFAULT and default is not None and default is not False and default not in ("", (), {})


def _type_of(field: RecordField) -> Any:
    type_, written = field.type, field.written
    if written.choices is not None:
        return click.Choice(written.choices)
    if get_origin(type_) is Literal:
        return click.Choice(get_args(type_))
    if type_ is Path and written.output:
        return OutputPath(dir_okay=written.folder, text=written.output == "stream")
    if type_ is Path:
        kind = click.Path if written.dash else InputPath
        return kind(exists=written.exists, dir_okay=written.folder, allow_dash=written.dash, path_type=Path)
    if written.names_file:
        return click.Path(dir_okay=written.folder)
    return _number_type(type_, field.bounds) if type_ in (int, float) else type_


def _number_type(type_: Any, bounds: Mapping[str, Any]) -> Any:
    if not bounds:
        return type_
    least, most = bounds.get("ge", bounds.get("gt")), bounds.get("le")
    return WholeRange(least, most) if type_ is int else NumberRange(least, most, min_open="gt" in bounds)


def _parsing_callback(
    read: Callable[[str], Any], field: RecordField, *, nothing: object
) -> Callable[[click.Context, click.Parameter, Any], object]:
    def callback(_context: click.Context, _parameter: click.Parameter, text: Any) -> object:
        try:
            if field.is_several:
                return dict(map(read, text))
            return nothing if text is None else read(text)
        except UsageError as error:
            raise click.BadParameter(error.message, param_hint=field.flags[0]) from None

    return callback
