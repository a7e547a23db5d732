"""Triage: cards of wrong verdicts, one key for a cause, the next card immediately, and the stored reviews."""

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
from tests.helpers import make_project, numbered
from tests.tui.solved import solved_project
from tests.tui.stage import HOSTILE, ONE_SIZE, SIZES, add_run, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.triage_view import _answer, _cut_around_difference
from workbench.app.tui.screens.accuracy_items import AccuracyItemsScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.triage import TriageScreen
from workbench.core.label import coordinator_name
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.labelling.people import add_annotators
from workbench.measuring import browsing
from workbench.measuring.records.review import (
    CODE_ERROR_CATEGORIES,
    CODE_ERRORS_IN_SHORT,
    ERROR_CATEGORIES,
    ERRORS_IN_SHORT,
    ErrorCategory,
)
from workbench.measuring.reviewing import deciding, triage
from workbench.measuring.reviewing.differences import differences
from workbench.measuring.reviewing.triage import KEYED

YES, NO = Outcome.CORRECT, Outcome.INCORRECT
TEXTS = [("12", "21"), (r"\boxed{B}", "So the answer is the greenhouse."), ("(1, 2)", r"\boxed{[1, 2)}"), ("5", "5 cm")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Create eight items that ``alpha`` wrongly rejects, two of each of four differences, and four it judges right."""
    wrong = [
        {"completion_id": f"w{number}", "reference": TEXTS[number % 4][0], "completion": TEXTS[number % 4][1]}
        for number in range(8)
    ]
    rows = [{**row, "question_id": f"q{place}", "gold": True, "subtype": "C1"} for place, row in enumerate(wrong)]
    made = make_project(tmp_path, [*rows, *numbered(4, subtype="A1", dataset="more")])
    add_run(made, "alpha", dict.fromkeys(range(1, 9), NO) | {9: YES, 10: NO, 11: YES, 12: NO})
    return made


@asynccontextmanager
async def triaging(
    project: Project, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[TriageScreen, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        app.open_screen("triage")
        await settle(pilot)
        assert isinstance(app.screen, TriageScreen)
        yield app.screen, pilot


def shown(screen: TriageScreen) -> str:
    return text_of(screen.app, "#triage-card")


def title(screen: TriageScreen) -> str:
    return screen.query_one(TitleBar).remark


def item(screen: TriageScreen) -> int:
    assert screen.case is not None
    return screen.case.id


def stored(project: Project) -> list[Any]:
    """Return (kind, item, category, note) of all reviews in order."""
    query = "SELECT kind, completion_id, category, note FROM reviews ORDER BY id"
    return project.database.reader().execute(query).fetchall()


def looked_at(project: Project) -> set[int]:
    """Return items whose gold the coordinator has seen on record."""
    query = (
        "SELECT e.subject FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.task = 'correctness' AND e.kind = 'reveal' AND a.name = ?"
    )
    return {row[0] for row in project.database.reader().execute(query, (coordinator_name(),))}


# -- Paths to triage, counted in keys ------------------------------------------------------------------------------


async def test_four_keys_lead_from_home_to_the_first_stored_cause(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":w", "enter", "2")
        assert isinstance(app.screen, TriageScreen)
        assert app.screen.scope is not None
        assert "C1" in app.screen.scope.words
    assert stored(project) == [("error", 1, "equivalence", None)]


async def test_three_keys_lead_from_homes_sentence_to_a_cause(project: Project) -> None:
    async with opened(project) as (app, pilot):
        number = next(place for place, one in enumerate(app.screen.matters, 1) if one.kind == "weakest-cell")  # type: ignore[attr-defined]
        await press(pilot, str(number))
        assert isinstance(app.screen, AccuracyItemsScreen)
        await press(pilot, "m", "3")
    assert stored(project) == [("error", 1, "format", None)]


@pytest.mark.few(3)
@pytest.mark.parametrize("way", [":y", ":r", ":b"], ids=["accuracy", "queue", "browse"])
async def test_one_key_opens_triage_from_cells_queues_and_lists(project: Project, way: str) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *way, "enter", "m")
        assert isinstance(app.screen, TriageScreen)
        assert app.screen.scope is not None
        assert sorted(app.screen.scope.items) == [*range(1, 9)]
        await press(pilot, "1")
        assert len(stored(project)) == 1


async def test_every_decision_takes_one_key(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, *"12121212")
        assert [(row[1], row[2]) for row in stored(project)] == [
            (place, ("extraction", "equivalence")[(place - 1) % 2]) for place in range(1, 9)
        ]
        assert screen.closing
        assert "equivalence 4 (50.0 %)" in shown(screen)
        await press(pilot, "[")
        assert item(screen) == 8


@pytest.mark.soak
async def test_weakest_cell_is_followed_by_all_errors_of_its_verifier(project: Project) -> None:
    add_run(project, "beta", dict.fromkeys([*range(1, 5), 9, 10, 12], NO) | dict.fromkeys([*range(5, 9), 11], YES))
    async with triaging(project) as (screen, pilot):
        assert screen.scope is not None
        cell = screen.scope
        await press(pilot, *"1" * len(cell.items))
    async with triaging(project) as (screen, pilot):
        assert screen.scope is not None
        assert (screen.scope.words, screen.scope.verifiers) == ("all items", cell.verifiers)
        assert len(screen.scope.items) > len(cell.items)


async def test_two_keys_show_errors_of_another_verifier(project: Project) -> None:
    add_run(project, "beta", dict.fromkeys(range(1, 13), YES))
    async with triaging(project) as (screen, pilot):
        await press(pilot, "v")
        menu = screen.app.screen.query_one("OptionList", OptionList)
        lines = [str(menu.get_option_at_index(place).prompt) for place in range(menu.option_count)]
        assert [line.split(":")[0].split()[-1] for line in lines] == ["beta", "alpha"]
        await press(pilot, "1" if "alpha" in title(screen) else "2")
        changed = screen.app.screen
        assert isinstance(changed, TriageScreen)
        assert changed is not screen
        assert changed.scope is not None
        assert (changed.scope.words, len(changed.scope.verifiers)) == ("all items", 1)
        assert changed.scope.verifiers != (screen.scope and screen.scope.verifiers)
        assert changed.scope.verifiers[0] in title(changed)


@pytest.mark.parametrize("size", SIZES)
async def test_long_question_is_marked_as_truncated(tmp_path: Path, size: tuple[int, int]) -> None:
    words = " ".join(f"word{number}" for number in range(900))
    questions = [f"{words} What follows?", "Which one?"]
    rows = [{"question_id": f"q{n}", "question": text, "gold": True} for n, text in enumerate(questions)]
    project = make_project(tmp_path, rows)
    add_run(project, "alpha", {1: NO, 2: NO})
    async with triaging(project, size) as (screen, pilot):
        lines = shown(screen).splitlines()
        assert lines[0].startswith(" … word")
        assert len(lines) <= screen.query_one("#triage-card").content_size.height
        reference_line = next(place for place, line in enumerate(lines) if line.startswith(" reference"))
        assert reference_line >= 4, "the question gets the remaining lines"
        assert "What follows?" in " ".join(lines[:reference_line])
        await press(pilot, "]")
        assert shown(screen).startswith(" Which one?")


async def test_annotators_cannot_open_triage(project: Project) -> None:
    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, *":w", "enter", "escape")
        app.action_open_screen("triage")
        await settle(pilot)
        assert not isinstance(app.screen, TriageScreen)
        assert not [one for one in app.get_system_commands(app.screen) if "riage" in one.title]


# -- Card -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
async def test_card_has_everything_for_a_decision(project: Project, size: tuple[int, int]) -> None:
    async with triaging(project, size) as (screen, pilot):
        await press(pilot, "]", "]")
        lines = shown(screen).splitlines()
        text = "\n".join(lines)
        assert len(lines) <= size[1] - 2
        assert max(map(len, lines)) <= size[0]
        for message in ("(1, 2)", "[1, 2)", "bracket", "gold ✓", "‹alpha ✗›", "\n is in ", "9 cut-off", "0 another"):
            assert message in text, message
        assert title(screen).startswith("case 3 of 8 · 0 with a cause · 8 left")


async def test_differences_are_marked_by_signs_below(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "]", "]")
        lines = shown(screen).splitlines()
        for text in ("(1, 2)", "[1, 2)"):
            place = next(
                number for number, line in enumerate(lines) if line.endswith(f"┃ {text}") or f"┃ {text}" in line
            )
            begin = lines[place].index(text)
            assert lines[place + 1][begin:].rstrip() == "^"
            assert lines[place + 1].startswith("  ┃ ")


@pytest.mark.few(10)
@pytest.mark.parametrize("text", [*HOSTILE, "x" * 50_000, "漢字" * 300, "مرحبا بالعالم " * 30, "a\0b\x07", "\n" * 50])
@pytest.mark.parametrize("size", SIZES)
async def test_texts_are_never_markup_and_causes_stay_visible(tmp_path: Path, text: str, size: tuple[int, int]) -> None:
    row = {"question": text, "reference": text, "completion": f"answer: {text}", "gold": True, "completion_id": text}
    made = make_project(tmp_path, [row])
    add_run(made, text[:60], {1: NO}, reasons=(text[:60],))
    async with triaging(made, size) as (screen, pilot):
        lines = shown(screen).splitlines()
        assert len(lines) <= size[1] - 2
        assert not [sign for sign in shown(screen) if not sign.isprintable() and sign != "\n"]
        assert any("9 cut-off" in line for line in lines)
        await press(pilot, "1")
        assert len(stored(made)) == 1


async def test_viewing_is_recorded_as_a_reveal(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "]")
        assert item(screen) == 2
    assert looked_at(project) == {1, 2}, "shown cards, not prefetched ones"


async def test_next_cards_are_prefetched(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    async with triaging(project) as (screen, pilot):

        def fail(*_: Any) -> Any:
            raise AssertionError("read too late")

        monkeypatch.setattr(triage, "case", fail)
        await press(pilot, *"1111111")
        assert item(screen) == 8
        assert not notices(screen.app)


async def test_failed_reveal_is_recorded_with_the_next(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    async with triaging(project) as (screen, pilot):
        with monkeypatch.context() as patch:
            patch.setattr(browsing, "reveal_each", lambda *_: 1 / 0)
            await press(pilot, "]")
        assert looked_at(project) == {1}
        await press(pilot, "]")
        assert item(screen) == 3
        assert looked_at(project) == {1, 2, 3}


# -- Storing --------------------------------------------------------------------------------------------------------


def held_back(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Return an event that marks wait for before they are stored."""
    may, mark = Event(), deciding.mark_errors

    def slow(*arguments: Any, **options: Any) -> Any:
        may.wait(PATIENCE_S)
        return mark(*arguments, **options)

    monkeypatch.setattr(deciding, "mark_errors", slow)
    return may


async def test_next_card_does_not_wait_and_unsaved_marks_are_shown_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = held_back(monkeypatch)
    async with triaging(project) as (screen, pilot):
        await pilot.press("2")
        await until(pilot, lambda: item(screen) == 2)
        assert stored(project) == []
        assert "saved" not in shown(screen)
        assert title(screen).startswith("case 2 of 8 · 0 with a cause")
        await pilot.press("3")
        await until(pilot, lambda: item(screen) == 3)
        may.set()
        await settle(pilot)
        assert [row[1:3] for row in stored(project)] == [(1, "equivalence"), (2, "format")]
        assert "saved: format" in shown(screen)
        assert title(screen).startswith("case 3 of 8 · 2 with a cause · 6 left")


async def test_key_applies_to_the_card_that_was_visible(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        for _ in range(2):
            screen.app.post_message(events.Key("1", "1"))
        await settle(pilot)
        assert [row[1] for row in stored(project)] == [1]
        assert item(screen) == 2


async def test_unsaved_card_comes_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError("disk full")

    async with triaging(project) as (screen, pilot):
        with monkeypatch.context() as patch:
            patch.setattr(deciding, "mark_errors", full)
            await press(pilot, "2")
        assert item(screen) == 1
        assert "could not be saved" in shown(screen)
        assert [notice for notice in notices(screen.app) if "disk full" in notice]
        assert title(screen).startswith("case 1 of 8 · 0 with a cause · 8 left")
        await press(pilot, "2")
        assert [row[1] for row in stored(project)] == [1]


async def test_waiting_marks_are_stored_after_leaving_the_screen(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = held_back(monkeypatch)
    async with triaging(project) as (screen, pilot):
        await pilot.press("2")
        await until(pilot, lambda: item(screen) == 2)
        await pilot.press("3")
        await until(pilot, lambda: item(screen) == 3)
        await pilot.press("escape")
        may.set()
        await until(pilot, lambda: len(stored(project)) == 2)


async def test_undo_works_one_by_one_and_after_a_restart(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "2", "3", "z")
        assert item(screen) == 2
        assert title(screen).startswith("case 2 of 8 · 1 with a cause · 7 left")
    async with triaging(project) as (screen, pilot):
        assert item(screen) == 2
        await press(pilot, "z")
        assert item(screen) == 1
        assert title(screen).startswith("case 1 of 8 · 0 with a cause · 8 left")
        await press(pilot, "z")
        assert "You have no cause" in shown(screen)


async def test_similar_cases_are_counted_marked_and_undone_together(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "]")
        assert "1 more case like it: space picks all 2" in shown(screen)
        await press(pilot, "space")
        assert "2 cases: letter against text" in shown(screen)
        assert shown(screen).count("│ ") >= 2
        await press(pilot, "4")
        assert [row[1:3] for row in stored(project)] == [(2, "units"), (6, "units")]
        assert "2 cases alike" in shown(screen)
        assert item(screen) == 3
        await press(pilot, "z")
        assert item(screen) == 2
        assert title(screen).startswith("case 2 of 8 · 0 with a cause · 8 left")


@pytest.mark.soak
async def test_similar_cases_are_undone_together_after_a_restart(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "1", "space", "4")
        assert len(stored(project)) == 3
    async with triaging(project) as (screen, pilot):
        await press(pilot, "z")
        assert "2 cases" in shown(screen)
        assert title(screen).startswith("case 2 of 8 · 1 with a cause · 7 left")


async def test_picked_cause_applies_to_one_card_only(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "space", "]", "1")
        assert [row[1] for row in stored(project)] == [2]
        await press(pilot, "[")
        assert item(screen) == 2
        assert "decided" in shown(screen)


@pytest.mark.soak
async def test_custom_cause_is_named_once_and_then_suggested(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "0", "3")
        pilot.app.screen.query_one(Input).value = "[b]gold is wrong"
        await press(pilot, "enter")
        await press(pilot, "0", "3")
        assert [row[1:] for row in stored(project)] == [
            (1, "other", "[b]gold is wrong"),
            (2, "other", "[b]gold is wrong"),
        ]
        assert "another cause 2" in " ".join(shown(screen).split())
        await press(pilot, "[")
        assert f"error of alpha: [b]gold is wrong ({coordinator_name()})" in shown(screen)
        await press(pilot, "d")
        assert "[b]gold is wrong 2 (100.0 %)" in " ".join(shown(screen).split())


async def test_item_opened_from_its_card_accepts_decisions(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "enter")
        assert isinstance(screen.app.screen, ItemScreen)
        assert screen.app.screen.completion == 1
        await press(pilot, "y", "escape")
        assert "gold is right" in shown(screen)
        assert title(screen).startswith("case 1 of 8 · 0 with a cause · 8 left")


async def test_doubtful_gold_sends_the_item_to_annotators(project: Project) -> None:
    add_annotators(project, ["amira", "ben"])
    async with triaging(project) as (screen, pilot):
        await press(pilot, "g")
        pilot.app.screen.query_one(Input).value = "7 is right"
        await press(pilot, "enter")
        assert stored(project) == [("reannotate", 1, None, "7 is right")]
        assert item(screen) == 2
        assert title(screen).startswith("case 2 of 8 · 0 with a cause · 7 left")
        await press(pilot, "z")
        assert item(screen) == 1
        assert "it will still be labelled again" in shown(screen)


async def test_doubtful_gold_stays_without_annotators(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "g")
        pilot.app.screen.query_one(Input).value = "odd"
        await press(pilot, "enter")
        assert item(screen) == 1
        assert [notice for notice in notices(screen.app) if "2 annotators must label it again" in notice]


@pytest.mark.few(3)
@pytest.mark.parametrize(("key", "suffix"), [("1", "csv"), ("2", "md"), ("3", "tex")])
async def test_paragraph_and_table_are_written_to_files(project: Project, key: str, suffix: str) -> None:
    async with triaging(project) as (_, pilot):
        await press(pilot, *"11112", "e", key)
    written = (project.path.parent / f"p-triage.{suffix}").read_text(encoding="utf-8")
    assert "equivalence" in written
    assert "extraction" in written


async def test_screen_without_verifiers_says_what_to_do(tmp_path: Path) -> None:
    async with triaging(make_project(tmp_path, numbered(2))) as (screen, pilot):
        assert [notice for notice in notices(screen.app) if "No verifier has been measured yet" in notice]
        await press(pilot, "1", "space", "]", "[", "z", "d", "e", "0", "enter", "escape")
        assert not isinstance(screen.app.screen, TriageScreen)


@pytest.mark.few(2)
@pytest.mark.parametrize(("size", "meanings"), [((80, 24), ERRORS_IN_SHORT), ((120, 40), ERROR_CATEGORIES)])
async def test_each_cause_has_its_meaning_next_to_it(
    project: Project, size: tuple[int, int], meanings: dict[ErrorCategory, str]
) -> None:
    async with triaging(project, size) as (screen, pilot):
        await press(pilot, "1")
        lines = shown(screen).splitlines()
        assert len(lines) <= screen.query_one("#triage-card").content_size.height
        for cause in KEYED:
            assert any(cause.name in line and meanings[cause.category] in line for line in lines)
        rule = next(line for line in lines if line.startswith("──"))
        assert "saved: extraction" in rule


async def test_table_shows_only_keys_that_work_there(project: Project) -> None:
    async with triaging(project) as (screen, pilot):
        await press(pilot, "1", "d")
        offered = {key.label for key in screen.query_one(Footer).keys}
        assert {"Summary", "Export", "Undo", "Back"} <= offered
        assert not {"Other cause", "Gold", "Alike", "Open"} & offered
        await press(pilot, "2", "0", "g", "enter")
        assert screen.closing
        assert [mark.cause.name for mark in screen.tally.marks] == ["extraction"]  # type: ignore[union-attr]
        await press(pilot, "d")
        assert {"Other cause", "Gold", "Alike"} <= {key.label for key in screen.query_one(Footer).keys}


def test_meaningless_marks_are_left_out() -> None:
    one, other = "Water boils at one hundred degrees there", "The cat sat on some other mat today"
    found = differences(one, other)
    assert found.kinds == ("other sentence",)
    drawn = [line.plain for line in _answer(one, [place.reference for place in found.places], 80)]
    assert drawn == [f"  ┃ {one} "]
    partly = differences("the answer is x = 2", "the answer is x = 3")
    assert any("^" in line.plain for line in _answer("the answer is x = 2", [partly.places[0].reference], 80))


# -- Other open cases


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_finished_triage_says_where_cases_are_open(project: Project, size: tuple[int, int]) -> None:
    add_run(project, "beta", dict.fromkeys(range(1, 9), YES) | dict.fromkeys(range(9, 12), NO) | {12: YES})
    add_run(project, "[bold]gamma", dict.fromkeys(range(1, 11), YES) | {11: NO, 12: YES})
    async with triaging(project, size) as (screen, pilot):
        while not screen.closing:
            assert "Open on all items" not in shown(screen)
            await press(pilot, "1")
        await settle(pilot)
        assert "Every case here is read." in shown(screen)
        open_now = triage.open_cases(project)
        assert open_now
        words = ", ".join(f"{one.verifier} {one.left} of {one.wrong}" for one in open_now)
        assert f"Open on all items: {words}" in " ".join(shown(screen).split())
        await press(pilot, "n")
        there = screen.app.screen
        assert isinstance(there, TriageScreen)
        assert there.scope is not None
        assert there.scope.verifiers == (open_now[0].verifier,)
        assert there.tally is not None
        assert there.tally.left == open_now[0].left
        while triage.open_cases(project):
            await press(pilot, *"1" if not screen.app.screen.closing else "n")  # type: ignore[attr-defined]
        await press(pilot, "n")
        assert "No verifier has an open case." in notices(screen.app)[-1]


def test_long_answer_is_cut_around_its_difference() -> None:
    lines = list(_answer("x" * 300, [(299, 300)], 40))
    shown = _cut_around_difference(lines, 4)
    assert len(shown) == 4
    assert lines[-1] in shown, "the sign below the last character"
    assert _cut_around_difference(lines, len(lines)) == lines


@pytest.mark.few(2)
@pytest.mark.parametrize(("size", "meanings"), [((80, 24), CODE_ERRORS_IN_SHORT), ((120, 40), CODE_ERROR_CATEGORIES)])
async def test_programs_are_shown_unchanged_without_a_final_answer(
    tmp_path: Path, size: tuple[int, int], meanings: dict[ErrorCategory, str]
) -> None:
    project = solved_project(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(TriageScreen(lambda project: triage.of_verifier(project, "judge")))
        await settle(pilot)
        screen = screen_of(app, TriageScreen)
        message = shown(screen)
        assert "final answer" not in message
        for guess in (" differs ", " alike  ", "\n is in ", "last line", "↵"):
            assert guess not in message
        assert "  ┃ def clip(x):\n  ┃     return x" in message
        assert "  ┃     return max(0, min(9, x))" in message
        for cause in KEYED:
            assert any(cause.name in line and meanings[cause.category] in line for line in message.splitlines())
        assert len(message.splitlines()) <= screen.query_one("#triage-card").content_size.height
        await press(pilot, "space", "6")
        assert [mark.completion for mark in screen.tally.marks] == [2]  # type: ignore[union-attr]
