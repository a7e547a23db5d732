"""Annotate: progress and pace, stored times of a label, breaks, and changing guidelines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import add_items
from tests.tui.labelling import ITEMS, desk, labels, make, rows
from tests.tui.stage import ONE_SIZE, notices, until
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.pace import AtWork
from workbench.core.project import Project
from workbench.labelling import guidelines, people


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path)
    yield made
    made.close()


class Clock:
    """A clock that tests advance."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.perf_counter() + self.ahead


# -- Progress ---------------------------------------------------------------------------------------


async def test_title_shows_progress_and_pace(project: Project) -> None:
    async with desk(project, "amira", (120, 40)) as it:
        it.app.at_work = AtWork(clock := Clock())
        it.screen.on_mount()
        assert "session" not in it.title()
        for _ in range(ITEMS - 1):
            clock.ahead += 20
            it.app.at_work.touch()
            await it.press("1")
        assert it.title().startswith("amira · 5 done · 1 left · 5 this session · 2")
        assert "s each · ≈ 2" in it.title()
        assert "saved ✓ correct" in it.title()


@pytest.mark.soak
async def test_only_a_first_decision_is_called_fast(project: Project) -> None:
    async with desk(project, "amira", (120, 40)) as it:
        it.app.at_work = AtWork(clock := Clock())
        it.screen.on_mount()
        await it.press("1")
        assert "fast: " in it.title()
        await it.press("left_square_bracket", "0")
        assert "saved ✓ incorrect" in it.title()
        assert "fast" not in it.title(), "a correction"
        await it.press("right_square_bracket")
        clock.ahead += 20
        it.app.at_work.touch()
        await it.press("1")
        await it.press("z", "0")
        assert "saved ✓ incorrect" in it.title()
        assert "fast" not in it.title(), "the item was viewed before the undo"


@pytest.mark.soak
async def test_narrow_terminal_omits_the_least_important_parts(project: Project) -> None:
    async with desk(project, "amira") as it:
        it.app.paces["amira"]._took = dict.fromkeys(range(1000), 9000)
        await it.press("ampersand", "x", "3")
        narrow = it.title()
        assert len(narrow) <= 80 - len("Annotate") - 4
        assert "1 done · 5 left" in narrow
        assert "saved ✓ unsuitable" in narrow
        await it.pilot.resize_terminal(120, 40)
        await it.settle()
        assert set(narrow.split(" · ")) < set(it.title().split(" · "))
        assert "s each · ≈ 45 s to go" in it.title()


@pytest.mark.few(3)
@pytest.mark.parametrize("width", [80, 100, 120])
async def test_parts_of_the_first_line_keep_their_positions(project: Project, width: int) -> None:
    async with desk(project, "amira", (width, 24)) as it:
        it.app.at_work = AtWork(clock := Clock())
        it.screen.on_mount()
        it.app.paces["amira"]._took = dict.fromkeys(range(1000, 2000), 9000)
        await it.press("ampersand")
        bar, seen = it.screen.query_one(TitleBar), []
        for key, waits in (("1", 20), ("0", 20), ("s", 0), ("1", 0), ("left_square_bracket", 0), ("0", 20), ("z", 0)):
            clock.ahead += waits
            it.app.at_work.touch()
            await it.press(key)
            before, name, _ = str(bar.render()).partition("amira")
            messages = bar.remark.split(" · ")
            seen.append(
                (before, name, [part.split()[-1] for part in messages if part.endswith((" done", " left", " each"))])
            )
        assert seen == [(seen[0][0], "amira", seen[0][2])] * len(seen)
        assert "Annotate" in seen[0][0]


@pytest.mark.soak
async def test_pace_excludes_corrections_and_undone_labels(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1", "1", "left_square_bracket", "0")
        assert it.app.paces["amira"].labels == 2
        await it.press("z")  # the correction
        assert it.app.paces["amira"].labels == 2
        await it.press("z")
        assert it.app.paces["amira"].labels == 1
        await it.press("escape")
        it.app.open_screen("annotate")
        await it.settle()
        await it.press("1")
        assert it.app.paces["amira"].labels == 2


# -- Stored fields of a label -------------------------------------------------------------------------


async def test_label_stores_its_keys_and_the_wait_before_it(project: Project) -> None:
    async with desk(project) as it:
        await it.press("C", "escape", "1")
        await it.press("m", "3", "u", "0")
        await it.press("c", *"ab", "enter", "1")
    found = rows(project, "SELECT keys, wait_ms FROM label_events ORDER BY id")
    assert [keys for keys, _ in found] == [3, 4, 5]
    first, second, third = (wait for _, wait in found)
    assert first is None
    assert 0 < second < 30_000
    assert 0 < third < 30_000


@pytest.mark.soak
async def test_keys_of_pickers_count_for_the_item(tmp_path: Path) -> None:
    project = make(tmp_path, "labelled")
    async with desk(project) as it:
        await it.press("1", "a", "8", "t", "b", "3", "1")
    found = rows(project, "SELECT task, keys FROM label_events ORDER BY id")
    assert found == [("correctness", 1), ("type", 3), ("type", 3), ("correctness", 4)]
    project.close()


@pytest.mark.soak
async def test_item_that_arrives_in_the_background_has_no_wait(project: Project) -> None:
    async with desk(project) as it:
        for _ in range(ITEMS):
            await it.press("1")
        assert it.screen.has_class("empty")
        add_items(project.database, [{"question_id": "new", "completion_id": "new"}])
        people.assign(project, ["amira", "ben"], per_item=2)
        it.screen._retry_if_empty()
        await it.settle()
        await it.press("0")
    *earlier, (last,) = rows(project, "SELECT wait_ms FROM label_events ORDER BY id")
    assert last is None
    assert all(wait is not None for (wait,) in earlier[1:])


@pytest.mark.soak
async def test_reading_time_continues_while_a_note_is_typed(project: Project) -> None:
    async with desk(project) as it:
        it.app.at_work = AtWork(clock := Clock())
        it.screen.on_mount()
        it.screen._stopwatch.start()
        await it.press("c")
        for letter in "abc":
            clock.ahead += 50
            await it.press(letter)
        await it.press("enter", "1")
    ((open_ms, focused_ms),) = rows(project, "SELECT open_ms, focused_ms FROM label_events")
    assert focused_ms >= 150_000
    assert open_ms - focused_ms < 60_000


# -- Keys apply to what was drawn -----------------------------------------------------------------------


async def test_key_pressed_before_the_item_was_visible_is_ignored(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1")
        it.screen._seen_at = it.app.at_work.now() + 60
        await it.press("1", "x", "u", "m", "percent_sign", "l", "exclamation_mark", "z", "left_square_bracket")
        assert len(labels(project)) == 1
        assert it.app.screen is it.screen
        it.screen._seen_at = it.app.at_work.now()
        await it.press("0")
    assert [verdict for _, verdict in labels(project)] == ["correct", "incorrect"]


# -- Guidelines ------------------------------------------------------------------------------------------


async def test_current_guidelines_are_shown_and_referenced_by_labels(project: Project) -> None:
    stored = guidelines.add_version(project, "# Ours\n\nRound to the third digit.", by="lead")
    async with desk(project) as it:
        await it.press("G")
        assert "Round to the third digit" in it.text()
        await it.press("escape", "1")
    assert rows(project, "SELECT guideline FROM label_events") == [(stored.version,)]


async def test_working_annotator_is_notified_of_new_guidelines(project: Project) -> None:
    async with desk(project) as it:
        stored = guidelines.add_version(project, "# Ours\n\nUnits matter.", by="lead")
        await it.press("1", "G")
        assert "Units matter" not in it.text()
        it.screen._look_at_guidelines()
        await until(it.pilot, lambda: any("The guidelines have changed" in notice for notice in notices(it.app)))
        assert "Units matter" in it.text()
        it.screen._look_at_guidelines()
        await it.settle()
        assert sum("The guidelines have changed" in notice for notice in notices(it.app)) == 1
        await it.press("escape", "0")
    assert rows(project, "SELECT guideline FROM label_events ORDER BY id") == [(None,), (stored.version,)]


async def test_guidelines_are_read_only_when_opened(project: Project) -> None:
    def readers() -> tuple[str, ...]:
        return guidelines.versions(project)[-1].read_by

    async with desk(project, size=(120, 40)) as it:
        assert "guidelines not opened: G" in it.title()
        await it.press("1")
        assert readers() == ()
        await it.press("G", "escape")
        assert (readers(), "guidelines" in it.title()) == (("amira",), False)
        await it.press("0")
        await it.press("G")
        guidelines.add_case(project, "units matter", by="lead")
        it.screen._look_at_guidelines()
        await it.settle()
        assert readers() == (), "guidelines that arrive during an absence are unread, even if open"
        await it.press("escape")
        assert readers() == ("amira",)
    assert rows(project, "SELECT guideline FROM label_events ORDER BY id") == [(None,), ("1",)]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_guidelines_can_be_read_without_an_item(project: Project, size: tuple[int, int]) -> None:
    people.pause(project, "amira", "checks")
    async with desk(project, size=size) as it:
        assert "would like to speak" in it.text()
        await it.press("G")
        assert "Judge the final answer" in it.text()
        await it.press("escape")
        assert "Judge the final answer" not in it.text()
        assert "would like to speak" in it.text()
    assert guidelines.versions(project)[-1].read_by == ("amira",)
