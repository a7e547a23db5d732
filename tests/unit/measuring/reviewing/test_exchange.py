"""Review files: they round-trip, a second import changes nothing, and bad lines name their error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.measuring.reviewing.desk import voted
from workbench.core.errors import FormatError, StoreError
from workbench.core.project import Project
from workbench.measuring.reviewing.deciding import (
    confirm,
    current_reviews,
    export_reviews,
    import_reviews,
    mark_error,
    take_back,
)

LINE = {
    "uuid": "u1",
    "kind": "confirmed",
    "dataset": "sample",
    "question_id": "q0",
    "completion_id": "c0",
    "reviewer": "chris",
    "created_at": "2025-01-01T00:00:00.000000Z",
    "gold": "correct",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return voted(tmp_path, "-", "-", gold="++")


def elsewhere(folder: Path, name: str = "-") -> Project:
    (folder / "there").mkdir()
    return voted(folder / "there", name, "-", gold="++")


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "reviews.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_exported_decisions_import_into_another_database(project: Project, tmp_path: Path) -> None:
    mark_error(project, 1, 1, "format", by="chris", queue="verifier-gold", note="\x1b[1m “é”\n[b]")
    mark_error(project, 1, 1, "units", by="dana")
    take_back(project, confirm(project, 2, by="chris").uuid, by="chris")
    path = tmp_path / "out.jsonl"
    assert export_reviews(project, path) == 4
    other = elsewhere(tmp_path)
    done = import_reviews(other, path)
    assert (done.imported, done.unchanged, done.refused) == (4, 0, 0)
    assert current_reviews(other) == current_reviews(project)
    assert [review.category for review in current_reviews(other)] == ["units"]
    again = import_reviews(other, path)
    assert (again.imported, again.unchanged, again.refused) == (0, 4, 0)
    second = tmp_path / "second.jsonl"
    export_reviews(other, second)
    assert second.read_bytes() == path.read_bytes()


def test_the_newest_decision_wins_in_any_import_order(project: Project, tmp_path: Path) -> None:
    error = {**LINE, "kind": "error", "verifier": "a"}
    late = {**error, "uuid": "u2", "category": "units", "created_at": "2025-01-02T00:00:00Z"}
    import_reviews(project, write(tmp_path, late, {**error, "category": "format"}))
    assert [review.uuid for review in current_reviews(project)] == ["u2"]


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"completion_id": "c9"}, "completion_id", "there is no completion 'c9'"),
        ({"kind": "error"}, "verifier", "an error must name a verifier"),
        ({"verifier": "a"}, "verifier", "no other decision may"),
        ({"kind": "error", "verifier": "a"}, "category", "an error needs a category"),
        ({"kind": "error", "verifier": "a", "category": "other"}, "note", "needs a note"),
        ({"kind": "error", "verifier": "b", "category": "units"}, "verifier", "no run of 'b'"),
        ({"kind": "error", "verifier": "a", "category": "odd"}, "category", "odd"),
        ({"kind": "retraction"}, "supersedes", "a retraction must name a decision"),
        ({"kind": "retraction", "supersedes": "u9"}, "supersedes", "no decision 'u9' on this item"),
        ({"reviewer": "\n"}, "reviewer", "'' is not a valid annotator name"),
        ({"created_at": "yesterday"}, "created_at", "created_at"),
        ({"queue": "nonsense"}, "queue", "nonsense"),
    ],
)
def test_a_bad_line_is_rejected_with_its_field(
    project: Project, tmp_path: Path, change: dict[str, Any], field: str, message: str
) -> None:
    done = import_reviews(project, write(tmp_path, {**LINE, **change}, {**LINE, "uuid": "u2"}))
    assert (done.imported, done.refused) == (1, 1)
    refusal = done.refusals[0]
    assert (refusal.line, refusal.field) == (1, field)
    assert message in refusal.message
    assert len(current_reviews(project)) == 1


def test_a_known_uuid_with_other_content_is_rejected(project: Project, tmp_path: Path) -> None:
    done = import_reviews(project, write(tmp_path, LINE, {**LINE, "note": "other"}))
    assert (done.imported, done.refused) == (1, 1)
    assert "another review of this uuid" in done.refusals[0].message


def test_files_are_not_overwritten_nor_is_the_database(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(FormatError, match="exists"):
        export_reviews(project, path)
    assert export_reviews(project, path, force=True) == 0
    with pytest.raises(StoreError):
        export_reviews(project, project.path, force=True)
