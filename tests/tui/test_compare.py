"""Compare: the screen shows the service's metrics, and each list holds the items it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, ONE_SIZE, SIZES, add_run, notices, opened, press, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import PickMenu
from workbench.app.tui.kit.columns import rows_of_table
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.compare import CompareScreen, Pair, head_text, metrics_text
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode
from workbench.labelling import coordinating
from workbench.measuring.comparing import compare, compared
from workbench.measuring.comparing_tables import comparison_as, groups_table, verdict
from workbench.measuring.notes import add_selection_judges


def project_of_two(folder: Path) -> Project:
    """Create 12 items, two per question: "careful" rejects the correct ones of B, "lax" accepts everything."""
    rows = [
        {
            "question_id": f"q{number // 2}",
            "completion_id": f"c{number}",
            "gold": number % 2 == 0,
            "subtype": "A1" if number < 6 else "B5",
        }
        for number in range(12)
    ]
    project = make_project(folder, rows)
    careful = {number + 1: Outcome.CORRECT if number in (0, 2, 4) else Outcome.INCORRECT for number in range(12)}
    add_run(project, "careful", careful)
    add_run(project, "lax", dict.fromkeys(range(1, 12), Outcome.CORRECT) | {12: Outcome.ABSTAIN})
    return project


def screen_of(app: WorkbenchApp) -> CompareScreen:
    assert isinstance(app.screen, CompareScreen)
    return app.screen


def listed(app: WorkbenchApp) -> list[int]:
    return list(app.screen.query_one(VirtualTable).visible_ids)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_screen_shows_the_metrics_of_the_service(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_two(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":y", "enter", "vertical_line")
        report = compared(project, "careful", "lax", by="type").report
        found = screen_of(app).found
        assert found is not None
        assert found.report == report
        assert (report.both_right, report.only_a, report.only_b, report.both_wrong) == (3, 6, 3, 0)
        assert "A careful   B lax" in text_of(app, "#compare-head")
        assert "all · 12 items in 6 questions" in text_of(app, "#compare-head")
        assert [line.split()[-3:] for line in text_of(app, "#compare-paired").splitlines()[1:]] == [
            ["3", "6", "9"],
            ["3", "0", "3"],
            ["6", "6", "12"],
        ]
        assert "+25.0" in text_of(app, "#compare-tests")
        assert text_of(app, "#compare-verdict") == verdict(report)


async def test_each_kind_is_listed_and_opens_its_items(tmp_path: Path) -> None:
    async with opened(project_of_two(tmp_path)) as (app, pilot):
        await press(pilot, *":y", "enter", "vertical_line")
        assert "[only A right 6]" in text_of(app, "#compare-tabs")
        assert listed(app) == [2, 4, 6, 8, 10, 12]
        await press(pilot, "w")
        assert "[only B right 3]" in text_of(app, "#compare-tabs")
        assert listed(app) == [7, 9, 11]
        await press(pilot, "down", "enter")
        assert type(app.screen).__name__ == "ItemScreen"
        assert app.screen.completion == 9  # type: ignore[attr-defined]
        await press(pilot, "escape", "S")
        assert "A lax   B careful" in text_of(app, "#compare-head")
        assert listed(app) == [7, 9, 11]
        await press(pilot, "S")
        assert listed(app) == [7, 9, 11]
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "AccuracyScreen"


async def test_table_cycles_all_quadrants_and_the_groups(tmp_path: Path) -> None:
    async with opened(project_of_two(tmp_path)) as (app, pilot):
        await press(pilot, *":c", "enter")
        assert text_of(app, "#compare-tabs").split("  ")[0].startswith("[only A right 6]")
        shown = [listed(app)]
        for _ in range(3):
            await press(pilot, "w")
            shown.append(listed(app))
        assert shown == [[2, 4, 6, 8, 10, 12], [7, 9, 11], [], [1, 3, 5]]
        assert "[both right 3]" in text_of(app, "#compare-tabs")
        await press(pilot, "enter")
        assert isinstance(app.screen, ItemScreen)
        await press(pilot, "escape", "w")
        assert text_of(app, "#compare-tabs").endswith("[by type]")
        await press(pilot, "W")
        assert "[both right 3]" in text_of(app, "#compare-tabs")


async def test_wins_and_losses_are_listed_by_group_and_open_items(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "b")
        report = compared(project, "careful", "lax", by="type").report
        _, cells = rows_of_table(groups_table(report))
        assert [row.cells[0].text for row in cells] == ["A - Numeric Values", "B - Expressions"]
        assert [[cell.text for cell in row.cells[1:5]] for row in cells] == [["6", "3", "3", "0"], ["6", "3", "3", "3"]]
        assert listed(app) == [0, 1]
        await press(pilot, "b")
        assert text_of(app, "#compare-tabs").endswith("[by subtype]")
        await pilot.press(*["b"] * 5)
        await settle(pilot)
        assert text_of(app, "#compare-tabs").endswith("[by length]")
        await press(pilot, "b", "down", "enter")
        assert screen_of(app).asked == Pair(
            a="careful",
            b="lax",
            by="subtype",
            words="B - Expressions",
            conditions=(parse_condition("type=B"),),
        )
        found = screen_of(app).found
        assert found is not None
        assert (found.report.n, found.report.only_b) == (6, 3)
        await press(pilot, "escape")
        assert text_of(app, "#compare-tabs").endswith("[by type]")


@pytest.mark.soak
async def test_screen_is_refreshed_on_return_after_a_change(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "question_mark")
        coordinating.exclude(project, [2], reason="proof", note="", by="coordinator")
        assert only_a_below(app) == 6
        await press(pilot, "escape")
        assert only_a_below(app) == 5


def only_a_below(app: WorkbenchApp) -> int | None:
    screen = next(screen for screen in app.screen_stack if isinstance(screen, CompareScreen))
    return None if screen.report is None else screen.report.only_a


async def test_group_has_the_columns_of_the_command_line(tmp_path: Path) -> None:
    async with opened(project_of_two(tmp_path)) as (app, pilot):
        await press(pilot, *":c", "enter", "b")
        source = app.screen.query_one(VirtualTable).source
        assert source is not None
        titles = [column.title for column in source.columns]
        assert titles[0] == "type"
        assert [row.cells[6].text.rstrip("*") for row in source.first_page(2)] == ["+50.0", "+0.0"]
        assert titles[5:] == ["ties", "A - B", "95 % interval", "p", "q", "detectable"]
        assert len(source.first_page(1)[0].cells) == len(titles)


def test_significant_difference_of_a_group_has_a_star(tmp_path: Path) -> None:
    report = compared(project_of_two(tmp_path), "careful", "lax", by="type").report
    first, second = report.groups
    marked = structs.replace(report, groups=[structs.replace(first, q=0.01), structs.replace(second, q=0.2)])
    _, rows = rows_of_table(groups_table(marked, in_points=True))
    assert [row.cells[6].text for row in rows] == ["+50.0*", "+0.0"]
    _, rows = rows_of_table(groups_table(marked))
    assert [row.cells[6].text for row in rows] == ["+0.500", "+0.000"]


async def test_every_metric_has_its_interval_immediately(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter")
        report = compared(project, "careful", "lax", by="type").report
        assert screen_of(app).report == report
        assert text_of(app, "#compare-tests") == str(metrics_text(report))
        assert text_of(app, "#compare-tests").count("[") == 3


@pytest.mark.soak
async def test_both_verifiers_are_chosen_from_a_list(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    add_run(project, "third", dict.fromkeys(range(1, 13), Outcome.CORRECT))
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "full_stop", *"third", "enter")
        assert screen_of(app).asked == Pair(a="careful", b="third")
        # Choosing the same verifier twice swaps the two.
        await press(pilot, "comma", *"third", "enter")
        assert screen_of(app).asked == Pair(a="third", b="careful")
        await press(pilot, "full_stop", "escape")
        assert screen_of(app).asked == Pair(a="third", b="careful")


async def test_metrics_are_saved(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "e", "1", "e", "2")
        report = screen_of(app).report
        assert report is not None
        for suffix, kind in ((".csv", "csv"), (".md", "markdown")):
            saved = (tmp_path / f"p-compare-strict-final{suffix}").read_text(encoding="utf-8")
            assert saved == comparison_as(report, TableForm(format=kind))  # type: ignore[arg-type]
        assert sum("Written" in notice for notice in notices(app)) == 2


async def test_single_gold_class_is_reported(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": False}] * 6)
    for name in ("first", "second"):
        add_run(project, name, {item: OutcomeCode(item % 2).outcome for item in range(1, 7)})
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter")
        tests = text_of(app, "#compare-tests").splitlines()
        assert tests[1].split() == ["acc", "50.0", "50.0", "+0.0", "[-45.9,", "+45.9]"]
        assert tests[2].split() == ["BA", "–", "–", "–", "one", "gold", "class"]
        assert tests[4] == "p   1.000 by question · McNemar 1.000"
        assert "exactly the same items" in text_of(app, "#compare-verdict")


async def test_home_leads_to_the_first_two_verifiers(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter")
        found = screen_of(app).found
        assert found is not None
        assert found.report == compared(project, "careful", "lax", by="type").report
        await press(pilot, "left_square_bracket")
        assert screen_of(app).asked == Pair(a="careful", b="always-incorrect")
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_screen_without_a_complete_run_says_where_to_start_one(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{"gold": True}])) as (app, pilot):
        await press(pilot, *":c", "enter")
        assert "Start one in Verifiers & runs" in text_of(app, "#compare-head")
        await press(pilot, "right_square_bracket", "left_square_bracket", "S", "p", "g", "w", "enter")
        assert screen_of(app).asked is None
        assert not notices(app)


async def test_item_opens_with_both_verdicts_first(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    add_run(project, "third", dict.fromkeys(range(1, 13), Outcome.CORRECT))
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "right_square_bracket", "w", "enter")
        assert isinstance(app.screen, ItemScreen)
        assert app.screen.chosen is not None
        assert app.screen.chosen.verifier == "third"
        await press(pilot, "v")
        assert app.screen.chosen.verifier == "careful"


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_gold_and_protocol_are_never_truncated(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(project_of_two(tmp_path), size=size) as (app, pilot):
        await press(pilot, *":c", "enter", "p")
        last = text_of(app, "#compare-head").splitlines()[-1]
        assert last == "gold final · protocol forced: abstentions count as “incorrect”"
        await press(pilot, "p", "p")
        last = text_of(app, "#compare-head").splitlines()[-1]
        assert len(last) <= app.screen.query_one("#compare-head").content_size.width


@pytest.mark.soak
async def test_switches_cycle(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "vertical_line", "right_square_bracket")
        assert screen_of(app).asked == Pair(a="careful", b="always-incorrect")
        await press(pilot, "right_square_bracket")
        assert screen_of(app).asked == Pair(a="careful", b="lax")
        await press(pilot, "p", "p")
        found = screen_of(app).found
        assert found is not None
        assert found.report == compared(project, "careful", "lax", protocol="decided", by="type").report
        assert "protocol decided" in text_of(app, "#compare-head")


async def test_cell_is_compared_on_its_own_items(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "home", "right", "right", "vertical_line")
        found = screen_of(app).found
        assert found is not None
        selection = Selection((parse_condition("type=A"),))
        assert found.report == compared(project, "careful", "lax", selection=selection, by="type").report
        assert "A - Numeric Values · 6 items" in text_of(app, "#compare-head")


async def test_all_are_compared_by_the_command_on_the_pairs_items(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "home", "right", "right", "vertical_line", "p", "vertical_line")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        output = app.screen
        assert isinstance(output, VerbOutputScreen)
        assert "careful" in output.ran.out
        await press(pilot, "escape")
        assert isinstance(app.screen, VerbScreen)
        assert app.screen.form is not None
        line = app.screen.form.line(app.screen.values())
        assert line == ["compare", str(project.path), "--all", "--protocol", "forced", "--where", "type=A"]


@pytest.mark.soak
async def test_invalid_comparison_shows_no_metrics(tmp_path: Path) -> None:
    async with opened(project_of_two(tmp_path)) as (app, pilot):
        await press(pilot, *":y", "enter", "vertical_line", "g")
        assert any("no common item that counts" in notice for notice in notices(app))
        assert text_of(app, "#compare-tests") == text_of(app, "#compare-verdict") == ""
        assert listed(app) == []
        await press(pilot, "w", "enter", "g", "g")
        assert "[only B right 3]" in text_of(app, "#compare-tabs")


async def test_baseline_alone_cannot_be_compared(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{"gold": True}])) as (app, pilot):
        await press(pilot, *":y", "enter", "vertical_line")
        assert type(app.screen).__name__ == "AccuracyScreen"


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_hostile_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, [{"gold": True, "completion_id": name, "model": name} for name in HOSTILE])
    for name in HOSTILE:
        add_run(project, name, dict.fromkeys(range(1, len(HOSTILE) + 1), Outcome.CORRECT), reasons=HOSTILE)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":c", "enter", "right_square_bracket", "full_stop")
        assert isinstance(app.screen, PickMenu)
        await press(pilot, *["down"] * 5, "enter")
        assert "[bold]x[/]" in text_of(app, "#compare-head")
        assert listed(app) == [1, 2, 3, 4, 5]
        assert not notices(app)


def test_judge_that_selected_the_items_is_marked(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    add_selection_judges(project, "sample", ("lax",))
    assert head_text(compare(project, "careful", "lax"), "all items").plain.startswith("A careful   B lax †\n")


async def test_screen_opens_with_its_summary(tmp_path: Path) -> None:
    async with opened(project_of_two(tmp_path)) as (app, pilot):
        await press(pilot, *":y", "enter", "vertical_line")
        places = [app.screen.query_one(f"#compare-{part}").region.y for part in ("verdict", "head", "paired", "tabs")]
        assert places == sorted(places)
        assert places[0] == 1
