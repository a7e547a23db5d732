"""A row of each code format, ours as documented, read with some fields changed."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.documents import ROOT
from workbench.core.code import CodeRecord, ProblemRecord
from workbench.core.item import Refusal
from workbench.data.formats.code import kinds
from workbench.data.formats.documents import SourceDocument
from workbench.data.formats.source import CODE_FORMATS

DOCUMENT = (ROOT / "docs" / "code-formats.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (\S+)\n(?:(?!^## ).)*?```json\n(.*?)\n```", re.DOTALL | re.MULTILINE)
FOREIGN = {path.stem: path.read_text() for path in sorted((ROOT / "tests/data/rows/code").glob("*.json"))}
EXAMPLES: dict[str, dict[str, Any]] = {
    name: json.loads(row) for name, row in [*FOREIGN.items(), *SECTION.findall(DOCUMENT)]
}


def read(name: str, *rows: dict[str, Any]) -> list[CodeRecord | Refusal]:
    reader = kinds.reader(CODE_FORMATS[name])
    raws = [json.dumps(row).encode() for row in rows]
    return [record for line, raw in enumerate(raws, 1) for record in reader(SourceDocument(line, raw, raw))]


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
