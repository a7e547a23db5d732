"""xVerify's data (VAR) and the files its evaluator writes.

Fields: https://huggingface.co/datasets/IAAR-Shanghai/VAR and ``src/xVerify/eval.py`` of IAAR-Shanghai/xVerify.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from workbench.data.formats.documents import Row, documents, json_rows
from workbench.data.formats.lines import Stream
from workbench.data.formats.logs.cells import answer, kept, maybe_text, said
from workbench.data.formats.logs.kind import LogKind, always
from workbench.data.formats.logs.logged import Grade, Logged, unread, verifier_name
from workbench.data.formats.source import FileFormat

_PEOPLE: Final = "human_judgment_result"
_JUDGED: Final = re.compile(r"(.+)_judgment(?:_result)?")
_WORDS: Final = {"correct": True, "incorrect": False}
_SUBTYPES: Final = {"alphabet_option": "C1", "categorical_label": "C4"}
"""Their answer types that are one subtype of ours; ``math`` and ``short_text`` are several."""

_REPORT: Final = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"llm"\s*:')
_TAKEN: Final = frozenset(
    {"question", "correct_answer", "llm_output", "model_name", "dataset", "prompt", "judge_valid"}
)


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is one of xVerify's rows."""
    return {"question", "llm_output", "correct_answer"} <= element.keys()


def begins(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a report of its evaluator, which has the rows in it."""
    return _REPORT.match(head) is not None


def rows(stream: Stream, kind: FileFormat, path: Path, max_line: int) -> Iterator[Row]:
    """The rows of an open file, be it a list of them or a report."""
    if kind != "json":
        return documents(stream, kind, path, max_line)
    return json_rows(stream, path, ("rows", "data", "results"))


def _read(row: Mapping[str, Any]) -> Iterator[Logged]:
    subtype = row.get("key_answer_type")
    yield Logged(
        item={
            "question": said(row, "question"),
            "reference": answer(row, "correct_answer") or "",
            "completion": said(row, "llm_output"),
            "model": maybe_text(row, "model_name"),
            "source": maybe_text(row, "dataset"),
            "subtype": _SUBTYPES.get(subtype) if isinstance(subtype, str) else None,
            "gold": _judged(row.get(_PEOPLE)),
            **kept(row, _TAKEN | _judgments(row).keys(), "xverify"),
        },
        grades=tuple(_grades(row)),
    )


def _grades(row: Mapping[str, Any]) -> Iterator[Grade]:
    """What each judge of the row said; whoever said neither word is not understood."""
    for key, judge in _judgments(row).items():
        value = row[key]
        if not isinstance(value, str):
            continue
        name = verifier_name("xverify", judge)
        verdict = _judged(value)
        if verdict is None:
            yield unread(name, value)
        else:
            yield Grade(verifier=name, verdict="correct" if verdict else "incorrect")


def _judgments(row: Mapping[str, Any]) -> dict[str, str]:
    """Key -> the judge whose judgment stands there."""
    found = {key: _JUDGED.fullmatch(key) for key in row if key != _PEOPLE}
    return {key: judge[1] for key, judge in found.items() if judge is not None}


def _judged(value: object) -> bool | None:
    return _WORDS.get(value.strip().lower()) if isinstance(value, str) else None


KIND: Final = LogKind(name="xverify", recognises=recognises, begin=always(_read), rows=rows, begins=begins)
