"""Trust in label files: which annotators they may speak for, and confusable names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.helpers import make_project, merge, numbered
from workbench.app.cli import root
from workbench.core.database import events
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.labels import LabelsImported, import_labels


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(4))
    people.add_annotators(made, ["amira", "ben", "José", "Иван", "o1"])
    yield made
    made.close()


def line(**fields: Any) -> dict[str, Any]:
    return {"completion_id": "c1", "annotator": "amira", "verdict": "correct"} | fields


def taken(project: Project, folder: Path, *lines: dict[str, Any], only: str | None = None) -> LabelsImported:
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return import_labels(project, path, only)


SEEMING = {
    "case": "Amira",
    "capitals": "AMIRA",
    "a Cyrillic letter": "аmira",
    "all Cyrillic where Latin has its like": "Сора",
    "wide letters": "ａｍｉｒａ",
    "mathematical letters": "𝐚𝐦𝐢𝐫𝐚",
    "a Greek letter": "οne",
    "no-break space": "amira ",
    "decomposed in another case": "JOSE\u0301",
    "Latin for Cyrillic": "Ивaн",
    "dotless": "amıra",
    "circled": "ⓐmira",
    "zero width": "am\u200bira",
    "right to left": "\u202eamira",
    "sharp s beside ss": "straße",
}


@pytest.mark.few(5)
@pytest.mark.parametrize("how", SEEMING)
def test_a_confusable_name_is_rejected(project: Project, tmp_path: Path, how: str) -> None:
    people.add_annotators(project, ["strasse", "copa"])
    name = SEEMING[how]
    before = [person.name for person in people.annotators(project)]
    report = taken(project, tmp_path, line(annotator=name))
    if name.strip() == "amira":
        assert report.imported == 1
        assert report.new_people == []
    else:
        assert (report.imported, report.refused) == (0, 1)
        assert report.refusals[0]["field"] == "annotator"
        with pytest.raises(UsageError):
            people.add_annotators(project, [name])
    assert [person.name for person in people.annotators(project)] == before


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "name", ["jose", "Jose", "amira2", "Ира", "Ольга Ben", "amira b", "o2", "ami-ra", "美咲", "Ωmega"]
)
def test_a_distinct_name_is_accepted(project: Project, tmp_path: Path, name: str) -> None:
    if name == "Ωmega":
        # A word in two alphabets is not a valid name.
        assert taken(project, tmp_path, line(annotator=name)).refused == 1
        return
    report = taken(project, tmp_path, line(annotator=name))
    assert (report.imported, report.new_people) == (1, [name])


def test_existing_confusable_names_are_kept(project: Project, tmp_path: Path) -> None:
    with project.database.write() as connection:
        connection.execute("INSERT INTO annotators (name, role, created_at) VALUES ('Ben', 'annotator', '2026')")
    report = taken(project, tmp_path, line(annotator="Ben"), line(annotator="ben", verdict="incorrect"))
    assert (report.imported, report.refused) == (2, 0)


def test_the_trust_in_a_file_is_reported(project: Project, tmp_path: Path) -> None:
    lines = [
        line(),
        line(annotator="ben", verdict="incorrect"),
        line(annotator="dora", role="adjudicator", verdict="incorrect"),
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    ran = CliRunner().invoke(root, ["labels", str(project.path), "import", str(path)])
    assert ran.exit_code == 0
    assert "accepted for: amira 1, ben 1, dora 1 (adjudication 1, label 2)" in ran.output
    assert "new here: dora" in ran.output
    again = import_labels(project, path)
    assert (again.people, again.kinds, again.new_people) == ({}, {}, [])


HISTORY: dict[str, Any] = {
    "uuid": "0d5b9c1e-0000-4000-8000-000000000001",
    "created_at": "2025-01-01T00:00:00Z",
    "round": 1,
}
FORGED: dict[str, dict[str, Any]] = {
    "another's label": {"annotator": "ben"},
    "a new person's": {"annotator": "eve"},
    "a ruling by role": {"role": "adjudicator"},
    "a ruling by kind": HISTORY | {"kind": "adjudication"},
    "an exclusion": HISTORY | {"kind": "exclusion", "verdict": "unsuitable", "reason": "other"},
    "a reopening": HISTORY | {"kind": "reopen", "verdict": None, "round": 2},
    "an answer to a check": HISTORY | {"kind": "check"},
    "an answer of the coordinator": HISTORY | {"kind": "answer", "verdict": None, "note": "yes"},
    "a coordinator's word": {"role": "coordinator"},
    "a look-alike": {"annotator": "Amira"},
}


@pytest.mark.few(4)
@pytest.mark.parametrize("forgery", FORGED)
def test_a_file_of_one_annotator_cannot_label_for_others_or_decide(
    project: Project, tmp_path: Path, forgery: str
) -> None:
    report = taken(project, tmp_path, line(completion_id="c2"), line(**FORGED[forgery]), only="amira")
    assert (report.imported, report.refused, report.people) == (1, 1, {"amira": 1})
    assert report.new_people == []
    held = events.all_events(project.database.reader())
    assert [(event.kind, event.verdict) for event in held] == [("label", "correct")]


def test_a_file_of_one_annotator_cannot_retract_a_ruling(project: Project, tmp_path: Path) -> None:
    taken(project, tmp_path, line(annotator="ben"), line(annotator="amira", role="adjudicator", verdict="incorrect"))
    ruling = next(event for event in events.all_events(project.database.reader()) if event.kind == "adjudication")
    back = line(**HISTORY | {"kind": "retraction", "verdict": None, "supersedes": ruling.uuid})
    report = taken(project, tmp_path, back, only="amira")
    assert (report.imported, report.refused) == (0, 1)
    with pytest.raises(UsageError, match="no annotator"):
        taken(project, tmp_path, line(), only="nobody")


def test_a_database_with_confusable_annotators_is_rejected(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(4))
    taken(other, tmp_path / "other", line(annotator="Amira"), line(annotator="ben"), line(annotator="eve"))
    other.close()
    report = merge(project, other.path, whole=True)
    assert report.people == {"ben": 1, "eve": 1}
    assert [(row.annotator, row.field) for row in report.refused] == [("Amira", "annotator")]


@pytest.mark.parametrize(
    ("kind", "number", "closed"),
    [("repeat", 2, {"repeat"}), ("repeat", 1, set()), ("check", 1, {"check"}), ("check", 2, {"check"})],
)
def test_an_answer_closes_only_its_own_assignment(
    project: Project, tmp_path: Path, kind: str, number: int, closed: set[str]
) -> None:
    """A repeat of an earlier round or an answer to a check does not answer the open repeat."""
    taken(project, tmp_path, line())
    subject, person = next(events.all_events(project.database.reader())).subject, people_of(project)["amira"]
    with project.database.write() as connection:
        for purpose in ("check", "repeat"):
            connection.execute(
                "INSERT INTO assignments (task, subject, purpose, round, slot, position) "
                "VALUES ('correctness', ?, ?, 2, ?, 0)",
                (subject, purpose, person),
            )
    report = taken(project, tmp_path, line(**HISTORY | {"kind": kind, "round": number}))
    assert (report.imported, report.refused) == (1, 0)
    found = project.database.reader().execute("SELECT purpose FROM assignments WHERE state = 'done'").fetchall()
    assert {purpose for (purpose,) in found} == closed


def people_of(project: Project) -> dict[str, int]:
    return dict(project.database.reader().execute("SELECT name, id FROM annotators").fetchall())


OWN, THEIRS = "0d5b9c1e-abcd-4000-8000-00000000000a", "0d5b9c1e-abcd-4000-8000-00000000000b"


def test_one_uuid_in_other_forms_is_one_label(project: Project, tmp_path: Path) -> None:
    said = HISTORY | {"kind": "label", "task": "correctness"}
    forms = (OWN, OWN.upper(), f"{{{OWN}}}", OWN.replace("-", ""), f"urn:uuid:{OWN}")
    strange = (OWN.replace("0", "０"), f"0_{OWN[1:]}".replace("0_d", "_d"), f" {OWN}", "mine")
    report = taken(project, tmp_path, *(line(**said | {"uuid": form}) for form in (*forms, *strange)))
    assert (report.imported, report.unchanged) == (1, len(forms) - 1)
    assert [refusal["field"] for refusal in report.refusals] == ["uuid"] * len(strange)
    assert project.database.reader().execute("SELECT uuid FROM label_events").fetchall() == [(OWN,)]


@pytest.mark.parametrize("field", ["supersedes", "seen"])
def test_events_of_others_are_recognised_in_any_form_of_the_uuid(project: Project, tmp_path: Path, field: str) -> None:
    said = HISTORY | {"kind": "label", "task": "correctness"}
    assert taken(project, tmp_path, line(**said | {"annotator": "ben", "uuid": THEIRS})).imported == 1
    name = THEIRS.upper() if field == "supersedes" else [THEIRS.upper()]
    report = taken(project, tmp_path, line(**said | {"uuid": OWN, field: name}))
    assert [refusal["field"] for refusal in report.refusals] == [field]


def test_a_decision_is_not_retracted_by_another_form_of_its_uuid(project: Project, tmp_path: Path) -> None:
    ruled = HISTORY | {"kind": "adjudication", "role": "adjudicator", "task": "correctness", "uuid": THEIRS}
    assert taken(project, tmp_path, line(annotator="o1", **ruled)).imported == 1
    back = HISTORY | {"kind": "retraction", "task": "correctness", "verdict": None, "supersedes": THEIRS.upper()}
    report = taken(project, tmp_path, line(annotator="o1", **back), only="o1")
    assert [refusal["field"] for refusal in report.refusals] == ["supersedes"]
