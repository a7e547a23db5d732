"""Reading the pending items of a run: the cost grows linearly with the items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.runs.store import verdicts

STEP = 100


def effort(project: Project, selection: Selection) -> int:
    """Instructions of SQLite's machine, in hundreds, to read all pending items of a new run."""
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    reader = project.database.reader()
    reader.set_progress_handler(tick, STEP)
    for _ in verdicts.pending(project.database, 0, selection):
        pass
    reader.set_progress_handler(None, STEP)
    return ticks


@pytest.mark.parametrize("where", [[], ["dataset=sample"], ["gold=correct"], ["state=final"], ["question_id=q3"]])
def test_reading_costs_grow_linearly(tmp_path: Path, where: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_WINDOW", 20)
    selection = Selection(tuple(map(parse_condition, where)))
    efforts = []
    for number in (500, 1000):
        folder = tmp_path / str(number)
        folder.mkdir()
        project = make_project(folder, numbered(number))
        efforts.append(effort(project, selection))
        project.close()
    assert efforts[1] < 2.5 * efforts[0]


def test_items_are_read_in_import_order_with_their_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_WINDOW", 7)
    monkeypatch.setattr(verdicts, "_TEXTS_PER_READ", 3)
    project = make_project(
        tmp_path, [{"dataset": "first", "subtype": "B5", "question": "What?", "reference": "9"}, *numbered(20)]
    )
    items = [item for chunk in verdicts.pending(project.database, 0, Selection()) for item in chunk]
    assert [item.item for item in items] == list(range(1, 22))
    assert (items[0].question, items[0].reference, items[0].subtype) == ("What?", "9", "B5")
    assert (items[1].completion, items[1].subtype) == (r"So \boxed{7}.", None)
    project.close()


def test_items_of_an_unfinished_import_are_not_judged(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, started_at) "
            "VALUES (1, 'x', 'jsonl', 'running', 4, 2, '')"
        )
    items = [item.item for chunk in verdicts.pending(project.database, 0, Selection()) for item in chunk]
    assert items == [1, 2, 3]
    project.close()


def test_items_include_the_examples_of_their_row(tmp_path: Path) -> None:
    extras = [json.dumps({"example": ">>> f(1)\n2", "other": 1}), json.dumps({"example": ["a"]}), "{}", None]
    project = make_project(tmp_path, [{"extra": extra} for extra in extras])
    (items,) = verdicts.pending(project.database, 0, Selection())
    assert [item.example for item in items] == [">>> f(1)\n2", None, None, None]
    project.close()
