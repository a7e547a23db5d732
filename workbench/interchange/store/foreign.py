"""Read runs and evolutions of another database as records; the values are validated, but not trusted."""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from workbench.coding.records.evolution import EvolutionSettings, Step
from workbench.core.code import OUTCOMES, Execution, Failure, Provenance
from workbench.core.database import foreign
from workbench.core.run import ConfiguredVerifier
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.labelling.store.foreign import ForeignSubject
from workbench.llm.records import JournaledCall, Response, Usage
from workbench.runs.store.calls import AttemptOutcome

Connection = sqlite3.Connection
_TABLES: Final = (
    *("datasets", "questions", "question_text", "completions", "completion_text", "verifiers", "runs", "provenance"),
    *("verdicts", "verdict_evidence", "verdict_calls", "verdict_traces", "requests", "responses", "attempts"),
    *("code_problems", "code_solutions", "suites", "tests", "solution_tests", "test_results"),
    *("evolutions", "evolution_steps"),
)
_STEP: Final = msgspec.json.Decoder(Step)


class MalformedRow(ValueError):
    """A row holds data that this program would not have written."""


_UNREADABLE: Final = (msgspec.MsgspecError, MalformedRow, UnicodeError, RecursionError)


def _error_text(error: Exception) -> str:
    return "a text holds bytes that are not text" if isinstance(error, UnicodeError) else str(error)


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """Open a read-only connection to the runs and evolutions of a database.

    Raises:
        StoreError: The file is not a workbench database of this program's version, or is damaged.
    """
    with foreign.opened(path, _TABLES) as connection:
        yield connection


# -- Runs.


class _Configuration(Struct):
    options: dict[str, str]
    config: dict[str, Any]


class ForeignRun(Struct, frozen=True, kw_only=True):
    """A run and its configuration.

    Attributes:
        provenance: Everything that its test results depend on.
    """

    id: int
    verifier: ConfiguredVerifier
    version: str
    selection: Selection
    provenance: tuple[Provenance, ...]


_RUNS: Final = (
    "SELECT r.id, r.version, r.selection, v.name, v.kind, v.config, v.config_hash, p.document FROM runs AS r "
    "JOIN verifiers AS v ON v.id = r.verifier_id LEFT JOIN provenance AS p ON p.run_id = r.id ORDER BY r.id"
)


def runs(theirs: Connection) -> list[ForeignRun]:
    """Return all runs, the oldest first.

    Raises:
        MalformedRow: A run is not valid.
    """
    return [_run(*row) for row in theirs.execute(_RUNS)]


def _run(
    number: int, version: str, selection: str, name: str, kind: str, config: str, config_hash: str, document: str | None
) -> ForeignRun:
    try:
        found = msgspec.json.decode(config, type=_Configuration)
        verifier = {"id": 0, "name": name, "kind": kind, "config_hash": config_hash}
        run = {
            "id": number,
            "verifier": {**verifier, "options": found.options, "config": found.config},
            "version": version,
            "selection": msgspec.json.decode(selection),
            "provenance": msgspec.json.decode(document or "[]"),
        }
        return _require_encodable(msgspec.convert(run, ForeignRun))
    except _UNREADABLE as error:
        raise MalformedRow(f"run {number} can't be read: {_error_text(error)}") from error


# -- The items of a run, some hundred at a time.


class ForeignItem(NamedTuple):
    id: int
    name: ForeignSubject


class ForeignCall(Struct, frozen=True, kw_only=True):
    """A call that a verdict is based on, with its reply.

    Attributes:
        unread_by: The parser that could not parse the reply; None if it could be parsed.
    """

    step: str
    role: str
    reused: bool
    call: JournaledCall
    reply: Response
    created_at: str
    unread_by: str | None


class MadeAttempt(Struct, frozen=True, kw_only=True):
    key: bytes
    url: str
    sent_at: str
    outcome: AttemptOutcome
    usage: Usage | None


class ForeignVerdict(Struct, frozen=True, kw_only=True):
    """An item's verdict with its evidence.

    Attributes:
        samples: Verdicts by sample: 0 is the item's verdict, the others are its votes.
        outcomes: Outcomes of its tests, by suite.
        trace: The verifier's trace, as JSON.
    """

    samples: dict[int, Verdict]
    outcomes: dict[str, Execution]
    trace: str | None
    calls: tuple[ForeignCall, ...]
    attempts: tuple[MadeAttempt, ...]


def items(theirs: Connection, run: int, after: int, most: int) -> list[ForeignItem]:
    rows = theirs.execute(
        "SELECT v.completion_id, d.name, q.key, c.key FROM verdicts AS v CROSS JOIN completions AS c ON c.id = "
        "v.completion_id CROSS JOIN questions AS q ON q.id = c.question_id CROSS JOIN datasets AS d ON d.id = "
        "q.dataset_id WHERE v.run_id = ? AND v.completion_id > ? AND v.sample = 0 ORDER BY v.completion_id LIMIT ?",
        (run, after, most),
    )
    return [ForeignItem(item, ForeignSubject(*names)) for item, *names in rows]


_VERDICTS: Final = (
    "SELECT v.completion_id, v.sample, v.outcome, v.score, v.reason, v.ms, e.rule, e.reference_final, "
    "e.candidate_final, e.reference_start, e.reference_end, e.span_start, e.span_end, e.detail FROM verdicts AS v "
    "LEFT JOIN verdict_evidence AS e ON e.run_id = v.run_id AND e.completion_id = v.completion_id "
    "AND e.sample = v.sample WHERE v.run_id = ? AND v.completion_id BETWEEN ? AND ?"
)
_OUTCOMES: Final = (
    "SELECT completion_id, suite, outcomes, isolation, forgeable, ms, failures FROM test_results "
    "WHERE run_id = ? AND completion_id BETWEEN ? AND ?"
)
_TRACES: Final = "SELECT completion_id, trace FROM verdict_traces WHERE run_id = ? AND completion_id BETWEEN ? AND ?"
_CALLS: Final = (
    "SELECT v.completion_id, v.step, v.role, v.reused, r.key, q.hash, q.body, q.profile, q.model, r.sample, r.server, "
    "r.task, r.body, r.ms, r.origin, r.prompt_tokens, r.cached_tokens, r.completion_tokens, r.reasoning_tokens, "
    "r.cost, r.created_at, r.unread_by FROM verdict_calls AS v CROSS JOIN responses AS r ON r.id = v.response_id "
    "CROSS JOIN requests AS q ON q.id = r.request_id WHERE v.run_id = ? AND v.completion_id BETWEEN ? AND ? "
    "ORDER BY v.completion_id, v.position"
)
_ATTEMPTS: Final = (
    "SELECT a.completion_id, a.key, a.url, a.sent_at, a.state, a.status, a.code, a.detail, r.id, r.prompt_tokens, "
    "r.cached_tokens, r.completion_tokens, r.reasoning_tokens, r.cost FROM attempts AS a "
    "LEFT JOIN responses AS r ON r.key = a.key AND a.state = 'done' "
    "WHERE a.run_id = ? AND a.completion_id IS NOT NULL ORDER BY a.completion_id, a.id"
)


class VerdictReader:
    """Reads the evidence of a run's verdicts, in the order of its items."""

    def __init__(self, theirs: Connection, run: int) -> None:
        self._theirs, self._run = theirs, run
        self._attempts = groupby(theirs.execute(_ATTEMPTS, (run,)), key=lambda row: row[0])
        self._next: tuple[int, list[tuple[Any, ...]]] = (0, [])

    def read(self, some: Sequence[ForeignItem]) -> Iterator[tuple[ForeignItem, ForeignVerdict | str]]:
        asked = (self._run, some[0].id, some[-1].id)
        verdicts, outcomes, traces, calls = (
            _by_item(self._theirs.execute(text, asked)) for text in (_VERDICTS, _OUTCOMES, _TRACES, _CALLS)
        )
        for one in some:
            attempts = self._attempts_of(one.id)
            try:
                found = ForeignVerdict(
                    samples={row[0]: _convert_verdict(*row[1:]) for row in verdicts[one.id] if _is_sample(row[0])},
                    outcomes={row[0]: _convert_execution(*row[1:]) for row in outcomes[one.id]},
                    trace=next((_convert_trace(row[0]) for row in traces[one.id]), None),
                    calls=tuple(_convert_call(*row) for row in calls[one.id]),
                    attempts=tuple(_convert_attempt(*row) for row in attempts),
                )
                yield one, _require_encodable(found)
            except _UNREADABLE as error:
                yield one, f"its verdict can't be read: {_error_text(error)}"

    def _attempts_of(self, item: int) -> list[tuple[Any, ...]]:
        while self._next[0] < item:
            number, rows = next(self._attempts, (2**63, iter(())))
            self._next = number, [row[1:] for row in rows]
        return self._next[1] if self._next[0] == item else []


def _by_item(rows: Iterator[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for item, *rest in rows:
        found[item].append(tuple(rest))
    return found


def _is_sample(value: object) -> bool:
    if isinstance(value, int) and 0 <= value < 2**31:
        return True
    raise MalformedRow(f"{value!r} is not a sample")


def _convert_verdict(outcome: Any, score: Any, reason: Any, ms: Any, rule: Any, *evidence: Any) -> Verdict:
    reference, candidate, *spans, detail = evidence
    return msgspec.convert(
        {
            "outcome": msgspec.convert(outcome, OutcomeCode).word,
            "score": _require_finite(score),
            "reason": reason,
            "ms": _require_finite(ms),
            "rule": rule,
            "reference_final": reference,
            "candidate_final": candidate,
            "reference_span": _convert_span(*spans[:2]),
            "candidate_span": _convert_span(*spans[2:]),
            "detail": detail,
        },
        Verdict,
    )


def _require_finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedRow(f"{value} is not a number to count with")
    return value


def _convert_span(start: Any, end: Any) -> tuple[Any, Any] | None:
    if start is None and end is None:
        return None
    if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < 2**31:
        return start, end
    raise MalformedRow(f"{start!r} to {end!r} is not a place in a text")


def _convert_execution(outcomes: Any, isolation: Any, forgeable: Any, ms: Any, failures: Any) -> Execution:
    if not isinstance(outcomes, str) or not OUTCOMES.keys() >= {*outcomes}:
        raise MalformedRow("outcomes of tests have other letters")
    if not isinstance(forgeable, int) or not 0 <= forgeable <= len(outcomes):
        raise MalformedRow(f"{forgeable!r} passes can't be forgeable")
    read = () if failures is None else msgspec.json.decode(failures, type=tuple[Failure, ...])
    found = {"outcomes": outcomes, "level": f"L{isolation}", "forgeable": forgeable, "ms": _require_finite(ms)}
    return msgspec.structs.replace(msgspec.convert(found, Execution), failures=read)


def _convert_trace(text: Any) -> str:
    msgspec.json.decode(text, type=dict[str, Any])
    return str(text)


def _convert_call(step: Any, role: Any, reused: Any, *columns: Any) -> ForeignCall:
    key, request, body, profile, model, sample, server, task, reply, ms, origin, *usage, created_at, unread_by = columns
    found = {
        "step": step,
        "role": role,
        "reused": bool(reused),
        "call": {
            "key": key,
            "server": server or "",
            "request": request,
            "body": body,
            "profile": profile,
            "model": model,
            "sample": sample,
            "url": "",
        },
        "reply": {
            "profile": profile,
            "task": task,
            "body": reply,
            "usage": _usage_fields(usage),
            "ms": _require_finite(ms),
            "origin": origin,
        },
        "created_at": created_at,
        "unread_by": unread_by,
    }
    return msgspec.convert(found, ForeignCall, builtin_types=(bytes,))


def _usage_fields(columns: Sequence[Any]) -> dict[str, Any]:
    names = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost")
    return dict(zip(names, map(_require_finite, columns), strict=True))


def _convert_attempt(
    key: Any, url: Any, sent_at: Any, state: Any, status: Any, code: Any, detail: Any, *reply: Any
) -> MadeAttempt:
    found = {
        "key": key,
        "url": url,
        "sent_at": sent_at,
        "outcome": {"attempt": 0, "state": state, "status": status, "code": code, "detail": detail},
        "usage": None if reply[0] is None else _usage_fields(reply[1:]),
    }
    return msgspec.convert(found, MadeAttempt, builtin_types=(bytes,))


Record = TypeVar("Record")


def _require_encodable(record: Record) -> Record:
    msgspec.msgpack.encode(record)
    return record


# -- The inputs behind outcomes of tests; works on any database.


def execution_inputs(connection: Connection, item: int, suites: Sequence[str]) -> list[tuple[object, ...]]:
    """Return what a solution's execution depends on: the problem's context, the text's form, tests of some suites."""
    (question,) = connection.execute("SELECT question_id FROM completions WHERE id = ?", (item,)).fetchone()
    found: list[tuple[object, ...]] = []
    found += connection.execute(
        "SELECT entry_point, setup, language, seconds FROM code_problems WHERE question_id = ?", (question,)
    )
    found += connection.execute("SELECT form FROM code_solutions WHERE completion_id = ?", (item,))
    for suite in suites:
        for table, owner, number in (("tests", "question", question), ("solution_tests", "completion", item)):
            found += connection.execute(
                f"SELECT t.form, t.source, t.expected FROM {table} AS t JOIN suites AS s ON s.id = t.suite_id "
                f"WHERE t.{owner}_id = ? AND s.name = ? ORDER BY t.position",
                (number, suite),
            )
    return found


# -- Evolutions of tests, problem by problem.


class ForeignEvolution(NamedTuple):
    id: int
    dataset: str
    name: str
    settings: EvolutionSettings


class ForeignProblem(NamedTuple):
    """A problem's steps; their solutions are row ids of the other database."""

    id: int
    name: ForeignSubject
    steps: list[Step]


def evolutions(theirs: Connection) -> list[ForeignEvolution]:
    """Return all evolutions, the oldest first.

    Raises:
        MalformedRow: An evolution has no settings.
    """
    found = []
    for number, dataset, name, config in theirs.execute(
        "SELECT e.id, d.name, e.name, e.config FROM evolutions AS e JOIN datasets AS d ON d.id = e.dataset_id "
        "ORDER BY e.id"
    ):
        try:
            settings = msgspec.json.decode(config, type=EvolutionSettings)
            msgspec.msgpack.encode((dataset, name))
        except _UNREADABLE as error:
            raise MalformedRow(f"evolution {number} can't be read: {_error_text(error)}") from error
        found.append(ForeignEvolution(number, dataset, name, settings))
    return found


def evolved_problems(theirs: Connection, evolution: int) -> Iterator[ForeignProblem | tuple[ForeignSubject, str]]:
    """Yield the problems of an evolution, each with its steps in order, or why these can't be read."""
    rows = theirs.execute(
        "SELECT e.question_id, d.name, q.key, e.position, e.document FROM evolution_steps AS e "
        "JOIN questions AS q ON q.id = e.question_id JOIN datasets AS d ON d.id = q.dataset_id "
        "WHERE e.evolution_id = ? ORDER BY e.question_id, e.position",
        (evolution,),
    )
    for (question, dataset, key), some in groupby(rows, key=lambda row: row[:3]):
        name = ForeignSubject(dataset, key, None)
        found = list(some)
        try:
            if [row[3] for row in found] != list(range(len(found))):
                raise MalformedRow("a step is missing")
            steps = [_require_encodable(_STEP.decode(row[4])) for row in found]
        except _UNREADABLE as error:
            yield name, f"its steps can't be read: {_error_text(error)}"
        else:
            yield ForeignProblem(question, name, steps)


def solution_names(theirs: Connection, items: Sequence[int]) -> list[ForeignSubject]:
    """Return the names of solutions, in their order.

    Raises:
        MalformedRow: A solution does not exist.
    """
    found = []
    for item in items:
        row = theirs.execute(
            "SELECT d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
            "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
            (item,),
        ).fetchone()
        if row is None:
            raise MalformedRow(f"solution {item} of its pool is not there")
        found.append(ForeignSubject(*row))
    return found
