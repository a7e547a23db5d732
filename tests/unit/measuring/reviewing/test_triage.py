"""Triage: its cases, its stored causes and its summary."""

from __future__ import annotations

import tracemalloc
from array import array
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.unit.measuring.reviewing.desk import add_run, voted
from workbench.core.database import events
from workbench.core.database.connection import Database
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import parse_condition
from workbench.data.records import BrowseQuery
from workbench.labelling.people import add_annotators
from workbench.measuring.accuracy_items import AccuracyCell
from workbench.measuring.records.review import ERROR_CATEGORIES
from workbench.measuring.reviewing import deciding, triage
from workbench.measuring.reviewing.queues import queue
from workbench.measuring.reviewing.triage import Cause, TriageCase, TriageScope
from workbench.measuring.store import reviews

ME = "dora"
EQUIVALENCE, FORMAT = Cause("equivalence"), Cause("format")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four items of type A1, then two of C4; ``a`` errs on 1, 2, 4 and 5, ``b`` on 4, and abstains on 6."""
    made = make_project(tmp_path, [*numbered(4, subtype="A1"), *numbered(2, subtype="C4", dataset="more")])
    add_run(made, "a", "-+++--")
    add_run(made, "b", "+-++-?")
    return made


def of_a(project: Project, **cell: str) -> TriageScope:
    return triage.of_cell(project, AccuracyCell(verifier="a", **cell), "items")  # type: ignore[arg-type]


def cases(project: Project, scope: TriageScope) -> list[TriageCase]:
    found = [triage.case(project, scope, item) for item in scope.items]
    return [one for one in found if one is not None]


def stored(project: Project) -> list[tuple[str, int, str | None]]:
    return [(one.kind, one.completion, one.category) for one in reviews.every(project.database.reader())]


def test_a_cell_gives_its_wrong_verdicts_and_the_total(project: Project) -> None:
    scope = of_a(project)
    assert sorted(scope.items) == [1, 2, 4, 5]
    assert (scope.judged, scope.words, scope.verifiers) == (6, "all items", ("a",))
    part = of_a(project, by="subtype", group="C4")
    assert (list(part.items), part.judged, part.words) == ([5], 2, "items")


def test_a_queue_gives_only_items_with_a_wrong_verdict(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-", "++", "-+", gold="+-.")
    found = queue(project, "verifiers")
    assert sorted(found.ids) == [1, 3]
    assert list(triage.of_queue(found, found.ids).items) == [1], "3 has no gold"


def test_browse_gives_its_listed_items(project: Project) -> None:
    asked = BrowseQuery(conditions=(parse_condition("subtype=A1"),))
    assert sorted(triage.of_items(project, asked).items) == [1, 2, 4]
    assert list(triage.of_items(project, BrowseQuery(search="no such text")).items) == []


def test_the_weakest_cell_is_of_the_most_accurate_verifier(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scope = triage.weakest_cell(project)
    assert scope.verifiers == ("b",)
    with pytest.raises(UsageError, match="No verifier has been measured yet"):
        triage.weakest_cell(make_project(tmp_path_factory.mktemp("new"), numbered(1)))


def test_a_case_shows_both_answers_differences_and_wrong_verifiers(project: Project) -> None:
    one = triage.case(project, of_a(project), 4)
    assert one is not None
    assert (one.reference, one.answer, one.differences.kinds) == ("7", "8", ("digits",))
    assert (one.before, one.after) == (r"So \boxed{", "}.")
    assert [(vote.verifier, vote.verdict) for vote in one.erring] == [("a", "correct")]
    assert [(vote.verifier, vote.verdict) for vote in one.votes] == [("a", "correct"), ("b", "correct")]
    both = triage.case(project, TriageScope("", ("a", "b"), of_a(project).items), 4)
    assert both is not None
    assert [vote.verifier for vote in both.erring] == ["a", "b"]
    assert triage.case(project, of_a(project), 3) is None, "a says what gold says"


def test_abstentions_err_only_where_no_verdict_is_wrong(tmp_path: Path) -> None:
    project = voted(tmp_path, "?-", "??", gold="++")
    scope = TriageScope("", ("a", "b"), queue(project, "verifier-gold").ids)
    found = {one.id: [vote.verifier for vote in one.erring] for one in cases(project, scope)}
    assert found[1] == ["b"]
    for item in (1, 2):
        one = triage.case(project, scope, item)
        assert one is not None
        assert [vote.verifier for vote in one.erring] == {1: ["b"], 2: ["a", "b"]}[item]


def test_similar_cases_share_their_differences_and_gold(project: Project) -> None:
    by_item = {one.id: one.likeness for one in cases(project, of_a(project))}
    assert by_item[2] == by_item[4] != by_item[1]


def test_a_cause_is_stored_for_all_its_cases_or_for_none(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = of_a(project)
    found = cases(project, scope)
    append, seen = reviews.append, []

    def fail_at_third(*arguments: object) -> None:
        seen.append(1)
        if len(seen) == 3:
            raise RuntimeError
        append(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(reviews, "append", fail_at_third)
        with pytest.raises(RuntimeError):
            triage.give_cause(project, found, FORMAT, scope, by=ME)
    assert stored(project) == []
    triage.give_cause(project, found, FORMAT, scope, by=ME)
    assert stored(project) == [("error", item, "format") for item in scope.items]


def test_storing_a_cause_records_that_gold_was_seen(project: Project) -> None:
    scope = of_a(project)
    triage.give_cause(project, cases(project, scope)[:1], FORMAT, scope, by=ME)
    reader = project.database.reader()
    (person,) = reader.execute("SELECT id FROM annotators WHERE name = ?", (ME,)).fetchone()
    assert events.was_revealed(reader, person, "correctness", scope.items[0])
    assert not events.was_revealed(reader, person, "correctness", scope.items[1])


def test_causes_stored_together_are_retracted_together(project: Project) -> None:
    scope = of_a(project)
    given = triage.give_cause(project, cases(project, scope), FORMAT, scope, by=ME)
    assert triage.last_marks(project, scope, by=ME) == given, "also after a new start"
    deciding.take_back_each(project, given, by=ME)
    assert triage.tally(project, scope).left == 4
    assert [kind for kind, *_ in stored(project)].count("retraction") == 4


def test_the_last_cause_is_known_after_a_restart(project: Project) -> None:
    scope = TriageScope("", ("a", "b"), of_a(project).items)
    first, second = (triage.case(project, scope, item) for item in (1, 4))
    assert first is not None
    assert second is not None
    triage.give_cause(project, [first], FORMAT, scope, by=ME)
    triage.give_cause(project, [second], EQUIVALENCE, scope, by=ME)
    triage.give_cause(project, [first], EQUIVALENCE, scope, by="somebody else")
    assert {(one.completion, one.verifier) for one in triage.last_marks(project, scope, by=ME)} == {(4, "a"), (4, "b")}
    assert triage.last_marks(project, scope, by="nobody") == ()


def test_a_custom_cause_is_counted_by_name_and_offered_again(project: Project) -> None:
    scope = of_a(project)
    triage.give_cause(project, cases(project, scope)[:2], Cause("other", "gold is  wrong"), scope, by=ME)
    assert triage.own_causes(project) == [Cause("other", "gold is wrong")]
    assert "gold is wrong 2 (100.0 %)" in triage.paragraph(triage.tally(project, scope))
    assert [row.category for row in deciding.error_counts(project)] == ["other"], "the taxonomy stays as it is"


def test_a_taxonomy_name_is_not_a_custom_cause() -> None:
    assert triage.cause_called(" Equivalence ") == EQUIVALENCE
    assert triage.cause_called("gold  is wrong") == Cause("other", "gold is wrong")
    assert [cause.category for cause in (*triage.KEYED, *triage.UNKEYED, Cause("other"))] == [*ERROR_CATEGORIES]


def test_the_tally_counts_sent_back_items_separately(project: Project) -> None:
    add_annotators(project, ["amira", "ben"])
    scope = of_a(project)
    triage.give_cause(project, cases(project, scope)[:1], FORMAT, scope, by=ME)
    deciding.send_back(project, scope.items[1], reason="look", by=ME)
    found = triage.tally(project, scope)
    assert (len(found.done), len(found.sent_back), found.left) == (1, 1, 2)
    assert "1 item went back to be labelled again. 2 items have yet to be read." in triage.paragraph(found)


def test_a_tally_of_a_million_items_makes_no_object_of_each(project: Project) -> None:
    triage.give_cause(project, cases(project, of_a(project))[:2], FORMAT, of_a(project), by=ME)
    scope = of_a(project)._replace(items=array("q", range(1, 1_000_001)))
    triage.tally(project, scope)
    tracemalloc.start()
    found = triage.tally(project, scope)
    assert {one.completion for one in triage.last_marks(project, scope, by=ME)} == found.done
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(found.done), found.left) == (2, 999_998)
    assert most < 20_000_000, "a set of them takes 64 MB, and stops every other thread while it is made"


def test_the_table_has_causes_by_type_and_undefined_shares_are_dashes(project: Project) -> None:
    scope = of_a(project)
    empty = triage.triage_table(triage.tally(project, scope))
    assert [[cell.text for cell in row.cells] for row in empty.rows] == [["all", "0", "–"]]
    found = cases(project, scope)
    triage.give_cause(project, found[:3], EQUIVALENCE, scope, by=ME)
    triage.give_cause(project, found[3:], FORMAT, scope, by=ME)
    table = triage.triage_table(triage.tally(project, scope))
    assert table.columns == ("cause", "A", "C", "n", "%")
    rows = {row.cells[0].text: [cell.text for cell in row.cells[1:]] for row in table.rows}
    assert rows["all"] == ["3", "1", "4", "100.0"]
    assert rows["equivalence"][2:] == ["3", "75.0"]
    assert rows["format"][2:] == ["1", "25.0"]
    assert table.notes[0].startswith("On all items, a differs from gold on 4 of 6 items (protocol strict). 4 of these")


def test_triage_adds_no_table_to_the_database(project: Project) -> None:
    assert isinstance(project.database, Database)
    scope = of_a(project)
    triage.give_cause(project, cases(project, scope), Cause("other", "x"), scope, by=ME)
    assert len(deciding.current_reviews(project)) == 4, "review list, export and import know it"
