"""The formats with fixed fields: detects one by a file's beginning, and reads its items or its records of code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import structs

from workbench.core.code import CodeRecord, Problem, ProblemRecord
from workbench.core.item import Refusal
from workbench.data.formats import peers
from workbench.data.formats.code import contests, evalplus, seeds, sets
from workbench.data.formats.code.row import CodeRow, source_of
from workbench.data.formats.documents import Row, SourceDocument
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import RefusedError, Stream, make_refusal
from workbench.data.formats.logs import inspect_ai, judges, lm_eval, openai, trainers
from workbench.data.formats.logs.logged import Begin, Format, Grade, Logged, constant_reader
from workbench.data.formats.logs.prompts import plain_object
from workbench.data.formats.source import FileFormat, first_bytes


def _code(
    name: str, begin: Begin, *keys: str, without: Set[str] = frozenset(), holds: Literal["problems", "solutions"]
) -> Format:
    sets_of_keys = tuple({*one.split()} for one in keys)
    return Format(name=name, keys=sets_of_keys, without=without, begin=begin, parse=CodeRow, holds=holds)


def _records(name: str, read: Callable[[CodeRow], Iterable[CodeRecord]], *keys: str) -> Format:
    return _code(name, constant_reader(read), *keys, holds="problems")


def _problem(name: str, read: Callable[[CodeRow], Problem], *keys: str, source: str | None = None) -> Format:
    """Return a format with one problem a row; its source is that of the format, or the one its id names."""

    def record(row: CodeRow) -> Iterator[ProblemRecord]:
        problem = read(row)
        of = source or source_of(problem.task_id)
        yield ProblemRecord(line=row.line, raw=row.raw, problem=problem, source=of, extra=row.extra())

    return _records(name, record, *keys)


_TESTED: Final = "canonical_solution test entry_point"
KINDS: Final[dict[str, Format]] = {
    kind.name: kind
    for kind in (
        _records("scoring-verifiers", sets.read_scoring, "task_id all_solutions"),
        _records("evolved", seeds.evolved, "task_id question tests origins reward_model"),
        _records(
            "problems", sets.problems, "task_id prompt tests", "task_id prompt plus_tests", "task_id prompt suites"
        ),
        _code("solutions", constant_reader(sets.solutions), "task_id solution_id code", holds="solutions"),
        _problem("evalplus", evalplus.read, "task_id prompt entry_point canonical_solution base_input plus_input"),
        _problem("bigcodebench", contests.read_bigcodebench, f"task_id complete_prompt {_TESTED}"),
        _problem(
            "humaneval-x",
            sets.read_humaneval_x,
            "task_id prompt declaration canonical_solution test",
            source="code/HumanEval-X",
        ),
        _problem("humaneval", evalplus.read_humaneval, f"task_id prompt {_TESTED}"),
        _problem(
            "mbpp",
            evalplus.read_mbpp,
            "task_id code test_list text",
            "task_id code test_list prompt",
            source=evalplus.SOURCE,
        ),
        _records("code-contests", seeds.code_contests, "name description public_tests solutions"),
        _problem(
            "codeforces",
            seeds.codeforces,
            "id description input_format output_format official_tests",
            source="code/Codeforces",
        ),
        _problem("synthetic", seeds.synthetic, "prompt verification_info", source="code/SYNTHETIC"),
        _records("apps", partial(contests.read_apps, source="APPS"), "problem_id question solutions input_output"),
        _records("taco", partial(contests.read_apps, source="TACO"), "question solutions input_output"),
        _problem(
            "livecodebench",
            contests.read,
            "question_content question_id public_test_cases",
            source="code/LiveCodeBench",
        ),
        _problem("evolvecoder", sets.read, "id question tests", source="code/EvolveCoder"),
        _code(
            "samples",
            sets.begin_samples,
            *(f"task_id {one}" for one in sets.SAMPLE_FORMS),
            without={*FIELDS["reference"]},
            holds="solutions",
        ),
        lm_eval.KIND,
        inspect_ai.KIND,
        openai.KIND,
        judges.REWARDBENCH_KIND,
        judges.XVERIFY_KIND,
        judges.KIND,
        trainers.KIND,
        trainers.ROLLOUTS,
        trainers.RESPONSES,
        trainers.DATASET,
    )
}
"""The formats by name, in the order in which they are tried on a file: one whose keys are a subset of another's comes
after it.
"""

LATER: Final = frozenset[str]().union(*(kind.later for kind in KINDS.values()))
"""Codes of rejections that may be resolved by adding a file next to the imported one, see `Format.later`."""


def detect_document(path: Path) -> str | None:
    """Return the format whose files are single documents, such as a ZIP archive; None for a file of rows.

    Raises:
        FormatError: The file can't be read.
    """
    head = first_bytes(path)
    return next((name for name, kind in KINDS.items() if kind.begins(head)), None)


def detect_rows(keys: Collection[str], rows: Sequence[Mapping[str, msgspec.Raw]]) -> str | None:
    """Return the format of rows with these keys, of which the first ones are given; None for any other rows."""
    try:
        first = plain_object(msgspec.json.encode(rows[0])) if rows else {}
    except RefusedError:
        first = {}
    row = {**dict.fromkeys(keys), **first}
    return next((name for name, kind in KINDS.items() if kind.recognises(row)), None)


def records(
    stream: Stream, kind: Format, container: FileFormat, path: Path
) -> Iterator[tuple[Row | CodeRecord, tuple[Grade, ...]]]:
    """Yield the records of code in an open file, or its completions, each as a row of workbench's fields with its
    grades.

    Raises:
        FormatError: The file as a whole is not in this format.
    """
    read = kind.begin(path)
    for row in (kind.rows or peers.rows)(stream, container, path):
        if isinstance(row, Refusal):
            yield row, ()
            continue
        try:
            found = [_with_grades(row, one) for one in read(kind.parse(row))]
        except RefusedError as error:
            yield as_truncated(row, make_refusal(row.line, row.raw, error)), ()
        else:
            yield from found


def as_truncated(row: SourceDocument, refused: Refusal) -> Refusal:
    if refused.code != "bad_json" or not row.unterminated:
        return refused
    message = "The file ends in the middle of this line. Fetch it again."
    return structs.replace(refused, code="truncated", field=None, message=message)


def _with_grades(row: SourceDocument, found: Logged | CodeRecord) -> tuple[Row | CodeRecord, tuple[Grade, ...]]:
    if not isinstance(found, Logged):
        return found, ()
    return SourceDocument(row.line, _encoded(found.item), row.raw, row.unterminated), found.grades


def _encoded(item: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode({key: value for key, value in item.items() if value is not None})
    except UnicodeEncodeError:
        message = "A lone \\ud800–\\udfff escape is not a character. Remove or pair it."
        raise RefusedError("bad_utf8", None, message) from None
    except RecursionError:
        raise RefusedError("bad_json", None, "The row is nested too deeply. Flatten it.") from None
