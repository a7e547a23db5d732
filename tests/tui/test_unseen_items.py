"""No decision lands on an unread item: keys of one habit stay with the item they started at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events

from tests.helpers import make_project, numbered
from tests.tui.labelling import desk, labels, make
from tests.tui.stage import add_run, notices, opened, press, screen_of, settle, text_of
from tests.tui.test_adjudicate import adjudicating, decisions, subject
from tests.unit.measuring.scored_runs import add_complete_run, types
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.screens.triage import TriageScreen
from workbench.config import Settings
from workbench.core.project import Project
from workbench.core.taxonomy import ANSWER_TYPE
from workbench.core.verdict import Outcome
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer


def make_shared(folder: Path, questions: int) -> Project:
    """Create six completions of so many questions, whose types annotators label."""
    rows = [{**row, "question_id": f"q{place % questions}"} for place, row in enumerate(numbered(6, types="labelled"))]
    made = make_project(folder, rows)
    people.assign(made, ["amira"], per_item=1)
    return made


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Project]:
    """Create six completions of one question, whose type annotators label."""
    made = make_shared(tmp_path, 1)
    yield made
    made.close()


@pytest.fixture
def trusted(tmp_path: Path) -> Iterator[Project]:
    """Create six items whose types are not requested."""
    made = make(tmp_path)
    yield made
    made.close()


def question_of(project: Project, completion: int) -> int:
    row: tuple[int] = (
        project.database.reader().execute("SELECT question_id FROM completions WHERE id = ?", (completion,)).fetchone()
    )
    return row[0]


@pytest.mark.few(3)
@pytest.mark.parametrize("questions", [1, 2, 6])
async def test_habitual_verdict_and_type_label_each_item_once(tmp_path: Path, questions: int) -> None:
    shared = make_shared(tmp_path, questions)
    async with desk(shared) as it:
        order: list[int] = []
        for _ in range(6):
            order.append(it.completion)
            await it.press("0", "a", "1")
        assert it.screen.has_class("empty")
    assert labels(shared) == [(completion, "incorrect") for completion in order]
    typed = list(dict.fromkeys(question_of(shared, one) for one in order))
    assert labels(shared, "type") == [(question, "A1") for question in typed]


@pytest.mark.few(2)
@pytest.mark.parametrize(("key", "stored"), [("enter", ["B5"]), ("escape", ["B5"])])
async def test_picker_opens_with_the_known_type_which_a_key_keeps(shared: Project, key: str, stored: list[str]) -> None:
    async with desk(shared) as it:
        first = it.completion
        await it.press("1", "b", "5")
        second = it.completion
        assert question_of(shared, first) == question_of(shared, second)
        await it.press("0")
        assert isinstance(it.app.screen, TypePicker)
        assert "● 5 Matrix" in text_of(it.app, "#type-B")
        assert it.completion == second
        await it.press(key)
        assert it.completion not in (first, second)
    assert labels(shared) == [(first, "correct"), (second, "incorrect")]
    assert [value for _, value in labels(shared, "type")] == stored


@pytest.mark.soak
async def test_known_type_can_be_changed_at_the_second_completion(shared: Project) -> None:
    async with desk(shared) as it:
        question = question_of(shared, it.completion)
        await it.press("1", "b", "5")
        second = it.completion
        await it.press("1", "a", "2")
        assert it.completion != second
    assert labels(shared, "type") == [(question, "B5"), (question, "A2")]


async def test_keys_sent_at_once_stay_with_their_items(shared: Project) -> None:
    async with desk(shared) as it:
        for _ in range(2):
            for key in "0a1":
                it.app.post_message(events.Key(key, key))
            await it.settle()
    assert [verdict for _, verdict in labels(shared)] == ["incorrect", "incorrect"]


@pytest.mark.soak
async def test_known_type_does_not_count_as_a_suggestion(shared: Project) -> None:
    add_complete_run(shared, "typist", types(dict.fromkeys(range(1, 4), "C1")), kind=ANSWER_TYPE)
    async with desk(shared, settings=Settings(suggest_types="typist")) as it:
        await it.press("1", "b", "5", "1")
        assert isinstance(it.app.screen, TypePicker)
        assert not text_of(it.app, "#type-suggested")
        await it.press("enter")
    assert [value for _, value in labels(shared, "type")] == ["B5"]


@pytest.mark.soak
async def test_corrected_earlier_label_requests_the_type(shared: Project) -> None:
    async with desk(shared) as it:
        first = it.completion
        await it.press("0", "a", "1", "0", "a", "1", "left_square_bracket", "left_square_bracket")
        assert it.completion == first
        await it.press("1", "a", "1")
    assert labels(shared)[-1] == (first, "correct")
    assert len(labels(shared)) == 3


@pytest.mark.few(4)
@pytest.mark.parametrize("habit", ["0a1", "0b1", "0ab1", "0d1"])
async def test_verdict_after_a_key_without_effect_is_dropped(trusted: Project, habit: str) -> None:
    async with desk(trusted) as it:
        first = it.completion
        await it.press(*habit)
        second = it.completion
        assert labels(trusted) == [(first, "incorrect")]
        assert any("press 1 again" in notice for notice in notices(it.app))
        await it.press("1")
        assert labels(trusted) == [(first, "incorrect"), (second, "correct")]


@pytest.mark.few(4)
@pytest.mark.parametrize("keys", [("1", "l", "1"), ("1", "j", "1"), ("1", "C", "escape", "1"), ("1", "u", "1")])
async def test_verdict_after_a_key_with_effect_counts(trusted: Project, keys: tuple[str, ...]) -> None:
    async with desk(trusted) as it:
        await it.press(*keys)
    assert [verdict for _, verdict in labels(trusted)] == ["correct", "correct"]


@pytest.mark.few(4)
@pytest.mark.parametrize("early", ["x", "m", "percent_sign", "t"])
async def test_choice_in_a_menu_requested_too_early_is_no_verdict(trusted: Project, early: str) -> None:
    async with desk(trusted) as it:
        it.screen._seen_at = it.app.at_work.now() + 60
        await it.press(early)
        it.screen._seen_at = it.app.at_work.now()
        await it.press("1")
        assert labels(trusted) == []
        await it.press("1")
        assert len(labels(trusted)) == 1


async def test_delayed_key_is_judged_by_its_time(trusted: Project) -> None:
    async with desk(trusted) as it:
        it.app.key_order.wait(it.screen)
        it.app.post_message(events.Key("1", "1"))
        await it.pilot.pause()
        it.screen._seen_at = it.app.at_work.now()
        it.app.post_message(events.Key("j", "j"))
        await it.pilot.pause()
        await it.app.key_order.go_on(it.screen)
        await it.settle()
    assert labels(trusted) == []


def differing(folder: Path, types_: str = "trusted") -> Project:
    """Create three conflicts for chen."""
    rows = [{**row, "question_id": f"q{place}"} for place, row in enumerate(numbered(3, types=types_))]
    project = make_project(folder, rows)
    people.assign(project, ["amira", "ben"], per_item=2, adjudicator="chen")
    for name, verdict in (("amira", "correct"), ("ben", "incorrect")):
        session = AnnotationSession(project, name)
        while (item := session.next()) is not None:
            session.submit(item, Answer(verdict=verdict))  # type: ignore[arg-type]
        session.close()
    return project


async def test_decision_after_a_key_without_effect_is_dropped(tmp_path: Path) -> None:
    project = differing(tmp_path)
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "0", "t", "b", "1")
        assert decisions(project) == [(first, "incorrect")]
        assert any("press 1 again" in notice for notice in notices(app))
        second = subject(app)
        await press(pilot, "1")
        assert decisions(project) == [(first, "incorrect"), (second, "correct")]


async def test_conflict_that_was_not_visible_is_not_undone(tmp_path: Path) -> None:
    project = differing(tmp_path)
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "0", "1")
        app.post_message(events.Key("z", "z"))
        app.post_message(events.Key("z", "z"))
        await settle(pilot)
    reader = project.database.reader()
    assert reader.execute("SELECT count(*) FROM label_events WHERE kind = 'retraction'").fetchone() == (1,)


async def test_cause_after_a_key_without_effect_is_dropped(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6, subtype="A1"))
    add_run(project, "alpha", {item: Outcome.INCORRECT if item % 2 else Outcome.CORRECT for item in range(1, 7)})
    async with opened(project) as (app, pilot):
        app.open_screen("triage")
        await settle(pilot)
        screen = screen_of(app, TriageScreen)
        screen._seen_at = app.at_work.now() + 60
        await press(pilot, "0")
        screen._seen_at = app.at_work.now()
        await press(pilot, "3")
        assert project.database.reader().execute("SELECT count(*) FROM reviews").fetchone() == (0,)
        await press(pilot, "3")
        assert project.database.reader().execute("SELECT count(*) FROM reviews").fetchone() == (1,)
