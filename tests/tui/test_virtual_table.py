"""The virtual table: position, selection by id, reading in threads, drawing of untrusted cells."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.worker import Worker, WorkerFailed

from tests.background import PATIENCE_S
from workbench.app.tui.kit import table_messages as messages
from workbench.app.tui.kit.arranging import ArrangedSource
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.columns import Sort, TableColumn, TableRow, fit_widths, rows_of, table_columns
from workbench.app.tui.kit.sources import PAGE, MemorySource, PageCache
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.pace import about
from workbench.core.text.figures import compact_count
from workbench.tables.document import Cell, Tone
from workbench.tables.table import Columns, column

COLUMNS = (
    TableColumn("id", "id", 6, 10, "right"),
    TableColumn("question", "Question", 10, 40),
    TableColumn("gold", "Gold", 11, 14),
    TableColumn("note", "Note", 6, 30, worst="high"),
)


class Numbers:
    """Rows 1..n under a filter, optionally descending; records the requests."""

    def __init__(self, n: int, *, keep: Callable[[int], bool] = lambda _: True, descending: bool = False) -> None:
        self.columns: Sequence[TableColumn] = COLUMNS
        self.queried = True
        self.natural = array("q", (number for number in range(1, n + 1) if keep(number)))
        self.order = self.natural[::-1] if descending else self.natural
        self.note = "note"
        self.pages: list[int] = []
        self.gate = Event()
        self.gate.set()
        self.fails = False

    def ids(self) -> array[int]:
        self.gate.wait(PATIENCE_S)
        return self.order

    def first_page(self, limit: int) -> list[TableRow]:
        return [self.row(number) for number in self.natural[:limit]]

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        self.pages.append(ids[0])
        if self.fails:
            raise OSError("disk gone")
        return [self.row(number) for number in ids]

    def row(self, number: int) -> TableRow:
        verdict: tuple[str, Tone, str] = ("✓", "success", "correct") if number % 2 else ("✗", "error", "incorrect")
        mark, tone, word = verdict
        gold = Cell(f"{mark} {word}", tone, value=word)
        question = f"[b]What[/b] is\n{number}?"
        return TableRow(number, (Cell(str(number), value=number), Cell(question), gold, Cell(self.note)))


class NotingTable(VirtualTable):
    """A table that records the lines it draws, and the last one before it started to read."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: set[int] = set()
        self.drawn_at_start: list[int] = []

    def _start(self, group: str, work: partial[None]) -> Worker[None]:
        self.drawn_at_start.append(max(self.drawn, default=0))
        return super()._start(group, work)

    def render_line(self, y: int) -> Strip:
        self.drawn.add(y)
        return super().render_line(y)


class TableApp(App[None]):
    """One table, with a record of its messages."""

    def __init__(self, source: Numbers, sort: Sort | None = None) -> None:
        super().__init__()
        self.table = NotingTable()
        self.messages: list[Message] = []
        self._first = (source, sort)

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        source, sort = self._first
        self.table.set_source(source, sort=sort)
        self.table.focus()

    def record(self, message: Message) -> None:
        self.messages.append(message)

    on_virtual_table_row_highlighted = record
    on_virtual_table_row_selected = record
    on_virtual_table_sort_requested = record
    on_virtual_table_selection_hidden = record
    on_virtual_table_failed = record

    def last(self, kind: type[Message]) -> Message | None:
        return next((message for message in reversed(self.messages) if isinstance(message, kind)), None)

    def lines(self) -> list[str]:
        return [self.table.render_line(y).text for y in range(self.table.scrollable_size.height)]


async def settle(pilot: Pilot[None]) -> None:
    """Wait for the threads, their messages, and the work that these start."""
    for _ in range(3):
        with suppress(WorkerFailed):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def test_table_shows_rows_and_position() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.table.ready
        assert app.table.position == "1 of 1,000"
        assert app.table.visible_ids == list(range(1, 24))
        lines = app.lines()
        assert lines[0].split() == ["id", "Question", "Gold", "Note"]
        assert "[b]What[/b] is↵1?" in lines[1]
        assert lines[1].startswith("›")
        assert {cell_len(line) for line in lines} == {app.table.scrollable_size.width}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_keys_move_the_cursor(size: tuple[int, int]) -> None:
    app = TableApp(Numbers(1_450_000))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("down", "j", "up")
        assert app.table.selected_id == 2
        page = app.table.scrollable_size.height - 1
        await pilot.press("pagedown")
        assert app.table.selected_id == 2 + page
        await pilot.press("end")
        assert app.table.position == "1,450,000 of 1,450,000"
        await settle(pilot)
        assert app.table.visible_ids[-1] == 1_450_000
        assert "1450000" in app.lines()[-1]
        await pilot.press("pageup", "home")
        assert app.table.position == "1 of 1,450,000"
        assert app.table.scroll_offset.y == 0
        app.table.jump_to_row(page + 1)
        await pilot.pause()
        assert app.table.visible_ids == [*range(2, page + 2)]
        await pilot.press("home")
        highlighted = app.last(messages.RowHighlighted)
        assert isinstance(highlighted, messages.RowHighlighted)
        assert (highlighted.row_id, app.table.cursor) == (1, 0)


async def test_cursor_move_draws_two_lines() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.drawn.clear()
        await pilot.press("down")
        await pilot.pause()
        assert app.table.drawn == {1, 2}


async def test_scroll_bar_is_redrawn_only_where_its_thumb_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[ScrollBarRender] = []

    class NotedRender(ScrollBarRender):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            drawn.append(self)

    def look(position: float) -> list[Segment]:
        last = drawn[-1]
        bar = ScrollBarRender.render_bar(24, last.virtual_size, last.window_size, position)
        return [Segment(part.text, part.style) for part in bar.segments]

    app = TableApp(Numbers(20_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        bar = app.table.vertical_scrollbar
        monkeypatch.setattr(bar, "renderer", NotedRender)
        bar.refresh()
        await settle(pilot)
        before = len(drawn)
        await pilot.press(*["pagedown"] * 3)
        await settle(pilot)
        assert app.table.scroll_offset.y == 69
        assert bar.position == 69  # dragging starts here
        assert len(drawn) == before
        for row in (2_000, 2_040, 2_100, 9_000, 9_066, 20_000, 19_999, 1, 4_321, 4_400, 4_500, 4_600):
            app.table.jump_to_row(row)
            await settle(pilot)
            assert look(bar.position) == look(drawn[-1].position), row
        assert len(drawn) > before + 5


async def test_visible_rows_are_drawn_before_others_are_fetched() -> None:
    source = Numbers(10 * PAGE)
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.drawn_at_start.clear()
        for _ in range(12):
            app.table.drawn.clear()
            await pilot.press("pagedown")
            await settle(pilot)
        assert 2 * PAGE + 1 in source.pages
        assert set(app.table.drawn_at_start) == {23}


async def test_jumps() -> None:
    app = TableApp(Numbers(10_000, descending=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.jump_to_row(5_000)
        assert app.table.selected_id == 5_001
        assert app.table.jump_to_id(77)
        assert app.table.position == "9,924 of 10,000"
        await settle(pilot)
        assert 77 in app.table.visible_ids
        assert not app.table.jump_to_id(99_999)
        app.table.jump_to_row(10**9)
        assert app.table.selected_id == 1


async def test_selection_survives_sort_and_new_rows() -> None:
    app = TableApp(Numbers(5_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.jump_to_id(1_234)
        app.table.set_source(Numbers(5_000, descending=True), sort=Sort("id", descending=True))
        await settle(pilot)
        assert app.table.selected_id == 1_234
        assert app.table.position == "3,767 of 5,000"
        assert 1_234 in app.table.visible_ids
        assert "id ▼" in app.lines()[0]
        source = Numbers(6_000, descending=True)
        app.table.set_source(source, sort=app.table.sort)
        await settle(pilot)
        assert app.table.position == "4,767 of 6,000"
        source.order = source.order[1_000:]
        app.table.reload()
        await settle(pilot)
        assert (app.table.selected_id, app.table.position) == (1_234, "3,767 of 5,000")
        assert app.last(messages.SelectionHidden) is None


async def test_reload_keeps_the_current_row() -> None:
    source = Numbers(100)
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        source.order = array("q", [200, 201]) + source.order
        app.table.reload()
        await settle(pilot)
        assert (app.table.selected_id, app.table.position) == (1, "3 of 102")


async def test_filter_that_hides_the_selection_says_so() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.jump_to_id(501)
        app.table.set_source(Numbers(1_000, keep=lambda number: number % 2 == 0))
        await settle(pilot)
        hidden = app.last(messages.SelectionHidden)
        assert isinstance(hidden, messages.SelectionHidden)
        assert (app.table.selected_id, app.table.position) == (501, "– of 500")
        app.table.set_source(Numbers(1_000))
        await settle(pilot)
        assert (app.table.selected_id, app.table.position) == (501, "501 of 1,000")


async def test_enter_selects_the_top_row_if_the_selection_is_hidden() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.jump_to_id(501)
        app.table.set_source(Numbers(1_000, keep=lambda number: number % 2 == 0))
        await settle(pilot)
        top = app.table.visible_ids[0]
        await pilot.press("enter")
        assert app.last(messages.RowSelected) is None
        assert app.table.selected_id == top
        await pilot.press("enter")
        opened = app.last(messages.RowSelected)
        assert isinstance(opened, messages.RowSelected)
        assert opened.row_id == top


async def test_default_selection_does_not_follow_a_sort() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.table.set_source(Numbers(1_000, descending=True), sort=Sort("id", descending=True))
        await settle(pilot)
        assert (app.table.selected_id, app.table.position) == (1_000, "1 of 1,000")


async def test_natural_order_until_the_ids_are_known() -> None:
    source = Numbers(1_000, descending=True)
    source.gate.clear()
    app = TableApp(source, sort=Sort("id", descending=True))
    async with app.run_test(size=(80, 24)) as pilot:
        while not app.table.visible_ids:
            await pilot.pause(0.01)
        assert not app.table.ready
        assert app.table.position == "1 of …"
        assert app.table.visible_ids[:3] == [1, 2, 3]
        assert "id …" in app.lines()[0]
        assert app.last(messages.RowHighlighted) is None
        source.gate.set()
        await settle(pilot)
        assert app.table.visible_ids[:3] == [1_000, 999, 998]
        assert "id ▼" in app.lines()[0]


async def test_results_of_an_older_source_are_dropped() -> None:
    slow = Numbers(10)
    slow.gate.clear()
    app = TableApp(slow)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.table.set_source(Numbers(2_000))
        while not app.table.ready:
            await pilot.pause(0.01)
        slow.gate.set()
        await settle(pilot)
        assert app.table.row_count == 2_000


async def test_mouse() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click(VirtualTable, offset=(20, 5))
        assert app.table.selected_id == 5
        assert app.last(messages.RowSelected) is None
        await pilot.click(VirtualTable, offset=(20, 5))
        selected = app.last(messages.RowSelected)
        assert isinstance(selected, messages.RowSelected)
        assert selected.row_id == 5
        header = app.lines()[0]
        for title, sort in (("Note", Sort("note", descending=True)), ("Gold", Sort("gold"))):
            await pilot.click(VirtualTable, offset=(header.index(title), 0))
            request = app.last(messages.SortRequested)
            assert isinstance(request, messages.SortRequested)
            assert request.sort == sort
        assert app.table.selected_id == 5


async def test_first_column_stays_when_scrolled_sideways() -> None:
    source = Numbers(100)
    source.columns = (TableColumn("id", "id", 6), *(TableColumn(f"c{n}", f"Column {n}", 40, 50) for n in range(3)))
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "Column 2" not in app.lines()[0]
        for _ in range(10):
            await pilot.press("right")
        lines = app.lines()
        assert "Column 2" in lines[0]
        assert lines[3].split("│")[0].strip() == "3"
        assert {cell_len(line) for line in lines} == {app.table.scrollable_size.width}


async def test_failed_page_is_reported_and_read_again_on_demand() -> None:
    source = Numbers(10_000)
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        source.fails = True
        app.table.jump_to_row(5_000)
        await settle(pilot)
        failed = app.last(messages.Failed)
        assert isinstance(failed, messages.Failed)
        assert "disk gone" in str(failed.error)
        assert "can't be read" in "".join(app.lines())
        await pilot.press("up")
        await settle(pilot)
        assert source.pages.count(4_993) == 1
        source.fails = False
        app.table.refresh_rows()
        await settle(pilot)
        assert "5000" in "".join(app.lines())


async def test_refreshed_rows_show_their_new_cells() -> None:
    source = Numbers(1_000)
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        source.note = "changed"
        app.table.refresh_rows()
        await settle(pilot)
        assert "changed" in app.lines()[1]
        assert app.table.selected_id == 1


async def test_no_rows_and_then_other_columns() -> None:
    app = TableApp(Numbers(0))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "No rows" in app.lines()[1]
        assert app.table.position == "– of 0"
        await pilot.press("down", "end", "enter", "pagedown")
        source = Numbers(3)
        source.columns = (*COLUMNS[:3], TableColumn("other", "Other"))
        app.table.set_source(source)
        await settle(pilot)
        assert "Other" in app.lines()[0]
        assert app.table.position == "1 of 3"


async def test_narrow_and_resized() -> None:
    app = TableApp(Numbers(1_000))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.table.jump_to_row(39)
        await pilot.resize_terminal(20, 8)
        await settle(pilot)
        assert 39 in app.table.visible_ids
        assert {cell_len(line) for line in app.lines()} == {app.table.scrollable_size.width}


def test_newest_request_is_read_first_and_none_twice() -> None:
    cache = PageCache(Numbers(10_000), array("q", range(1, 10_001)))
    for page in (1, 2, 3, 1):
        assert cache.row(page * PAGE) is None
    cache.prefetch(5 * PAGE)
    order = cache.take_requests()
    cache.row(order[0] * PAGE)  # being read: not requested again
    for wish in order:
        cache.put(cache.read(wish))
        order += cache.take_requests()
    assert order == [1, 3, 2, 4, 5]


def test_cache_forgets_the_page_used_longest_ago() -> None:
    source = Numbers(20_000)
    cache = PageCache(source, source.ids())
    for page in range(64):
        cache.put(cache.read(page))
    assert cache.row(0) is not None
    cache.put(cache.read(64))
    assert cache.row(0) is not None
    assert cache.row(PAGE) is None


ANY_TEXT = st.text(st.characters(), max_size=80) | st.text(
    st.sampled_from("a漢\u200d\ufe0f👩\u0301\t\n\x1b "), max_size=30
)


@given(ANY_TEXT, st.integers(0, 60), st.sampled_from(["left", "right"]))
def test_fit_is_exact(text: str, width: int, align: str) -> None:
    shown = fit(text, width, "right" if align == "right" else "left")
    assert cell_len(shown) == width
    shown.encode()


@given(ANY_TEXT, ANY_TEXT)
def test_printable_text_is_one_harmless_line_of_additive_width(one: str, two: str) -> None:
    shown = printable(one)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
    assert cell_len(shown + printable(two)) == cell_len(shown) + cell_len(printable(two))
    assert printable(shown) == shown


def test_long_cells_are_truncated_before_they_are_measured() -> None:
    assert fit("x" * 1_000_000, 10) == "xxxxxxxxx…"
    assert fit("x" * 1_000, 600).rstrip().endswith("…")


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 40), st.integers(0, 300)), min_size=1), st.integers(0, 300)
)
def test_widths_fill_the_room_but_never_fall_below_their_minimum(
    sizes: list[tuple[int, int, int]], available: int
) -> None:
    columns = [TableColumn(str(n), "", low, low + more) for n, (low, more, _) in enumerate(sizes)]
    widths = fit_widths(columns, [natural for _, _, natural in sizes], available)
    assert all(width >= column.min_width for width, column in zip(widths, columns, strict=True))
    if sum(column.min_width for column in columns) <= available:
        assert sum(widths) <= available


def test_text_is_truncated_before_numbers() -> None:
    columns = (TableColumn("id", "id", 4, 10, "right"), TableColumn("text", "Text", 10, 40))
    assert fit_widths(columns, [7, 40], 20) == [7, 13]


# -- Rows in memory --------------------------------------------------------------------------------


def in_memory(*values: Any) -> list[TableRow]:
    return [
        TableRow(number, (Cell(str(number)), *[Cell(str(value), value=value)] * 3))
        for number, value in enumerate(values)
    ]


def by_size(*values: Any, shown: Callable[[Any], str] = str) -> list[Any]:
    """Return the values in the order of a column of them."""
    columns: Columns[Any] = (column("value", lambda value: value, shown),)
    source = MemorySource(table_columns(columns), rows_of(columns, enumerate(values)))
    return [values[row_id] for row_id in ArrangedSource(source, Sort("value")).ids()]


def test_numbers_are_sorted_by_size_before_words() -> None:
    assert by_size("beta", 1450, 81.2, -3, "Alpha", True, "2026-01-02") == [
        *(-3, True, 81.2, 1450),
        *("2026-01-02", "Alpha", "beta"),
    ]
    assert by_size((0.5, 0.7), (-0.1, 0.3), (0.5, 0.6)) == [(-0.1, 0.3), (0.5, 0.6), (0.5, 0.7)]


def test_numbers_within_text_are_sorted_by_size() -> None:
    rounds = ("2 mutate", "10 mutate", "10 review", "11 mutate")
    assert by_size(*reversed(rounds)) == [*rounds]
    assert by_size("q10", "q9/b", "Q9/a", "50k+", "2k-5k", "q") == ["2k-5k", "50k+", "q", "Q9/a", "q9/b", "q10"]


@given(st.lists(st.text()))
def test_any_text_can_be_sorted(words: list[str]) -> None:
    assert sorted(by_size(*words)) == sorted(words)


@given(st.lists(st.integers(0, 10**11), min_size=2), st.sampled_from([compact_count, about, "{:,}".format]))
def test_counts_and_times_in_any_form_are_sorted_by_size(sizes: list[int], shown: Callable[[int], str]) -> None:
    assert by_size(*sizes, shown=shown) == sorted(sizes)


def test_values_without_an_order_are_sorted_by_their_text() -> None:
    columns: Columns[list[int]] = (column("sum", lambda some: some, lambda some: f"sum {sum(some)}"),)
    source = MemorySource(table_columns(columns), rows_of(columns, enumerate([[5], [1, 2], [4]])))
    assert list(ArrangedSource(source, Sort("sum")).ids()) == [1, 2, 0]


def test_empty_cells_are_last_in_both_directions() -> None:
    values = (None, 2, "", 999, "…", 1_450_000, "–", 12_300, math.nan)
    assert by_size(*values)[:4] == [2, 999, 12_300, 1_450_000]
    source = MemorySource(COLUMNS, in_memory(*values))
    assert list(ArrangedSource(source, Sort("question")).ids()) == [1, 3, 7, 5, 0, 2, 4, 6, 8]
    assert list(ArrangedSource(source, Sort("question", descending=True)).ids()) == [5, 7, 3, 1, 0, 2, 4, 6, 8]


def test_verdicts_are_sorted_by_severity() -> None:
    words = ("correct", "none", "abstain", "incorrect", "error")
    assert by_size(*words) == ["incorrect", "error", "abstain", "correct", "none"]


async def test_key_cycles_the_sort_order_of_the_column() -> None:
    app = TableApp(Numbers(1))
    columns = (COLUMNS[0], COLUMNS[1], COLUMNS[2], COLUMNS[3])
    async with app.run_test(size=(80, 24)) as pilot:
        app.table.show_rows(columns, in_memory("b", "c", "a"))
        await settle(pilot)
        await pilot.press("right")
        orders = []
        for key in ("s", "s", "s", "S", "S"):
            await pilot.press(key)
            await settle(pilot)
            orders.append((app.table.visible_ids, app.table.sort))
        up, down = ([2, 0, 1], Sort("question")), ([1, 0, 2], Sort("question", descending=True))
        assert orders == [up, down, ([0, 1, 2], None), down, up]
        await pilot.press("right", "right", "s")
        await settle(pilot)
        assert app.table.sort == Sort("note", descending=True), "high values are bad there"
        assert app.table.visible_ids == [1, 0, 2]


async def test_items_with_a_fixed_order_are_sorted_by_reading_them_all() -> None:
    source = Numbers(3_000)
    source.queried = False
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("right", "right", "s")
        await settle(pilot)
        assert app.table.visible_ids[:3] == [2, 4, 6], "✗ before ✓"
        assert app.table.row_count == 3_000
        app.table.set_source(Numbers(3_000))
        await settle(pilot)
        assert app.table.sort is None, "a query has its own order"


async def test_column_under_the_cursor_is_marked_and_stays_visible() -> None:
    source = Numbers(100)
    source.columns = (TableColumn("id", "id", 6), *(TableColumn(f"c{n}", f"Column {n}", 40, 50) for n in range(3)))
    app = TableApp(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for title in ("Column 0", "Column 1", "Column 2"):
            await pilot.press("right")
            header = app.table.render_line(0)
            marked = [one.text.strip() for one in header if one.style and one.style.reverse]
            assert marked == [title]
        await pilot.press("left", "left", "left", "left")
        assert app.table.column == 0
        assert app.table.scroll_offset.x == 0


async def test_replaced_rows_keep_the_chosen_order() -> None:
    app = TableApp(Numbers(1))
    async with app.run_test(size=(80, 24)) as pilot:
        app.table.show_rows(COLUMNS, in_memory("b", "a"))
        await settle(pilot)
        await pilot.press("right", "s")
        app.table.show_rows(COLUMNS, in_memory("b", "c", "a"))
        await settle(pilot)
        assert app.table.visible_ids == [2, 0, 1]


async def test_click_on_a_title_sorts_rows_in_memory() -> None:
    app = TableApp(Numbers(1))
    async with app.run_test(size=(80, 24)) as pilot:
        app.table.show_rows(COLUMNS, in_memory("b", "c", "a"))
        await settle(pilot)
        app.table.jump_to_id(1)
        await pilot.click(app.table, offset=(14, 0))
        await settle(pilot)
        assert app.table.visible_ids == [2, 0, 1]
        assert list(app.table.order) == [2, 0, 1]
        assert app.table.selected_id == 1
        assert "Question ▲" in app.lines()[0]
        assert app.last(messages.SortRequested) is None
        app.table.show_rows(COLUMNS, in_memory("b", "0", "a"))
        await settle(pilot)
        assert app.table.visible_ids == [1, 2, 0]


async def test_rows_stay_sorted_while_the_column_exists() -> None:
    app, rows = TableApp(Numbers(1)), in_memory("b", "c", "a")
    async with app.run_test(size=(80, 24)) as pilot:
        app.table.show_rows(COLUMNS, rows)
        await settle(pilot)
        await pilot.click(app.table, offset=(14, 0))
        app.table.show_rows([one._replace(min_width=5, ideal_width=9) for one in COLUMNS], rows)
        await settle(pilot)
        assert app.table.visible_ids == [2, 0, 1]
        assert "Question ▲" in app.lines()[0]
        app.table.show_rows([one._replace(key=f"other {one.key}") for one in COLUMNS], rows)
        await settle(pilot)
        assert app.table.visible_ids == [0, 1, 2]
        app.table.show_rows(COLUMNS, rows)
        await settle(pilot)
        assert app.table.sort is None
