"""Print a metric of a project's accuracy in every output: ``python -m tests.shown_metric PROJECT.db METRIC``."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner

from schemas import documents as schemas
from workbench.app.cli import root
from workbench.app.tui.kit.accuracy_sheet import AccuracySheet, verifier_detail
from workbench.app.tui.kit.accuracy_view import FIGURES
from workbench.core.project import open_project
from workbench.measuring.accuracy import accuracy


def _printed(*words: str) -> str:
    return CliRunner().invoke(root, words, catch_exceptions=False).stdout


def shown_of(path: str, metric: str) -> dict[str, object]:
    page = Path(path).with_suffix(".html")
    _printed("report", path, "--output", str(page))
    with closing(open_project(path)) as project:
        sheet = AccuracySheet(accuracy(project))
    detail = verifier_detail(sheet, sheet.verifiers[0], FIGURES[metric], descending=False, wide=True)
    texts = [cell.text for cell in detail.rows[0].cells]
    screen = dict(zip([column.title for column in detail.columns], texts, strict=True))
    forms = {form: _printed("accuracy", path, "--long", "--format", form) for form in ("text", "csv", "latex")}
    found = json.loads(_printed("accuracy", path, "--sort", metric, "--json"))
    return {**forms, "json": found, "schema": schemas.schema("accuracy"), "screen": screen, "report": page.read_text()}


if __name__ == "__main__":
    print(json.dumps(shown_of(*sys.argv[1:])))
