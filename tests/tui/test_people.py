"""The current user: chosen once per role, always visible, and never mixed up."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, notices, opened, press, settle, text_of, until
from tests.tui.test_history import listed
from tests.unit.labelling.conflicting import label_all
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu, PeopleMenu
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.person import PersonScreen
from workbench.app.tui.screens.history import HistoryScreen
from workbench.core.label import coordinator_name
from workbench.core.project import Project
from workbench.labelling import people, rulings
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.measuring.briefing import status
from workbench.measuring.browsing import detail


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Amira and ben disagree on two of four items, two are left; dora may adjudicate, eve has no work."""
    made = make_project(tmp_path, numbered(4))
    people.add_annotators(made, ["eve"])
    people.assign(made, ["amira", "ben"], per_item=2, adjudicator="dora")
    for name, verdict in (("amira", "correct"), ("ben", "incorrect")):
        session = AnnotationSession(made, name)
        for completion in (1, 2):
            while (item := session.next()) is not None and item.completion != completion:
                session.skip(item)
            assert item is not None
            session.submit(item, Answer(verdict="correct" if verdict == "correct" else "incorrect"))
        session.close()
    yield made
    made.close()


def title(app: WorkbenchApp) -> str:
    return app.screen.query_one(TitleBar).remark


def offered(app: WorkbenchApp) -> list[str]:
    assert isinstance(app.screen, ChoiceMenu), app.screen
    return [choice.text for choice in app.screen.listed]


@asynccontextmanager
async def coordinator(
    project: Project, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        yield app, pilot


@pytest.mark.soak
async def test_coordinator_is_told_that_their_labels_are_not_blind(project: Project) -> None:
    async with coordinator(project) as (app, pilot):
        await press(pilot, *":a", "enter")
        above = str(app.screen.query_one(OptionList).options[0].prompt)
        assert "are marked unblinded, and agreement leaves it out" in above
        await press(pilot, "1", "1", "escape", *":l", "enter")
        assert "unblinded" not in str(app.screen.query_one(OptionList).options[0].prompt)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_each_role_has_its_own_name(project: Project, size: tuple[int, int]) -> None:
    async with coordinator(project, size) as (app, pilot):
        await press(pilot, *":a", "enter")
        assert offered(app) == ["amira  2 to label, 2 done", "ben  2 to label, 2 done"]
        await press(pilot, "2")
        assert title(app).startswith("as amira, unblinded")
        await press(pilot, "1", "escape", *":j", "enter")
        assert offered(app) == ["dora  2 to resolve"], "users who labelled the items, or have no work, are not listed"
        await press(pilot, "4")
        assert title(app).startswith("as dora, unblinded")
        await press(pilot, "1", "escape", *":a", "enter")
        assert title(app).startswith("as amira"), "each role keeps its own name"
        await press(pilot, "escape", *":d", "enter")
        assert title(app).startswith("as dora")
    made = project.database.reader().execute(
        "SELECT a.name, e.kind FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.unblinded AND e.kind IN ('label', 'adjudication') ORDER BY e.id"
    )
    assert made.fetchall() == [("amira", "label"), ("dora", "adjudication")]


async def test_changing_the_user_releases_their_items(project: Project) -> None:
    async with coordinator(project) as (app, pilot):
        await press(pilot, *":a", "enter", "2", "P")
        menu = app.screen
        assert isinstance(menu, ChoiceMenu)
        await press(pilot, "3", "enter")
        assert title(app).startswith("as ben")
        held = (
            "SELECT DISTINCT a.name FROM assignments AS s JOIN annotators AS a ON a.id = s.annotator_id "
            "WHERE s.state = 'leased' AND s.task = 'correctness'"
        )
        await until(pilot, lambda: project.database.reader().execute(held).fetchall() == [("ben",)])
        await press(pilot, "1", "P", "escape")
        assert title(app).startswith("as ben"), "without a choice nothing changes"
    last = "SELECT a.name FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id ORDER BY e.id DESC"
    assert project.database.reader().execute(last).fetchone() == ("ben",)


def digits(app: WorkbenchApp) -> dict[str, str]:
    assert isinstance(app.screen, PeopleMenu), app.screen
    return {choice.value: choice.key for choice in app.screen._every}


async def test_keys_wait_for_the_menu_of_users(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    may, offers = threading.Event(), rulings.offers

    def slow(*arguments: Any) -> Any:
        assert may.wait(PATIENCE_S)
        return offers(*arguments)

    monkeypatch.setattr(rulings, "offers", slow)
    async with coordinator(project) as (app, pilot):
        app.open_screen("annotate")
        await until(pilot, lambda: isinstance(app.screen, PersonScreen))
        await pilot.press("2", "enter")
        assert isinstance(app.screen, PersonScreen)
        may.set()
        await until(pilot, lambda: isinstance(app.screen, PersonScreen) and "done" in title(app))
        assert title(app).startswith("as amira, unblinded · 2 done")
        before = project.database.reader().execute("SELECT count(*) FROM label_events").fetchall()
        may.clear()
        await pilot.press("P", "1", "escape", "P", "b", "e", "n", "enter")
        assert isinstance(app.screen, PersonScreen)
        may.set()
        await until(pilot, lambda: isinstance(app.screen, PersonScreen) and title(app).startswith("as ben"))
        assert project.database.reader().execute("SELECT count(*) FROM label_events").fetchall() == before
        monkeypatch.setattr(rulings, "offers", lambda *_: [] if may.wait(PATIENCE_S) else None)
        may.clear()
        await pilot.press("P", "1")
        may.set()
        await settle(pilot)
        assert "No one else has work here." in notices(app)
        assert project.database.reader().execute("SELECT count(*) FROM label_events").fetchall() == before
        await press(pilot, "1")
        assert project.database.reader().execute("SELECT count(*) FROM label_events").fetchall() != before
        await press(pilot, "escape")
        assert not isinstance(app.screen, PersonScreen)


@pytest.mark.soak
async def test_digit_of_a_user_does_not_change(project: Project) -> None:
    async with coordinator(project) as (app, pilot):
        await press(pilot, *":a", "enter")
        assert digits(app) == {"amira": "2", "ben": "3"}
        await press(pilot, "escape")
        people.assign(project, ["eve", "zoe"], per_item=3)
        label_all(project, "amira", Answer(verdict="correct"))
        await press(pilot, *":a", "enter")
        assert digits(app) == {"eve": "1", "ben": "3", "zoe": "5"}
        await press(pilot, "2")
        assert isinstance(app.screen, PeopleMenu), "a digit without a user"
        await press(pilot, "escape", *":l", "enter")
        assert digits(app) == {"amira": "2", "ben": "3"}, "in another role, too"


async def test_user_is_chosen_by_typing_the_name(project: Project) -> None:
    async with coordinator(project) as (app, pilot):
        await press(pilot, *":a", "enter", *"Be")
        assert offered(app) == ["ben  2 to label, 2 done"]
        await press(pilot, "enter")
        assert title(app).startswith("as ben")
        await press(pilot, "P", *"nobody", "enter")
        assert isinstance(app.screen, PeopleMenu)
        await press(pilot, *["backspace"] * 6, "down", "up", "enter")
        assert title(app).startswith("as amira")


@pytest.mark.soak
async def test_session_numbers_are_per_user(project: Project) -> None:
    async with coordinator(project, (120, 40)) as (app, pilot):
        await press(pilot, *":a", "enter", "2", "1", "1")
        assert "2 this session" in app.screen.query_one(TitleBar).remark
        await press(pilot, "P", "3")
        assert title(app).startswith("as ben")
        assert "this session" not in title(app)
        await press(pilot, "1")
        assert "1 this session" in title(app)
        assert {name: pace.labels for name, pace in app.paces.items()} == {"amira": 2, "ben": 1}


async def test_user_opened_by_name_cannot_change_the_name(project: Project) -> None:
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, *":a", "enter", "P")
        assert isinstance(app.screen, PersonScreen)
        assert title(app).startswith("amira")
        assert "Person" not in [action.label for action in app.screen.own_actions()]


@pytest.mark.soak
async def test_screen_says_that_there_is_no_work(project: Project) -> None:
    dora = AdjudicationSession(project, "dora")
    while (conflict := dora.next()) is not None:
        dora.decide(conflict, Answer(verdict="correct"))
    async with coordinator(project) as (app, pilot):
        await press(pilot, *":j", "enter")
        assert "There is no conflict to resolve" in text_of(app, "#adjudicate-empty")
        await press(pilot, "P")
        assert any("has work here" in notice for notice in notices(app))


@pytest.mark.soak
async def test_after_assigning_work_the_user_is_chosen_again(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    people.add_annotators(project, ["amira", "ben"])
    async with coordinator(project) as (app, pilot):
        await press(pilot, *":a", "enter")
        assert "There is nothing to label" in text_of(app, "#annotate-empty")
        assert title(app) == ""
        await press(pilot, "question_mark", "escape")
        assert "There is nothing to label" in text_of(app, "#annotate-empty")
        await press(pilot, "question_mark")
        people.assign(project, ["amira", "ben"], per_item=2)
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(app.screen, PeopleMenu))
        assert [one.split()[0] for one in offered(app)] == ["amira", "ben"]
        await press(pilot, *"amira", "enter")
        await until(pilot, lambda: "amira" in title(app))
    project.close()


async def test_coordinator_who_only_looks_becomes_no_annotator(project: Project) -> None:
    detail(project, 1)
    me = coordinator_name()
    assert {person.name: person.role for person in people.annotators(project)}[me] == "coordinator"
    assert me not in [person.name for person in status(project).people]
    assert me not in rulings.active_people(project)
    for role in ("annotator", "adjudicator", "own"):
        assert me not in [offer.name for offer in rulings.offers(project, role)]
    async with coordinator(project) as (app, _):
        assert me not in text_of(app, "#home-people Static")
    people.assign(project, [me], per_item=3)
    assert me in rulings.active_people(project), "the annotator named in a batch labels"


def test_work_opens_on_the_screen_that_has_it(project: Project) -> None:
    begins = {name: rulings.first_screen(project, name) for name in ("amira", "ben", "dora", "eve")}
    assert begins == {"amira": "annotate", "ben": "annotate", "dora": "adjudicate", "eve": "annotate"}
    label_all(project, "amira", Answer(verdict="correct"))
    dora = AdjudicationSession(project, "dora")
    while (conflict := dora.next()) is not None:
        dora.decide(conflict, Answer(verdict="correct"))
    assert rulings.first_screen(project, "dora") == "adjudicate"


@pytest.mark.soak
async def test_reveals_count_for_every_user_of_the_session(project: Project) -> None:
    async with coordinator(project) as (_, pilot):
        await press(pilot, *":a", "enter", "2", "escape")
        await press(pilot, *":j", "enter", "4", "escape", *":b", "enter", "enter")
        await settle(pilot)
    looked = project.database.reader().execute(
        "SELECT DISTINCT a.name FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind = 'reveal' AND e.view = 'detail' ORDER BY 1"
    )
    assert {name for (name,) in looked} == {"amira", "dora", coordinator_name()}


@pytest.mark.soak
async def test_adjudicator_sees_the_stored_decision_and_past_ones(project: Project) -> None:
    async with opened(project, annotator="dora") as (app, pilot):
        await press(pilot, *":j", "enter", "0")
        assert "saved ✓ incorrect" in title(app)
        await press(pilot, "left_square_bracket")
        assert "your decision" in title(app)
        assert "incorrect" in text_of(app, "#opinions-earlier")
        await press(pilot, "1", "y")
        assert "saved ✓ correct" in title(app)
        await press(pilot, "escape", *":l", "enter")
        assert isinstance(app.screen, HistoryScreen)
        assert [line[17:36] for line in listed(app.screen)] == ["decided  ✓ correct "]
        await press(pilot, "enter")
        assert "your decision" in title(app)
        await press(pilot, "right_square_bracket")
        assert "your decision" not in title(app)
    decided = "SELECT verdict, supersedes IS NOT NULL FROM label_events WHERE kind = 'adjudication' ORDER BY id"
    assert project.database.reader().execute(decided).fetchall() == [("incorrect", 0), ("correct", 1)]


async def test_user_opened_by_name_cannot_start_a_verifier(project: Project) -> None:
    async with opened(project, annotator="amira") as (app, pilot):
        assert "Start" not in [key.label for _, key in app.screen.query_one(Footer).shown]
        await press(pilot, "a")
        assert type(app.screen).__name__ == "HomeScreen"


@pytest.mark.soak
async def test_cancelled_verifier_start_returns_to_the_screen(project: Project) -> None:
    async with coordinator(project) as (app, pilot):
        await press(pilot, "a")
        await until(pilot, lambda: type(app.screen).__name__ == "PickMenu")
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"
