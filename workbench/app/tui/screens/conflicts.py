"""Conflicts by kind: which two answers conflict, and how often."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.content import Content

from workbench.app.tui.desk import reason_menu
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card_texts import conflict_subject, kind_words, retraction_message, side_words
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.kit.title_bar import verdict_words
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.person import PersonListScreen, person_action
from workbench.app.tui.table_screen import TableScreen
from workbench.core.errors import UsageError
from workbench.core.label import LabelVerdict
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import counted
from workbench.core.text.math import render_math
from workbench.labelling.answers import Answer
from workbench.labelling.conflict_classes import ClassRow, ConflictClass, ConflictClasses, OpenClass, Settled, Side
from workbench.labelling.rulings import Role
from workbench.tables.document import Cell
from workbench.tables.table import Column, Columns, column, count, word

_SELECTED, _OUT = Cell("■", "accent"), Cell("·", "dim")
_COLUMNS: Columns[ConflictClass] = (
    word("conflict", lambda kind: kind_words(kind), room=(30, 70)),
    count("conflicts", lambda kind: kind.count, room=9, tone="bold"),
    word("about", lambda kind: conflict_subject(kind), room=(11, 14), tone="dim"),
)


class ConflictsScreen(PersonListScreen):
    """Lists the kinds of conflicts with their counts; labels of items are read only when a kind is opened."""

    TITLE_TEXT = "Conflicts by kind"
    PREFIX, EMPTY = "conflicts", "There is no conflict for {name} to resolve."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("conflicts.open", "enter", "open_row", "Open", "Show the conflicts of this kind."),
        Action("conflicts.undo", "z", "undo", "Undo", "Retract your last decision, on all its items."),
        Action("conflicts.single", "L", "app.open_screen('adjudicate')", "One by one", "Resolve one at a time."),
        Action("conflicts.reload", "r", "reload", "Reload", "Count the conflicts again."),
        person_action("conflicts"),
    )
    ROLE: ClassVar[Role] = "adjudicator"
    records: Sequence[ConflictClass] = ()

    def _session(self) -> ConflictClasses:
        return ConflictClasses(self.project, self._person, sighted=self.workbench.annotator is None)

    def action_reload(self) -> None:
        self.in_background(lambda: self._session().classes(), self.list_rows, group="conflicts")

    def list_rows(self, kinds: list[ConflictClass]) -> None:
        self.list_records(_COLUMNS, kinds)
        self.put("empty", self.EMPTY.format(name=printable(self._person) or "anybody"))
        total = sum(kind.count for kind in kinds)
        name = self.shown_name(self._person) if self._person else "nobody"
        self.say(f"{name} · {total:,} to resolve · {key_of('conflicts.open')} opens a kind")

    def opened(self, row: int) -> None:
        self.app.push_screen(ConflictClassScreen(self.records[row].name, self._session()))

    def action_undo(self) -> None:
        if self._person:
            self.in_background(lambda: self._session().undo(), self._show_undone, group="conflicts-undo")

    def _show_undone(self, count: int) -> None:
        self.notify(retraction_message(count))
        self.action_reload()


# -- The conflicts of one kind: select many, settle them alike, with one question asked before.


_NO_ANSWER = "∅ none found"


class ConflictClassScreen(TableScreen):
    """The items of one kind of conflict, one line each; every selected item gets a separate decision.

    Args:
        name: The kind's name.
        session: The conflicts that the person at work may resolve.
    """

    TITLE_TEXT = "Conflicts of a kind"
    PREFIX, DETAIL = "class", True
    EMPTY = "No conflict of this kind is left for you."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("conflict-class.select", "space", "select", "Pick", "Select the item, or deselect it."),
        Action("conflict-class.all", "*", "select_all", "All", "Select all items, or none."),
        Action("conflict-class.correct", "1", "settle('correct')", "Correct", "Resolve the selected as correct."),
        Action("conflict-class.incorrect", "0", "settle('incorrect')", "Incorrect", "Resolve them as incorrect."),
        Action("conflict-class.unsuitable", "x", "unsuitable", "Unsuitable", "Resolve the selected as unsuitable."),
        Action("conflict-class.type", "t", "type", "Type", "Resolve the selected items with an answer type."),
        Action("conflict-class.open", "enter", "open_row", "Alone", "Resolve it alone, with its texts.", False),
        Action("conflict-class.undo", "z", "undo", "Undo", "Retract your last decision, on all its items.", False),
        Action("conflict-class.reload", "r", "reload", "Reload", "Read the conflicts again.", False),
    )

    def __init__(self, name: str, session: ConflictClasses) -> None:
        super().__init__()
        self._kind = name
        self._session = session
        self._opened: OpenClass | None = None
        self._selected: set[int] = set()
        self._busy = False

    def heading(self) -> tuple[str, str]:
        return "Conflicts", "reading …"

    def on_screen_resume(self) -> None:
        self.action_reload()

    def action_reload(self) -> None:
        self.in_background(self._read_class, self._show, group="conflict-class")

    def _read_class(self) -> OpenClass | None:
        try:
            return self._session.open(self._kind)
        except UsageError:  # the last conflict of this kind has been resolved
            return None

    def _show(self, opened: OpenClass | None) -> None:
        self._opened, self._busy = opened, False
        self.set_class(opened is None, "empty")
        self.refresh_bindings()
        if opened is None:
            self._selected.clear()
            self._show_caption()
            return
        self._selected &= opened.cases.keys()
        order, read = array("q", opened.cases), partial(self._session.rows, opened)
        self.table.set_source(FixedSource(self._columns(opened), order, read, lambda row: row.subject))
        self.table.focus()
        self._show_caption()

    def _columns(self, opened: OpenClass) -> Columns[ClassRow]:
        def side(value: str) -> Column[ClassRow]:
            def annotators(row: ClassRow) -> str:
                return next((_side_text(side) for side in row.sides if side.value == value), "")

            return word(side_words(value).plain, annotators, room=(10, 24))

        return (
            column("", lambda row: row.subject in self._selected, (_OUT, _SELECTED).__getitem__, words=True, room=1),
            column("reference", lambda row: row.reference, _answer_cell, words=True, room=(9, 20)),
            column("completion", lambda row: row.answer, _answer_cell, words=True, room=(10, 20)),
            *map(side, opened.kind.values),
            word("question", lambda row: row.question, room=(12, 40), tone="dim"),
        )

    def _show_caption(self) -> None:
        words, chosen = self._kind, "none left"
        if self._opened is not None:
            kind = self._opened.kind
            words, chosen = kind_words(kind), f"{len(self._selected):,} of {kind.count:,} selected"
        self.say(f"{chosen} · {printable(words)} · {printable(self._session.person.name)}")

    # -- looking -----------------------------------------------------------------------------------

    def highlighted(self, row: int) -> None:
        if self._opened is not None:
            read = partial(self._session.rows, self._opened, [row])
            self.in_background(read, self._show_detail, group="conflict-class-detail")

    def _show_detail(self, rows: list[ClassRow]) -> None:
        for row in rows:
            self.put_detail(_detail_text(row))

    def opened(self, row: int) -> None:
        if self._opened is not None:
            self.workbench.open_screen("adjudicate", (self._opened.kind.task, row))

    # -- selecting ---------------------------------------------------------------------------------

    def action_select(self) -> None:
        table = self.table
        if self._opened is not None and not self._busy and table.selected_id is not None:
            self._selected ^= {table.selected_id}
            table.refresh_rows()
            table.action_move(1)
            self._show_caption()

    def action_select_all(self) -> None:
        if self._opened is not None and not self._busy:
            listed = set(self.table.order)
            self._selected = self._selected - listed if listed <= self._selected else self._selected | listed
            self.table.refresh_rows()
            self._show_caption()

    # -- settling ----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._opened is not None and action in ("settle", "unsuitable", "type"):
            return (action == "type") == (self._opened.kind.task == "type")
        return super().check_action(action, parameters)

    def _has_selection(self) -> bool:
        if self._opened is not None and not self._busy and not self._selected:
            select, every = key_of("conflict-class.select"), key_of("conflict-class.all")
            self.notify(f"Nothing is selected: {select} selects one, {every} all of them.")
        return self._opened is not None and not self._busy and bool(self._selected)

    def action_settle(self, verdict: LabelVerdict) -> None:
        if self._has_selection():
            self._ask_note(Answer(verdict=verdict), verdict_words(verdict))

    def action_unsuitable(self) -> None:
        if self._has_selection():
            choose(self, reason_menu(question="Why are they unsuitable?"), self._reason_chosen)

    def _reason_chosen(self, reason: str) -> None:
        self._ask_note(Answer(verdict="unsuitable", reason=reason), verdict_words("unsuitable", reason))

    def action_type(self) -> None:
        if self._has_selection():
            picker = TypePicker(prompt="Which answer type do they have?")
            choose(self, picker, lambda code: self._ask_note(Answer(subtype=code), Content(type_display(code))))

    def _ask_note(self, ruling: Answer, words: Content) -> None:
        needed = ruling.reason == "other"
        asked = "a note is needed" if needed else "a note on each of them, or nothing"
        title = f"Resolve {counted(len(self._selected), 'conflict')} at once as {words.plain} · {asked}"
        self.ask_line(title, self._kind, partial(self._settle_selected, ruling, title), empty=not needed)

    def _settle_selected(self, ruling: Answer, title: str, note: str) -> None:
        if self._opened is None:
            return
        self._busy = True
        opened = self._opened
        chosen = [subject for subject in opened.cases if subject in self._selected]
        full = Answer(verdict=ruling.verdict, reason=ruling.reason, subtype=ruling.subtype, note=note)
        self.say(f"resolving {len(chosen):,} …")
        settle = partial(self._session.settle, opened, chosen, full)
        self.in_background(settle, partial(self._show_settled, title), group="settling")

    def _show_settled(self, title: str, done: Settled) -> None:
        self.line_stored(title, self._kind)
        self._selected.clear()
        if done.left_out:
            title = f"{done.settled:,} resolved ✓ · {len(done.left_out):,} left out"
            lines = (f"{printable(one.completion_id)}  {one.why}" for one in done.left_out)
            self.app.push_screen(ChoiceMenu(title, [Choice(line, line) for line in lines], wide=True))
        else:
            undo = key_of("conflict-class.undo")
            self.notify(f"{counted(done.settled, 'conflict')} resolved ✓ · {undo} undoes them all")
        self.action_reload()

    def action_undo(self) -> None:
        if not self._busy:
            self._busy = True
            self.in_background(self._session.undo, self._show_undone, group="settling")

    def _show_undone(self, count: int) -> None:
        self.notify(retraction_message(count))
        self.action_reload()

    def show_error(self, error: BaseException | None) -> None:
        self._busy = False
        super().show_error(error)


def _answer_cell(text: str) -> Cell:
    return Cell(_render_answer(text), "bold") if text else Cell(_NO_ANSWER, "warning")


def _render_answer(answer: str) -> str:
    return render_math(answer) if "\\" in answer else answer


def _side_text(side: Side) -> str:
    parts = [f"{side.count}×" if side.count > 1 else "", "? unsure" if side.unsure else "", *side.notes]
    return " ".join(part for part in parts if part)


def _detail_text(row: ClassRow) -> Content:
    lines = [
        Content.assemble(("Reference  ", "bold"), printable(_render_answer(row.reference)) or _NO_ANSWER),
        Content.assemble(("Completion ", "bold"), printable(_render_answer(row.answer)) or _NO_ANSWER),
    ]
    for side in row.sides:
        lines.append(Content.assemble(side_words(side.value), "  ", printable(_side_text(side))))
    lines.append(Content.styled(printable(row.question), "$text-muted"))
    return Content("\n").join(lines)
