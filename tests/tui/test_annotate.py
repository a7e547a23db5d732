"""Annotate: keys store labels, no key reaches another item, and nothing of other annotators is on the screen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events

from tests.background import PATIENCE_S
from tests.helpers import make_project
from tests.tui.labelling import ITEMS, MARK, Desktop, desk, labels, make, rows
from tests.tui.stage import SIZES, notices, until
from workbench.app.tui.kit.card import WholeText
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.screens.annotate import ItemFeed
from workbench.core.database import people as people_store
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path)
    yield made
    made.close()


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path, "labelled")
    yield made
    made.close()


def pause(project: Project, name: str, *, on: bool = True) -> None:
    person = people_store.find(project.database, name).id
    with project.database.write() as connection:
        if on:
            people_store.pause(connection, person, "too fast")
        else:
            people_store.resume(connection, person)


async def test_one_key_labels_and_shows_the_next_item(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("1")
        second = it.completion
        await it.press("0")
        assert labels(project) == [(first, "correct"), (second, "incorrect")]
        assert it.completion not in (first, second)
        assert "saved ✓" in it.title()
        assert "2 done · 4 left" in it.title()


async def test_label_stores_how_it_was_entered(project: Project) -> None:
    async with desk(project) as it:
        await it.press("C", "o", "escape", "1")
    ((view, open_ms, focused_ms, guideline, unblinded),) = rows(
        project, "SELECT view, open_ms, focused_ms, guideline, unblinded FROM label_events"
    )
    assert view == "card+completion rendered+raw"
    assert 0 <= focused_ms <= open_ms
    assert (guideline, unblinded) == (None, 0), "the guidelines were not opened"


async def test_many_fast_keys_label_each_item_once(project: Project) -> None:
    async with desk(project) as it:
        for _ in range(40):
            for _ in range(5):
                it.app.post_message(events.Key("1", "1"))
            await it.pilot.pause()
            if it.screen.has_class("empty"):
                break
        await it.settle()
    found = labels(project)
    assert sorted(subject for subject, _ in found) == list(range(1, ITEMS + 1))
    assert rows(project, "SELECT count(*) FROM skips") == [(0,)]


async def test_key_during_a_slow_save_is_ignored(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, may_store = ItemFeed.submit, threading.Event()

    def slowly(self: ItemFeed, *arguments: Any) -> list[str]:
        may_store.wait(PATIENCE_S)
        return plain(self, *arguments)

    monkeypatch.setattr(ItemFeed, "submit", slowly)
    async with desk(project) as it:
        first = it.completion
        for key in ("1", "0", "0", "s", "z", "f", "left_square_bracket"):
            await it.pilot.press(key)
        assert "saving" in it.title()
        assert "saved" not in it.title()
        may_store.set()
        await it.settle()
        assert it.completion != first
    assert labels(project) == [(first, "correct")]
    assert rows(project, "SELECT count(*) FROM label_events") == [(1,)]
    assert rows(project, "SELECT count(*) FROM skips") == [(0,)]


async def test_required_type_is_requested_after_the_verdict(typed: Project) -> None:
    async with desk(typed) as it:
        first = it.completion
        await it.pilot.press("1")
        assert isinstance(it.app.screen, TypePicker)
        await it.press("a", "8")
        assert it.completion != first
        assert labels(typed) == [(first, "correct")]
        assert labels(typed, "type") == [(first, "A8")]
        assert rows(typed, "SELECT count(*) FROM assignments WHERE state = 'done'") == [(2,)]


async def test_keys_typed_at_once_all_take_effect(typed: Project) -> None:
    async with desk(typed) as it:
        first = it.completion
        for key in "1b5":
            it.app.post_message(events.Key(key, key))
        await it.settle()
        second = it.completion
        for key in "td20":
            it.app.post_message(events.Key(key, key))
        await it.settle()
        assert it.completion not in (first, second)
    assert labels(typed) == [(first, "correct"), (second, "incorrect")]
    assert labels(typed, "type") == [(first, "B5"), (second, "D2")]


async def test_type_is_known_at_the_next_completion_of_its_question(tmp_path: Path) -> None:
    project = make(tmp_path, "labelled", question_id="q", question="What is it?", reference="4")
    async with desk(project) as it:
        await it.press("1", "a", "8")
        assert it.screen._current is not None
        assert (it.screen._current.item.verdict, it.screen._current.item.subtype) == (None, "A8")
    project.close()


async def test_type_can_come_first_and_can_be_changed(typed: Project) -> None:
    async with desk(typed) as it:
        first = it.completion
        await it.press("t", "a", "1", "t", "b", "3")
        assert it.completion == first
        await it.press("1")
        assert it.completion != first
        assert labels(typed, "type") == [(first, "A1"), (first, "B3")]


@pytest.mark.soak
async def test_deferred_type_is_requested_at_the_end(typed: Project) -> None:
    async with desk(typed) as it:
        first = it.completion
        await it.press("1", "escape")
        second = it.completion
        assert second != first, "the next verdict applies to the next item"
        await it.press("0", "a", "1")
        assert labels(typed) == [(first, "correct"), (second, "incorrect")]
    async with desk(typed) as it:
        while it.completion != first:
            await it.press("1")
            if isinstance(it.app.screen, TypePicker):
                await it.press("a", "1")
        assert isinstance(it.app.screen, TypePicker)
        await it.press("c", "1")
        assert (first, "C1") in labels(typed, "type")


async def test_escape_from_the_type_picker_stays_at_the_item(typed: Project) -> None:
    async with desk(typed) as it:
        first = it.completion
        await it.press("t", "escape")
        assert it.completion == first
        await it.press("ampersand", "1", "escape")
        assert it.completion == first, "without auto-advance the item stays"
        assert "type missing" in it.line()


@pytest.mark.soak
async def test_types_key_does_not_close_the_automatic_picker(typed: Project) -> None:
    async with desk(typed) as it:
        first = it.completion
        await it.press("1", "t", "a", "8")
        assert it.completion != first
    assert labels(typed, "type") == [(first, "A8")]


@pytest.mark.soak
async def test_unknown_numbers_and_escape_choose_no_type(typed: Project) -> None:
    async with desk(typed) as it:
        await it.press("t", "7", "c", "3", "backspace", "escape")
        assert labels(typed, "type") == []


@pytest.mark.soak
async def test_type_can_be_picked_by_mouse(typed: Project) -> None:
    async with desk(typed) as it:
        await it.press("t")
        await it.pilot.click("#type-A", offset=(8, 1))
        await it.settle()
        assert [subtype for _, subtype in labels(typed, "type")] == ["A1"]


async def test_unsuitable_requires_a_reason(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("x", "escape")
        assert labels(project) == []
        await it.press("x", "3")
        assert rows(project, "SELECT subject, verdict, exclusion_reason FROM label_events") == [
            (first, "unsuitable", "bad_reference")
        ]


async def test_reason_other_needs_a_note(project: Project) -> None:
    async with desk(project) as it:
        await it.press("x", "6", "escape")
        assert labels(project) == []
        await it.press("x", "6", *"odd", "enter")
        assert rows(project, "SELECT exclusion_reason, note FROM label_events") == [("other", "odd")]


async def test_unsure_and_note_are_stored_with_the_label(project: Project) -> None:
    async with desk(project) as it:
        await it.press("u", "c", *"[b]x", "enter")
        assert "? unsure" in it.line()
        assert "[b]x" in it.line()
        await it.press("0")
        assert rows(project, "SELECT unsure, note FROM label_events") == [(1, "[b]x")]
        assert "unsure" not in it.line()


async def test_note_is_kept_as_a_draft(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("c", *"half", "escape")
        assert rows(project, "SELECT completion_id, note FROM drafts") == [(first, "half")]
    async with desk(project) as it:
        assert it.completion == first
        assert "half" in it.line()
        await it.press("1")
    assert rows(project, "SELECT note FROM label_events") == [("half",)]
    assert rows(project, "SELECT count(*) FROM drafts") == [(0,)]


async def test_flags_are_stored_and_removed(project: Project) -> None:
    async with desk(project) as it:
        await it.press("exclamation_mark", *"why?", "enter")
        assert "⚑ flagged" in it.line()
        await it.press("exclamation_mark")
        assert "flagged" not in it.line()
        await it.press("exclamation_mark", "escape")
        assert "flagged" not in it.line()
        await it.press("exclamation_mark", "enter")
        assert "⚑ flagged" in it.line()
    stored = [("flag", 1, "why?"), ("flag", 0, None), ("flag", 1, None)]
    assert rows(project, "SELECT kind, flagged, note FROM label_events") == stored


async def test_undo_returns_to_the_item_before_the_current_one(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("1")
        second = it.completion
        await it.press("z")
        assert it.completion == first
        assert "not labelled" in it.line()
        assert rows(project, "SELECT state FROM task_states") == [("unlabelled",)]
        await it.press("0")
        assert it.completion == second
        await it.press("1")
        assert labels(project)[-2:] == [(first, "incorrect"), (second, "correct")]


async def test_undo_works_after_a_restart_until_nothing_is_left(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1", "1")
    async with desk(project) as it:
        await it.press("z", "z", "z")
        assert rows(project, "SELECT DISTINCT state FROM task_states") == [("unlabelled",)]
        assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'retraction'") == [(2,)]


async def test_skip_releases_the_item(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("l")
        assert it.completion != first
        seen = []
        while not it.screen.has_class("empty"):
            seen.append(it.completion)
            await it.press("1")
        assert seen[-1] == first
        assert len(seen) == ITEMS


async def test_brackets_browse_own_labels_and_edits_supersede(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("1")
        second = it.completion
        await it.press("1")
        third = it.completion
        await it.press("left_square_bracket")
        assert (it.completion, "✓ correct" in it.line()) == (second, True)
        await it.press("left_square_bracket", "left_square_bracket")
        assert it.completion == first
        await it.press("right_square_bracket")
        assert it.completion == second
        await it.press("0")
        assert it.completion == third
        assert labels(project)[-1] == (second, "incorrect")
        assert rows(project, "SELECT count(*) FROM label_events WHERE supersedes IS NOT NULL") == [(1,)]
        await it.press("right_square_bracket")
        assert it.completion == third


async def test_item_stays_without_auto_advance(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("ampersand", "1")
        assert it.completion == first
        await it.press("u", "right_square_bracket")
        assert it.completion != first
        assert rows(project, "SELECT unsure FROM label_events ORDER BY id") == [(0,), (1,)]


async def test_full_quota_leaves_the_item_and_stores_nothing(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        with project.database.write() as connection:
            others = [(people_store.add(connection, name), slot) for slot, name in enumerate(("zoe", "yan"), 1)]
            connection.executemany(
                f"UPDATE assignments SET annotator_id = ?, state = 'done' WHERE subject = {int(first)} AND slot = ?",
                others,
            )
        await it.press("1")
        assert it.completion != first
        assert "not saved" in it.title()
    assert labels(project) == []


async def test_leaving_releases_reserved_items(project: Project) -> None:
    async with desk(project) as it:
        leased = "SELECT count(*) FROM assignments WHERE task = 'correctness' AND state = 'leased'"
        await until(it.pilot, lambda: rows(project, leased) == [(2,)])
        await it.press("escape")
        assert rows(project, "SELECT DISTINCT state FROM assignments") == [("open",)]
    async with desk(project) as it:
        await it.press("1")
    assert rows(project, "SELECT count(*) FROM assignments WHERE task = 'correctness' AND state <> 'open'") == [(1,)]


async def test_empty_assignment_says_what_to_do(project: Project) -> None:
    people.add_annotators(project, ["zoe"])
    async with desk(project, "zoe") as it:
        assert "Nothing is left for zoe" in it.text()
        assert "as soon as the coordinator opens some" in it.text()
        assert "Assign" not in it.text()
        assert "palette" not in it.text()
        offered = it.screen.active_bindings
        assert not {"1", "0", "x", "t", "u", "m", "percent_sign", "l", "c", "exclamation_mark", "C", "o"} & set(offered)
        assert {"z", "d", "left_square_bracket", "ampersand", "G", "question_mark"} <= set(offered)
        await it.press("1", "l", "z", "t", "left_square_bracket")
        people.assign(project, ["zoe", "amira", "ben"], per_item=3)
        await until(it.pilot, lambda: it.screen.card.texts is not None)  # without a key
        await it.settle()
        assert {"1", "0", "x", "t", "l", "C"} <= set(it.screen.active_bindings)
        assert "0 done · 6 left" in it.title()
        await it.press("1")
        assert len(labels(project)) == 1


async def test_coordinator_chooses_a_name_once(project: Project) -> None:
    async with desk(project, None) as it:
        await it.press("2")
        assert it.title().startswith("as ben, unblinded")
        await it.press("1", "escape")
        it.app.open_screen("annotate")
        await it.settle()
        assert it.title().startswith("as ben")
    labelled = "SELECT name, unblinded FROM label_events JOIN annotators AS a ON a.id = annotator_id"
    # The coordinator's app shows gold and verdicts, so labels made in it are not blind.
    assert rows(project, labelled) == [("ben", 1)]


async def test_message_without_annotators_says_how_to_add_them(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    async with desk(project, None) as it:
        assert "There is nothing to label. The command Assign (^p) opens label slots" in it.text()
    project.close()


@pytest.mark.soak
async def test_whole_texts_open_search_and_close(project: Project) -> None:
    async with desk(project) as it:
        await it.press("Q")
        full = it.screen.query_one("#card-full", WholeText)
        assert it.opened == "question"
        assert full.has_focus
        await it.press("C", "slash", *"answer")
        await until(it.pilot, lambda: bool(full._hits))
        assert f"1 of {len(full._hits)}" in str(full.border_subtitle)
        await it.press("enter", "escape")
        assert not full._hits
        assert it.opened == "completion"
        await it.press("escape")
        assert it.opened == ""
        await it.press("n")
        assert it.opened == "completion"
        assert full._jump == ("boxed", 1)
        await it.press("n")
        assert full._jump == ("boxed", 2)
        await it.press("G")
        assert "Judge the final answer" in it.text()
        await it.press("1")
        assert it.opened == ""
    assert rows(project, "SELECT view FROM label_events") == [("card+question+completion rendered",)]


async def test_clock_stops_while_the_terminal_is_out_of_focus(project: Project) -> None:
    async with desk(project) as it:
        it.app.post_message(events.AppBlur())
        await it.settle()
        await it.pilot.pause(0.3)
        before = it.screen._stopwatch.elapsed()
        await it.press("1")
    ((open_ms, focused_ms),) = rows(project, "SELECT open_ms, focused_ms FROM label_events")
    assert open_ms - focused_ms >= 300
    assert before.focused_ms < before.open_ms


@pytest.mark.soak
async def test_letters_typed_into_the_search_do_not_label(project: Project) -> None:
    async with desk(project) as it:
        await it.press("slash", "1", "0", "x", "l", "escape")
        assert labels(project) == []


async def test_card_shows_both_final_answers_and_how_they_were_found(project: Project) -> None:
    async with desk(project) as it:
        text = it.text()
        number = it.completion - 1
        assert f"What is {number} plus {number}? [b]Say it.[/b]" in text
        assert f"▌{2 * number}▐" in text
        assert "last \\boxed" in text
        assert "several \\boxed" in text
        assert "last 600 of" in text


@pytest.mark.soak
async def test_texts_without_a_final_answer_say_so(tmp_path: Path) -> None:
    long = "\n".join(f"Line {number} of a long tale that goes on and on without an end" for number in range(40))
    project = make(tmp_path, reference=long + "\n" + "x" * 300, completion=long + "\n" + "y" * 300)
    async with desk(project, "amira", (120, 40)) as it:
        assert it.text().count("no final answer") == 2
        assert "Line 39" in it.text()
        await it.press("1")
    project.close()


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_screen_shows_nothing_of_other_annotators(typed: Project, size: tuple[int, int]) -> None:
    ben = AnnotationSession(typed, "ben")
    while (item := ben.next()) is not None:
        ben.flag(item, True)
        ben.submit(item, Answer(verdict="unsuitable", reason="other", subtype=f"{MARK}1", note=f"{MARK}-note"))
    ben.close()
    with typed.database.write() as connection:
        connection.execute(
            "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES (?1, '', '', '', '')",
            (f"{MARK}-verifier",),
        )
    async with desk(typed, "amira", size) as it:
        seen = [it.text()]
        for keys in (
            "C",
            "R",
            "Q",
            "G",
            "o",
            "o",
            "escape",
            "1",
            "a1",
            "exclamation_mark",
            "x",
            "3",
            "z",
            "c",
            "[",
            "ampersand",
            "d",
            "question_mark",
        ):
            for key in [keys] if len(keys) > 2 else keys:
                await it.press({"[": "left_square_bracket"}.get(key, key))
                seen.append(it.text())
                seen.append(it.title())
            if keys == "c":
                await it.press("escape")
        assert MARK not in "\n".join(seen)
        assert "Let us see" in "\n".join(seen)


async def test_paused_annotator_sees_why_and_continues_automatically(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1")
        pause(project, "amira")
        await it.press("1")
        assert "The coordinator would like to speak with you" in it.text()
        assert "too fast" not in it.text()
        assert len(labels(project)) == 1
        await it.press("z", "1", "l")
        assert len(labels(project)) == 1
        pause(project, "amira", on=False)
        it.screen._retry_if_empty()
        await it.settle()
        await it.press("0")
        assert len(labels(project)) == 2


async def test_undo_while_paused_says_so_and_undoes_nothing(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1")
        pause(project, "amira")
        await it.press("z")
        assert "The coordinator would like to speak with you" in it.text()
        assert it.screen.has_class("empty")
    assert rows(project, "SELECT DISTINCT kind FROM label_events") == [("label",)]


async def test_annotator_who_opens_the_app_while_paused_sees_why(project: Project) -> None:
    session = AnnotationSession(project, "amira")
    assert session.next() is not None  # still reserved
    session.close()
    pause(project, "amira")
    async with desk(project) as it:
        assert "The coordinator would like to speak with you" in it.text()
        assert "Nothing is left" not in it.text()
        await it.press("1", "u", "m", "t")
        assert labels(project) == []


@pytest.mark.few(3)
@pytest.mark.parametrize("opened", ["w", "o", "r", "g", "slash"])
async def test_label_from_a_whole_text_does_not_affect_the_next_card(tmp_path: Path, opened: str) -> None:
    long = {"question": "A long question, word for word. " * 30, "completion": "Step by step. " * 60 + "\n\nSo 7."}
    project = make(tmp_path, **long)

    def heights(it: Desktop) -> list[int]:
        parts = ("#card-question", "#card-answers", "#card-completion")
        return [it.screen.query_one(part).size.height for part in parts]

    async with desk(project) as it:
        await it.press("1")
        usual = heights(it)
        await it.press(opened)
        if opened == "slash":
            await it.press("escape")
        await it.press("1")
        assert heights(it) == usual
    project.close()


async def test_second_window_shows_the_label_before_replacing_it(project: Project) -> None:
    async with desk(project) as it:
        at = it.completion
        other = AnnotationSession(project, "amira")
        other.submit(other.open(at), Answer(verdict="correct"))
        other.close()
        await it.press("0")
        assert (it.completion, labels(project)) == (at, [(at, "correct")])
        assert any("another window: correct" in notice for notice in notices(it.app))
        assert "correct" in it.line()
        await it.press("0")
        assert labels(project) == [(at, "correct"), (at, "incorrect")]
        assert it.completion != at
