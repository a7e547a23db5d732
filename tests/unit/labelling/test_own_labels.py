"""Exported items include each annotator's own labels, with repeats and checks listed separately."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database import people
from workbench.core.label import EventKind, LabelEvent
from workbench.core.project import Project
from workbench.interchange.exporting import ExportOptions, export
from workbench.labelling import ledger
from workbench.labelling.coordinating import exclude, reopen

NAMES = ("ann", "bob", "cy")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path, numbered(4, types="labelled"))
    with made.database.write("full") as connection:
        for name in NAMES:
            people.add(connection, name)
    return made


def say(project: Project, person: int, kind: EventKind = "label", subject: int = 1, **fields: Any) -> str:
    uuid = str(UUID(int=project.database.reader().execute("SELECT count(*) FROM label_events").fetchone()[0]))
    event = LabelEvent(
        **{
            "uuid": uuid,
            "kind": kind,
            "task": "correctness",
            "subject": subject,
            "annotator": person,
            "created_at": people.now(),
            "verdict": "correct" if fields.get("task") != "type" else None,
            **fields,
        }
    )
    with project.database.write("full") as connection:
        ledger.record(connection, event)
    return uuid


def exported(project: Project, folder: Path, *, names: bool = True) -> dict[str, dict[str, Any]]:
    export(project, ExportOptions(file=folder / "out.jsonl", format="jsonl", names=names, force=True))
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    return {line["completion_id"]: line for line in lines}


def test_the_current_label_of_each_annotator_is_exported(project: Project, tmp_path: Path) -> None:
    first = say(project, 1, note="[b]hm[/b]", unsure=True, tags=("guessed",), partial=0.5)
    say(project, 1, verdict="incorrect", supersedes=first, guideline="2-abcdef")
    seen = say(project, 2)
    say(project, 3, "adjudication", seen=(seen,))
    say(project, 2, task="type", subtype="A1")
    found = exported(project, tmp_path)
    labels = [
        (row["annotator"], row.get("role"), row.get("verdict", row.get("subtype"))) for row in found["c0"]["labels"]
    ]
    assert labels == [
        ("ann", None, "incorrect"),
        ("bob", None, "correct"),
        ("cy", "adjudicator", "correct"),
        ("bob", None, "A1"),
    ]
    assert found["c0"]["labels"][0]["guideline"] == "2-abcdef"
    assert [row["subtype"] for row in found["c1"]["labels"]] == ["A1"], "a type counts for its question's completions"
    assert found["c2"]["labels"] == []


def test_notes_tags_and_marks_are_exported_with_the_verdict(project: Project, tmp_path: Path) -> None:
    say(project, 1, note="n", unsure=True, tags=("guessed",), partial=0.5, unblinded=True)
    (label,) = exported(project, tmp_path)["c0"]["labels"]
    assert {key: label[key] for key in ("note", "unsure", "tags", "partial", "unblinded")} == {
        "note": "n",
        "unsure": True,
        "tags": ["guessed"],
        "partial": 0.5,
        "unblinded": True,
    }


def test_repeats_and_checks_are_exported_separately(project: Project, tmp_path: Path) -> None:
    say(project, 1)
    repeat = say(project, 1, "repeat", verdict="incorrect")
    say(project, 1, "repeat", verdict="correct", supersedes=repeat)
    say(project, 2, "check")
    gone = say(project, 3, "check")
    say(project, 3, "retraction", verdict=None, supersedes=gone)
    found = exported(project, tmp_path)["c0"]
    assert [(row["annotator"], row["verdict"]) for row in found["labels"]] == [("ann", "correct")]
    assert [(row["annotator"], row["verdict"]) for row in found["repeats"]] == [("ann", "correct")]
    assert [row["annotator"] for row in found["checks"]] == ["bob"]


def test_labels_of_earlier_rounds_and_exclusions_are_not_own_labels(project: Project, tmp_path: Path) -> None:
    say(project, 1)
    reopen(project, [1], reason="why", by="dora")
    exclude(project, [1], reason="proof", by="dora")
    (label,) = exported(project, tmp_path)["c0"]["labels"]
    assert (label["annotator"], label["role"], label["reason"], label["round"]) == ("dora", "coordinator", "proof", 2)


def test_names_are_pseudonyms_by_default(project: Project, tmp_path: Path) -> None:
    say(project, 2)
    assert exported(project, tmp_path, names=False)["c0"]["labels"][0]["annotator"] == "annotator-2"
