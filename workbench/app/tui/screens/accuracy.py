"""Accuracy: a heat map of verifiers by answer type, one row or column in detail; cells open their items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Literal, get_args

from msgspec import structs
from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.app.tui.figure_screen import BreakdownScreen, FigureQuery, counting
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit import accuracy_sheet as detail
from workbench.app.tui.kit import accuracy_view as view
from workbench.app.tui.kit.accuracy_sheet import AccuracySheet
from workbench.app.tui.kit.accuracy_view import FIGURES, Figure, group_name
from workbench.app.tui.kit.arranged_view import SORTING
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, PickMenu, choose, following
from workbench.app.tui.kit.matrix_table import NAME, Matrix
from workbench.app.tui.kit.table_messages import RowHighlighted, RowSelected
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import SHORT
from workbench.app.tui.sharing import share
from workbench.core.selection import Condition
from workbench.measuring.accuracy import SEED, accuracy
from workbench.measuring.accuracy_items import AccuracyCell
from workbench.measuring.accuracy_tables import accuracy_as, accuracy_name, conclusion, is_baseline
from workbench.measuring.judged import BASELINE
from workbench.measuring.notes import NO_TYPES
from workbench.statistics.records.report import AccuracyReport, AccuracyRow


class SheetQuery(FigureQuery, frozen=True, kw_only=True):
    """A request for an accuracy report.

    Attributes:
        of: Conditions on the items, such as those of a set; empty for all items.
        path: The opened groups, each inside the one before; empty at the top level.
    """

    by: str = "type"
    of: tuple[Condition, ...] = ()
    path: tuple[Condition, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (*self.of, *self.path)

    @property
    def words(self) -> str:
        """Return the conditions in words; empty for all items."""
        begun = (printable(str(condition)) for condition in self.of)
        return " · ".join([*begun, *(group_name(step.value, step.field) for step in self.path)])

    def free(self, groups: Sequence[str]) -> tuple[str, ...]:
        """Return the properties by which the shown items can still be broken down."""
        fixed = {step.field for step in self.path}
        return tuple(by for by in groups if by not in fixed)

    def conditions_of(self, group: str | None) -> tuple[Condition, ...]:
        """Return the conditions on a column's items; for a reason, which is not a property of items, those of the
        request.
        """
        if group is None or self.by == "reason":
            return self.conditions
        return (*self.conditions, Condition(self.by, "=", group))

    def words_of(self, group: str | None) -> str:
        own = "" if group is None else group_name(group, self.by)
        return " · ".join(part for part in (self.words, own) if part) or "all"

    def inside(self, group: str, by: str) -> SheetQuery:
        """Return the request for one group's items, broken down by another property."""
        return structs.replace(self, by=by, path=(*self.path, Condition(self.by, "=", group)))

    def outside(self) -> tuple[SheetQuery, str]:
        """Return the request from which the last group was opened, and that group.

        Raises:
            ValueError: No group was opened.
        """
        *path, last = self.path
        return structs.replace(self, by=last.field, path=tuple(path)), last.value


WIDE = 116
"""Terminal columns from which columns have full titles and bars."""

Lower = Literal["verifier", "group", "notes"]
"""What is shown below the matrix: the verifier or the group under the cursor, or the notes."""


class AccuracyScreen(BreakdownScreen):
    """A matrix with a cursor on one cell; below it, the row or the column of that cell in detail.

    Args:
        conditions: Conditions on the items, such as those of a set; without any, all items.
        by: The initial property to break down by.

    Attributes:
        asked: The current request.
        sheet: The newest report; None before it has been computed.
        figure: The metric in the cells, a key of `FIGURES`.
        pinned: Names of the verifiers that stay on top, as keys.
        lower: What is shown below the matrix.
    """

    TITLE_TEXT, PREFIX = "Accuracy", "accuracy"
    WORDS = view.WORDS
    LOOK_S: ClassVar[float | None] = 1.0
    asked: SheetQuery
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("accuracy.open", "enter", "open_cell", "Open", "Open a type's subtypes, or a cell's items."),
        Action("accuracy.items", "i", "items", "Items", "List the cell's items, wrong verdicts first."),
        Action("accuracy.triage", "m", "triage", "Triage", "Assign causes to the cell's wrong verdicts, case by case."),
        Action("accuracy.what-if", "ctrl+t,f3", "what_if", "What if", "Try other options of the verifier.", False),
        Action("accuracy.split", "a", "split", "Split", "Split the group under the cursor by another property."),
        Action("accuracy.figure", "o", "next_figure(1)", "Figure", "Show the next metric in the cells: delta, MCC …"),
        Action("accuracy.figure-before", "O", "next_figure(-1)", "Previous metric", "Show the previous metric.", False),
        Action("accuracy.sort", "s", "sort", "Sort", SORTING),
        Action("accuracy.reverse", "S", "reverse", "Reverse", "Reverse the order; if unsorted: best first.", False),
        Action("accuracy.pin", "space", "pin", "Pin", "Pin the verifier at the top, or unpin it.", False),
        Action("accuracy.view", "d", "next_view", "View", "Show the verifier, the whole column or the notes below."),
        Action("accuracy.by", "b", "choose_property", "By", "Choose the property to break down by: type, source …"),
        Action("accuracy.by-before", "B", "previous_property", "Before", "Break down by the previous one.", False),
        Action("accuracy.protocol", "p", "next_protocol", "Protocol", "Change how abstentions are counted."),
        Action("accuracy.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported.", False),
        Action("accuracy.compare", "|", "compare", "Compare", "Compare the verifier with another.", False),
        Action("accuracy.export", "e", "export", "Export", "Export or copy the table."),
        Action("accuracy.up", "escape,q,backspace", "up", "Back", "Leave the opened group, or go back."),
    )

    def __init__(self, *conditions: Condition, by: str = "type") -> None:
        super().__init__()
        self.asked = SheetQuery(of=conditions, by=by)
        self.sheet: AccuracySheet | None = None
        self.figure = "accuracy"
        self.pinned: dict[str, None] = {}
        self.lower: Lower = "verifier"
        self._displayed: SheetQuery | None = None
        self._arriving = False  # at another breakdown
        self._arrive_at: str | None = None  # the group the cursor belongs to there

    def content(self) -> ComposeResult:
        yield from self.texts("conclusion", "caption")
        yield Matrix(id="accuracy-matrix")
        yield from self.texts("legend", "about")
        yield VirtualTable(id="accuracy-detail")
        yield VerticalScroll(Static(markup=False), id="accuracy-notes")
        yield from self.texts("cell")

    def on_mount(self) -> None:
        self.query_one("#accuracy-notes").display = False

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> AccuracySheet:
        return AccuracySheet(accuracy(self.project, by=self.asked.by, live=True, seed=None, **counting(self.asked)))

    def show(self, sheet: AccuracySheet) -> None:
        self._displayed, self.sheet = self.asked, sheet
        place = f"{self.asked.words} by {self.asked.by}".strip()
        nothing = " · no verifier has been run yet" if all(map(is_baseline, sheet.report.rows)) else ""
        self.say(f"{printable(self.project.path.name)} · {place}{nothing}")
        self.redraw()

    @property
    def report(self) -> AccuracyReport | None:
        return None if self.sheet is None else self.sheet.report

    # -- the matrix --------------------------------------------------------------------------------

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= WIDE

    @property
    def _metric(self) -> Figure:
        return FIGURES[self.figure]

    def redraw(self) -> None:
        if self.sheet is None:
            return
        sheet, figure, matrix = self.sheet, self._metric, self.query_one(Matrix)
        self._show_conclusion(sheet)
        self.put("caption", view.caption(sheet.report, figure), layout=False)
        pinned = any(name in self.pinned for name in sheet.verifiers)
        self.put("legend", view.legend(sheet.report, figure, pinned=pinned), layout=False)
        columns = [matrix.name_column("verifier"), *sheet.columns(figure, wide=self._is_wide)]
        matrix.put(columns, sheet.rows(figure, self.pinned))
        if self._arriving and self._displayed == self.asked:
            matrix.move_to(matrix.row_key, self._arrive_at if self._arrive_at in sheet.groups else detail.ALL)
            self._arriving = False

    def _show_conclusion(self, sheet: AccuracySheet) -> None:
        untold = (note for note in sheet.report.notes if any(words in note for words in NO_TYPES.values()))
        said = printable(" ".join((*conclusion(sheet.report), *untold)))
        line = self.query_one("#accuracy-conclusion", Static)
        line.display = bool(said)
        # A new layout is needed only if the number of lines changes.
        room = max(self.size.width - 2, 1)
        line.update(said, layout=cell_len(said) // room != cell_len(str(line.content)) // room)

    def late(self) -> Callable[[], tuple[AccuracySheet, AccuracySheet]] | None:
        """Return the permutation tests, as long as there are only approximations."""
        sheet, asked = self.sheet, self.asked
        tests = None if sheet is None or self._displayed != asked else sheet.report.tests
        if sheet is None or tests is None or not tests.approximate or sheet.report.unfinished:
            return None
        draw = partial(accuracy, self.project, by=asked.by, live=True, seed=SEED, **counting(asked))
        return lambda: (sheet, AccuracySheet(draw()))

    def show_late(self, data: tuple[AccuracySheet, AccuracySheet]) -> None:
        approximate, drawn = data
        if approximate is self.sheet:
            self.sheet = drawn
            self.redraw()

    @property
    def chosen(self) -> tuple[str | None, str | None]:
        """Return verifier and group under the cursor; in the name column, the group is None: all items."""
        matrix = self.query_one(Matrix)
        groups = {} if self.sheet is None else {group or detail.ALL: group for group in self.sheet.groups}
        return matrix.row_key, groups.get(matrix.column_key or "")

    @property
    def _selected_row(self) -> AccuracyRow | None:
        return None if self.sheet is None or self._displayed != self.asked else self.sheet.row(*self.chosen)

    @on(Matrix.Moved)
    def _show_cell(self) -> None:
        verifier, group = self.chosen
        if self.sheet is None or verifier is None:
            return
        sentence = view.cell_sentence(self.sheet.report, self.sheet.row(verifier, group))
        self.put("cell", sentence, layout=False)
        self._fill_lower(self.sheet, verifier, group)

    def _fill_lower(self, sheet: AccuracySheet, verifier: str, group: str | None) -> None:
        if self.lower == "notes":
            self.put("about", "Notes", layout=False)
            self.query_one("#accuracy-notes Static", Static).update(view.notes(sheet.report))
            return
        if self.lower == "verifier":
            sort = self.query_one(Matrix).sort
            descending = self._metric.rising is False if sort is None or sort.column == NAME else sort.descending
            found = detail.verifier_detail(sheet, verifier, self._metric, descending=descending, wide=self._is_wide)
            place = sheet.groups.index(group)
        else:
            found = detail.group_detail(sheet, group, self._metric, self.pinned, wide=self._is_wide)
            place = sheet.verifiers.index(verifier)
        self.put("about", found.title, layout=False)
        self._detail.show_rows(found.columns, found.rows)
        self._detail.jump_to_id(place)

    @on(RowHighlighted)
    def _row_highlighted(self, event: RowHighlighted) -> None:
        if self.sheet is None or not event.table.has_focus:
            return
        verifier, group = self.chosen
        if self.lower == "verifier" and event.row_id < len(self.sheet.groups):
            group = self.sheet.groups[event.row_id]
        elif self.lower == "group" and event.row_id < len(self.sheet.verifiers):
            verifier = self.sheet.verifiers[event.row_id]
        if (verifier, group) != self.chosen:
            self.query_one(Matrix).move_to(verifier, group or detail.ALL)

    def on_resize(self, event: events.Resize) -> None:
        self._resize_detail()

    def on_descendant_focus(self) -> None:
        self._resize_detail()

    def _resize_detail(self) -> None:
        self.set_class(self.size.height < SHORT and self.focused is self.query_one("#accuracy-detail"), "below")

    # -- down and up -------------------------------------------------------------------------------

    @on(RowSelected)
    def action_open_cell(self) -> None:
        """Open a type's subtypes or, for any other cell, its items."""
        group = self.chosen[1]
        if self._displayed == self.asked and self.asked.by == "type" and group is not None:
            self.count(self.asked.inside(group, "subtype"))
        else:
            self.action_items()

    def action_items(self) -> None:
        from workbench.app.tui.screens.accuracy_items import AccuracyItemsScreen

        if (cell := self._selected_cell) is not None:
            self.app.push_screen(AccuracyItemsScreen(cell, self.asked.words_of(cell.group)))

    def action_what_if(self) -> None:
        from workbench.app.tui.screens.what_if import WhatIfScreen

        if (cell := self._selected_cell) is not None:
            self.app.push_screen(WhatIfScreen.of_cell(cell))

    def action_triage(self) -> None:
        from workbench.app.tui.screens.triage import TriageScreen
        from workbench.measuring.reviewing.triage import of_cell

        if (cell := self._selected_cell) is not None:
            self.app.push_screen(TriageScreen(partial(of_cell, cell=cell, words=self.asked.words_of(cell.group))))

    @property
    def _selected_cell(self) -> AccuracyCell | None:
        row = self._selected_row
        if row is None:
            return None
        return AccuracyCell(
            verifier=row.verifier,
            by=self.asked.by,
            group=row.group,
            conditions=self.asked.conditions,
            protocol=self.asked.protocol,
            gold=self.asked.gold,
        )

    def action_split(self) -> None:
        group = self.chosen[1]
        if self._displayed != self.asked:
            return
        if group is not None and self.asked.by == "reason":
            self.notify(f"Reasons can't be broken down: {key_of('accuracy.items')} lists the items.")
            return
        self.action_choose_property(group)

    def action_choose_property(self, group: str | None = None) -> None:
        free = (by for by in self.asked.free(self.groups) if group is None or by != self.asked.by)
        choices = [Choice(by, printable(by), str(place) if place < 10 else "") for place, by in enumerate(free, 1)]
        menu = PickMenu(f"Break down {self.asked.words_of(group)} by", choices, chosen=(self.asked.by,))
        choose(self, menu, partial(self._break_down, group))

    def _break_down(self, group: str | None, by: str) -> None:
        if group is not None:
            self.count(self.asked.inside(group, by))
        else:
            self.change(by=by)

    def action_up(self) -> None:
        if not self.asked.path:
            self.workbench.action_go_back()
            return
        self.count(*self.asked.outside())

    def action_compare(self) -> None:
        from workbench.app.tui.screens.compare import CompareScreen, Pair

        row = self._selected_row
        if row is None or self.sheet is None:
            return
        overall = ((name, self.sheet.row(name, None)) for name in self.sheet.verifiers)
        complete = ((name, one) for name, one in overall if one and name not in self.sheet.report.unfinished)
        names = tuple(name for name, one in complete if one.kind == "verifier" or name == BASELINE)
        if row.verifier not in names or len(names) < 2:
            self.notify("Two verifiers with complete runs are needed.")
            return
        pair = Pair(
            a=row.verifier,
            b=following(row.verifier, names),
            protocol=self.asked.protocol,
            gold=self.asked.gold,
            words=self.asked.words_of(None if self.asked.by == "reason" else row.group),
            conditions=self.asked.conditions_of(row.group),
        )
        self.app.push_screen(CompareScreen(pair, names))

    # -- what is counted, and how it is shown ------------------------------------------------------

    def count(self, asked: SheetQuery, group: str | None = None) -> None:
        if (asked.by, asked.path) != (self.asked.by, self.asked.path):
            self._arriving, self._arrive_at = True, group or self.chosen[1]
        super().count(asked)

    def action_previous_property(self) -> None:
        self.change(by=following(self.asked.by, self.asked.free(self.groups)[::-1]))

    def action_next_figure(self, step: int) -> None:
        self.figure = following(self.figure, tuple(FIGURES)[::step])
        self.redraw()

    def action_next_view(self) -> None:
        self.lower = following(self.lower, get_args(Lower))
        self.query_one("#accuracy-notes").display = self.lower == "notes"
        self._detail.display = self.lower != "notes"
        self._show_cell()

    def action_sort(self) -> None:
        self._arranged.action_sort()

    def action_reverse(self) -> None:
        self._arranged.action_reverse()

    @property
    def _arranged(self) -> VirtualTable:
        return self._detail if self.focused is self._detail else self.query_one(Matrix)

    @property
    def _detail(self) -> VirtualTable:
        return self.query_one("#accuracy-detail", VirtualTable)

    def action_pin(self) -> None:
        verifier = self.chosen[0]
        if verifier is not None:
            if self.pinned.pop(verifier, self) is self:
                self.pinned[verifier] = None
            self.redraw()

    def action_export(self) -> None:
        if self.report is not None:
            part = "".join(filter(str.isalnum, "".join(one.value for one in self.asked.conditions)))
            report = self.report
            share(self, accuracy_name(report, part), partial(accuracy_as, report), lambda: report)
