"""Adjudicate: both labels without names, one key decides, verdicts only afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from tests.helpers import make_project
from tests.tui.stage import ONE_SIZE, SIZES, add_run, notices, press, settle, until
from tests.unit.labelling.conflicting import put
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.title_bar import SYMBOLS, TitleBar
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.screens.adjudicate import AdjudicateScreen, OpinionPanel
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.labelling import guidelines, people
from workbench.labelling.adjudicating import AdjudicationSession, Conflict
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.conflict_classes import ConflictClasses
from workbench.labelling.rulings import require_third

NOTE = "[red]half a period is missing[/red]"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Create three items; amira and ben disagree on correctness, and on the type of the first question."""
    made = make_project(
        tmp_path,
        [
            {
                "question_id": f"q{number}",
                "completion_id": f"c{number}",
                "types": "labelled",
                "question": f"What is {number} plus {number}?",
                "reference": rf"\boxed{{{2 * number}}}",
                "completion": rf"It is \boxed{{{2 * number}}}.",
            }
            for number in range(3)
        ],
    )
    people.assign(made, ["amira", "ben"], per_item=2)
    people.add_annotators(made, ["chen"])
    label_all(made, "amira", Answer(verdict="correct", subtype="A1", focused_ms=12_400))
    label_all(made, "ben", Answer(verdict="incorrect", subtype="A1", unsure=True, note=NOTE))
    yield made
    made.close()


def label_all(project: Project, name: str, answer: Answer) -> None:
    session = AnnotationSession(project, name)
    while (item := session.next()) is not None:
        session.submit(item, answer)
    session.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def decisions(project: Project) -> list[Any]:
    return rows(project, "SELECT subject, verdict FROM label_events WHERE kind = 'adjudication' ORDER BY id")


def judge(project: Project) -> None:
    add_run(project, "judge-a", dict.fromkeys(range(1, 4), Outcome.CORRECT))


def screen(app: WorkbenchApp) -> AdjudicateScreen:
    return next(one for one in app.screen_stack if isinstance(one, AdjudicateScreen))


def subject(app: WorkbenchApp) -> int:
    current = screen(app)._current
    assert current is not None
    return current.conflict.subject


def opinions(app: WorkbenchApp) -> str:
    return "\n".join(str(line.content) for line in screen(app).query(".opinion").results(Static))


def seen(app: WorkbenchApp) -> str:
    return "\n".join("".join(part.text for part in line) for line in app.screen._compositor.render_strips())


@asynccontextmanager
async def adjudicating(
    project: Project, person: str | None = "chen", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    app = WorkbenchApp(project, person)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.open_screen("adjudicate")
        await settle(pilot)
        yield app, pilot


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_both_labels_are_shown_without_names(project: Project, size: tuple[int, int]) -> None:
    judge(project)
    async with adjudicating(project, size=size) as (app, _):
        text = opinions(app)
        assert "✓ correct" in text
        assert "✗ incorrect" in text
        assert "? unsure" in text
        assert "12 s" in text
        assert NOTE in text
        assert "3 conflicts" in app.screen.query_one(TitleBar).remark
        assert not any(name in seen(app) for name in ("amira", "ben", "judge-a"))


@pytest.mark.few(2)
@pytest.mark.parametrize(("width", "side_by_side"), [(80, False), (99, False), (100, True), (160, True)])
async def test_labels_are_side_by_side_on_wide_terminals(project: Project, width: int, side_by_side: bool) -> None:
    async with adjudicating(project, size=(width, 30)) as (app, pilot):
        one, other = (found.region for found in screen(app).query(".opinion"))
        assert (one.y == other.y) is side_by_side
        assert (one.x == other.x) is not side_by_side
        await pilot.resize_terminal(180 - width, 30)
        await settle(pilot)
        one, other = (found.region for found in screen(app).query(".opinion"))
        assert (one.y == other.y) is (180 - width >= 100)


async def test_no_widget_reveals_the_annotators(project: Project) -> None:
    """No id, class, name, tooltip, title or any other attribute of a widget does."""
    async with adjudicating(project, size=(120, 40)) as (app, _):
        made = rows(project, "SELECT uuid FROM label_events UNION SELECT created_at FROM label_events")
        marks = ["amira", "ben", *(row[0] for row in made)]
        for widget in screen(app).walk_children(Widget):
            held = (widget.id, widget.name, *widget.classes, widget.tooltip, widget.border_title)
            content = widget.content if isinstance(widget, Static) else ""
            assert not [mark for mark in marks if mark in f"{held} {content}"]
        assert len({(one.id, one.name, one.classes) for one in screen(app).query(".opinion")}) == 1


@pytest.mark.few(4)
@pytest.mark.parametrize("size", [*SIZES, (99, 24), (100, 30)])
@pytest.mark.parametrize("others", [0, 1, 2])
async def test_every_label_is_visible(project: Project, size: tuple[int, int], others: int) -> None:
    """However much one annotator writes."""
    note = "so and so " * 150
    for name in ("amira", "ben"):
        put(project, name, 1, "correct" if name == "amira" else "incorrect", note=note, at="2999", merged=True)
    for number in range(others):
        put(project, f"p{number}", 1, "unsuitable", reason="proof", note=note)
    async with adjudicating(project, size=size) as (app, _):
        lines = seen(app)
        assert all(f"{letter}  {sign} " in lines for letter, sign in zip("ABCD", signs(app), strict=False))
        assert len(signs(app)) == 2 + others
        assert screen(app).card.size.height >= 9


def signs(app: WorkbenchApp) -> list[str]:
    current = screen(app)._current
    assert current is not None
    return [SYMBOLS[one.value] for one in current.conflict.opinions]


async def test_key_pressed_before_the_conflict_was_visible_is_ignored(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        screen(app)._seen_at = app.at_work.now() + 60
        await press(pilot, "1", "0", "comma", "x", "l")
        assert app.screen is screen(app)
        assert decisions(project) == []
        screen(app)._seen_at = app.at_work.now()
        await press(pilot, "0")
    assert len(decisions(project)) == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_long_note_can_be_read_in_full(project: Project, size: tuple[int, int]) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(1), Answer(verdict="incorrect", note="so and so " * 800 + "THE END"))
    ben.close()
    async with adjudicating(project, size=size) as (app, pilot):
        assert "THE END" not in seen(app)
        await press(pilot, "L", "end")
        await until(pilot, lambda: "THE END" in seen(app))
        assert not screen(app).card.display
        await press(pilot, "escape")
        assert screen(app).card.display
        assert isinstance(app.screen, AdjudicateScreen)
        await press(pilot, "L", "0")
        assert not screen(app).query_one(OpinionPanel).in_full


@pytest.mark.few(2)
@pytest.mark.parametrize(("key", "letter"), [("comma", "A"), ("full_stop", "B")])
async def test_one_key_adopts_a_whole_label(project: Project, key: str, letter: str) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(1), Answer(verdict="unsuitable", reason="proof", tags=("guessed",)))
    ben.close()
    async with adjudicating(project) as (app, pilot):
        assert subject(app) == 1
        current = screen(app)._current
        assert current is not None
        opinion = next(one for one in current.conflict.opinions if one.letter == letter)
        await press(pilot, key)
    stored = "SELECT verdict, exclusion_reason, tags, keys FROM label_events WHERE kind = 'adjudication'"
    tags = '["guessed"]' if opinion.tags else None
    assert rows(project, stored) == [(opinion.value, opinion.reason or None, tags, 1)]


async def test_reopened_decision_is_shown(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1")
        ben = AnnotationSession(project, "ben")
        ben.submit(ben.open(1), Answer(verdict="unsuitable", reason="truncated"))
        ben.close()
        await press(pilot, "l")
        assert subject(app) == 1
        assert "opened again: a label came after the decision ✓ correct" in seen(app)
        assert "chen" not in opinions(app)


@pytest.mark.soak
async def test_marks_are_stored_with_the_decision(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "m", "1", "m", "3", "m", "3")
        assert "◆ reasoning wrong" in app.screen.query_one(TitleBar).remark
        await press(pilot, "1")
        assert "◆" not in app.screen.query_one(TitleBar).remark
    assert rows(project, "SELECT tags FROM label_events WHERE kind = 'adjudication'") == [('["reasoning_wrong"]',)]


async def test_previous_decision_is_shown_with_its_marks(project: Project) -> None:
    decision = Answer(verdict="correct", tags=("reasoning_wrong",))
    AdjudicationSession(project, "chen").decide(opened_conflict(project), decision)
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "left_square_bracket")
        assert "◆ reasoning wrong" in app.screen.query_one(TitleBar).remark


async def test_note_is_kept_when_the_screen_is_left(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "c", *"why", "enter", "escape")
        app.open_screen("adjudicate")
        await settle(pilot)
        assert "✎ why" in app.screen.query_one(TitleBar).remark
        await press(pilot, "1")
        assert "✎" not in app.screen.query_one(TitleBar).remark
    assert rows(project, "SELECT note FROM label_events WHERE kind = 'adjudication'") == [("why",)]
    assert rows(project, "SELECT count(*) FROM drafts") == [(0,)]


async def test_case_is_added_to_the_guidelines(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "a", *"Ten is 10.", "enter")
        added = guidelines.current(project)
        assert "- Ten is 10.\n" in added.text
        assert guidelines.versions(project)[-1].author == "chen"
        assert [text for text in notices(app) if added.version in text]
        await press(pilot, "G", "end")
        await until(pilot, lambda: "Ten is 10." in seen(app))


@pytest.mark.soak
async def test_case_can_be_added_after_the_decision(project: Project) -> None:
    judge(project)
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1", "a")
        assert isinstance(app.screen, PromptLine)
        await press(pilot, *"So", "enter")
        assert "- So\n" in guidelines.current(project).text
        assert subject(app) == 2


@pytest.mark.few(4)
@pytest.mark.parametrize("person", ["chen", None])
@pytest.mark.parametrize("way", ["history", "step"])
@pytest.mark.parametrize("key", ["0", "comma"])
async def test_current_decision_is_replaced_only_after_confirmation(
    project: Project, person: str | None, way: str, key: str
) -> None:
    AdjudicationSession(project, "chen").decide(opened_conflict(project), Answer(verdict="correct"))
    before = decisions(project)
    app = WorkbenchApp(project, person)
    app.working_as |= {"own": "chen", "adjudicator": "chen"}
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.open_screen("history" if way == "history" else "adjudicate")
        await settle(pilot)
        await press(pilot, "enter" if way == "history" else "left_square_bracket")
        assert subject(app) == before[0][0]
        current = screen(app)._current
        assert current is not None
        if key == "comma":
            letter = next(one.letter for one in current.conflict.opinions if one.value == "incorrect")
            key = {"A": "comma", "B": "full_stop"}[letter]
        await press(pilot, key)
        assert isinstance(app.screen, ConfirmScreen)
        assert "correct is in force; incorrect replaces it" in seen(app).replace("\n", " ")
        await press(pilot, "enter")
        assert decisions(project) == before
        await press(pilot, key, "y")
        assert decisions(project) == [*before, (before[0][0], "incorrect")]


def opened_conflict(project: Project) -> Conflict:
    found = AdjudicationSession(project, "chen").next()
    assert found is not None
    return found


@pytest.mark.soak
async def test_bulk_undo_is_left_to_the_bulk_screen(project: Project) -> None:
    classes = ConflictClasses(project, "chen")
    classes.settle(classes.open("correct/incorrect"), [1, 2], Answer(verdict="correct"))
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "z")
        assert [text for text in notices(app) if "resolved 2 conflicts at once" in text]
        assert subject(app) == 3
        assert len(decisions(project)) == 2


async def test_one_key_decides_and_shows_the_next_conflict(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "0")
        assert decisions(project) == [(first, "incorrect")]
        assert subject(app) != first
        assert "2 conflicts" in app.screen.query_one(TitleBar).remark
    state = rows(project, "SELECT state, decided_by FROM task_states WHERE task = 'correctness' AND subject = ?", first)
    assert state == [("final", "adjudicated")]
    ((view, open_ms),) = rows(project, "SELECT view, open_ms FROM label_events WHERE kind = 'adjudication'")
    assert view == "card rendered"
    assert open_ms >= 0


@pytest.mark.few(2)
@pytest.mark.parametrize("key", ["enter", "space"])
async def test_verdicts_are_shown_after_the_decision(project: Project, key: str) -> None:
    judge(project)
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "1")
        assert isinstance(app.screen, ChoiceMenu)
        assert "judge-a" in seen(app)
        assert rows(project, "SELECT subject FROM label_events WHERE view = 'verdicts'") == [(first,)]
        await press(pilot, key)
        assert subject(app) != first
        assert "judge-a" not in seen(app)


@pytest.mark.soak
async def test_undo_from_the_verdicts_reopens_the_conflict(project: Project) -> None:
    judge(project)
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "1", "z")
        assert subject(app) == first
        await press(pilot, "0", "enter")
        marked = rows(project, "SELECT verdict, unblinded FROM label_events WHERE kind = 'adjudication' ORDER BY id")
        assert marked == [("correct", 0), ("incorrect", 1)]


@pytest.mark.soak
async def test_undo_after_a_restart(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "1")
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "z")
        assert subject(app) == first
        assert "3 conflicts" in app.screen.query_one(TitleBar).remark


async def test_unsuitable_with_a_reason_and_a_note(project: Project) -> None:
    async with adjudicating(project) as (_, pilot):
        await press(pilot, "c", *"why", "enter", "x", "1")
        found = rows(project, "SELECT verdict, exclusion_reason, note FROM label_events WHERE kind = 'adjudication'")
        assert found == [("unsuitable", "proof", "why")]


@pytest.mark.soak
async def test_skipped_conflict_moves_to_the_end(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        await press(pilot, "l")
        assert subject(app) != first
        await press(pilot, "1", "1")
        assert subject(app) == first


@pytest.mark.soak
async def test_one_key_adopts_a_side_of_a_type_conflict(project: Project) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(1), Answer(subtype="B3"))
    ben.close()
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1")
        first, _ = opinions(app).splitlines()
        await press(pilot, "comma")
        (found,) = rows(project, "SELECT subtype FROM item_states WHERE completion_id = 1")[0]
        assert found in first


async def test_types_are_settled_in_three_keys(project: Project) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(1), Answer(subtype="B3"))
    ben.close()
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1")
        assert not isinstance(app.screen, TypePicker)
        assert "A1" in opinions(app)
        assert "B3 - Interval" in opinions(app)
        await press(pilot, "1", "0", "x", "m")
        assert [one[1] for one in decisions(project)] == ["correct"]
        await press(pilot, "t", "b", "3")
        assert rows(project, "SELECT state, subtype FROM item_states WHERE completion_id = 1") == [("final", "B3")]


async def test_concurrently_changed_label_is_shown_first(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        first = subject(app)
        ben = AnnotationSession(project, "ben")
        ben.submit(ben.open(first), Answer(verdict="unsuitable", reason="truncated"))
        ben.close()
        await press(pilot, "1")
        assert decisions(project) == []
        assert subject(app) == first
        assert "⊘ unsuitable" in opinions(app)


async def test_annotators_have_nothing_to_settle_of_their_own(project: Project) -> None:
    async with adjudicating(project, "amira") as (app, pilot):
        assert "There is no conflict for amira" in seen(app)
        offered = set(app.screen.active_bindings)
        assert not {"1", "0", "x", "t", "comma", "full_stop", "l", "c", "m", "L", "a", "C", "slash"} & offered
        assert {"z", "w", "left_square_bracket", "question_mark"} <= offered
        await press(pilot, "1", "l", "x", "t", "c", "z")
    assert decisions(project) == []


@pytest.mark.soak
async def test_conflicts_that_come_later_appear(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1", "1", "1")
        assert "There is no conflict" in seen(app)
        ben = AnnotationSession(project, "ben")
        ben.submit(ben.open(2), Answer(verdict="unsuitable", reason="truncated"))
        ben.close()
        screen(app)._retry_if_empty()
        await settle(pilot)
        assert subject(app) == 2


async def test_decision_that_contradicts_its_marks_is_confirmed(project: Project) -> None:
    app = WorkbenchApp(project, "chen")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.open_screen("adjudicate")
        await settle(pilot)
        await press(pilot, "m", "2", "1")
        assert decisions(project) == []
        await press(pilot, "2")
        assert [verdict for _, verdict in decisions(project)] == ["incorrect"]


async def test_last_conflict_says_how_many_are_resolved(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        for _ in range(20):
            if screen(app)._current is None:
                break
            await press(pilot, "0")
        assert f"That was the last one: {len(decisions(project))} resolved by you in total." in seen(app)


@pytest.mark.soak
async def test_last_decision_stays_visible_until_the_next_conflict(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        while screen(app)._current is not None:
            await press(pilot, "0")
        opinion = seen(app)
        assert "That was the last one: " in opinion
        assert "saved ✓ incorrect" in opinion
        screen(app)._retry_if_empty()
        await settle(pilot)
        assert seen(app) == opinion
        await press(pilot, "z")
        assert "That was the last one" not in seen(app)
        await press(pilot, "l")
        screen(app)._retry_if_empty()
        await settle(pilot)
        assert "saved ✓" not in seen(app)


def test_annotator_of_the_item_cannot_adjudicate_it(project: Project) -> None:
    with pytest.raises(UsageError, match="has labelled the items in conflict"):
        require_third(project, "amira")
    require_third(project, "somebody new")
    require_third(project, "chen")


async def test_second_window_asks_before_replacing_a_decision(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        at = subject(app)
        other = AdjudicationSession(project, "chen")
        other.decide(other.open("correctness", at), Answer(verdict="correct"))
        await press(pilot, "0")
        assert (subject(app), decisions(project)) == (at, [(at, "correct")])
        assert any("another window: correct" in notice for notice in notices(app))
        await press(pilot, "0")
        assert isinstance(app.screen, ConfirmScreen)
        assert decisions(project) == [(at, "correct")]


async def test_undo_after_a_skip_returns_to_the_conflict_without_a_decision(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        await press(pilot, "1")
        made, skipped = decisions(project), subject(app)
        await press(pilot, "l")
        assert subject(app) != skipped
        await press(pilot, "z")
        assert (subject(app), decisions(project)) == (skipped, made)
        assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'retraction'") == [(0,)]


@pytest.mark.soak
async def test_undo_of_a_replacement_restores_the_first_decision(project: Project) -> None:
    async with adjudicating(project) as (app, pilot):
        at = subject(app)
        await press(pilot, "1", "left_square_bracket", "0", "y", "z")
        assert rows(
            project, "SELECT state, verdict FROM task_states WHERE task = 'correctness' AND subject = ?", at
        ) == [("final", "correct")]
        assert (subject(app), "your decision" in screen(app).query_one(TitleBar).remark) == (at, True)


@pytest.mark.soak
async def test_unknown_name_is_added_only_after_confirmation(project: Project) -> None:
    """Typing ``:j`` by habit used to add an annotator."""
    async with adjudicating(project, None) as (app, pilot):
        names = [person.name for person in people.annotators(project)]
        await press(pilot, *":j", "enter")
        assert isinstance(app.screen, ConfirmScreen)
        assert "Add :j?" in seen(app)
        await press(pilot, "enter")
        assert [person.name for person in people.annotators(project)] == names
        await press(pilot, *"dora", "enter", "y")
        assert [person.name for person in people.annotators(project)] == [*names, "dora"]
        assert "as dora" in screen(app).query_one(TitleBar).remark
