"""Errors a person reads: what is wrong, where, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

_QUOTED = re.compile(r"(?<!\w)'([^']{1,100})'(?!\w)")
_LEAD = re.compile("Use (?:one of )?")
_LISTED = 20
"""Names of a vocabulary that a message spells out."""


def did_you_mean(said: str, known: Iterable[str], otherwise: str = "") -> str:
    """``"Did you mean 'B5'?"`` where one of the known names is near, before what is said in any case."""
    from difflib import get_close_matches

    folded = {name.casefold(): name for name in reversed(list(known))}
    close = get_close_matches(said.casefold(), folded, n=1)
    return " ".join(filter(None, (f"Did you mean {folded[close[0]]!r}?" if close else "", otherwise)))


def nearest(said: str, known: Iterable[str], title: str) -> str:
    """What may have been meant, or else what there is: ``"Subtypes: A1, A2."``.

    Args:
        known: What could have been said.
        title: What those are, as a list of them begins.
    """
    names = list(dict.fromkeys(known))
    return did_you_mean(said, names) or f"{title}: {some_of(names) or 'none yet'}."


def some_of(names: Iterable[str]) -> str:
    """The first of many names, and how many there are beyond."""
    listed = list(names)
    more = f" and {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
    return ", ".join(listed[:_LISTED]) + more


def _offered(hint: str) -> list[str]:
    """The names that a hint lists: ``"Verifiers: exact, rules; without @ the newest."``."""
    _, colon, listed = hint.partition(": ")
    names = (
        (listed if colon else hint.removeprefix("Use ").removeprefix("one of ")).partition(";")[0].partition(". ")[0]
    )
    return [name.strip(" '\".") for name in names.split(",")]


class WorkbenchError(Exception):
    """Something a person can act on; front ends print it without a traceback.

    Attributes:
        message: What is wrong, and where (``file:line:field`` when there is one).
        hint: What to do about it; empty when the message already says it.
        exit_code: What the command line exits with (1 failed, 2 wrong usage).
    """

    title = "Error"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(WorkbenchError):
    """The request itself is wrong: an unknown field, a name taken, a bad value.

    Where the message ends on an unknown name in quotes and the hint lists the known ones, the hint says first which of
    them is like it.
    """

    title = "Wrong usage"
    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        quoted, offered = _QUOTED.findall(message), _offered(hint)
        if quoted and "Did you mean" not in hint and quoted[-1] not in offered:
            hint = did_you_mean(quoted[-1], offered, hint)
        super().__init__(message, hint)


class OptionError(UsageError):
    """One option of a verifier has a wrong value.

    Attributes:
        option: The option's name; None where it can't be told.
        wrong: What is wrong with it, without its name.
    """

    def __init__(self, message: str, *, option: str | None, wrong: str) -> None:
        super().__init__(message)
        self.option = option
        self.wrong = wrong


Cause = Literal["space", "disk", "busy", "access", "moved", "other"]
"""What keeps a database from being written. ``moved``: the file that was opened is not where it was."""


class StoreError(WorkbenchError):
    """The database can't be opened, read or written.

    Attributes:
        cause: Why, where that is known.
    """

    title = "Database"

    def __init__(self, message: str, hint: str = "", cause: Cause = "other") -> None:
        super().__init__(message, hint)
        self.cause = cause

    @property
    def is_away(self) -> bool:
        """Whether what was opened is not there any more."""
        return self.cause == "moved"

    @property
    def passes(self) -> bool:
        """Whether the same may succeed later, without another word."""
        return self.cause != "other"


class SchemaError(StoreError):
    """A database's tables, views or triggers are not as the program makes them."""


class WrittenError(StoreError):
    """The database took other rows than it was sent; nothing of them was kept."""


class FormatError(WorkbenchError):
    """A file can't be read at all (single bad rows go to quarantine instead)."""

    title = "File"


class VerifierError(WorkbenchError):
    """A verifier can't be loaded or configured."""

    title = "Verifier"


class RunError(WorkbenchError):
    """A background run can't be started, controlled or finished."""

    title = "Run"


class AnnotationError(WorkbenchError):
    """A label can't be taken: not the person's item, quota full, wrong state."""

    title = "Annotation"


class AnsweredElsewhereError(AnnotationError):
    """The person has answered the item in another window since it was opened in this one."""
