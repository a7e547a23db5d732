"""Decisions on disagreements by one key: what is stored, of which item, and the next item."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from tests.background import PATIENCE_S
from tests.helpers import add_items, make_project, numbered
from tests.tui.stage import ONE_SIZE, add_run, notices, opened, press, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.disagreements import DisagreementsScreen, ReviewItemScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.verb import VerbOutputScreen
from workbench.core.label import coordinator_name
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.labelling.people import add_annotators
from workbench.measuring.records.review import ERROR_CATEGORIES, Review
from workbench.measuring.reviewing import deciding

YES, NO, ABSTAIN = Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAIN
ME = coordinator_name()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Six items, every other one correct; on 1 ``alpha`` errs, on 2 also ``beta``, on 3 ``beta`` and ``gamma``."""
    made = make_project(tmp_path, numbered(6, subtype="A1"))
    right = {item: YES if item % 2 else NO for item in range(1, 7)}
    add_run(made, "alpha", right | {1: NO, 2: YES, 3: ABSTAIN})
    add_run(made, "beta", right | {2: YES, 3: NO})
    add_run(made, "gamma", right | {1: ABSTAIN, 3: NO})
    return made


@asynccontextmanager
async def reviewing(
    project: Project, item: int, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[ReviewItemScreen, Pilot[None]]]:
    """Open the first queue with one of its items."""
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":r", "enter")
        screen = app.screen
        assert isinstance(screen, DisagreementsScreen)
        screen.query_one("VirtualTable").jump_to_id(item)  # type: ignore[attr-defined]
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewItemScreen)
        assert app.screen.completion == item
        yield app.screen, pilot


@asynccontextmanager
async def looking(
    project: Project, item: int, first: tuple[str, ...] = ()
) -> AsyncIterator[tuple[ItemScreen, Pilot[None]]]:
    """Open the item screen as Accuracy and Browse do."""
    async with opened(project, size=(120, 40)) as (app, pilot):
        screen = ItemScreen(item, [1, 2, 3, 4, 5, 6], first)
        app.push_screen(screen)
        await settle(pilot)
        yield screen, pilot


async def at_once(pilot: Pilot[None], *keys: str) -> None:
    """Press keys without reading or storing in between."""
    await pilot.press(*keys)
    await settle(pilot)


async def typed(pilot: Pilot[None], text: str) -> None:
    """Enter a line."""
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


def stored(project: Project) -> list[Any]:
    """Return (kind, item, verifier, category, note, queue) of all reviews in order."""
    query = (
        "SELECT r.kind, r.completion_id, v.name, r.category, r.note, r.queue FROM reviews AS r "
        "LEFT JOIN runs AS n ON n.id = r.run_id LEFT JOIN verifiers AS v ON v.id = n.verifier_id ORDER BY r.id"
    )
    return project.database.reader().execute(query).fetchall()


def review(screen: ItemScreen) -> str:
    return text_of(screen.app, "#item-review")


def title(screen: ItemScreen) -> str:
    return screen.query_one(TitleBar).remark


def order(screen: ReviewItemScreen) -> list[int]:
    return list(screen.desk.order)


def following(screen: ReviewItemScreen, item: int) -> int:
    places = order(screen)
    return places[(places.index(item) + 1) % len(places)]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_one_key_confirms_gold_and_shows_the_next_item(project: Project, size: tuple[int, int]) -> None:
    async with reviewing(project, 2, size) as (screen, pilot):
        assert "alpha and beta say correct" in review(screen)
        assert title(screen).startswith("0 of 3 reviewed")
        after = following(screen, 2)
        await press(pilot, "y")
        assert stored(project) == [("confirmed", 2, None, None, None, "verifier-gold")]
        assert screen.completion == after
        assert title(screen).startswith("1 of 3 reviewed")
        assert "saved: ✓ gold is right" in review(screen)
        assert project.database.reader().execute(
            "SELECT a.name, a.role FROM reviews AS r JOIN annotators AS a ON a.id = r.reviewer_id"
        ).fetchall() == [(ME, "coordinator")]
        await press(pilot, "y")
        assert screen.completion not in (2, after)
        await press(pilot, "z")
        assert screen.completion == after, "the last decision is retracted first"
        assert "Retracted" in review(screen)
        await press(pilot, "left_square_bracket" if order(screen)[-1] == after else "right_square_bracket")
        assert "Retracted" not in review(screen)


@pytest.mark.soak
async def test_reason_stays_when_the_texts_change_form(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        text = review(screen)
        assert "alpha and beta say correct" in text
        for key in ("o", "h", "v"):
            await press(pilot, key)
            assert review(screen) == text


@pytest.mark.soak
async def test_single_wrong_verdict_is_chosen_and_marked_by_two_keys(project: Project) -> None:
    async with reviewing(project, 1) as (screen, pilot):
        assert screen.chosen is not None
        assert screen.chosen.verifier == "alpha", "an abstention is not a verdict against gold"
        await press(pilot, "m")
        menu = screen.app.screen.query_one(OptionList)
        assert "alpha" in str(menu.border_title)
        assert [
            code for code, line in zip(ERROR_CATEGORIES, menu.options, strict=True) if code in str(line.prompt)
        ] == [*ERROR_CATEGORIES]
        await press(pilot, "2")
        assert stored(project) == [("error", 1, "alpha", "equivalence", None, "verifier-gold")]
        assert screen.completion != 1


@pytest.mark.soak
async def test_keys_beyond_nine_are_letters(project: Project) -> None:
    async with reviewing(project, 1) as (_, pilot):
        await at_once(pilot, "m", "a")
        assert [row[3] for row in stored(project)] == ["reference-unclear"]


@pytest.mark.soak
async def test_one_of_several_wrong_verdicts_is_chosen(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        assert screen.chosen is None
        await at_once(pilot, "m", "2", "3")
        assert stored(project) == [("error", 2, "beta", "format", None, "verifier-gold")]


@pytest.mark.soak
async def test_all_wrong_verdicts_are_marked_and_undone_together(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        await at_once(pilot, "m", "3", "4")
        assert [row[:4] for row in stored(project)] == [
            ("error", 2, "alpha", "units"),
            ("error", 2, "beta", "units"),
        ]
        assert "saved: ✗ error of alpha, beta: units" in review(screen)
        await press(pilot, "z")
        assert screen.completion == 2
        assert [row[0] for row in stored(project)] == ["error", "error", "retraction", "retraction"]
        assert title(screen).startswith("0 of 3 reviewed")
        assert "Retracted" in review(screen)
        assert "Decided" not in review(screen)


async def test_undecided_verdicts_come_after_wrong_ones(project: Project) -> None:
    async with reviewing(project, 3) as (screen, pilot):
        await press(pilot, "m")
        text = [str(option.prompt).split()[1:] for option in screen.app.screen.query_one(OptionList).options]
        assert text[:3] == [["✗", "incorrect", "beta"], ["✗", "incorrect", "gamma"], ["?", "abstain", "alpha"]]
        assert text[3][:5] == ["all", "2", "with", "verdict", "incorrect,"]
        await press(pilot, "3", "1")
        assert stored(project) == [("error", 3, "alpha", "extraction", None, "verifier-gold")]


@pytest.mark.soak
async def test_other_kind_of_error_needs_a_note(project: Project) -> None:
    async with reviewing(project, 1) as (screen, pilot):
        await at_once(pilot, "m", "c", "enter", "m", "c")
        assert stored(project) == []
        await typed(pilot, "[b]sign")
        assert stored(project) == [("error", 1, "alpha", "other", "[b]sign", "verifier-gold")]
        assert screen.completion != 1


@pytest.mark.soak
async def test_note_waits_for_its_own_decision(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        await press(pilot, "c")
        await typed(pilot, "odd")
        assert "✎ odd" in review(screen)
        assert stored(project) == []
        await press(pilot, "y")
        assert "odd" not in review(screen)
        await press(pilot, "y")
        assert [row[4] for row in stored(project)] == ["odd", None]


@pytest.mark.soak
async def test_note_is_not_carried_to_another_item(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        await press(pilot, "c")
        await typed(pilot, "odd")
        await press(pilot, "right_square_bracket", "y")
        assert [row[4] for row in stored(project)] == [None]
        assert screen.completion != 2


async def test_item_is_sent_back_with_a_reason(project: Project) -> None:
    add_annotators(project, ["amira", "ben"])
    async with reviewing(project, 2) as (screen, pilot):
        await at_once(pilot, "l", "enter")
        assert stored(project) == [], "no reason, no decision"
        await press(pilot, "l")
        await typed(pilot, "look")
        assert stored(project) == [("reannotate", 2, None, None, "look", "verifier-gold")]
        assert project.database.reader().execute(
            "SELECT count(*) FROM assignments WHERE task = 'correctness' AND subject = 2"
        ).fetchone() == (2,)
        assert screen.completion != 2
        await press(pilot, "z")
        assert screen.completion == 2
        assert "It will still be labelled again" in review(screen)


async def test_unsaved_decision_is_not_shown_as_done(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        await press(pilot, "l")
        await typed(pilot, "why")
        assert stored(project) == []
        assert [notice for notice in notices(screen.app) if "annotators must label it again" in notice]
        assert screen.completion == 2
        assert title(screen).startswith("0 of 3 reviewed")
        assert "saved" not in review(screen)
        await press(pilot, "y")
        assert [row[0] for row in stored(project)] == ["confirmed"], "the keys work again"


async def test_key_applies_to_the_item_that_was_visible(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        for _ in range(3):
            screen.app.post_message(events.Key("y", "y"))
        await until(pilot, lambda: screen.completion != 2)
        await settle(pilot)
        assert [row[1] for row in stored(project)] == [2]


async def test_key_pressed_before_the_item_arrived_is_ignored(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        assert screen.item_shown is not None
        assert screen.visible_item is None, "the last key opened it"
        await press(pilot, "tab")
        assert screen.visible_item is screen.item_shown


async def test_decision_keys_are_ignored_while_storing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, confirm = Event(), deciding.confirm

    def slowly(*arguments: Any, **settings: Any) -> Review:
        go_on.wait(PATIENCE_S)
        return confirm(*arguments, **settings)

    monkeypatch.setattr(deciding, "confirm", slowly)
    async with reviewing(project, 2) as (screen, pilot):
        await pilot.press("y", "m", "z", "y")
        assert screen.app.screen is screen, "no menu has opened"
        assert (screen.completion, title(screen)[:8]) == (2, "0 of 3 r")
        go_on.set()
        await settle(pilot)
        assert [row[:2] for row in stored(project)] == [("confirmed", 2)]
        assert "saved" in review(screen)


async def test_next_unreviewed_item_is_shown_until_all_are_reviewed(project: Project) -> None:
    deciding.confirm(project, 1, by="dora")
    async with reviewing(project, 2) as (screen, pilot):
        await press(pilot, "y")
        assert screen.completion == 3
        await press(pilot, "y")
        assert title(screen).startswith("3 of 3 reviewed")
        assert [notice for notice in notices(screen.app) if "Every item of this queue is reviewed" in notice]
        assert screen.completion == 3
        await press(pilot, "escape")
        assert isinstance(screen.app.screen, DisagreementsScreen)
        assert screen.app.screen.query_one("VirtualTable").selected_id == 3  # type: ignore[attr-defined]
        assert screen.app.screen.query_one(TitleBar).remark.startswith("3 of 3 reviewed")


async def test_next_and_previous_browse_the_queue_without_deciding(project: Project) -> None:
    async with reviewing(project, 2) as (screen, pilot):
        listed = order(screen)
        await press(pilot, *["left_square_bracket"] * listed.index(2))
        assert screen.completion == listed[0]
        await press(pilot, "right_square_bracket", "right_square_bracket")
        assert screen.completion == listed[2]
        assert stored(project) == []


@pytest.mark.soak
async def test_older_own_decision_is_undone_on_its_item(project: Project) -> None:
    deciding.mark_error(project, 2, 1, "units", by=ME)
    deciding.mark_error(project, 2, 2, "format", by="dora")
    async with reviewing(project, 2) as (screen, pilot):
        assert "error of alpha: units" in review(screen)
        await press(pilot, "z")
        assert [row[0] for row in stored(project)] == ["error", "error", "retraction"]
        assert "Decided  ✗ error of beta: format (dora)" in review(screen)
        assert title(screen).startswith("1 of 3 reviewed"), "dora's mark is kept"
        await press(pilot, "z")
        assert "You have no decision" in review(screen)


async def test_earlier_reviews_are_part_of_the_evidence(project: Project) -> None:
    deciding.mark_error(project, 2, 1, "units", by="dora", note="see [1]")
    async with looking(project, 2) as (screen, _):
        shown = screen.query_one("#item-evidence", Reader).document
        assert shown is not None
        lines = [line.strip() for line in shown.text.splitlines()]
        assert any(line.startswith("✗ error of alpha: units") and "dora" in line for line in lines)
        assert "note: see [1]" in lines


# -- From Accuracy, Browse and Compare -------------------------------------------------------------------------------


@pytest.mark.soak
async def test_item_of_a_cell_accepts_the_same_keys_and_stays(project: Project) -> None:
    async with looking(project, 2, ("beta",)) as (screen, pilot):
        await at_once(pilot, "m", "1")
        assert stored(project) == [("error", 2, "beta", "extraction", None, None)]
        assert screen.completion == 2
        assert "Decided  ✗ error of beta: extraction" in review(screen)
        await press(pilot, "y")
        assert [row[0] for row in stored(project)] == ["error", "confirmed"]
        await press(pilot, "z")
        assert [row[0] for row in stored(project)] == ["error", "confirmed", "retraction"]
        assert "error of beta" in review(screen)
        await press(pilot, "right_square_bracket")
        assert screen.completion == 3
        assert review(screen) == ""


@pytest.mark.soak
async def test_marks_made_together_are_undone_together_on_the_item(project: Project) -> None:
    async with looking(project, 2) as (screen, pilot):
        await at_once(pilot, "m", "3", "4")
        await press(pilot, "z")
        assert [row[0] for row in stored(project)] == ["error", "error", "retraction", "retraction"]
        assert "Decided" not in review(screen)


async def test_path_from_a_number_to_a_decision(project: Project) -> None:
    async with opened(project, size=(120, 40)) as (app, pilot):
        await press(pilot, *":y", "enter", "i", "enter")
        assert isinstance(app.screen, ItemScreen)
        item = app.screen.completion
        await at_once(pilot, "m", "1")
        assert [(row[0], row[1], row[3]) for row in stored(project)] == [("error", item, "extraction")]


async def test_review_needs_gold_and_a_wrong_verdict(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    add_items(project.database, [{"completion_id": "nobody knows"}])
    add_run(project, "alpha", {1: YES, 2: NO, 3: YES})
    async with looking(project, 1) as (screen, pilot):
        await press(pilot, "m")
        assert [notice for notice in notices(screen.app) if "agrees with gold" in notice]
    async with looking(project, 3) as (screen, pilot):
        await press(pilot, "m", "y")
        assert [notice for notice in notices(screen.app) if "has no gold label" in notice]
        assert isinstance(screen.app.screen, ChoiceMenu), "the coordinator may decide gold"
    assert stored(project) == []


async def test_long_texts_and_names_are_shown_as_text(tmp_path: Path) -> None:
    names = ["[red]", "\x1b[31m" + "x" * 60, "漢字" * 30]
    project = make_project(tmp_path, [{"completion": "y" * 1_000_000, "gold": True}])
    for name in names:
        add_run(project, name, {1: NO})
    async with looking(project, 1) as (screen, pilot):
        await at_once(pilot, "m", "4", "1")
        assert len(stored(project)) == 3
        assert "\x1b" not in review(screen)
        assert "[red]" in review(screen)
        assert isinstance(screen.app, WorkbenchApp)


async def test_marked_errors_are_counted_by_the_command(project: Project) -> None:
    deciding.mark_error(project, 1, 1, "units", by="dora")
    async with opened(project) as (app, pilot):
        await press(pilot, *":r", "enter", "o")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        output = app.screen
        assert isinstance(output, VerbOutputScreen)
        assert [line.split() for line in output.ran.out.splitlines()] == [
            ["verifier", "subtype", "kind", "of", "marked"],
            ["alpha", "A1", "units", "1", "of", "1"],
        ]
