"""The form of a command-line verb, made from its options: the fields, the resulting command line, and its run."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple, get_args, get_origin

import click
import msgspec
from msgspec import NODEFAULT, structs

from workbench.app.tui.form import FormField
from workbench.app.tui.keymap import key_of
from workbench.app.verbs import FORM_VARIABLE, Declared, Refused, Verb
from workbench.core.errors import Option, OptionError, UsageError
from workbench.core.options import PEOPLE, Options, RecordField, build_record, fields_of
from workbench.core.progress import raise_if_cancelled
from workbench.core.selection import parse_condition

_NO: Final = "no"
_YES: Final = "yes"
_DATABASE: Final = "database"
_DRY_RUN: Final = "dry_run"
_ABOUT: Final = {
    "verb": "The action.",
    "where": "Only these items, by conditions such as type=A state=final; empty: all.",
}
_CONDITIONS: Final = ("where", "on")
_REST_S: Final = 0.05


class VerbForm:
    """The form of a command-line verb.

    Attributes:
        fields: One line per option, required ones first.
        written: Names of the fields whose value is a file to write.
        read: Names of the fields whose value is a file to read.
        has_dry_run: Whether the verb has a dry run.
        later: Names of the fields that are shown only with all options; they come last.

    Args:
        verb: The verb.
        declared: The declaration of its options.
        database: Path of the open database.
        verifiers: Returns the names of the verifiers that have run.
    """

    def __init__(
        self, verb: Verb, declared: Declared, database: Path, verifiers: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self.verb = verb
        self._declared, self._database = declared, database
        self._options = {_shown(field): field for field in fields_of(declared.record) if field.name != _DATABASE}
        self._called = {flag: name for name, field in self._options.items() for flag in field.flags if len(flag) > 2}
        asked = [name for name, field in self._options.items() if field.name != _DRY_RUN]
        asked.sort(key=lambda name: _place(self._options[name]))
        lists_names = any(field.written.names_verifier for field in self._options.values())
        self._verifiers = verifiers() if lists_names else ()
        self.fields = tuple(self._line(name, self._options[name]) for name in asked)
        self.written = [name for name in asked if self._options[name].written.output is not None]
        self._paths = [name for name in asked if _is_path(self._options[name])]
        self.later = [field.name for field in self.fields if field.later]
        self.read = [name for name in self._paths if name not in self.written]
        self.has_dry_run = any(field.name == _DRY_RUN for field in self._options.values())

    def only(self, about: Mapping[str, str]) -> VerbForm:
        """Return the form with these fields only, explained in other words."""
        self.fields = tuple(structs.replace(one, about=about[one.name]) for one in self.fields if one.name in about)
        self.later = []
        return self

    def _line(self, name: str, field: RecordField) -> FormField:
        names = dict.fromkeys(self._verifiers, "") if field.written.names_verifier else {}
        return FormField(
            name=name,
            about=self.output_text(_about(field)),
            value=_value(field),
            choices=names or _choices(field),
            several=bool(names) and field.is_several,
            is_path=_is_path(field),
            later=field.written.later,
        )

    # -- the command line --------------------------------------------------------------------------

    def line(self, typed: Mapping[str, str], *, dry_run: bool = False) -> list[str]:
        """Return the words after ``workbench`` for the values of the fields.

        Raises:
            OptionError: A required field is empty, or its words can't be split.
        """
        return self.verb.line(str(self._database), self._declared, self._words(typed, dry_run=dry_run))

    def record(self, typed: Mapping[str, str], *, dry_run: bool = False) -> Options:
        """Return the record of the values of the fields, as the command line reads them.

        Raises:
            OptionError: As with `line`, or a value is invalid.
        """
        first = [str(self._database)] if self._declared.takes_database else []
        words = [*first, *self._words(typed, dry_run=dry_run)]
        try:
            given = self._declared.command.make_context(self.verb.name, words).params
        except click.UsageError as error:
            name = getattr(getattr(error, "param", None), "name", None)
            shown = next((shown for shown, field in self._options.items() if field.name == name), name)
            raise OptionError(shown, error.message) from None
        return build_record(self._declared.record, given)

    def _words(self, typed: Mapping[str, str], *, dry_run: bool) -> list[str]:
        places: list[str] = []
        flags: list[str] = []
        for name, field in self._options.items():
            found = [_YES] if dry_run and field.name == _DRY_RUN else _typed_words(name, field, typed.get(name, ""))
            if field.written.is_argument:
                places += found
            else:
                flags += _flagged(field, found)
        if any(word.startswith("-") and word != "-" for word in places):
            flags, places = [], [*flags, "--", *places]
        return [*places, *flags]

    def command(self, typed: Mapping[str, str]) -> str:
        return shlex.join(["workbench", *self.line(typed)])

    def wrong(self, name: str, text: str) -> str:
        """Return the error in one field's value, checked without the other fields; "" if there is none."""
        field = self._options.get(name)
        if field is None or field.type is bool:
            return ""
        command = self._declared.command
        param = next(param for param in command.params if param.name == field.name)
        try:
            words = _typed_words(name, field, text) if text else []
            for word in words if field.name in _CONDITIONS else ():
                parse_condition(word)
            if words and "-" not in words:
                param.process_value(click.Context(command), words if field.is_several else words[0])
        except click.UsageError as error:
            return error.message
        except UsageError as error:
            return str(error)
        return ""

    def refusal(self, found: Refused, typed: Mapping[str, str]) -> OptionError:
        """Return the command's error, assigned to the option it names first, else to the field of the file it names."""
        places = {found.text.find(str(Option(name))): name for name in self._options}
        paths = {name: str(Path(typed[name]).expanduser()) for name in self._paths if typed.get(name)}
        of_param = (name for name, field in self._options.items() if field.name == found.option)
        of_text = (name for place, name in sorted(places.items()) if place >= 0)
        of_file = (name for name, path in paths.items() if found.text.startswith((f"{path}: ", f"File '{path}' ")))
        option = next(chain(of_param, of_text, of_file), None)
        return OptionError(option, self.output_text(found.text))

    def output_text(self, printed: str) -> str:
        """Replace the command's flags by the form's field names, except in lines meant to be typed into a shell."""
        lines = printed.splitlines(keepends=True)
        for flag in sorted(self._called, key=len, reverse=True):
            name = str(Option(self._called[flag]))
            lines = [line if "workbench " in line else line.replace(flag, name) for line in lines]
        return "".join(lines)


def last_refusal(printed: str) -> tuple[str, Refused | None]:
    """Split a command's standard error into its progress messages and its final error (None if it has none)."""
    narration, line = printed[: (at := printed.rfind("\n", 0, -1) + 1)], printed[at:]
    try:
        return narration, msgspec.json.decode(line, type=Refused)
    except msgspec.DecodeError:
        return printed, None


def _shown(field: RecordField) -> str:
    if field.written.is_argument:
        return field.name.replace("_", "-")
    return max(field.flags, key=len).lstrip("-")


def _about(field: RecordField) -> str:
    if field.name in _ABOUT:
        return _ABOUT[field.name]
    text = (field.description or field.written.metavar or "").replace("(repeatable)", "")
    if field.is_several and not _is_path(field) and PEOPLE not in text:
        text = f"{text.rstrip(' .')}; several, separated by blanks"
    if field.is_required and field.type is not bool:
        text = f"{text.rstrip('.')} (needed)"
    return text.strip(" ;")


def _value(field: RecordField) -> str:
    default = field.default
    if field.type is bool:
        return _YES if field.is_required else _NO
    if default is None or default is NODEFAULT:
        return ""
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default) if default != {} else ""


def _choices(field: RecordField) -> dict[str, str]:
    if field.type is bool:
        return {_YES: ""} if field.is_required else {word: field.written.meanings.get(word, "") for word in (_NO, _YES)}
    words = field.written.choices or (get_args(field.type) if get_origin(field.type) is Literal else ())
    if field.is_several:
        return {}
    none = {"": ""} if words and not _value(field) and not field.is_required else {}
    return {**none, **{word: field.written.meanings.get(word, "") for word in words}}


def _place(field: RecordField) -> int:
    return 0 if field.is_required or field.written.is_argument else 2 if field.written.later else 1


def _is_path(field: RecordField) -> bool:
    return field.type is Path or field.written.names_file


def _typed_words(name: str, field: RecordField, text: str) -> list[str]:
    if not text and field.is_required:
        raise OptionError(name, "A value is required.")
    if not text or (text == _value(field) and not field.written.is_argument and not field.is_required):
        return []
    if not field.is_several:
        return [os.path.expanduser(text) if _is_path(field) else text]
    if _is_path(field) and os.path.exists(os.path.expanduser(text)):
        return [os.path.expanduser(text)]
    try:
        words = shlex.split(text)
    except ValueError:
        raise OptionError(name, "A quotation mark is not closed.") from None
    return [os.path.expanduser(word) for word in words] if _is_path(field) else words


def _flagged(field: RecordField, words: Sequence[str]) -> Iterator[str]:
    flag = field.flags[0]
    for word in words:
        if field.type is bool:
            yield flag
        elif flag.startswith("--") and (word.startswith("-") or field.written.bare is not None):
            yield f"{flag}={word}"
        else:
            yield from (flag, word)


# -- Its run: in a process of its own, as in another terminal.


class Ran(NamedTuple):
    """A finished command: its exit code, standard output and error, and the error that ended it."""

    code: int
    out: str
    err: str
    refused: Refused | None = None

    @property
    def is_for_tools(self) -> bool:
        """Tell whether the output is JSON: one document, or one per line."""
        return self.out.startswith("{")


def run_line(words: Sequence[str]) -> Ran:
    """Run ``workbench`` with these words in a child process; if the screen is closed, interrupt it as by Ctrl-C, so
    that stored data stays.

    Raises:
        Stopped: The screen was closed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-P", "-m", "workbench", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=form_environment(),
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                raise_if_cancelled()
                time.sleep(_REST_S)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        return Ran(process.returncode, _text(out), *last_refusal(_text(err)))


def form_environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name != "TEXTUAL_DRIVER"}
    return {**own, "NO_COLOR": "1", FORM_VARIABLE: key_of("app.palette")}


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
