"""Errors with messages for users: what is wrong, where, and what to do about it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

_QUOTED = re.compile(r"(?<!\w)'([^']{1,100})'(?!\w)")
_MAX_LISTED = 20
"""Most names of a vocabulary listed in a message."""


# -- How options and commands are written in messages, by the front end in use.


class Option(NamedTuple):
    """An option of the current command or form. The front end in use decides how its name is written in messages.

    Attributes:
        value: Its value, or a placeholder in capitals.
    """

    name: str
    value: str = ""

    def __str__(self) -> str:
        return _at_work.option(self)

    def __format__(self, value: str) -> str:
        return str(self._replace(value=value))


class _OptionFactory:
    def __getattr__(self, name: str) -> Option:
        return Option(name.rstrip("_").replace("_", "-"))


opt: Final = _OptionFactory()
"""Writes options in messages: ``f"Leave {opt.dry_run} out."``, ``f"Name it: {opt.dataset:NAME}"``."""


class Command:
    """A command that a message suggests. The front end in use decides how it is written.

    Args:
        line: The command's words, such as ``"runs DB resume 3"``.
        options: Values by option, with underscores for hyphens; True for an option without a value.
    """

    def __init__(self, line: str, /, **options: object) -> None:
        self.line = line
        self.options = {name.rstrip("_").replace("_", "-"): value for name, value in options.items()}

    def __str__(self) -> str:
        return _at_work.command(self)

    def shell(self) -> str:
        words = ("" if value is True else f" {shlex.quote(str(value))}" for value in self.options.values())
        return f"workbench {self.line}" + "".join(
            f" {flag_of(one)}{word}" for one, word in zip(self.options, words, strict=True)
        )


def flag_of(name: str) -> str:
    return "-o" if name in ("o", "option") else f"--{name}"


class FrontEnd(NamedTuple):
    """The notation of options and commands in a front end's messages."""

    option: Callable[[Option], str]
    command: Callable[[Command], str]


PYTHON: Final = FrontEnd(lambda one: f"`{'='.join(filter(None, one)).replace('-', '_')}`", Command.shell)
_at_work = PYTHON


def set_front_end(front_end: FrontEnd) -> None:
    global _at_work
    _at_work = front_end


# -- Errors.


def did_you_mean(said: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``"Did you mean 'B5'?"`` if a known name is similar, ignoring case; else ``otherwise``."""
    from difflib import get_close_matches

    folded = {name.casefold(): name for name in reversed(list(known))}
    close = get_close_matches(said.casefold(), folded, n=1)
    return " ".join(filter(None, (f"Did you mean {folded[close[0]]!r}?" if close else "", otherwise)))


def nearest(said: str, known: Iterable[str], title: str) -> str:
    """Return a suggestion, or else a list of the known names: ``"Subtypes: A1, A2."``.

    Args:
        known: The valid names.
        title: The heading of the list.
    """
    names = list(dict.fromkeys(known))
    return did_you_mean(said, names) or f"{title}: {some_of(names) or 'none yet'}."


def some_of(names: Iterable[str]) -> str:
    """Join names for a message: the first ones, and the number of the others."""
    listed = list(names)
    more = f" and {len(listed) - _MAX_LISTED:,} more" if len(listed) > _MAX_LISTED else ""
    return ", ".join(listed[:_MAX_LISTED]) + more


def _names_in_hint(hint: str) -> list[str]:
    _, colon, listed = hint.partition(": ")
    names = (
        (listed if colon else hint.removeprefix("Use ").removeprefix("one of ")).partition(";")[0].partition(". ")[0]
    )
    return [name.strip(" '\".") for name in names.split(",")]


class WorkbenchError(Exception):
    """An error that a user can fix; front ends print it without a traceback.

    Attributes:
        message: What is wrong, and where (``file:line:field`` when there is one).
        hint: What to do about it; empty when the message already says it.
        command: The command that helps; the hint ends with it.
        exit_code: Exit code of the command line (1 failed, 2 wrong usage).
    """

    title = "Error"
    exit_code = 1

    def __init__(self, message: str, hint: str = "", command: Command | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = f"{hint}: {command}" if command else hint
        self.command = command

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(WorkbenchError):
    """The request itself is wrong: an unknown field, a name in use, a bad value.

    If the message ends with an unknown name in quotes and the hint lists the known names, the hint begins with the most
    similar known name.
    """

    title = "Wrong usage"
    exit_code = 2

    def __init__(self, message: str, hint: str = "", command: Command | None = None) -> None:
        quoted, offered = _QUOTED.findall(message), _names_in_hint(hint)
        if quoted and "Did you mean" not in hint and quoted[-1] not in offered:
            hint = did_you_mean(quoted[-1], offered, hint)
        super().__init__(message, hint, command)


class OptionError(UsageError):
    """One option of a verifier has a wrong value.

    Attributes:
        option: The option's name; None if unknown.
        wrong: What is wrong with it, without its name.

    Args:
        where: Prefix of the message.
    """

    def __init__(self, option: str | None, wrong: str, where: str = "") -> None:
        super().__init__(where + (f"{option}: {wrong}" if option else wrong))
        self.option = option
        self.wrong = wrong


Cause = Literal["space", "disk", "busy", "access", "moved", "other"]
"""Why a database can't be written. ``moved``: the opened file is no longer at its path."""


class StoreError(WorkbenchError):
    """The database can't be opened, read or written.

    Attributes:
        cause: The kind of cause; "other" if it is unknown.
    """

    title = "Database"

    def __init__(self, message: str, hint: str = "", cause: Cause = "other", *, command: Command | None = None) -> None:
        super().__init__(message, hint, command)
        self.cause = cause

    @property
    def is_away(self) -> bool:
        return self.cause == "moved"


class SchemaError(StoreError):
    """A database's tables, views or triggers are not the program's."""


class FormatError(WorkbenchError):
    """A file can't be read at all (for a single invalid row there is no error: it is rejected)."""

    title = "File"


class VerifierError(WorkbenchError):
    """A verifier can't be loaded or configured."""

    title = "Verifier"


class RunError(WorkbenchError):
    """A background run can't be started, controlled or finished."""

    title = "Run"


class AnnotationError(WorkbenchError):
    """A label can't be stored: not assigned to the annotator, quota full, wrong state."""

    title = "Annotation"


class AnsweredElsewhereError(AnnotationError):
    """The annotator has answered the item in another window since it was opened in this one."""
