"""Home: the state of the project at a glance, and one key to every other screen."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Never

import pytest
from textual.widgets import OptionList

from tests.background import PATIENCE_S
from tests.helpers import add_items, make_project, numbered
from tests.tui.stage import HOSTILE, ONE_SIZE, SIZES, add_run, notices, opened, press, screen_of, settle, text_of, until
from tests.unit.labelling.conflicting import disputed
from tests.unit.labelling.recording import Record
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.accuracy_items import AccuracyItemsScreen
from workbench.app.tui.screens.conflicts import ConflictsScreen
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.app.tui.screens.home import HomeScreen
from workbench.app.tui.screens.import_data import ImportScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.runs import RunsScreen
from workbench.app.tui.screens.verb import VerbOutputScreen
from workbench.benchmarks.curating.datasets import take_out
from workbench.core.database.people import add
from workbench.core.errors import StoreError
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling import people
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.measuring.accuracy import accuracy
from workbench.measuring.briefing import every_dataset, status

ROOT = Path(__file__).resolve().parents[2]


def with_people(project: Project, *names: str) -> Project:
    people.assign(project, names, per_item=2)
    return project


async def test_items_that_only_need_a_type_are_counted_apart(tmp_path: Path) -> None:
    untyped = [row | {"type": None, "subtype": None, "types": "labelled", "gold": None} for row in numbered(6)]
    project = make_project(tmp_path, untyped)
    record = Record(project)
    record.table(("ann", "bob"), ("c c c .", "c c i c"))
    record.say("cy", 5, "c", kind="adjudication")
    assert status(project).shown_states == {
        "unlabelled": 1, "labelled": 1, "needs type": 3, "conflict": 1, "final": 0, "excluded": 0
    }  # fmt: skip
    async with opened(project) as (app, pilot):
        await until(pilot, lambda: "needs type" in text_of(app, "#home-states Static"))
        app.push_screen(ItemScreen(1))
        await until(pilot, lambda: "labelled · waits for an answer type · gold" in text_of(app, "#item-facts"))


async def test_import_is_reachable_from_home(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        menu = app.screen.query_one("#home-menu", OptionList)
        assert ":i Import" in [str(option.prompt) for option in menu.options]
        assert menu.virtual_size.height <= menu.size.height, "every screen is in sight"
        await press(pilot, *":i", "enter")
        screen_of(app, ImportScreen)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_empty_project_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path), size=size) as (app, _):
        assert "Nothing has been imported yet." in text_of(app, "#home-states Static")
        assert "command Assign" in text_of(app, "#home-people Static")
        assert "Verifiers & runs" in text_of(app, "#home-runs Static")


async def test_pool_of_questions_says_what_to_do(tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    pool.write_text("question,answer\nHow many?,12\n")
    project = make_project(tmp_path)
    import_files(project, plan_import([pool]))
    async with opened(project) as (app, _):
        assert "Curate status" in text_of(app, "#home-states Static")
        assert "1 question" in text_of(app, "#home-datasets Static")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_home_counts_states_annotators_and_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    project = with_people(make_project(tmp_path, numbered(10, dataset="sums")), "amira", "ben")
    add_run(project, "guess", dict.fromkeys(range(1, 5), Outcome.CORRECT), complete=False, items=10)
    async with opened(project, size=size) as (app, _):
        states = text_of(app, "#home-states Static")
        assert "10 items, 5 questions" in states
        assert "· unlabelled" in states
        assert "100.0 %" in states
        datasets = text_of(app, "#home-datasets Static")
        assert "sums" in datasets
        assert "10 items" in datasets
        assert "amira" in text_of(app, "#home-people Static")
        assert "‖ paused" in text_of(app, "#home-runs Static")
        assert "40 % 4/10" in text_of(app, "#home-runs Static")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_resolved_conflicts_of_the_adjudicator_are_counted(tmp_path: Path, size: tuple[int, int]) -> None:
    project = disputed(tmp_path, 3)
    chen = AdjudicationSession(project, "chen")
    for left in (2, 1, 0):
        conflict = chen.next()
        assert conflict is not None
        chen.decide(conflict, Answer(verdict="correct"))
        (person,) = [one for one in status(project).people if one.name == "chen"]
        assert (person.settled, person.conflicts) == (3 - left, left)
    async with opened(project, size=size) as (app, _):
        (line,) = [line for line in text_of(app, "#home-people Static").splitlines() if "chen" in line]
        assert "3 resolved" in line
        assert "0 done" not in line
        assert "0 left" not in line


def listed(app: WorkbenchApp) -> list[str]:
    """Return the lines of open matters, as shown."""
    options = app.screen.query_one("#home-briefing", OptionList).options
    return [line for option in options for line in str(option.prompt).splitlines()]


def open_matters(folder: Path) -> Project:
    """Create a failed run, three conflicts for chen, a wrong label, and a verifier that is weak on C1."""
    project = disputed(folder, 3)
    for subtype in ("A1", "C1"):
        rows = numbered(40, subtype=subtype, dataset=subtype)
        add_items(project.database, [{**row, "question_id": f"q{number}"} for number, row in enumerate(rows)])
    gold = {item: Outcome.INCORRECT if item % 2 else Outcome.CORRECT for item in range(4, 84)}
    add_run(project, "rules", {**gold, **dict.fromkeys(range(45, 84, 4), Outcome.CORRECT)})
    add_run(project, "exact", gold)
    add_run(project, "judge", {4: Outcome.CORRECT}, complete=False, items=10)
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET imported_gold = 1 - imported_gold WHERE id IN (7, 8)")
        connection.execute("INSERT INTO changes (first_id, last_id) VALUES (7, 8)")
    return project


@pytest.mark.parametrize("size", SIZES)
async def test_three_sentences_and_accuracies_are_visible(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(open_matters(tmp_path), size=size) as (app, pilot):
        screen = screen_of(app, HomeScreen)
        kinds = [matter.kind for matter in screen.matters]
        assert kinds == [
            "stopped-run",
            "conflicts",
            "suspect-labels",
            "no-conclusion",
            "weakest-cell",
            "verifier-disagreements",
        ]
        briefing, accuracies = screen.query_one("#home-briefing", OptionList), screen.query_one("#home-standing")
        assert briefing.size.height >= sum(len(str(one.prompt).splitlines()) for one in briefing.options[:3])
        assert accuracies.region.bottom <= size[1] - 1, "the footer is below it"
        assert not screen.query_one("#home-panels").scroll_offset.y
        assert " ".join(" ".join(listed(app)).split()).startswith(f"1) {screen.matters[0].sentence} 2) 3 conflicts")
        shown = text_of(app, "#home-standing Static").splitlines()
        assert [line.split()[0] for line in shown] == ["exact", "rules", "protocol"]
        assert shown[2].startswith("protocol strict · ┊ majority-class baseline: ")
        assert "[" in shown[0]
        assert "n 80" in shown[0]
        await press(pilot, "end")
        assert briefing.highlighted == len(kinds) - 1


@pytest.mark.parametrize("size", SIZES)
async def test_verifier_names_are_truncated_only_to_keep_numbers(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, numbered(80))
    gold = {item: Outcome.CORRECT if item % 2 else Outcome.INCORRECT for item in range(1, 81)}
    add_run(project, "normalized-exact", gold)
    add_run(project, "a-judge-whose-name-is-longer-than-any", gold)
    async with opened(project, size=size) as (app, _):
        shown = text_of(app, "#home-standing Static").splitlines()
        assert [line for line in shown if line.startswith("normalized-exact ")]
        (longest,) = [line for line in shown if line.startswith("a-judge-whose-name-i")]
        assert longest.endswith(" n 80")


async def test_weakest_group_of_few_questions_is_marked_as_uncertain(tmp_path: Path) -> None:
    rows = [
        {**row, "question_id": row["completion_id"], "subtype": name}
        for row, name in zip(numbered(2), ("A1", "B1"), strict=True)
    ]
    project = make_project(tmp_path, rows)
    add_run(project, "rules", {1: Outcome.CORRECT, 2: Outcome.CORRECT})
    async with opened(project) as (app, pilot):
        screen = screen_of(app, HomeScreen)
        place = next(place for place, one in enumerate(screen.matters, 1) if one.kind == "weakest-cell")
        text = " ".join(" ".join(listed(app)).split())
        assert f"{place}) On which subtype rules is weakest: too few questions to say." in text
        await press(pilot, str(place))
        screen_of(app, AccuracyScreen)
    project.close()


async def test_number_opens_the_place_of_its_matter(tmp_path: Path) -> None:
    async with opened(open_matters(tmp_path)) as (app, pilot):
        await press(pilot, "1")
        runs = screen_of(app, RunsScreen)
        assert runs.chosen is not None
        assert runs.chosen.verifier == "judge"
        await press(pilot, "escape", "2", "enter")
        conflicts = screen_of(app, ConflictsScreen)
        assert "as chen, unblinded · 3 to resolve" in conflicts.query_one(TitleBar).remark
        await press(pilot, "escape", "3")
        queue = screen_of(app, DisagreementsScreen)
        assert (queue.asked.queue, queue.asked.hidden) == ("suspect-gold", True)
        await press(pilot, "escape", "4")
        assert type(app.screen).__name__ == "AgreementScreen"
        await press(pilot, "escape", "5")
        cell = screen_of(app, AccuracyItemsScreen).cell
        assert (cell.verifier, cell.by) == ("exact", "subtype")
        await press(pilot, "escape", "9")
        assert type(app.screen).__name__ == "HomeScreen", "there are only eight matters"


@pytest.mark.soak
async def test_enter_and_mouse_open_matters_and_the_cursor_stays(tmp_path: Path) -> None:
    project = open_matters(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "down", "enter", "enter")
        assert isinstance(app.screen, ConflictsScreen)
        await press(pilot, "escape")
        screen = screen_of(app, HomeScreen)
        add_run(project, "another", {4: Outcome.CORRECT}, complete=False, items=10)
        await until(pilot, lambda: len(screen.matters) == 6)
        await press(pilot, "enter")
        assert isinstance(app.screen, ConflictsScreen)
        await press(pilot, "escape")
        await pilot.click("#home-briefing", offset=(10, 1))
        await settle(pilot)
        assert isinstance(app.screen, RunsScreen)


async def test_cursor_stays_with_its_run_when_a_larger_one_sorts_first(tmp_path: Path) -> None:
    project = open_matters(tmp_path)
    async with opened(project) as (app, pilot):
        screen, briefing = screen_of(app, HomeScreen), app.screen.query_one("#home-briefing", OptionList)
        before, count = screen.matters[0], len(screen.matters)
        add_run(project, "another", {4: Outcome.CORRECT}, complete=False, items=60)
        await until(pilot, lambda: len(screen.matters) == count + 1)
        assert [matter.kind for matter in screen.matters[:2]] == [before.kind] * 2
        assert briefing.highlighted is not None
        assert screen.matters[briefing.highlighted].about == before.about != screen.matters[0].about


async def test_slow_measurements_do_not_delay_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, may_go_on = open_matters(tmp_path), threading.Event()

    def slow(*_: object, **__: object) -> Never:
        may_go_on.wait(PATIENCE_S)
        raise StoreError("gone", "")

    with monkeypatch.context() as patch:
        patch.setattr("workbench.measuring.accuracy.accuracy", slow)
        app = WorkbenchApp(project)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.matters)
            screen = screen_of(app, HomeScreen)
            assert [matter.kind for matter in screen.matters] == ["stopped-run", "conflicts"]
            assert "being counted" in str(screen.query_one("#home-briefing").border_title)
            assert text_of(app, "#home-standing Static") == "being counted …"
            may_go_on.set()
            await settle(pilot)
            assert len(screen.matters) == 2, "a failed measurement does not affect the others"


@pytest.mark.soak
async def test_data_stored_during_a_measurement_is_not_reported_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, may_go_on = make_project(tmp_path, numbered(4)), threading.Event()

    def slow(*some: Any, **more: Any) -> Any:
        may_go_on.wait(PATIENCE_S)
        return accuracy(*some, **more)

    async with opened(project) as (app, pilot):
        await until(pilot, lambda: "No verifier" in text_of(app, "#home-standing Static"))
        monkeypatch.setattr("workbench.measuring.accuracy.accuracy", slow)
        add_run(project, "rules", dict.fromkeys(range(1, 5), Outcome.CORRECT))
        await until(pilot, lambda: "complete" in text_of(app, "#home-runs Static"))
        assert listed(app) == ["…"]
        assert "being counted" in str(app.screen.query_one("#home-briefing").border_title)
        assert text_of(app, "#home-standing Static") == "being counted …"
        await pilot.press("enter", "1")
        may_go_on.set()
        await until(pilot, lambda: text_of(app, "#home-standing Static").startswith("rules"))
        assert listed(app)[0].startswith("1) Nothing is open")


@pytest.mark.soak
async def test_measuring_pauses_while_another_screen_is_visible(tmp_path: Path) -> None:
    project = open_matters(tmp_path)
    async with opened(project) as (app, pilot):
        screen = screen_of(app, HomeScreen)
        await press(pilot, *":b", "enter")
        add_run(project, "judge-2", {4: Outcome.CORRECT}, complete=False, items=10)
        await pilot.pause(1.2)
        await settle(pilot)
        assert len(screen.matters) == 6
        await press(pilot, "escape")
        await until(pilot, lambda: len(screen.matters) == 7)


async def test_palette_finds_a_matter_by_its_words(tmp_path: Path) -> None:
    async with opened(open_matters(tmp_path)) as (app, pilot):
        await until(pilot, lambda: screen_of(app, HomeScreen).matters)
        helps = [command.help for command in app.get_system_commands(app.screen)]
        assert "3 conflicts wait for chen to adjudicate." in helps
        assert not any("Matter with" in text for text in helps)


async def test_empty_project_opens_with_the_next_step(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        assert [matter.kind for matter in screen_of(app, HomeScreen).matters] == ["import"]
        await press(pilot, "1")
        screen_of(app, ImportScreen)


async def test_rejected_rows_are_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    good = (ROOT / "sample_data" / "tuples.jsonl").read_text("utf-8").splitlines()[0]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(f"{good}\nnot json\n{{}}\n", encoding="utf-8")
    import_files(project, plan_import([mixed]), dataset="mixed")
    async with opened(project) as (app, _):
        assert "3 items" in text_of(app, "#home-states Static")
        assert "! rows rejected at import (:x): 2" in text_of(app, "#home-states Static")


async def test_panels_that_do_not_fit_scroll_by_keyboard(tmp_path: Path) -> None:
    project = with_people(make_project(tmp_path, numbered(10)), *[f"person {number}" for number in range(30)])
    async with opened(project) as (app, pilot):
        await press(pilot, "tab", "tab", "end")
        assert app.screen.query_one("#home-panels").scroll_offset.y > 0


async def test_home_follows_changes_by_others(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    async with opened(project) as (app, pilot):
        add_items(project.database, numbered(6, dataset="later"))
        await until(pilot, lambda: "later" in text_of(app, "#home-datasets Static"))
        assert "8 items" in text_of(app, "#home-states Static")


async def test_annotator_sees_only_their_own_work(tmp_path: Path) -> None:
    project = with_people(make_project(tmp_path, numbered(6)), "amira", "zoltan")
    add_run(project, "secret-judge", {1: Outcome.CORRECT})
    session = AnnotationSession(project, "amira")
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct"))
    session.close()
    async with opened(project, annotator="amira") as (app, pilot):
        own = text_of(app, "#home-own Static")
        assert "1 done" in own
        assert "5 left" in own
        shown = "\n".join(str(widget.render()) for widget in app.screen.query("Static"))
        assert "zoltan" not in shown
        assert "secret-judge" not in shown
        assert "unlabelled" not in shown
        menu = app.screen.query_one("#home-menu", OptionList)
        assert [option.id for option in menu.options] == ["annotate", "adjudicate", "conflicts", "history"]
        assert [matter.kind for matter in screen_of(app, HomeScreen).matters] == ["own-guidelines", "own-items"]
        await press(pilot, "1")
        assert type(app.screen).__name__ == "AnnotateScreen"


async def test_one_key_opens_each_screen(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        for name, place in DESTINATIONS.items():
            if name != "home":
                await press(pilot, *f":{place.letter}", "enter")
                assert type(app.screen).__name__ == place.screen
                await press(pilot, "escape")
                assert type(app.screen).__name__ == "HomeScreen", name


async def test_menu_opens_screens_with_enter_and_mouse(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, "tab", "down", "down", "down", "enter")
        assert type(app.screen).__name__ == "FlagsScreen"
        await press(pilot, "escape", "down", "down", "enter")
        assert type(app.screen).__name__ == "BrowseScreen"
        await press(pilot, "escape")
        await pilot.click("#home-menu", offset=(5, 7))
        await settle(pilot)
        assert type(app.screen).__name__ == "AccuracyScreen"


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_hostile_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path)
    for number, name in enumerate(HOSTILE):
        add_items(project.database, numbered(2, dataset=name))
        add_run(project, name, {2 * number + 1: Outcome.CORRECT})
        if name.isprintable():
            with project.database.write() as connection:
                add(connection, name)
    async with opened(project, size=size) as (app, pilot):
        for panel in ("datasets", "people", "runs"):
            assert "[bold]x[/]" in text_of(app, f"#home-{panel} Static")
        assert "␛[31m" in text_of(app, "#home-datasets Static")
        assert "\x1b" not in text_of(app, "#home-runs Static")
        for letter in "vy":
            await press(pilot, ":", letter, "enter")
            assert type(app.screen).__name__ != "HomeScreen"
            await press(pilot, "escape")
        assert not notices(app)


@pytest.mark.soak
async def test_excluded_data_set_is_shown_and_can_be_restored(tmp_path: Path) -> None:
    project = make_project(tmp_path, [*numbered(4, dataset="wrong one"), *numbered(2, dataset="right")])
    take_out(project, "wrong one", reason="another file's labels", by="ines")
    async with opened(project) as (app, pilot):
        at = next(number for number, one in enumerate(screen_of(app, HomeScreen).matters, 1) if one.kind == "out")
        assert "⊘ wrong one" in text_of(app, "#home-datasets Static")
        await press(pilot, str(at))
        await settle(pilot)
        await press(pilot, "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert [one.out for one in every_dataset(project)] == [None, None]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_paused_annotator_is_shown_and_can_be_resumed(tmp_path: Path, size: tuple[int, int]) -> None:
    project = with_people(make_project(tmp_path, numbered(6)), "amira", "ben")
    people.pause(project, "ben", "3 of 10 checks right, below 70%")
    async with opened(project, size=size) as (app, pilot):
        text = " ".join(" ".join(listed(app)).split())
        assert "1) ben is paused and gets no items: 3 of 10 checks right, below 70%." in text
        lines = text_of(app, "#home-people Static").splitlines()
        assert [line.startswith("‖ ben ") for line in lines] == [False, True]
        await press(pilot, "1")
        await settle(pilot)
        await press(pilot, "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert not any(person.paused for person in people.annotators(project))
