"""Types proposed by a model are separate from annotated ones; both are compared, and annotators take precedence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.scripted import Received, Scripted, ScriptedServer, scripted
from tests.unit.benchmarks.curating.pools import pool_of, typed
from workbench.benchmarks.curating.pool import candidate_questions
from workbench.benchmarks.curating.types import (
    PersonType,
    accept_types,
    proposals,
    propose_types,
    say_types,
    types_report,
)
from workbench.core.errors import UsageError
from workbench.core.label import LabelLine
from workbench.core.project import Project
from workbench.labelling.label_export import export_labels
from workbench.labelling.labels import LabelsImported, import_labels, put_lines
from workbench.labelling.store.blind import READABLE
from workbench.measuring.records.curation import Scope, TypesProposed
from workbench.measuring.store import curation
from workbench.runs.generation import models_from
from workbench.runs.run_status import run_info

EVERY = Scope()
ROWS: dict[str, dict[str, Any]] = {
    "one": {"question": "What is 1?", "answer": "1"},
    "two": {"question": "What is 2?", "answer": "2"},
    "three": {"question": "Prove that 3 is odd.", "answer": "done"},
    "four": {"question": "Why is 4?", "answer": "4"},
    "five": {"question": "What is 5?", "answer": "5", "type": "B1"},
}
SAID = {"1": "Answer type: A1", "2": "**Answer type:** A1 - Integer", "3": "Answer type: PROOF", "4": "Well."}


def reply(received: Received) -> str:
    (number,) = re.findall(r"(?:What is|Prove that|Why is) (\d)", received.body["messages"][0]["content"])
    return SAID.get(number, "Answer type: D1")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = pool_of(tmp_path, ROWS)
    yield opened
    opened.close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(reply) as made:
        yield made


def propose(project: Project, server: ScriptedServer, name: str = "m", **options: Any) -> TypesProposed:
    return propose_types(project, name, models_from(project, ["m"], {"base_url": server.url}), EVERY, **options)


def types(project: Project) -> dict[str, tuple[str | None, str | None, str | None]]:
    rows = curation.questions(project.database.reader(), EVERY)
    return {one.key: (one.people_type or one.said_alone, one.file_type, one.proposed) for one in rows}


def counted(found: LabelsImported) -> tuple[int, int, int]:
    """Lines imported, those that were there, those refused."""
    return found.imported, found.unchanged, found.refused


def test_a_model_proposes_types_and_reports_untypable_questions(project: Project, server: ScriptedServer) -> None:
    report = propose(project, server)
    assert (report.name, report.asked, report.proposed) == ("types/m", 5, {"A1": 2, "D1": 1})
    assert (report.outside, report.unreadable, report.failed) == ({"proof": 1}, 1, 0)
    assert types(project) == {
        "one": (None, None, "A1"),
        "two": (None, None, "A1"),
        "three": (None, None, None),
        "four": (None, None, None),
        "five": (None, "B1", "D1"),
    }
    assert [(one.question_id, one.reason, one.by) for one in candidate_questions(project, EVERY)] == [
        ("three", "proof", "rule"),
        ("three", "proof", "types/m"),
    ]
    usage = run_info(project, report.run).usage
    assert usage is not None
    assert usage.calls == 5
    assert all("questions" not in table or "type" not in columns for table, columns in READABLE.items())
    assert "proposed_types" not in READABLE


def test_no_request_is_repeated(project: Project, server: ScriptedServer) -> None:
    first = propose(project, server)
    again = propose(project, server)
    assert (again.asked, again.run, again.proposed) == (0, first.run, first.proposed)
    assert len(server.received) == 5
    # Another name has separate proposals, from the same replies.
    other = propose(project, server, name="other", untyped_only=True)
    assert (other.asked, len(server.received)) == (4, 5)


def test_calls_that_fail_are_made_again_by_the_same_command(project: Project) -> None:
    def failing(received: Received) -> str | Scripted:
        return (
            Scripted(400, body={"error": {"message": "no"}}) if "What is 2" in str(received.body) else reply(received)
        )

    with scripted(failing) as server:
        report = propose(project, server)
        assert (report.failed, sum(report.proposed.values())) == (1, 2)
    with scripted(reply) as server:
        report = propose(project, server)
        assert (report.asked, report.failed, report.proposed) == (1, 0, {"A1": 2, "D1": 1})


def test_annotators_can_type_questions_without_completions(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "types.jsonl"
    lines = [
        {"question_id": "one", "annotator": "amira", "answer_subtype": "A3"},
        {"question_id": "one", "annotator": "ben", "answer_subtype": "A3 - Float"},
        {"question_id": "two", "annotator": "amira", "answer_subtype": "A3"},
        {"question_id": "two", "annotator": "ben", "answer_subtype": "B1"},
        {"question_id": "five", "annotator": "amira", "answer_subtype": "B2"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert counted(import_labels(project, file)) == (5, 0, 0)
    assert counted(import_labels(project, file)) == (0, 5, 0)
    found = {one.key: one for one in curation.questions(project.database.reader(), EVERY)}
    assert (found["one"].people_type, found["two"].people_type, found["two"].disputed) == ("A3", None, True)
    assert (found["five"].people_type, found["five"].said_alone) == (None, "B2")
    report = types_report(project, EVERY)
    assert (report.counting, report.alone) == (2, 1)
    assert report.origins == {"disputed": 1, "file": 1, "none": 2, "people": 1}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        pytest.param({"question_id": "nobody", "answer_subtype": "A1"}, "question_id", id="unknown"),
        pytest.param({"question_id": "one", "verdict": "correct"}, "completion_id", id="verdict"),
        pytest.param({"answer_subtype": "A1"}, "completion_id", id="nothing named"),
        pytest.param({"question_id": "one", "answer_subtype": "A"}, "answer_subtype", id="no subtype"),
        pytest.param(
            {"question_id": "one", "answer_subtype": "A1", "kind": "label"}, "completion_id", id="kind without task"
        ),
    ],
)
def test_lines_that_say_no_type_of_a_question_are_rejected(
    project: Project, tmp_path: Path, line: dict[str, str], field: str
) -> None:
    file = tmp_path / "types.jsonl"
    file.write_text(json.dumps({"annotator": "amira", **line}) + "\n")
    report = import_labels(project, file)
    assert (report.imported, [refusal["field"] for refusal in report.refusals]) == (0, [field])


@pytest.mark.parametrize("history", [False, True])
def test_types_of_questions_round_trip(project: Project, tmp_path: Path, *, history: bool) -> None:
    say_types(project, [PersonType(question_id="one", subtype="A3")], by="amira")
    file = tmp_path / "labels.jsonl"
    export_labels(project, file, history=history)
    (tmp_path / "other").mkdir()
    other = pool_of(tmp_path / "other", ROWS)
    assert counted(import_labels(other, file)) == (1, 0, 0)
    assert counted(import_labels(other, file)) == (0, 1, 0)
    assert types(other)["one"][0] == "A3"
    other.close()


def test_an_annotator_can_change_a_type(project: Project) -> None:
    for subtype, new in (("A3", 1), ("A3", 0), ("A1", 1), ("B1", 1)):
        said = say_types(project, [PersonType(question_id="one", subtype=subtype)], by="amira")
        assert (said.imported, said.refused) == (new, 0)
    assert types(project)["one"][0] == "B1"
    with pytest.raises(UsageError, match="'number' is not a valid subtype"):
        say_types(project, [PersonType(question_id="one", subtype="number")], by="amira")
    with pytest.raises(UsageError, match="no question"):
        say_types(project, [PersonType(question_id="nobody", subtype="A1")], by="amira")


def test_proposals_are_compared_with_people_and_files(project: Project, server: ScriptedServer) -> None:
    propose(project, server)
    say_types(
        project, [PersonType(question_id="one", subtype="A1"), PersonType(question_id="two", subtype="A3")], by="ben"
    )
    report = types_report(project, EVERY)
    assert report.origins == {"file": 1, "none": 1, "one person": 2, "proposed proof": 1}
    (compared,) = report.proposals
    assert (compared.verifier, compared.compared, compared.agree, compared.type_accuracy) == ("types/m", 3, 1, 2 / 3)
    assert {one.question_id: one.suggested for one in proposals(project)} == {
        "one": "A1",
        "two": "A1",
        "three": "proof",
        "four": None,
        "five": "D1",
    }


def test_without_proposals_there_is_nothing_to_list(tmp_path: Path) -> None:
    project = pool_of(tmp_path, typed(2))
    with pytest.raises(UsageError, match="No model has proposed types"):
        list(proposals(project))
    assert types_report(project, EVERY).proposals == ()
    project.close()


@pytest.mark.parametrize("by", ["coordinator", "amira"])
def test_a_single_annotation_counts_once_accepted(project: Project, by: str) -> None:
    """Also if its author accepts it, which retracts the label."""
    said = [PersonType(question_id="one", subtype="A1"), PersonType(question_id="five", subtype="B2")]
    say_types(project, said, by="amira")
    before = types_report(project, EVERY)
    assert (before.counting, before.alone, before.origins) == (1, 2, {"file": 1, "none": 3, "one person": 1})
    assert accept_types(project, EVERY, "model", by=by).imported == 0
    taken = accept_types(project, EVERY, "people", by=by)
    assert (taken.imported, taken.refused) == (2, 0)
    after = types_report(project, EVERY)
    assert (after.counting, after.alone, after.origins) == (2, 0, {"none": 3, "people": 2})
    found = {one.key: one.people_type for one in curation.questions(project.database.reader(), EVERY)}
    assert (found["one"], found["five"]) == ("A1", "B2")
    assert accept_types(project, EVERY, "people", by=by).imported == 0
    # A later disagreement reopens the question; of two differing types neither is accepted.
    say_types(project, [PersonType(question_id="one", subtype="D1")], by="ben")
    said_now = types_report(project, EVERY).origins
    assert said_now == {"none": 3, "people": 1, "one person" if by == "amira" else "disputed": 1}
    assert accept_types(project, EVERY, "people", by=by).imported == (by == "amira")


def test_proposals_of_unannotated_questions_count_once_accepted(project: Project, server: ScriptedServer) -> None:
    propose(project, server)
    say_types(project, [PersonType(question_id="one", subtype="A3")], by="ben")
    assert types_report(project, EVERY).counting == 1
    assert accept_types(project, EVERY, "model", by="dora").imported == 1
    report = types_report(project, EVERY)
    assert (report.counting, report.origins["people"], report.origins["one person"]) == (2, 1, 1)
    assert report.proposals[0].compared == 3


def test_an_annotator_of_a_disputed_type_cannot_resolve_it(project: Project) -> None:
    for by, subtype in (("amira", "A1"), ("ben", "B1")):
        say_types(project, [PersonType(question_id="one", subtype=subtype)], by=by)
    line = LabelLine(question_id="one", annotator="amira", answer_subtype="A1", role="adjudicator")
    put_lines(project, [line])
    assert types_report(project, EVERY).origins["disputed"] == 1
