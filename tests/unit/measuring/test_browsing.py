"""Browse and an item's detail: tables, condition lines, reveals and written items."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database import events, people
from workbench.core.errors import StoreError, UsageError
from workbench.core.label import LabelEvent
from workbench.core.project import Project
from workbench.core.run import RunState
from workbench.core.selection import Condition
from workbench.core.verdict import Outcome, Verdict
from workbench.data.records import BrowseQuery
from workbench.labelling import ledger
from workbench.measuring import browsing
from workbench.measuring.browsing import ItemTable
from workbench.runs.store import runs, verdicts


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(300, model="a model", source="s", domain="math", subtype="A1"))


def add_run(project: Project, name: str, outcome: Outcome, state: RunState = "complete") -> None:
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name=name, kind="exact", options={}, config={}, config_hash=name)
        run = runs.add(connection, verifier, "1")
        verdict = Verdict(outcome=outcome, reference_final="7", candidate_final="8", candidate_span=(10, 11), ms=2.0)
        verdicts.put(connection, run, [(1, verdict)])
        verdicts.put_samples(connection, run, [(1, 1, Verdict(outcome=Outcome.ABSTAIN))])
        if state == "complete":
            runs.complete(connection, run, 1)


def add_label(project: Project, name: str, verdict: str, note: str = "") -> None:
    with project.database.write() as connection:
        event = LabelEvent(
            uuid=events.new_uuid(),
            kind="label",
            task="correctness",
            subject=1,
            annotator=people.add(connection, name),
            verdict=verdict,  # type: ignore[arg-type]
            note=note,
            created_at=people.now(),
        )
        ledger.record(connection, event)


def reveals(project: Project) -> list[tuple[str, int]]:
    rows = project.database.reader().execute("SELECT task, subject FROM label_events WHERE kind = 'reveal'")
    return sorted(rows.fetchall())


# -- an id as a person types it ----------------------------------------------------------------------


def test_an_item_is_found_by_its_id_or_question_id_or_a_suffix(project: Project) -> None:
    rows = list(
        project.database.reader().execute(
            "SELECT c.id, c.key, q.key FROM completions c JOIN questions q ON q.id = c.question_id"
        )
    )
    for item, completion, question in (rows[0], rows[137]):
        assert browsing.find_existing(project, completion)[0] == item
        assert item in browsing.find_existing(project, question)
    folder = project.path.parent / "odd"
    folder.mkdir()
    odd = make_project(folder, numbered(1, completion_id="a%_'7f3c9"))
    for said in ("a%_'7f3c9", "7f3c9", "f3c9"):
        assert browsing.find_existing(odd, said) == [1]
    for said in ("3c9", "%", "_7f3c9", ""):
        with pytest.raises(UsageError, match="There is no item"):
            browsing.find_existing(odd, said)


def test_a_misspelt_id_gets_a_suggestion(project: Project) -> None:
    key = project.database.reader().execute("SELECT key FROM completions WHERE id = 200").fetchone()[0]
    with pytest.raises(UsageError, match="Did you mean"):
        browsing.find_existing(project, f"{key[:-1]}x{key[-1]}")
    with pytest.raises(UsageError, match="Name a completion"):
        browsing.find_existing(project, "ü" * 2_000)


# -- the table ---------------------------------------------------------------------------------------


def test_pages_are_ready_before_the_ids_and_agree_with_them(project: Project) -> None:
    table = ItemTable(project, BrowseQuery())
    first, ids = table.first(128), table.ids()
    assert len(ids) == 300
    assert [row.id for row in first] == list(ids[:128])
    assert table.rows(ids[:128]) == first


def test_a_cancelled_table_stops_reading(project: Project) -> None:
    table = ItemTable(project, BrowseQuery(search="7"))
    table.cancel()
    with pytest.raises(StoreError, match="cancelled"):
        table.ids()
    assert len(ItemTable(project, BrowseQuery(search="7")).ids()) > 0


def test_verdict_columns_are_the_verifiers_with_a_complete_run(project: Project) -> None:
    add_run(project, "good", Outcome.INCORRECT)
    add_run(project, "half", Outcome.CORRECT, "running")
    table = ItemTable(project, BrowseQuery())
    assert table.verifiers == ("good",)
    assert [row.verdicts for row in table.first(2)] == [{"good": "incorrect"}, {}]


# -- a line of conditions ----------------------------------------------------------------------------


def test_a_condition_line_reads_like_where(project: Project) -> None:
    assert browsing.read_conditions('type=A  state!=final model="a model" verdict:good=correct', ["good"]) == (
        Condition("type", "=", "A"),
        Condition("state", "!=", "final"),
        Condition("model", "=", "a model"),
        Condition("verdict:good", "=", "correct"),
    )
    assert browsing.read_conditions("  ", []) == ()
    conditions = browsing.read_conditions('model="a model"', [])
    assert len(ItemTable(project, BrowseQuery(conditions=conditions)).ids()) == 300


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("typ=A", "Unknown field 'typ'"),
        ("type", "'type' is not a valid condition"),
        ("state=done", "'done' is not a valid state"),
        ("gold=yes", "not a valid gold label"),
        ("verdict:good=perhaps", "'perhaps' is not a valid verdict"),
        ("verdict:other=correct", "No verifier 'other'"),
        ('model="a', "quotation mark"),
    ],
)
def test_an_invalid_condition_line_shows_its_error(line: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        browsing.read_conditions(line, ["good"])
    assert caught.value.hint


def test_the_names_to_filter_by(project: Project) -> None:
    add_run(project, "good", Outcome.CORRECT)
    assert browsing.field_values(project) == {
        "dataset": ["sample"],
        "model": ["a model"],
        "source": ["s"],
        "domain": ["math"],
        "set": [],
        "verdict:": ["good"],
    }


def test_an_item_is_found_by_its_own_id(project: Project) -> None:
    assert browsing.find(project, "c17") == [18]
    assert browsing.find(project, "c1700") == []


# -- one item ----------------------------------------------------------------------------------------


def test_detail_holds_labels_and_verdicts_with_their_evidence(project: Project) -> None:
    add_label(project, "ann", "correct", note="see line 3")
    add_label(project, "ben", "incorrect")
    add_run(project, "good", Outcome.INCORRECT)
    item = browsing.detail(project, 1)
    assert (item.completion_id, item.state, item.gold, item.imported_gold) == ("c0", "conflict", "none", "correct")
    assert [(label.annotator, label.value, label.note) for label in item.labels] == [
        ("ann", "correct", "see line 3"),
        ("ben", "incorrect", ""),
    ]
    (verdict,) = item.verdicts
    assert (verdict.verifier, verdict.verdict, verdict.reference_final, verdict.candidate_final) == (
        "good",
        "incorrect",
        "7",
        "8",
    )
    assert verdict.candidate_span == (10, 11)
    reference, completion = browsing.final_answers(item)
    assert (reference.text, completion.text, browsing.origin(completion)) == ("7", "7", "last \\boxed")


def test_a_view_is_recorded_once_and_prefetching_is_not(project: Project) -> None:
    browsing.read(project, 1)
    assert reveals(project) == []
    browsing.detail(project, 1)
    browsing.detail(project, 1)
    assert reveals(project) == [("correctness", 1), ("type", 1)]
    browsing.detail(project, 2)  # the other completion of the same question
    assert reveals(project) == [("correctness", 1), ("correctness", 2), ("type", 1)]


def test_viewing_a_deleted_item_records_nothing(project: Project) -> None:
    with pytest.raises(UsageError, match="no item"):
        browsing.detail(project, 999)
    assert reveals(project) == []


def test_an_item_is_written_next_to_the_database(project: Project) -> None:
    path = browsing.write_item(project, browsing.read(project, 3))
    assert path.parent == project.path.parent
    assert json.loads(path.read_text(encoding="utf-8"))["completion_id"] == "c2"


def test_a_read_only_folder_is_named_in_the_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(stat.S_IRUSR, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(StoreError, match="Permission denied"):
        browsing.write_item(project, browsing.read(project, 3))
