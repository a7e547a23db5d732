"""Kinds of code files: which one a file is by its keys, and how a row of it is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from msgspec import Struct

from workbench.core.code import CodeRecord
from workbench.core.item import Refusal
from workbench.data.formats.code import contests, evalplus, own, samples
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.documents import SourceDocument
from workbench.data.formats.lines import RefusedError, refusal
from workbench.data.formats.source import CodeFormat

Read = Callable[[CodeRow], Iterable[CodeRecord]]
"""What a row holds; a problem stands before its solutions."""


class _FileKind(Struct, frozen=True):
    """One kind of file.

    Attributes:
        fits: Whether a file's keys are those of this kind.
        start: A function that reads the rows of one file.
        problems: Its rows hold problems (some with solutions), not solutions alone.
    """

    fits: Callable[[Collection[str]], bool]
    start: Callable[[], Read]
    problems: bool = True


_KINDS: Final[dict[CodeFormat, _FileKind]] = {
    "problems": _FileKind(own.holds_problems, lambda: own.problems),
    "solutions": _FileKind(own.holds_solutions, lambda: own.solutions, problems=False),
    "scoring-verifiers": _FileKind(samples.fits_scoring, lambda: samples.read_scoring),
    "evalplus": _FileKind(evalplus.fits, lambda: evalplus.read),
    "bigcodebench": _FileKind(contests.fits_bigcodebench, lambda: contests.read_bigcodebench),
    "humaneval": _FileKind(evalplus.fits_humaneval, lambda: evalplus.read_humaneval),
    "mbpp": _FileKind(evalplus.fits_mbpp, lambda: evalplus.read_mbpp),
    "apps": _FileKind(contests.fits_apps, lambda: contests.apps),
    "taco": _FileKind(contests.fits_taco, lambda: contests.taco),
    "livecodebench": _FileKind(contests.fits, lambda: contests.read),
    "evolvecoder": _FileKind(samples.fits_evolvecoder, lambda: samples.read),
    "samples": _FileKind(samples.fits, samples.numbering, problems=False),
}
"""In the order in which a file's keys are compared: one whose keys are among another's comes after it."""


def holds_problems(format: CodeFormat) -> bool:
    """Whether files of a kind hold problems, not solutions alone."""
    return _KINDS[format].problems


def kind_of(keys: Collection[str]) -> CodeFormat | None:
    """The first kind that a file's keys fit; None where it holds no code that we know."""
    return next((name for name, kind in _KINDS.items() if kind.fits(keys)), None)


def reader(format: CodeFormat) -> Callable[[SourceDocument], Iterator[CodeRecord | Refusal]]:
    """A function that gives the records of a row, or why it can't be taken, as a whole."""
    read = _KINDS[format].start()

    def records(document: SourceDocument) -> Iterator[CodeRecord | Refusal]:
        try:
            found = list(read(CodeRow(document.line, document.json, document.raw)))
        except RefusedError as error:
            yield refusal(document.line, document.raw, error)
        else:
            yield from found

    return records
