"""Files of candidate solutions, a problem a line, as Scoring Verifiers' code reads and writes them.

A line has ``task_id`` and ``candidates`` (see `model.candidates.CandidateRow`), or ``all_solutions``, where ids may
be left out. A file may also be one JSON list of such lines, or one object of them by name, with ``input`` for
candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from workbench.core.code import OUTCOMES
from workbench.core.item import Refusal
from workbench.core.numbers import is_figure
from workbench.data.formats.documents import SourceDocument, documents, whole
from workbench.data.formats.explain import RefusedError, refusal
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.formats.records import decoded
from workbench.data.formats.source import detect_format, open_stream
from workbench.statistics.records.candidates import CandidateRow, Id, ProblemCandidates


class CandidateLine(Struct, frozen=True, kw_only=True):
    """A problem with its candidates, each with an id.

    Attributes:
        ground_truths: The id of the one that is the ground truth, if any is.
        json: The line, for whoever writes it out again.
        key: Where in it the candidates are.
    """

    line: int
    task_id: Id
    candidates: tuple[CandidateRow, ...]
    ground_truths: tuple[Id, ...]
    json: bytes
    key: str


_KEYS = ("candidates", "all_solutions", "input")
_NUMBERED = "all_solutions"
_LINE = msgspec.json.Decoder(ProblemCandidates)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read(path: Path) -> Iterator[CandidateLine | Refusal]:
    """The problems of a file, and the lines that can't be taken.

    Raises:
        FormatError: The file can't be read.
    """
    seen: dict[Id, int] = {}
    for row in _rows(path):
        for found in [row] if isinstance(row, Refusal) else _taken(row):
            if isinstance(found, CandidateLine) and found.task_id in seen:
                message = (
                    f"{found.task_id!r} stands on line {seen[found.task_id]} already. Put its candidates together."
                )
                yield refusal(found.line, row.raw, RefusedError("duplicate_key", "task_id", message))
                continue
            if isinstance(found, CandidateLine):
                seen[found.task_id] = found.line
            yield found


def _rows(path: Path) -> Iterator[SourceDocument | Refusal]:
    """A row a line; of one JSON document the rows of its list, or the whole of it."""
    kind = detect_format(path)
    with open_stream(path) as (stream, _):
        if kind != "json":
            yield from documents(stream, "jsonl", path, DEFAULT_MAX_LINE)
            return
        text = whole(stream, path)
        if text.lstrip().startswith(b"{"):
            yield SourceDocument(1, text, text)
            return
    with open_stream(path) as (stream, _):
        yield from documents(stream, "json", path, DEFAULT_MAX_LINE)


def _taken(row: SourceDocument) -> Iterator[CandidateLine | Refusal]:
    """The problem in a row, or the problems by name."""
    by_name = _named(row.json)
    for name, json in by_name.items() if by_name else [(None, row.json)]:
        found = decoded(row.line, json, _LINE)
        try:
            yield found if isinstance(found, Refusal) else _line(row.line, name, found, json)
        except RefusedError as error:
            yield refusal(row.line, row.raw, error)


def _named(json: bytes) -> dict[str, bytes]:
    """Lines by name, where a row is an object of nothing but such."""
    try:
        cells = {name: bytes(cell) for name, cell in _OBJECT.decode(json).items()}
        keys = [_OBJECT.decode(cell).keys() for cell in cells.values()]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return cells if all(not keys_of.isdisjoint(_KEYS) for keys_of in keys) else {}


def _line(number: int, name: str | None, found: ProblemCandidates, json: bytes) -> CandidateLine:
    """The problem.

    Raises:
        RefusedError: Something is missing, twice there or out of bounds.
    """
    task_id = name if found.task_id is None else found.task_id
    if task_id is None:
        raise RefusedError("missing_field", "task_id", "task_id is missing. Name the problem.")
    key = next((key for key in _KEYS if getattr(found, key) is not None), None)
    if key is None:
        raise RefusedError("missing_field", _KEYS[0], f"{task_id}: candidates are missing.")
    candidates = tuple(
        structs.replace(one, id=place) if one.id is None and key == _NUMBERED else one
        for place, one in enumerate(getattr(found, key))
    )
    _check(str(task_id), key, candidates)
    marked = any(one.ground_truth is not None for one in candidates)
    truths = tuple(
        one.id for one in candidates if one.id is not None and (one.ground_truth if marked else one.rank == 1)
    )
    if len(truths) > 1:
        field = f"{key}.{'ground_truth' if marked else 'rank'}"
        message = f"{task_id}: two candidates are the ground truth (rank 1). Only one can be."
        raise RefusedError("duplicate_key", field, message)
    return CandidateLine(line=number, task_id=task_id, candidates=candidates, ground_truths=truths, json=json, key=key)


def _check(task_id: str, key: str, candidates: Sequence[CandidateRow]) -> None:
    seen: set[Id] = set()
    for place, one in enumerate(candidates):
        at = f"{key}[{place}]"
        if one.id is None:
            raise RefusedError("missing_field", f"{at}.id", f"{task_id}: a candidate has no id.")
        if one.id in seen:
            raise RefusedError("duplicate_key", f"{at}.id", f"{task_id}: two candidates have the id {one.id!r}.")
        seen.add(one.id)
        _check_values(task_id, at, one)


def _check_values(task_id: str, at: str, one: CandidateRow) -> None:
    if not 0 <= one.average_test_score <= 1:
        message = f"{task_id}: a score is {one.average_test_score:g}. It is a share of tests, from 0 to 1."
        raise RefusedError("wrong_type", f"{at}.average_test_score", message)
    if not is_figure(one.average_time_taken):
        raise RefusedError(
            "wrong_type", f"{at}.average_time_taken", f"{task_id}: a time is no finite number (1e100 at most)."
        )
    if one.outcomes is not None and set(one.outcomes) - set(OUTCOMES):
        message = f"{task_id}: outcomes are letters of {''.join(OUTCOMES)}, one a test."
        raise RefusedError("wrong_type", f"{at}.outcomes", message)
