"""Disagreements: a queue in a table with the reasons, and the requested actions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from tests.helpers import add_items, make_project, numbered
from tests.tui.stage import HOSTILE, ONE_SIZE, add_run, notices, opened, press, settle, text_of, until
from workbench.app.tui.kit.queue_view import QueueRequest
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.core.label import coordinator_name
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.people import assign
from workbench.measuring.reviewing import deciding

YES, NO, ABSTAIN = Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAIN


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path)


def make(folder: Path) -> Project:
    """Create eight items, every other one correct; ``alpha`` errs on 1 and 2, ``beta`` on 1 to 4, ``gamma`` on none."""
    made = make_project(folder, [*numbered(4, subtype="A1"), *numbered(4, subtype="C4", dataset="more")])
    right = {item: YES if item % 2 else NO for item in range(1, 9)}
    add_run(made, "alpha", right | {1: NO, 2: YES})
    add_run(made, "beta", right | {1: NO, 2: YES, 3: NO, 4: YES})
    add_run(made, "gamma", right | {4: ABSTAIN})
    return made


@asynccontextmanager
async def disagreements(
    project: Project, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[DisagreementsScreen, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":r", "enter")
        assert isinstance(app.screen, DisagreementsScreen)
        yield app.screen, pilot


def request_of(screen: DisagreementsScreen) -> QueueRequest:
    return screen.asked


def order(screen: DisagreementsScreen) -> list[int]:
    assert screen.found is not None
    return list(screen.found.order)


def lines(screen: DisagreementsScreen) -> list[str]:
    """Return the drawn table, header first."""
    table = screen.query_one(VirtualTable)
    drawn = [table.render_line(y).text.rstrip() for y in range(table.scrollable_size.height)]
    return [line for line in drawn if line]


def remark(screen: DisagreementsScreen) -> str:
    return screen.query_one(TitleBar).remark


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_first_queue_shows_the_reason_and_every_verdict(project: Project, size: tuple[int, int]) -> None:
    async with disagreements(project, size) as (screen, _):
        assert sorted(order(screen)) == [1, 2, 3, 4]
        assert remark(screen).startswith("0 of 4 reviewed · row 1 of 4")
        head, first = lines(screen)[:2]
        assert [name in head for name in ("question", "reference", "completion", "differs", "g│123", "type")] == [
            True
        ] * 6
        assert "c0" not in first, "an id says nothing"
        rows = {item: " ".join(line.split()) for item, line in zip(order(screen), lines(screen)[1:], strict=False)}
        assert "7 7 written the same ✓│✗✗✓ A1" in rows[1]
        assert "7 8 digits ✗│✓✓✗ A1" in rows[2]
        detail = text_of(screen.app, "#queue-detail Static")
        assert all(f"{number} {name} " in detail for number, name in enumerate(("alpha", "beta", "gamma"), 1))
        assert "not reviewed yet" in detail


@pytest.mark.soak
async def test_no_line_breaks_between_a_verifier_and_its_verdict(tmp_path: Path) -> None:
    made = make_project(tmp_path, numbered(2))
    names = ("exact", "gpt-oss", "judge of two words", "math-verify", "numeric-1", "xverify")
    for name in names:
        add_run(made, name, {1: NO, 2: YES})
    async with disagreements(made) as (screen, pilot):
        text = screen.query_one("#queue-detail Static", Static)
        reason = ["gold ✓ correct", *(f"{number} {name} ✗ incorrect" for number, name in enumerate(names, 1))]
        for width in (80, 60, 110):
            await pilot.resize_terminal(width, 24)
            await until(pilot, lambda width=width: screen.size.width == width)  # type: ignore[misc]
            await settle(pilot)
            drawn = [text.render_line(y).text.strip() for y in range(text.size.height)]
            assert [part for line in drawn for part in line.split("   ")][: len(reason)] == reason, width
        assert len(drawn[0]) > 80
    made.close()


@pytest.mark.soak
async def test_cursor_relayouts_only_if_the_text_height_changes(
    tmp_path: Path,
) -> None:
    made = make_project(tmp_path, numbered(4))
    wrong = {1: NO, 2: YES, 3: NO, 4: YES}
    for number in range(5):
        reason = wrong if number < 2 else {item: wrong[item] for item in (1, 2)}
        add_run(made, f"a verifier with a long name {number}", reason)
    async with disagreements(made) as (screen, pilot):
        text = screen.query_one("#queue-detail Static", Static)
        heights = {}
        for _ in range(4):
            heights[screen.table.selected_id] = text.size.height
            assert text.size.height == text.visual.get_height(text.styles.get_rules(), text.content_size.width)
            await press(pilot, "down")
        assert heights[1] == heights[2] > heights[3] == heights[4]
        await press(pilot, "home")
        laid_out: list[object] = []
        screen.screen_layout_refresh_signal.subscribe(screen, laid_out.append)
        await press(pilot, "down")
        assert laid_out == []
        await press(pilot, "down")
        assert laid_out
    made.close()


async def test_reason_of_an_item_is_shown_on_request(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        assert "gold says" not in text_of(screen.app, "#queue-detail Static")
        assert "run 1" not in text_of(screen.app, "#queue-text")
        await press(pilot, "d")
        assert "gold says" in text_of(screen.app, "#queue-detail Static")
        assert "Score" in text_of(screen.app, "#queue-detail Static")
        assert "alpha (run 1)" in text_of(screen.app, "#queue-text")
        await press(pilot, "d")
        assert "gold says" not in text_of(screen.app, "#queue-detail Static")


async def test_menu_counts_the_queues_and_a_number_chooses_one(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "w")
        menu = screen.app.screen.query_one(OptionList)
        prompts = [str(menu.get_option_at_index(place).prompt).split() for place in range(7)]
        assert prompts[0][:4] == ["1", "●", "verifier-gold", "4"]
        assert prompts[6][:3] == ["7", "annotators", "0"]
        await press(pilot, "2")
        assert request_of(screen).queue == "verifiers"
        assert sorted(order(screen)) == [1, 2, 3, 4]
        assert "verifiers" in text_of(screen.app, "#queue-text")


async def test_empty_queue_says_how_to_continue(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "w", "7")
        assert order(screen) == []
        reason = "No item is left in this queue. Choose another queue, or change the filter."
        assert reason in text_of(screen.app, "#queue-detail Static")
        await press(pilot, "enter", "n", "z")
        assert isinstance(screen.app.screen, DisagreementsScreen)


async def test_screen_opens_the_first_queue_with_items(tmp_path: Path) -> None:
    made = make_project(tmp_path, numbered(4, gold=None))
    add_run(made, "alpha", dict.fromkeys(range(1, 5), YES))
    add_run(made, "beta", {1: NO, 2: YES, 3: YES, 4: YES})
    async with disagreements(made) as (screen, pilot):
        assert request_of(screen).queue != QueueRequest().queue
        assert order(screen) == [1]
        await press(pilot, "w", "1")
        assert (request_of(screen).queue, order(screen)) == (QueueRequest().queue, [])


async def test_screen_without_verifiers_says_what_to_run(tmp_path: Path) -> None:
    async with disagreements(make_project(tmp_path, numbered(2))) as (screen, pilot):
        assert "No verifier has a complete run yet" in text_of(screen.app, "#queue-text")
        assert [notice for notice in notices(screen.app) if notice.endswith("complete run yet. Start one: Verify (^p)")]
        assert not [notice for notice in notices(screen.app) if "workbench" in notice]
        await press(pilot, "enter", "n", "h", "w", "7")
        assert request_of(screen).queue == "annotators"
        assert order(screen) == []
        assert not [notice for notice in notices(screen.app) if "usage" in notice]


async def test_verifiers_are_chosen_from_a_list(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "V", "2", "v", "2", "enter")
        assert request_of(screen).verifiers == ("alpha", "gamma")
        assert request_of(screen).against == "", "beta takes no part"
        assert sorted(order(screen)) == [1, 2]
        assert "2 of 3 verifiers" in remark(screen)
        await press(pilot, "v", "space", "escape")
        assert request_of(screen).verifiers == ("alpha", "gamma")
        await press(pilot, "v", "asterisk", "asterisk", "enter")
        assert request_of(screen).verifiers == ()
        assert sorted(order(screen)) == [1, 2, 3, 4]


@pytest.mark.soak
async def test_rows_against_one_verifier_can_be_listed(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "V", "2")
        assert request_of(screen).against == "beta"
        assert sorted(order(screen)) == [1, 2, 3, 4]
        await press(pilot, "V", "1")
        assert sorted(order(screen)) == [1, 2]
        assert "2 where alpha disagrees" in remark(screen)
        await press(pilot, "V", "3")
        assert order(screen) == [4], "an abstention does not equal gold"
        await press(pilot, "w", "2")
        assert sorted(order(screen)) == [1, 2], "gamma alone opposes the two others, except where it abstains"
        await press(pilot, "V", "2")
        assert sorted(order(screen)) == [3, 4]
        await press(pilot, "escape")
        assert request_of(screen).against == ""
        assert sorted(order(screen)) == [1, 2, 3, 4]
        await press(pilot, "V", "1", "V", "0")
        assert request_of(screen).against == ""


@pytest.mark.soak
async def test_key_cycles_the_size_of_the_minority(tmp_path: Path) -> None:
    project = make(tmp_path)
    add_run(project, "delta", dict.fromkeys(range(1, 9), YES))
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "at")
        assert request_of(screen).k is None, "there is no k in this queue"
        await press(pilot, "w", "3")
        halves = order(screen)
        await press(pilot, "at")
        assert request_of(screen).k == 1
        assert set(order(screen)).isdisjoint(halves)
        await press(pilot, "at")
        assert (request_of(screen).k, order(screen)) == (2, halves)
        await press(pilot, "w", "1")
        assert order(screen), "another queue has no k"


async def test_conditions_filter_and_invalid_ones_are_explained(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "f")
        pilot.app.screen.query_one(Input).value = "colour=red"
        await press(pilot, "enter")
        assert "colour" in text_of(screen.app, "PromptLine .trouble")
        pilot.app.screen.query_one(Input).value = "gold=correct verdict:alpha=correct"
        await press(pilot, "enter")
        assert order(screen) == [3]
        assert pilot.app.screen is screen
        assert screen.focused is screen.query_one(VirtualTable)
        assert "gold=correct" in remark(screen)
        await press(pilot, "escape")
        assert len(order(screen)) == 4
        await press(pilot, "escape")
        assert type(screen.app.screen).__name__ == "HomeScreen"


@pytest.mark.soak
async def test_changing_gold_changes_the_queue(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "g")
        assert (request_of(screen).gold, order(screen)) == ("people", [])
        assert "gold people" in remark(screen)
        await press(pilot, "g")
        assert (request_of(screen).gold, len(order(screen))) == ("imported", 4)


@pytest.mark.soak
async def test_reviewed_items_are_marked_counted_and_hidden(project: Project) -> None:
    deciding.confirm(project, 3, by="dora")
    async with disagreements(project) as (screen, pilot):
        assert remark(screen).startswith("1 of 4 reviewed")
        (marked,) = [line for line in lines(screen)[1:] if "●" in line]
        assert order(screen).index(3) == [*lines(screen)[1:]].index(marked)
        table = screen.query_one(VirtualTable)
        table.jump_to_id(3)
        await settle(pilot)
        assert "✓ gold is right (dora)" in text_of(screen.app, "#queue-detail Static")
        listed = order(screen)
        after = listed[(listed.index(3) + 1) % 4]
        await press(pilot, "h")
        assert 3 not in order(screen)
        assert "1 of 4 reviewed" in remark(screen)
        assert "reviewed hidden" in remark(screen)
        assert table.selected_id == after, "the hidden item is replaced by the next"
        await press(pilot, "h")
        assert table.cursor == order(screen).index(after)


@pytest.mark.soak
async def test_decisions_are_in_words_on_wide_terminals(project: Project) -> None:
    deciding.mark_error(project, 1, 2, "units", by="dora")
    async with disagreements(project, (120, 40)) as (screen, _):
        assert [line for line in lines(screen) if "✗ units" in line]
        assert len([line for line in lines(screen) if "· open" in line]) == 3


async def test_next_goes_to_the_next_unreviewed_item(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        first, second, third, fourth = order(screen)
        deciding.confirm(project, second, by="dora")
        await press(pilot, "r", "n")
        table = screen.query_one(VirtualTable)
        assert table.selected_id == third
        await press(pilot, "n", "n")
        assert table.selected_id == first, "wraps around"
        for item in (first, third, fourth):
            deciding.confirm(project, item, by="dora")
        await press(pilot, "r", "n")
        assert [notice for notice in notices(screen.app) if "Every item of this queue is reviewed" in notice]


async def test_last_decision_is_undone_from_the_table(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    me = coordinator_name()
    async with disagreements(project) as (screen, pilot):
        first = order(screen)[0]
        deciding.confirm(project, first, by=me)
        with monkeypatch.context() as patch:
            patch.setattr(deciding, "take_back_each", full)
            await press(pilot, "r", "z")
        assert [notice for notice in notices(screen.app) if "disk full" in notice]
        assert remark(screen).startswith("1 of 4 reviewed")
        await press(pilot, "z")
        assert remark(screen).startswith("0 of 4 reviewed")
        kinds = project.database.reader().execute("SELECT kind FROM reviews ORDER BY id").fetchall()
        assert kinds == [("confirmed",), ("retraction",)]
        await press(pilot, "z")
        assert [notice for notice in notices(screen.app) if "You have no decision" in notice]


@pytest.mark.soak
async def test_decision_of_another_user_is_not_undone(project: Project) -> None:
    async with disagreements(project) as (screen, pilot):
        deciding.confirm(project, order(screen)[0], by="dora")
        await press(pilot, "r", "z")
        assert remark(screen).startswith("1 of 4 reviewed")


async def test_only_the_coordinator_can_open_the_screen(tmp_path: Path) -> None:
    project = make(tmp_path)
    assign(project, ["amira", "ben"], per_item=2)
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, *":r", "enter", "escape")
        assert type(app.screen).__name__ == "HomeScreen"
        app.open_screen("disagreements")
        await settle(pilot)
        assert [notice for notice in notices(app) if "coordinator" in notice]
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert "Open Disagreements" not in titles


@pytest.mark.soak
async def test_conflicts_of_annotators_lead_to_adjudicate(tmp_path: Path) -> None:
    project = make(tmp_path)
    assign(project, ["amira", "ben"], per_item=2)
    for name, verdict in (("amira", "correct"), ("ben", "incorrect")):
        session = AnnotationSession(project, name)
        item = session.next()
        assert item is not None
        session.submit(item, Answer(verdict="correct" if verdict == "correct" else "incorrect"))
        session.close()
    async with disagreements(project) as (screen, pilot):
        await press(pilot, "w", "7")
        assert len(order(screen)) == 1
        await press(pilot, "enter")
        assert "L" in {binding.key for _, binding, *_ in screen.app.screen.active_bindings.values() if binding.show}
        await press(pilot, "L")
        assert type(screen.app.screen_stack[-1]).__name__ in ("AdjudicateScreen", "PeopleMenu")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path)
    names = [*HOSTILE, "漢字" * 30]
    add_items(project.database, [{"completion_id": name, "completion": name * 9, "gold": True} for name in names])
    for name in names[:3]:
        add_run(project, name, dict.fromkeys(range(1, len(names) + 1), NO))
    async with disagreements(project, size) as (screen, pilot):
        assert len(order(screen)) == len(names)
        drawn = "\n".join([*lines(screen), *(str(text.render()) for text in screen.query(Static))])
        assert "[bold]x[/]" in drawn
        assert "\x1b" not in drawn
        await press(pilot, "v", "escape", "enter", "o")
        assert not notices(screen.app)
