"""Accepted answer types are a separate state: such items were neither labelled nor adjudicated."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import make_project, numbered
from tests.unit.labelling.recording import Record
from workbench.app.tui.kit.overview import person_line, states_panel
from workbench.benchmarks.curating.type_forms import proposed_types
from workbench.benchmarks.curating.types import resolve_types
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.answers import Answer
from workbench.labelling.people import add_annotators
from workbench.labelling.rulings import offers
from workbench.measuring.briefing import status


def test_accepted_types_are_counted_separately_and_totals_add_up(tmp_path: Path) -> None:
    untyped = [row | {"type": None, "subtype": None, "types": "labelled"} for row in numbered(6)]
    project = make_project(tmp_path, untyped)
    Record(project).table(("ann", "bob"), ("A1 A1", "A2 A1"), task="type")
    add_annotators(project, ["cy"])
    adjudication = AdjudicationSession(project, "cy")
    conflict = adjudication.next()
    assert conflict is not None
    adjudication.decide(conflict, Answer(subtype="A1"))
    offered = [(one.of, "A1") for one in proposed_types(project)]
    assert len(offered) == 1, "the question nobody has typed"
    resolve_types(project, offered, by="cy")

    counts = status(project)
    cy = next(person for person in counts.people if person.name == "cy")
    assert (cy.done, cy.settled, cy.accepted) == (0, 1, 1)
    assert adjudication.count_decided() == 1
    assert "1 resolved, 1 accepted" in str(person_line(cy, 100))
    assert (counts.states["labelled"], counts.accepted) == (6, 2)
    assert (counts.shown_states["labelled"], counts.shown_states["accepted"]) == (4, 2)
    assert sum(counts.shown_states.values()) == counts.items == 6
    assert "◇ accepted" in str(states_panel(counts, 80))
    project.close()


def test_accepting_types_resolves_no_offered_conflict(tmp_path: Path) -> None:
    untyped = [row | {"type": None, "subtype": None, "types": "labelled"} for row in numbered(6)]
    project = make_project(tmp_path, untyped)
    Record(project).table(("ann", "bob"), ("A1 A1", "A2 A2"), task="type")
    add_annotators(project, ["cy"])
    resolve_types(project, [(one.of, "A1") for one in proposed_types(project) if not one.of.disputed], by="cy")
    assert [(offer.left, offer.done) for offer in offers(project, "adjudicator") if offer.name == "cy"] == [(2, 0)]
    assert [offer.left for offer in offers(project, "own") if offer.name == "cy"] == [1]
    project.close()


def test_the_state_is_hidden_without_accepted_types(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    Record(project).say("ann", 1, "c")
    assert list(status(project).shown_states) == ["unlabelled", "labelled", "conflict", "final", "excluded"]
    project.close()
