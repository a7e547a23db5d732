"""Accuracy: the matrix shows the service's metrics, and every cell opens its items."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run, notices, opened, press, settle, text_of
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.accuracy_sheet import ALL
from workbench.app.tui.kit.accuracy_view import FIGURES
from workbench.app.tui.kit.choices import PickMenu
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.accuracy import AccuracyScreen, SheetQuery
from workbench.app.tui.screens.accuracy_items import AccuracyItemsScreen
from workbench.app.tui.screens.compare import CompareScreen
from workbench.config import settings_of
from workbench.core.project import Project, open_project
from workbench.core.selection import GROUPS, Condition, Selection
from workbench.core.text.figures import GLYPHS, NONE, percent, percent_interval
from workbench.core.verdict import Outcome, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_items import Which
from workbench.measuring.accuracy_tables import conclusion
from workbench.measuring.entries import BASELINES

SUBTYPES = ("A1", "A1", "A8", "A8", "B5", "B5", None, None)
TYPE_A = Selection((Condition("type", "=", "A"),))


def judged_project(folder: Path) -> Project:
    """Create 16 items, two per question, of several subtypes; a good, a bad and an undecided verifier."""
    rows = [
        {
            "question_id": f"q{number // 2}",
            "completion_id": f"c{number}",
            "gold": number % 2 == 0,
            "subtype": SUBTYPES[number // 2],
            "source": f"source {number % 4}",
            "model": "m" if number % 3 else None,
        }
        for number in range(16)
    ]
    project = make_project(folder, rows)
    gold = {number + 1: number % 2 == 0 for number in range(16)}
    right = {item: Outcome.CORRECT if value else Outcome.INCORRECT for item, value in gold.items()}
    bad = right | {1: Outcome.INCORRECT, 2: Outcome.CORRECT, 5: Outcome.ABSTAIN}
    add_run(project, "good", right, reasons=("number", "letter"))
    add_run(project, "bad", bad)
    add_run(project, "unsure", {item: Outcome.ERROR if item % 3 else Outcome.ABSTAIN for item in gold})
    return project


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create one database for all tests that only read."""
    return judged_project(tmp_path_factory.mktemp("accuracy")).path


@pytest.fixture
def project(file: Path) -> Project:
    return open_project(file)


def screen_of(app: Any) -> AccuracyScreen:
    assert isinstance(app.screen, AccuracyScreen)
    return app.screen


def matrix_of(app: WorkbenchApp) -> Matrix:
    return app.screen.query_one(Matrix)


def cells(app: WorkbenchApp) -> dict[tuple[str, str | None], str]:
    """Return the matrix: (verifier, group) -> glyph and text."""
    matrix = matrix_of(app)
    return {
        (row.key, None if column.key == ALL else column.key): cell.text
        for row in matrix.rows
        for column, cell in zip(matrix.columns, row.cells[1:], strict=True)
    }


def names(app: WorkbenchApp) -> list[str]:
    """Return the verifiers from top to bottom."""
    return [row.key for row in matrix_of(app).rows]


async def to_cell(pilot: Pilot[None], verifier: str, group: str | None) -> None:
    """Move the cursor to a cell."""
    matrix_of(pilot.app).move_to(verifier, group or ALL)  # type: ignore[arg-type]
    await settle(pilot)
    assert screen_of(pilot.app).chosen == (verifier, group)


@pytest.mark.few(2)
@pytest.mark.parametrize(("protocol", "size"), [("strict", (80, 24)), ("decided", (120, 40))])
async def test_matrix_shows_the_metrics_of_the_service(
    project: Project, protocol: Protocol3, size: tuple[int, int]
) -> None:
    report = accuracy(project, by="type", protocol=protocol)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":y", "enter", *["p"] * get_args(Protocol3).index(protocol))
        assert screen_of(app).report == report
        shown = cells(app)
        below = {column.key: column.below for column in matrix_of(app).columns}
        assert len(shown) == len(report.rows)
        for row in report.rows:
            text = shown[row.verifier, row.group]
            if not row.n:
                assert text == NONE
                continue
            assert re.sub(rf"[{GLYPHS}]|\(.*\)", "", text) == percent(row.accuracy)
            assert text[0] in GLYPHS
            # Every metric has its n: below the title, or in brackets.
            assert text.endswith(f"({row.n})") or below[row.group or ALL] == (f"n {row.n}",)
        caption = text_of(app, "#accuracy-caption")
        assert {row.key: row.cells[0].text[:2] for row in matrix_of(app).rows} == {
            **dict.fromkeys(("good", "bad", "unsure"), "  "),
            **dict.fromkeys(BASELINES, " ○"),
        }
        assert "○ baseline" in text_of(app, "#accuracy-legend")
        for part in ("accuracy in %", f"protocol {protocol}", "gold final", "16 imported", "by type"):
            assert part in caption


async def test_protocol_is_the_projects_until_a_key_changes_it(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    project.path.with_name("workbench.toml").write_text('protocol = "decided"\n')
    async with opened(project, settings=settings_of(project)) as (app, pilot):
        assert "protocol decided" in text_of(app, "#home-standing Static")
        await press(pilot, *":y", "enter")
        assert "protocol decided (abstentions are left out)" in text_of(app, "#accuracy-caption")
        await press(pilot, "i")
        assert "protocol decided" in text_of(app, "#accuracy-items-counts")
        await press(pilot, "escape", "p")
        assert "protocol strict (abstentions count as wrong)" in text_of(app, "#accuracy-caption")


@pytest.mark.soak
async def test_key_cycles_metrics_and_caption_names_them(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        report = screen_of(app).report
        assert report is not None
        for key, figure in FIGURES.items():
            assert screen_of(app).figure == key
            assert figure.words in text_of(app, "#accuracy-caption")
            shown = cells(app)
            for row in report.rows:
                assert figure.text(figure.of(row)) in shown[row.verifier, row.group] or not row.n
            screen_of(app).action_next_figure(1)
        await press(pilot, "o")
        assert screen_of(app).figure == "delta"
        await press(pilot, "O", "O")
        assert screen_of(app).figure == "n"
        assert not any(glyph in text for text in cells(app).values() for glyph in GLYPHS)


@pytest.mark.soak
async def test_foot_describes_the_cell_under_the_cursor(project: Project) -> None:
    (row,) = (r for r in accuracy(project, by="type").rows if (r.verifier, r.group) == ("bad", "A"))
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "bad", "A")
        text = text_of(app, "#accuracy-cell")
        assert row.ci is not None
        for part in (
            "bad · A - Numeric Values",
            f"accuracy {percent(row.accuracy)} % [{percent(row.ci[0])}, {percent(row.ci[1])}]",
            f"n {row.n} in {row.questions} questions",
            f"TP {row.tp} FP {row.fp} TN {row.tn} FN {row.fn}",
            "? 1 abstain",
            "Δ -18.8 points, q",
        ):
            assert part in text
        detail = app.screen.query_one("#accuracy-detail", VirtualTable)
        assert detail.row_count == 4
        assert detail.selected_id == 1


async def test_two_keys_lead_from_a_number_to_its_items_and_back(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "bad", "A")
        await press(pilot, "enter")
        assert screen_of(app).report == accuracy(project, by="subtype", selection=TYPE_A)
        assert {group for _, group in cells(app)} == {None, "A1", "A8"}
        assert screen_of(app).chosen == ("bad", None)
        assert "A - Numeric Values by subtype" in text_of(app, "TitleBar")
        await press(pilot, "right", "enter")
        assert type(app.screen).__name__ == "AccuracyItemsScreen"
        assert "4 items counted: ✗ 2 wrong · ✓ 2 right" in text_of(app, "#accuracy-items-counts")
        table = app.screen.query_one(VirtualTable)
        assert table.visible_ids == [2, 1, 3, 4]
        await press(pilot, "enter")
        assert type(app.screen).__name__ == "ItemScreen"
        assert app.screen.completion == 2  # type: ignore[attr-defined]
        await press(pilot, "escape", "escape", "escape")
        assert screen_of(app).asked.by == "type"
        assert screen_of(app).chosen == ("bad", "A")
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


@pytest.mark.soak
async def test_group_is_split_by_several_properties(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "good", "A")
        await press(pilot, "a", "3")
        screen = screen_of(app)
        assert screen.asked.by == "source"
        assert screen.report == accuracy(project, by="source", selection=TYPE_A)
        await to_cell(pilot, "good", "source 2")
        await press(pilot, "a", "5")
        inner = Selection((*TYPE_A.conditions, Condition("source", "=", "source 2")))
        assert screen.asked.by == "reason"
        assert "A - Numeric Values · source 2 by reason" in text_of(app, "TitleBar")
        await to_cell(pilot, "good", "letter")
        await press(pilot, "a")
        assert "Reasons can't be broken down: i lists the items." in notices(app)[0]
        await press(pilot, "b", *"length", "enter")
        assert screen.asked.by == "length"
        assert screen.report == accuracy(project, by="length", selection=inner)
        await press(pilot, "escape", "escape")
        assert (screen.asked.by, screen.chosen) == ("type", ("good", "A"))


async def test_reason_opens_its_items_and_evidence(project: Project) -> None:
    async with opened(project, size=(120, 40)) as (app, pilot):
        await press(pilot, *":y", "enter", "B", "B")
        assert screen_of(app).report == accuracy(project, by="reason")
        shown = cells(app)
        assert shown["good", "number"] == shown["good", "letter"] == "█100.0"
        assert shown["good", "rule"] == NONE
        await to_cell(pilot, "good", "rule")
        assert "No item has a verdict and gold (" in text_of(app, "#accuracy-cell")
        await press(pilot, "enter")
        assert type(app.screen).__name__ == "AccuracyScreen"
        await to_cell(pilot, "good", "letter")
        assert "good · compared as option letters · accuracy 100.0 %" in text_of(app, "#accuracy-cell")
        await press(pilot, "enter")
        assert "8 items counted: ✗ 0 wrong · ✓ 8 right" in text_of(app, "#accuracy-items-counts")
        assert "good, letter - compared as option letters" in text_of(app, "TitleBar")
        table = app.screen.query_one(VirtualTable)
        assert table.visible_ids == [2, 4, 6, 8, 10, 12, 14, 16]
        assert "option letters" in table.render_line(1).text
        assert not notices(app)


async def test_key_cycles_the_kinds_of_items_of_a_cell(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "bad", None)
        await press(pilot, "i")
        screen = app.screen
        assert isinstance(screen, AccuracyItemsScreen)
        head = text_of(app, "#accuracy-items-counts")
        assert "16 items counted: ✗ 3 wrong · ✓ 13 right · ? 1 of them undecided" in head
        assert "why wrong: rule 3" in head
        seen = {}
        for _ in get_args(Which):
            screen.action_next_kind(1)
            seen[screen.which] = list(screen.table.order[:3])
        assert seen == {
            "wrong": [2, 1, 5],
            "accepted": [2],
            "refused": [1],
            "undecided": [5],
            "right": [3, 7, 9],
            "all": [2, 1, 5],
        }
        await press(pilot, "w", "W", "W", "enter")
        assert app.screen.completion == 3  # type: ignore[attr-defined]


@pytest.mark.soak
async def test_undecided_items_outside_the_protocol_are_counted_separately(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "p", "p")
        await to_cell(pilot, "bad", "A")
        await press(pilot, "i")
        head = text_of(app, "#accuracy-items-counts")
        assert "7 items counted: ✗ 2 wrong · ✓ 5 right" in head
        assert "1 undecided item left out" in head


def test_key_cycles_the_properties_not_yet_chosen() -> None:
    query = SheetQuery(by="source", path=(Condition("type", "=", "A"), Condition("domain", "=", "d")))
    free = ("subtype", "source", "model", "language", "difficulty", "dataset", "reason", "length")
    assert set(query.free(GROUPS)) == set(free)
    assert query.inside("s", "length").outside() == (query, "s")
    assert query.conditions_of(None) == (Condition("type", "=", "A"), Condition("domain", "=", "d"))
    assert query.words_of("s") == "A - Numeric Values · d · s"


async def test_switches_cycle(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "b")
        menu = app.screen
        assert isinstance(menu, PickMenu)
        assert menu.listed[0].value == "type"
        await press(pilot, *"subt")
        assert [one.value for one in menu.listed] == ["subtype"]
        await press(pilot, "enter")
        assert screen_of(app).report == accuracy(project, by="subtype")
        await press(pilot, "B", "g")
        assert screen_of(app).report == accuracy(project, by="type", gold="people")
        assert "gold people" in text_of(app, "#accuracy-caption")
        assert "No item has a verdict and gold (" in text_of(app, "#accuracy-cell")


async def test_only_baselines_are_shown_without_runs(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        await press(pilot, *":y", "enter")
        assert set(names(app)) == set(BASELINES)
        await pilot.press("s", "space", "vertical_line", "d", "d", "a")
        await settle(pilot)
        assert app.is_running
        assert not any("wrong" in notice for notice in notices(app))


@pytest.mark.soak
async def test_mouse_moves_the_cursor_sorts_and_opens(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await pilot.click("#accuracy-detail", offset=(4, 2))
        await settle(pilot)
        assert screen_of(app).chosen[1] == "A"
        header = matrix_of(app).render_line(0).text
        await pilot.click(Matrix, offset=(re.search(r"\bB\b", header).start(), 0))  # type: ignore[union-attr]
        await settle(pilot)
        assert screen_of(app).chosen[1] == "B"
        assert "▲" in matrix_of(app).render_line(0).text
        detail = app.screen.query_one("#accuracy-detail")
        place = next(y for y in range(detail.size.height) if "A - Numeric" in detail.render_line(y).text)
        await pilot.click("#accuracy-detail", offset=(4, place))
        await pilot.click("#accuracy-detail", offset=(4, place))
        await settle(pilot)
        assert screen_of(app).asked.path == (Condition("type", "=", "A"),)


async def test_hostile_names_are_shown_as_text(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": True, "source": name, "model": name} for name in HOSTILE])
    for name in [*HOSTILE, "判断者" * 20]:
        add_run(project, name, dict.fromkeys(range(1, len(HOSTILE) + 1), Outcome.INCORRECT))
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "a", "4")
        assert ("[bold]x[/]", "[/]") in cells(app)
        lines = [matrix_of(app).render_line(y).text for y in range(matrix_of(app).size.height)]
        assert not any("\x1b" in line for line in lines)
        assert any("[bold]x[/]" in line for line in lines)
        await pilot.press("d", "d", "d")
        await press(pilot, "right", "enter")
        assert "1 item counted: ✗ 1 wrong" in text_of(app, "#accuracy-items-counts")
        assert not notices(app)


@pytest.mark.soak
async def test_cells_have_number_and_glyph_without_colour(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(project) as (app, pilot):
        assert app.no_color
        await press(pilot, *":y", "enter")
        picture = app.export_screenshot()
        assert all(f"{text}<" in picture for text in ("▅50.0", "█100.0"))


@pytest.mark.soak
async def test_headline_covers_all_verifiers_and_foot_the_cell(project: Project) -> None:
    report = accuracy(project, by="type")
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        for row in report.rows:
            if row.accuracy is None or row.ci is None or (row.verifier, row.group) not in cells(app):
                continue
            await to_cell(pilot, row.verifier, row.group)
            assert text_of(app, "#accuracy-conclusion") == " ".join(conclusion(report))
            foot = text_of(app, "#accuracy-cell")
            assert foot.startswith(f"{row.verifier} · ")
            assert percent_interval(row.ci) in foot
            assert f"n {row.n:,} in " in foot


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_screen_opens_with_its_summary_and_the_worst_group_first(project: Project, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":y", "enter")
        summary = app.screen.query_one("#accuracy-conclusion")
        assert " ".join(text_of(app, "#accuracy-conclusion").split()) == " ".join(
            conclusion(accuracy(project, by="type"))
        )
        assert summary.region.y < app.screen.query_one("#accuracy-caption").region.y
        assert isinstance(summary, Static)
        assert summary.get_content_height(summary.size, app.size, summary.size.width) <= summary.size.height, (
            "all of it is visible"
        )
        source = app.screen.query_one("#accuracy-detail", VirtualTable).source
        assert source is not None
        rows = source.first_page(99)
        shares = [row.cells[4].value for row in rows[1:]]
        known = [share for share in shares if isinstance(share, float)]
        assert rows[0].cells[0].text == "all"
        assert known == sorted(known)


async def test_whole_summary_is_visible_at_80_columns(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    wrong = {item: Outcome.CORRECT if item % 2 == 0 else Outcome.INCORRECT for item in range(1, 15)}
    for whose in ("ours", "theirs", "yours", "the year before"):
        add_run(project, f"the regular expression of {whose}", wrong)
    async with opened(project, size=(80, 24)) as (app, pilot):
        await press(pilot, *":y", "enter")
        summary = app.screen.query_one("#accuracy-conclusion", Static)
        needed = summary.get_content_height(summary.content_size, app.size, summary.content_size.width)
        assert needed > 3
        assert summary.content_size.height == needed


async def test_late_tests_of_an_earlier_table_are_dropped(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        screen = screen_of(app)
        earlier = screen.sheet
        assert earlier is not None
        await press(pilot, "p")
        newer = screen.sheet
        screen.show_late((earlier, earlier))
        assert screen.sheet is newer is not earlier


async def test_verifier_with_an_unfinished_run_is_not_compared(tmp_path: Path) -> None:
    half = judged_project(tmp_path)
    add_run(half, "half", {1: Outcome.CORRECT, 3: Outcome.CORRECT}, complete=False, items=16)
    async with opened(half) as (app, pilot):
        await press(pilot, *":y", "enter")
        sheet = screen_of(app).sheet
        assert sheet is not None
        at = sheet.verifiers.index("half")
        await press(pilot, *["down"] * at, "|")
        assert screen_of(app)
        assert notices(app)[-1] == "Two verifiers with complete runs are needed."
        await press(pilot, *["up"] * at, "g", "g", "|")
        assert isinstance(app.screen, CompareScreen)
        pair = app.screen.asked
        assert pair is not None
        assert pair.gold == "imported", "as in the table"
        assert "half" not in (pair.a, pair.b)
