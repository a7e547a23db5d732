"""The counts of a project: correct during an import, and without a scan of every item."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import add_items, make_project, numbered
from workbench.core.project import Project
from workbench.measuring.briefing import status


def sizes(project: Project) -> dict[str, tuple[int, int]]:
    return {one.name: (one.questions, one.items) for one in status(project).datasets}


def test_items_of_a_running_import_are_not_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    add_items(project.database, numbered(9, dataset="other"))
    with project.database.write() as connection:
        connection.execute("INSERT INTO datasets (name, created_at) VALUES ('empty', '')")
    assert sizes(project) == {"sample": (3, 6), "other": (5, 9), "empty": (0, 0)}
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, started_at) "
            "SELECT id, 'f', 'jsonl', 'running', 13, 7, '' FROM datasets WHERE name = 'other'"
        )
    found = status(project)
    assert sizes(project) == {"sample": (3, 6), "other": (3, 6), "empty": (0, 0)}
    assert (found.items, found.states["unlabelled"], found.questions) == (12, 12, 6)
    project.close()


def test_a_project_without_datasets(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    assert (status(project).items, status(project).datasets) == (0, [])
    project.close()


def test_counting_does_not_scan_every_item(tmp_path: Path) -> None:
    assert abs(steps(tmp_path / "small", 100) - steps(tmp_path / "large", 5_000)) < 100


def steps(folder: Path, items: int) -> int:
    """Count the SQLite virtual machine steps for this many items of one question."""
    folder.mkdir()
    rows = [{"question_id": "q", "completion_id": f"c{number}"} for number in range(items)]
    project = make_project(folder, rows)
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    status(project)
    project.database.reader().set_progress_handler(step, 1)
    assert status(project).items == items
    project.database.reader().set_progress_handler(None, 1)
    project.close()
    return taken
