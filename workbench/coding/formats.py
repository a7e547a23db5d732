"""Read and write files of candidates, scored solutions and pass vectors, in external formats.

A line of candidates has ``task_id`` and ``candidates`` (see `CandidateRow`), or ``all_solutions``, whose ids are
optional. A file may also be one JSON list of such lines, or one object with such lines by name, in which the
candidates may be under ``input``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from workbench.coding.records.evolution import VectorCase
from workbench.core.code import OUTCOMES
from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.core.selection import is_usable_number
from workbench.data.formats.documents import Row, SourceDocument, documents, read_all, without_nan
from workbench.data.formats.lines import RefusedError, make_refusal
from workbench.data.formats.rows import decoded, read_checked
from workbench.data.formats.source import detect_format, open_stream
from workbench.statistics.records.ranking import CandidateRow, Id, ProblemCandidates, ScoredRow


class CandidateLine(Struct, frozen=True, kw_only=True):
    """A problem with its candidates, each with an id.

    Attributes:
        ground_truths: Ids of the candidates that are the ground truth.
        json: The original line, to be written again.
        key: The key in the line under which the candidates are.
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


def read(path: Path) -> Iterator[CandidateLine | Refusal]:
    """Return the problems of a file, and the rejected lines.

    Raises:
        FormatError: The file can't be read.
    """
    seen: dict[Id, int] = {}
    for name, row in _named_rows(path):
        found = row if isinstance(row, Refusal) else _parse_row(name, row)
        if isinstance(found, CandidateLine) and seen.setdefault(found.task_id, found.line) != found.line:
            message = f"{found.task_id!r} is on line {seen[found.task_id]} already. Put its candidates together."
            yield make_refusal(found.line, row.raw, RefusedError("duplicate_key", "task_id", message))
        else:
            yield found


def _named_rows(path: Path) -> Iterator[tuple[str | None, Row]]:
    """Yield the rows of a file: its lines, the elements of a JSON list, or the values of one object with their names.

    Raises:
        FormatError: The file can't be read.
    """
    kind = detect_format(path)
    with open_stream(path) as (stream, _):
        if kind != "json":
            yield from ((None, row) for row in documents(stream, "jsonl", path))
            return
        text = without_nan(read_all(stream, path))
    try:
        found = msgspec.json.decode(text, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{path}: {error}.", "Write one problem a line.") from error
    named: Iterable[tuple[str | None, msgspec.Raw | bytes]] = [(None, text)]
    if isinstance(found, list):
        named = ((None, row) for row in found)
    elif found.keys().isdisjoint((*_KEYS, "vectors")):
        named = found.items()
    for number, (name, row) in enumerate(named, 1):
        yield name, SourceDocument(number, bytes(row), bytes(row))


def _parse_row(name: str | None, row: SourceDocument) -> CandidateLine | Refusal:
    found = decoded(row.line, row.json, _LINE)
    try:
        return found if isinstance(found, Refusal) else _candidate_line(row.line, name, found, row.json)
    except RefusedError as error:
        return make_refusal(row.line, row.raw, error)


def _candidate_line(number: int, name: str | None, found: ProblemCandidates, json: bytes) -> CandidateLine:
    """Return a row's problem with its scored candidates.

    Raises:
        RefusedError: A field is missing, duplicated or out of range.
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
    _check_candidates(str(task_id), key, candidates)
    marked = any(one.ground_truth is not None for one in candidates)
    truths = tuple(
        one.id for one in candidates if one.id is not None and (one.ground_truth if marked else one.rank == 1)
    )
    if len(truths) > 1:
        field = f"{key}.{'ground_truth' if marked else 'rank'}"
        message = f"{task_id}: two candidates are the ground truth (rank 1). Only one can be."
        raise RefusedError("duplicate_key", field, message)
    return CandidateLine(line=number, task_id=task_id, candidates=candidates, ground_truths=truths, json=json, key=key)


def _check_candidates(task_id: str, key: str, candidates: Sequence[CandidateRow]) -> None:
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
    if not is_usable_number(one.average_time_taken):
        raise RefusedError(
            "wrong_type", f"{at}.average_time_taken", f"{task_id}: a time is not a finite number (1e100 at most)."
        )
    if one.outcomes is not None and set(one.outcomes) - set(OUTCOMES):
        message = f"{task_id}: outcomes are the letters {''.join(OUTCOMES)}, one a test."
        raise RefusedError("wrong_type", f"{at}.outcomes", message)


# -- Files of scored solutions, one a line, as Scoring Verifiers' ``evaluate.py`` reads them.


DATASETS: Final = ("HE_plus", "HE_base", "MBPP_plus", "MBPP_base")
"""Allowed names of data sets; the released code silently skips all others."""
SCORES: Final = {"utg": "average_test_score", "reward": "reward.reward_score"}
"""Verifier -> the key of its scores: generated tests, and a reward model."""
_SCORED_ROW = msgspec.json.Decoder(ScoredRow)


class ScoredRows(Struct, frozen=True, kw_only=True):
    """The scored solutions of a file.

    Attributes:
        verifiers: Verifiers with scores; every accepted row has a score of each of them.
        rows: The rows with their scores by verifier.
        refused: Rejected lines.
    """

    verifiers: tuple[str, ...]
    rows: list[tuple[ScoredRow, dict[str, float]]]
    refused: list[Refusal]


def read_scored_rows(path: Path) -> ScoredRows:
    """Read a file. A row is rejected if it lacks a score that others have.

    Raises:
        FormatError: The file can't be read, has no scores or rows, or names a data set that is not one of `DATASETS`.
    """
    taken: list[tuple[int, ScoredRow]] = []
    refused: list[Refusal] = []
    for line, found in read_checked(path, _SCORED_ROW, _scored_fault):
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            _require_known(path, line, found.dataset)
            taken.append((line, found))
    scores = [(line, row, _row_scores(row)) for line, row in taken]
    verifiers = tuple(name for name in SCORES if any(name in found for _, _, found in scores))
    if not verifiers and not refused:
        raise FormatError(f"{path}: no row has a score.", f"Scores are {' or '.join(SCORES.values())}.")
    rows = []
    for line, row, given in scores:
        missing = next((name for name in verifiers if name not in given), None)
        if missing is None:
            rows.append((row, given))
        else:
            message = f"{SCORES[missing]} is missing, and other rows have it."
            refused.append(make_refusal(line, b"", RefusedError("missing_field", SCORES[missing], message)))
    return ScoredRows(verifiers=verifiers, rows=rows, refused=sorted(refused, key=lambda one: one.line))


def _require_known(path: Path, line: int, dataset: str) -> None:
    if dataset not in DATASETS:
        raise FormatError(
            f"{path}:{line}:dataset: {dataset!r} is not one of the data sets.", f"They are {', '.join(DATASETS)}."
        )


def _row_scores(row: ScoredRow) -> dict[str, float]:
    found = {"utg": row.average_test_score, "reward": None if row.reward is None else row.reward.reward_score}
    return {name: score for name, score in found.items() if score is not None}


def _scored_fault(row: ScoredRow) -> tuple[str, str] | None:
    values = {"rank": row.rank, "ground_average_test_score": row.ground_average_test_score}
    values |= {SCORES[name]: score for name, score in _row_scores(row).items()}
    wrong = next((name for name, value in values.items() if not is_usable_number(value)), None)
    return None if wrong is None else (wrong, f"{wrong} is not a finite number, or above 1e100.")


# -- Files of pass vectors: one case a line, or one JSON object of named cases.


_CASE = msgspec.json.Decoder(VectorCase)


def read_vectors(path: Path) -> Iterator[tuple[int, VectorCase | Refusal]]:
    """Return the cases of a file with the numbers of their lines, and the rejected lines.

    Raises:
        FormatError: The file can't be read.
    """
    for name, row in _named_rows(path):
        if isinstance(row, Refusal):
            yield row.line, row
            continue
        case = decoded(row.line, row.json, _CASE)
        if isinstance(case, Refusal):
            yield row.line, case
        elif (message := _vector_fault(case)) is not None:
            yield row.line, make_refusal(row.line, row.raw, RefusedError("wrong_type", "vectors", message))
        else:
            yield row.line, structs.replace(case, name=name or case.name)


def _vector_fault(case: VectorCase) -> str | None:
    if not case.vectors or any(set(vector) - {"0", "1"} for vector in case.vectors):
        return "vectors is a list of texts of 0 and 1, one a solution."
    if len(set(map(len, case.vectors))) > 1:
        return "vectors have different lengths. Give every solution a character for every test."
    return None
