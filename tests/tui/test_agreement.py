"""Agreement: the screen shows the service's metrics, and a cell opens exactly the items it counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project, numbered
from tests.tui.stage import HOSTILE, ONE_SIZE, notices, opened, press, settle, text_of, until
from tests.unit.labelling.recording import Record
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit import columns as layout
from workbench.app.tui.kit.arranging import ArrangedSource
from workbench.app.tui.kit.columns import Sort
from workbench.app.tui.kit.sources import FixedSource, MemorySource
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.agreement import AgreementItemsScreen, AgreementScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.project import Project
from workbench.labelling.agreement.measuring import agreement
from workbench.labelling.agreement.text import AC1_BY_GROUP, agreement_tables, agreement_text, people_columns
from workbench.labelling.coordinating import reopen
from workbench.measuring.briefing import agreement_sentence
from workbench.measuring.browsing import LabelledRow, pair_items


def labelled(folder: Path, names: tuple[str, str, str] = ("ann", "bob", "cy")) -> Project:
    """Create twelve items of two domains; the first two annotators disagree on two items and share only one domain."""
    rows: list[dict[str, Any]] = [
        row
        | {
            "source": f"s{place // 6}",
            "domain": ("maths", "logic")[place // 6],
            "subtype": ("A1", "C1")[place // 2 % 2],
        }
        for place, row in enumerate(numbered(12))
    ]
    record = Record(make_project(folder, rows))
    record.table(names, ("c i c i c i . . . . . .", "c i c c i i c u . . . .", ". . . . . . c i c i c i"))
    record.table(names, ("A1 A3 . . . .", "A1 A1 C1 . . .", ". . D1 . . ."), task="type")
    record.say(names[0], 1, "c", kind="repeat")
    return record.project


def screen_of(app: WorkbenchApp) -> AgreementScreen:
    assert isinstance(app.screen, AgreementScreen)
    return app.screen


async def drawn(app: WorkbenchApp, pilot: Pilot[None]) -> AgreementScreen:
    """Return the screen once its metrics are loaded."""
    await until(pilot, lambda: screen_of(app).report is not None)
    await settle(pilot)
    return screen_of(app)


def items_of(app: WorkbenchApp) -> AgreementItemsScreen:
    assert isinstance(app.screen, AgreementItemsScreen)
    return app.screen


def listed(app: WorkbenchApp) -> FixedSource[LabelledRow]:
    source = items_of(app).table.source
    assert isinstance(source, FixedSource)
    return source


def rows_of(app: WorkbenchApp) -> list[list[str]]:
    """Return the lower table's rows."""
    source = screen_of(app).query_one("#agreement-table", VirtualTable).source
    assert source is not None
    return [[cell.text for cell in row.cells] for row in source.first_page(99)]


def detail(app: WorkbenchApp) -> str:
    return str(app.screen.query_one("#agreement-detail Static", Static).content)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_tables_match_the_report(tmp_path: Path, size: tuple[int, int]) -> None:
    project = labelled(tmp_path)
    report = agreement(project, by="type")
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":g", "enter")
        screen = await drawn(app, pilot)
        assert screen.report == report
        assert tuple(screen.tables) == agreement_tables(report)
        head = text_of(app, "#agreement-head")
        assert "12 items, 8 with two labels or more · 3 people" in head
        assert detail(app).startswith("ann – bob · n 6 · agree % 66.7")
        assert "ann and bob share maths only (6 items)" in detail(app)
        await press(pilot, "w")
        assert [row[0] for row in rows_of(app)][:3] == ["agreement %", "alpha nominal", "AC1"]
        assert "A perfect verifier would have a measured accuracy of" in detail(app)


async def test_shared_items_that_do_not_count_are_mentioned(tmp_path: Path) -> None:
    record = Record(make_project(tmp_path, numbered(4)))
    record.say("ann", 1, "c")
    record.say("bob", 2, "c")
    record.say("bob", 1, "c", unblinded=True)
    async with opened(record.project) as (app, pilot):
        await press(pilot, *":g", "enter")
        head = text_of(app, "#agreement-head")
        assert "No item has two labels that count; 1 unblinded label left out" in head
        assert "people open the project under their own name" in head


async def test_screen_without_blind_labels_explains_what_to_do(tmp_path: Path) -> None:
    record = Record(make_project(tmp_path, numbered(4)))
    for name in ("ann", "bob"):
        record.say(name, 1, "c", unblinded=True)
    async with opened(record.project) as (app, pilot):
        await press(pilot, *":g", "enter")
        head = text_of(app, "#agreement-head")
        assert "No labels count yet: 2 labels, all unblinded." in head
        assert "people open the project under their own name" in head
    shown = agreement_text(agreement(record.project))
    assert "No labels count yet: 2 labels, all unblinded." in shown
    assert "workbench open DB --as NAME" in shown


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_enter_opens_disputed_items_and_viewing_one_is_a_reveal(tmp_path: Path, size: tuple[int, int]) -> None:
    project = labelled(tmp_path)
    expected = pair_items(project, "correctness", "ann", "bob")
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":g", "enter", "enter")
        table = items_of(app).query_one(VirtualTable)
        assert listed(app).order == expected.differing
        assert text_of(app, "#agreement-items-counts").startswith("6 items: ≠ 2 differ · = 4 agree")
        texts = [[cell.text for cell in row.cells] for row in listed(app).first_page(9)]
        assert [row[:4] for row in texts] == [
            ["c3", "≠", "✗ incorrect", "✓ correct"],
            ["c4", "≠", "✓ correct", "✗ incorrect"],
        ]
        await press(pilot, "w")
        assert listed(app).order == expected.differing + expected.same
        await until(pilot, lambda: table.position)
        before = _reveals(project)
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ItemScreen))
        assert getattr(app.screen, "completion", None) == expected.differing[0]
        await until(pilot, lambda: _reveals(project) > before)
        await press(pilot, "escape", "escape")
        screen_of(app)


def _reveals(project: Project) -> int:
    row = project.database.reader().execute("SELECT count(*) FROM label_events WHERE kind = 'reveal'").fetchone()
    return int(row[0])


@pytest.mark.soak
async def test_key_opens_all_shared_items(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":g", "enter", "i")
        assert len(listed(app).ids()) == 6


@pytest.mark.soak
async def test_row_without_items_says_so(tmp_path: Path) -> None:
    async with opened(labelled(tmp_path)) as (app, pilot):
        await press(pilot, *":g", "enter", "w", "enter")
        assert isinstance(app.screen, AgreementScreen)
        assert "Choose two people" in notices(app)[-1]


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_lower_table_cycles_annotators_groups_time_and_pairs(tmp_path: Path, size: tuple[int, int]) -> None:
    project = labelled(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":g", "enter")
        await drawn(app, pilot)
        assert [(row[0], row[-1]) for row in rows_of(app)] == [("ann – bob", "maths 6"), ("bob – cy", "logic 2")]
        await press(pilot, "w", "w")
        assert [row[0] for row in rows_of(app)] == ["ann", "bob", "cy"]
        await press(pilot, "w")
        assert [row[0] for row in rows_of(app)] == ["A - Numeric Values", "C - Multi-choice"]
        assert AC1_BY_GROUP in detail(app)
        await press(pilot, "w")
        assert [row[0] for row in rows_of(app)] == ["2025-03-01"]
        await press(pilot, "b", "b")
        await until(pilot, lambda: "By domain" in text_of(app, "#agreement-caption"))
        assert [row[0] for row in rows_of(app)] == ["logic", "maths"]


@pytest.mark.soak
async def test_empty_columns_are_left_out(tmp_path: Path) -> None:
    async with opened(labelled(tmp_path)) as (app, pilot):
        await press(pilot, *":g", "enter", "w", "w")
        shown = screen_of(app).shown
        assert shown is not None
        assert "repeats %" in shown.titles
        assert "checks %" not in shown.titles
        assert "upheld %" not in shown.titles


async def test_key_switches_the_task_to_types_and_their_letters(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":g", "enter", "t")
        assert "type · 3 items" in text_of(app, "#agreement-head")
        assert rows_of(app)[0][:2] == ["ann – bob", "2"]
        await press(pilot, "t")
        report = screen_of(app).report
        assert report is not None
        assert (report.coarse, report.percent_agreement) == (
            True,
            agreement(project, "type", coarse=True).percent_agreement,
        )
        await press(pilot, "enter")
        assert len(listed(app).ids()) == 0
        await press(pilot, "escape", "t")
        assert "correctness ·" in text_of(app, "#agreement-head")


async def test_new_labels_update_the_screen_and_keep_the_cursor(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":g", "enter", "down")
        assert detail(app).startswith("bob – cy · n 2")
        Record(project).say("cy", 1, "i", created_at="2025-04-01T00:00:00Z")
        await until(pilot, lambda: screen_of(app).report and screen_of(app).report.labels == 21)  # type: ignore[union-attr]
        assert "bob – cy · n 3" in detail(app) or "ann – cy" in detail(app)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_screen_without_labels_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, numbered(2))
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":g", "enter")
        screen = await drawn(app, pilot)
        assert "0 items" in text_of(app, "#agreement-head")
        head = " ".join(text_of(app, "#agreement-head").split())
        assert head.startswith("There are no labels yet. The command Assign")
        assert screen.query_one("#agreement-head").region.height <= 6
        tables = [*screen.query(VirtualTable)]
        assert not any(table.display for table in tables)
        await press(pilot, "enter", "w", "b")
        assert isinstance(app.screen, AgreementScreen)
        await press(pilot, "t")
        await until(pilot, lambda: "People give types only for data sets" in text_of(app, "#agreement-head"))
        await press(pilot, "t", "t")
        record = Record(project)
        record.table(("ann", "bob"), ("c i", "c c"))
        await press(pilot, "escape", *":g", "enter")
        await drawn(app, pilot)
        assert all(table.display for table in app.screen.query(VirtualTable))


async def test_report_is_written_next_to_the_database(tmp_path: Path) -> None:
    async with opened(labelled(tmp_path)) as (app, pilot):
        await press(pilot, *":g", "enter")
        await drawn(app, pilot)
        await press(pilot, "e", "4")
        path = tmp_path / "p-agreement-correctness.json"
        assert str(path) in notices(app)[-1]
        assert '"alpha_ci"' in path.read_text()
        await press(pilot, "e", "1", "e", "3")
        assert "alpha nominal" in (tmp_path / "p-agreement-correctness.csv").read_text("utf-8")
        assert "toprule" in (tmp_path / "p-agreement-correctness.tex").read_text("utf-8")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    names = tuple(name for name in HOSTILE if name.isprintable())[:3]
    assert len(names) == 3
    async with opened(labelled(tmp_path, (names[0], names[1], names[2])), size=size) as (app, pilot):
        await press(pilot, *":g", "enter")
        await drawn(app, pilot)
        assert names[0] in detail(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, AgreementItemsScreen)


async def test_annotator_cannot_open_the_screen(tmp_path: Path) -> None:
    async with opened(labelled(tmp_path), annotator="ann") as (app, pilot):
        await press(pilot, *":g", "enter")
        assert not isinstance(app.screen, AgreementScreen)
        app.open_screen("agreement")
        await settle(pilot)
        assert not isinstance(app.screen, AgreementScreen)


def test_annotators_are_sorted_by_their_shares(tmp_path: Path) -> None:
    people = agreement(labelled(tmp_path)).per_annotator
    columns = people_columns(people)
    source = MemorySource(layout.table_columns(columns), layout.rows_of(columns, enumerate(people)))
    for key, sized in (("with others", True), ("repeats", False)):
        ids = ArrangedSource(source, Sort(key)).ids()
        found = [getattr(people[row], key.replace(" ", "_")).share for row in ids]
        shares = [share for share in found if share is not None]
        assert shares == sorted(shares)
        assert found[: len(shares)] == shares
        assert (None not in found) == sized


async def test_screen_opens_with_the_meaning_of_agreement(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":g", "enter")
        head = agreement_sentence(agreement(project))
        assert " ".join(text_of(app, "#agreement-head").split()).startswith(head)
        assert head.startswith("Annotators agree on ")
        assert app.screen.query_one("#agreement-head").region.y == 1


def skewed(folder: Path) -> Project:
    """Create two annotators who agree on ten of twelve items, nearly all of them incorrect."""
    record = Record(make_project(folder, numbered(12)))
    record.table(("ann", "bob"), ("i i i i i i i i i i i c", "i i i i i i i i i i c i"))
    return record.project


@pytest.mark.soak
async def test_low_coefficients_at_a_skewed_prevalence_are_explained(tmp_path: Path) -> None:
    project = skewed(tmp_path)
    why = (
        "Alpha and kappa measure agreement above chance; 91.7 % of the labels say incorrect: "
        "chance alone would agree on 84.7 %"
    )
    async with opened(project) as (app, pilot):
        await press(pilot, *":g", "enter")
        assert why in text_of(app, "#agreement-head")
    assert why in " ".join(agreement_text(agreement(project)).split())


@pytest.mark.soak
async def test_disagreement_on_balanced_labels_is_not_explained_away(tmp_path: Path) -> None:
    async with opened(labelled(tmp_path)) as (app, pilot):
        await press(pilot, *":g", "enter")
        assert "chance alone" not in text_of(app, "#agreement-head")


@pytest.mark.soak
async def test_key_restricts_metrics_to_the_latest_round(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    reopen(project, [1], reason="the reference was corrected")
    async with opened(project) as (app, pilot):
        await press(pilot, *":g", "enter")
        await drawn(app, pilot)
        first = text_of(app, "#agreement-head")
        assert "of the first round (1 reopened)" in first
        await press(pilot, "L")
        await until(pilot, lambda: "of the latest round (1 reopened)" in text_of(app, "#agreement-head"))
        await press(pilot, "L")
        await until(pilot, lambda: text_of(app, "#agreement-head") == first)
