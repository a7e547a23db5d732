"""Invariants of annotation under any sequence of actions, across several databases.

A state machine draws random interleavings of assigning, labelling, editing, undoing, skipping, expiring leases,
excluding, reopening, adjudicating, label files and merges over three databases of the same items.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.helpers import merge
from tests.unit.labelling.replicas import ITEMS, NEED, PEOPLE, Replica, attempt, make_templates, merged
from workbench.core.label import LabelVerdict
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import coordinating
from workbench.labelling.annotating import Answer
from workbench.labelling.coordinating import exclude, lift, reopen
from workbench.labelling.labels import import_labels
from workbench.labelling.people import assign

ORDERS = ((0, 1, 2), (0, 2, 1), (1, 2, 0), (2, 1, 0))
"""Each of three databases takes the others in; one of them in both orders."""

TEMPLATES = 6

places = st.integers(0, 2)
people = st.sampled_from(PEOPLE)
coordinators = st.sampled_from(["dora", "emil"])
items = st.integers(1, ITEMS)
verdicts: st.SearchStrategy[LabelVerdict] = st.sampled_from(["correct", "incorrect", "incorrect", "unsuitable"])
subtypes = st.sampled_from([None, "A1", "B2"])
lines = st.fixed_dictionaries(
    {
        "completion_id": st.sampled_from([f"c{number}" for number in range(5)]),
        "annotator": st.sampled_from([*PEOPLE, "eve"]),
        "verdict": st.sampled_from(["correct", "incorrect"]),
        "role": st.sampled_from(["annotator", "annotator", "adjudicator"]),
        "revision": st.integers(1, 2),
    },
    optional={"answer_subtype": st.sampled_from(["A1", "B2"]), "note": st.just("from a file")},
)


def answer(verdict: LabelVerdict, subtype: str | None = None) -> Answer:
    reason = "proof" if verdict == "unsuitable" else None
    return Answer(verdict=verdict, reason=reason, subtype=subtype, open_ms=3000, keys=2, view="card rendered")


class Team(RuleBasedStateMachine):
    """Four people and two coordinators on three databases."""

    templates: Sequence[Path]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="workbench-team-"))
        self.replicas: list[Replica] = []
        self.touched: set[int] = set()
        self.uuids = 0

    @initialize(number=st.integers(0, TEMPLATES - 1))
    def begin(self, number: int) -> None:
        """Three copies of a database in which some work is done."""
        self.replicas = [Replica(self.templates[number], self.folder / f"{place}.db") for place in range(3)]

    def at(self, place: int) -> Replica:
        self.touched.add(place)
        return self.replicas[place]

    def new_uuid(self) -> str:
        """A line without one has one that follows from it: the same label in two databases, never two."""
        self.uuids += 1
        return str(UUID(int=self.uuids))

    # -- people label ----------------------------------------------------------------------------------

    @rule(place=places, name=people, said=st.lists(st.tuples(verdicts, subtypes), min_size=1, max_size=4))
    def label_the_next(self, place: int, name: str, said: list[tuple[LabelVerdict, str | None]]) -> None:
        replica = self.at(place)
        for verdict, subtype in said if known(replica, name) else ():
            if (item := replica.desk(name).next()) is not None:
                replica.shown[name] = item
                given = subtype if item.asks_type else None
                attempt(replica.desk(name).submit, item, answer(verdict, given))

    @rule(place=places, name=people)
    def take_the_next(self, place: int, name: str) -> None:
        replica = self.at(place)
        if known(replica, name) and (item := replica.desk(name).next()) is not None:
            replica.shown[name] = item

    @rule(place=places, name=people, verdict=verdicts)
    def label_what_was_shown_once(self, place: int, name: str, verdict: LabelVerdict) -> None:
        replica = self.at(place)
        if name in replica.shown:
            attempt(replica.desk(name).submit, replica.shown[name], answer(verdict))

    @rule(place=places, name=people, others=st.permutations(PEOPLE), verdict=verdicts)
    def answer_after_expiry(self, place: int, name: str, others: list[str], verdict: LabelVerdict) -> None:
        """A lease expires, others label, and only then does its owner answer."""
        replica = self.at(place)
        item = replica.desk(name).next() if known(replica, name) else None
        if item is None:
            return
        replica.let_leases_run_out()
        for other in others[:3]:
            if other != name:
                self.label_the_next(place, other, [("correct", "A1")] * 4)
        attempt(replica.desk(name).submit, item, answer(verdict))

    @rule(place=places, name=people, item=st.integers(1, 4), said=st.lists(verdicts, min_size=2, max_size=2))
    def label_in_two_places(self, place: int, name: str, item: int, said: list[LabelVerdict]) -> None:
        """One person answers the same item in two databases that don't know of each other."""
        for number, verdict in enumerate(said):
            replica = self.at((place + number) % 3)
            line = {"completion_id": f"c{item - 1}", "annotator": name, "verdict": verdict, "uuid": self.new_uuid()}
            path = self.folder / f"{line['uuid']}.jsonl"
            path.write_text(json.dumps({**line, "reason": "proof" if verdict == "unsuitable" else None}))
            import_labels(replica.project, path)

    @rule(place=places, name=people, back=st.integers(0, 3), verdict=verdicts, subtype=subtypes)
    def edit(self, place: int, name: str, back: int, verdict: LabelVerdict, subtype: str | None) -> None:
        replica = self.at(place)
        if not known(replica, name):
            return
        own = replica.desk(name).history()
        if len(own) > back:
            item = replica.desk(name).open(own[back].completion)
            attempt(replica.desk(name).submit, item, answer(verdict, subtype if item.asks_type else None))

    @rule(place=places, name=people)
    def undo(self, place: int, name: str) -> None:
        replica = self.at(place)
        if known(replica, name):
            attempt(replica.desk(name).undo)

    @rule(place=places, name=people, on=st.booleans())
    def skip_or_flag(self, place: int, name: str, on: bool) -> None:
        replica = self.at(place)
        if name in replica.shown:
            item = replica.shown[name]
            replica.desk(name).flag(item, on, name) if on else replica.desk(name).skip(item)

    @rule(place=places, by=coordinators)
    def answer_the_flags(self, place: int, by: str) -> None:
        replica = self.at(place)
        for completion in {flag.completion for flag in coordinating.flags(replica.project)}:
            coordinating.answer(replica.project, completion, "look again", by=by)
        assert coordinating.count_open(replica.project) == 0

    @rule(place=places, name=people)
    def read_the_answers(self, place: int, name: str) -> None:
        """An annotator reads the answers to their own flags only."""
        replica = self.at(place)
        for answer in replica.desk(name).answers() if known(replica, name) else ():
            replica.desk(name).mark_answer_read(answer)
            assert answer.asked == name

    @rule(place=places)
    def leases_run_out(self, place: int) -> None:
        self.at(place).let_leases_run_out()

    # -- the third person and the coordinator ----------------------------------------------------------

    @rule(place=places, name=people, verdict=verdicts)
    def adjudicate(self, place: int, name: str, verdict: LabelVerdict) -> None:
        replica = self.at(place)
        if not known(replica, name):
            return
        third = replica.third(name)
        conflict = third.next()
        if conflict is not None and conflict.task == "type":
            attempt(third.decide, conflict, Answer(subtype="A1"))
        elif conflict is not None:
            reason = "proof" if verdict == "unsuitable" else None
            attempt(third.decide, conflict, Answer(verdict=verdict, reason=reason))

    @rule(place=places, name=people)
    def undo_a_decision(self, place: int, name: str) -> None:
        replica = self.at(place)
        if known(replica, name):
            attempt(replica.third(name).undo)

    @rule(place=places, item=items, by=coordinators, task=st.sampled_from(["correctness", "type", "both"]))
    def open_again(self, place: int, item: int, by: str, task: Any) -> None:
        reopen(self.at(place).project, [item], reason="why", by=by, task=task)

    @rule(place=places, item=items, by=coordinators, reason=st.sampled_from(["proof", "truncated"]))
    def take_out(self, place: int, item: int, by: str, reason: str) -> None:
        exclude(self.at(place).project, [item], reason=reason, by=by)

    @rule(place=places, by=coordinators)
    def take_in_again(self, place: int, by: str) -> None:
        lift(self.at(place).project, Selection(), by=by)

    @rule(place=places, cap=st.none() | st.integers(1, 4))
    def name_more_people(self, place: int, cap: int | None) -> None:
        """The overlap stays what it is; a fourth person may claim what is open."""
        replica = self.at(place)
        caps = None if cap is None else {PEOPLE[3]: cap}
        assign(replica.project, PEOPLE, per_item=NEED, caps=caps, selection=_SAMPLE)

    # -- files and other databases ---------------------------------------------------------------------

    @rule(place=places, given=st.lists(lines, min_size=1, max_size=4))
    def read_a_label_file(self, place: int, given: list[dict[str, Any]]) -> None:
        replica, path = self.at(place), self.folder / f"{self.uuids + 1}.jsonl"
        path.write_text("".join(json.dumps({**line, "uuid": self.new_uuid()}) + "\n" for line in given))
        import_labels(replica.project, path)
        import_labels(replica.project, path)
        before = replica.dump()
        assert import_labels(replica.project, path).imported == 0
        assert replica.dump() == before, "reading a file again changes something"

    @rule(place=places, other=places)
    def merge_another(self, place: int, other: int) -> None:
        if place == other:
            return
        replica, other_path = self.at(place), self.replicas[other].copied()
        assert not (refused := merge(replica.project, other_path, whole=True).refused), refused
        before = replica.dump()
        again = merge(replica.project, other_path, whole=True)
        assert (again.events_new, replica.dump() == before) == (0, True), "merging again changes something"

    # -- what holds ------------------------------------------------------------------------------------

    @invariant()
    def everything_holds(self) -> None:
        for place in self.touched:
            self.replicas[place].check()
        self.touched.clear()

    def teardown(self) -> None:
        try:
            if self.replicas:
                self.merge_in_every_order()
        finally:
            for replica in self.replicas:
                replica.close()
            rmtree(self.folder)

    def merge_in_every_order(self) -> None:
        results = {said for order in ORDERS for said in merged(self.folder, self.replicas, order)}
        assert len(results) == 1, "the order of merges matters"


_SAMPLE = Selection((parse_condition("dataset=sample"),))


def known(replica: Replica, name: str) -> bool:
    return bool(replica.rows("SELECT 1 FROM annotators WHERE name = ?", name))


def run(templates: Sequence[Path], examples: int, steps: int) -> None:
    machine = type("TeamAtWork", (Team,), {"templates": templates})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return make_templates(tmp_path_factory.mktemp("templates"), TEMPLATES)


def test_invariants_hold_in_short_histories(templates: list[Path]) -> None:
    run(templates, examples=6, steps=25)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_invariants_hold_in_long_histories(templates: list[Path]) -> None:
    run(templates, examples=1_500, steps=60)


@pytest.mark.parametrize("number", range(TEMPLATES))
def test_a_check_edited_in_another_database_stays_a_check(templates: list[Path], tmp_path: Path, number: int) -> None:
    """Its slot comes along; as a label in one database and a check in another, the order of merges would matter."""
    replicas = [Replica(templates[number], tmp_path / f"{place}.db") for place in range(3)]
    own = "FROM label_events WHERE annotator_id = (SELECT id FROM annotators WHERE name = 'bob')"
    while (item := replicas[0].desk("bob").next()) is not None:
        replicas[0].desk("bob").submit(item, answer("correct", "A1" if item.asks_type else None))
    merge(replicas[1].project, replicas[0].copied(), whole=True)
    desk = replicas[1].desk("bob")
    for (completion,) in replicas[1].rows(f"SELECT DISTINCT subject {own} AND kind = 'check' AND task = 'correctness'"):
        desk.submit(desk.open(completion), answer("unsuitable"))
    kinds = replicas[1].rows(f"SELECT DISTINCT kind {own} AND verdict = 'unsuitable'")
    assert set(kinds) <= {("check",), ("repeat",)}
    assert len({said for order in ORDERS for said in merged(tmp_path, replicas, order)}) == 1
    for replica in replicas:
        replica.close()
