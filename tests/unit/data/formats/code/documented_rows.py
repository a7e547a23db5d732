"""A documented row of each code format, read with some fields changed."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.documents import ROOT
from workbench.core.code import CodeRecord, ProblemRecord, SolutionRecord
from workbench.core.item import Refusal
from workbench.data.formats import kinds

DOCUMENT = (ROOT / "docs" / "code-formats.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (\S+)\n(?:(?!^## ).)*?```json\n(.*?)\n```", re.DOTALL | re.MULTILINE)
FOREIGN = {path.stem: path.read_text() for path in sorted((ROOT / "tests/data/rows/code").glob("*.json"))}
EXAMPLES: dict[str, dict[str, Any]] = {
    name: json.loads(row) for name, row in [*FOREIGN.items(), *SECTION.findall(DOCUMENT)]
}


def read(name: str, *rows: dict[str, Any]) -> list[CodeRecord | Refusal]:
    return read_lines(name, b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def read_lines(name: str, lines: bytes) -> list[CodeRecord | Refusal]:
    found = kinds.records(BytesIO(lines), kinds.KINDS[name], "jsonl", Path("rows.jsonl"))
    return [record for record, _ in found if isinstance(record, ProblemRecord | SolutionRecord | Refusal)]


def problem(name: str, **changed: Any) -> ProblemRecord:
    """The problem of the example with some fields changed; those that are ``...`` are left out."""
    row = {key: value for key, value in {**EXAMPLES[name], **changed}.items() if value is not ...}
    found = read(name, row)[0]
    assert isinstance(found, ProblemRecord), found
    return found


def refused(name: str, **changed: Any) -> Refusal:
    row = {key: value for key, value in {**EXAMPLES[name], **changed}.items() if value is not ...}
    (found,) = read(name, row)
    assert isinstance(found, Refusal), found
    return found


def suites(record: ProblemRecord) -> dict[str, list[tuple[str, str]]]:
    return {name: [(test.form, test.source) for test in tests] for name, tests in record.problem.suites.items()}
