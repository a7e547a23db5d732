"""Browse: every item in a table, with search, conditions, sorting and details."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.columns import OUTCOME_MARKS, verdict_cell
from workbench.app.tui.kit.evidence import evidence, line_of
from workbench.app.tui.kit.overview import STATE_MARKS
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.sources import PagedSource
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import BREAKPOINTS
from workbench.app.tui.table_screen import CatalogScreen, FilterScreen
from workbench.core.selection import Condition
from workbench.core.text.document import RenderedLine, RenderedText, Span
from workbench.core.text.excerpt import render_answer, snippet
from workbench.core.text.markdown import render
from workbench.data.records import BrowseQuery, BrowseRow, ItemDetail
from workbench.labelling.annotating import FinalAnswer
from workbench.measuring import browsing
from workbench.measuring.browsing import final_answers, origin
from workbench.tables.document import Cell
from workbench.tables.table import Column, Columns, column, identifier, word

if TYPE_CHECKING:
    from workbench.app.tui.screens.item import ItemScreen


_CHARACTERS, _TAIL = 500, 400

_QUESTION_LINES, _REFERENCE_LINES = 12, 8


def _outcome_symbol(word: str) -> Cell:
    return Cell(*OUTCOME_MARKS[word], whole=word)


def _state_cell(state: str, *, wide: bool) -> Cell:
    mark, tone = STATE_MARKS[state]
    return Cell(f"{mark} {state}" if wide else mark, tone, whole=state)


def _columns(verifiers: Iterable[str], search: str = "", *, wide: bool) -> Columns[BrowseRow]:
    """Return the columns; on a narrow terminal state and gold are symbols, so that the question is in sight."""

    def verdict(name: str) -> Column[BrowseRow]:
        return column(
            name,
            lambda row: row.verdicts.get(name, "none"),
            _outcome_symbol,
            words=True,
            key=f"verdict:{name}",
            room=(6, min(14, len(name) + 2)),
        )

    return (
        identifier("id", lambda row: row.completion_id, key="completion_id", room=(6, 20)),
        word(
            "found",
            lambda row: row.found,
            by=lambda row: row.question_id,
            key="question_id",
            room=(44, 70),
            there=bool(search),
        ),
        word("type", lambda row: row.subtype, key="subtype", room=(6, 9)),
        column(
            "state",
            lambda row: row.state,
            partial(_state_cell, wide=wide),
            words=True,
            key="state",
            room=12 if wide else 5,
        ),
        column(
            "gold",
            lambda row: row.gold,
            verdict_cell if wide else _outcome_symbol,
            words=True,
            key="gold",
            room=11 if wide else 4,
        ),
        *map(verdict, verifiers),
        word(
            "question",
            lambda row: row.question,
            by=lambda row: row.question_id,
            key="question_id",
            room=(24, 48),
            tone="dim",
            there=not search,
        ),
        word("model", lambda row: row.model, key="model", room=(10, 24)),
        word("source", lambda row: row.source, key="source", room=(10, 20)),
    )


class BrowseScreen(CatalogScreen, FilterScreen):
    """The table of all items.

    Args:
        conditions: Initial conditions on the items; without any, all items.
    """

    TITLE_TEXT = "Browse"
    PREFIX, REST_S, KIND, ITEMS, WIDE = "browse", 0.1, ("item", "id"), True, 100
    SEARCH_HINT = "part of an id, question, reference or completion"
    JUMP_HINT = "row number, an item's id, or its end (#17 for an id of digits)"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("browse.search", "/", "search", "Search", "Search ids, questions, references and completions."),
        Action("browse.filter", "f", "filter", "Filter", "Show only items that meet conditions."),
        Action("browse.jump", "@", "jump", "Jump", "Go to a row number or to an item's id."),
        Action("browse.details", "d", "details", "Details", "Show the row's texts next to the table."),
        Action("browse.triage", "m", "triage", "Triage", "Assign causes to verdicts that differ from gold.", False),
        Action("browse.again", "r", "again", "Read again", "Read the items again.", False),
        Action("browse.back", "escape,q", "back", "Back", "Clear the search, then the filter, then go back."),
    )

    def __init__(self, *conditions: Condition) -> None:
        super().__init__(BrowseQuery(conditions=conditions))
        self._opened: ItemScreen | None = None

    def content(self) -> ComposeResult:
        with Horizontal():
            yield VirtualTable()
            yield Reader(title="Details", id="browse-details")

    def on_mount(self) -> None:
        self.change()

    def on_screen_resume(self) -> None:
        if self._opened is not None:
            self.table.jump_to_id(self._opened.completion)
            self.table.refresh_rows()
            self._opened = None

    # -- which items -------------------------------------------------------------------------------

    def rows_of(self, asked: BrowseQuery) -> PagedSource[BrowseRow]:
        items = browsing.ItemTable(self.project, asked)
        return PagedSource(_columns(items.verifiers, asked.search, wide=self.wide), items, lambda row: row.id)

    def change(self, **changes: Any) -> None:
        """Change the query as in the base class; for a search, also build the text index."""
        super().change(**changes)
        if self.asked.search:
            self.workbench.index_texts()

    def find(self, name: str) -> list[int]:
        return browsing.find(self.project, name)

    def further_exports(self) -> Mapping[str, Callable[[], None]]:
        where = " ".join(quote(str(one)) for one in self.asked.conditions)
        return {"Export the items whole …": partial(self.workbench.open_verb, "export", where=where)}

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self._opened = ItemScreen(row, self.table.order, _named_verifiers(self.asked.conditions), self.asked.search)
        self.app.push_screen(self._opened)

    def action_triage(self) -> None:
        from workbench.app.tui.screens.triage import TriageScreen
        from workbench.measuring.reviewing.triage import of_items

        self.app.push_screen(TriageScreen(partial(of_items, asked=self.asked)))

    # -- details -----------------------------------------------------------------------------------

    def action_details(self) -> None:
        if not self.has_class("-wide"):
            self.notify(f"Details need 100 columns; {key_of('table.open')} opens the item.")
            return
        self.toggle_class("details")
        self._read_details()

    def highlighted(self, row: int) -> None:
        self._read_details()

    def _read_details(self) -> None:
        item = self.table.selected_id
        if item is not None and self.has_class("details") and self.has_class("-wide"):
            width = self.query_one("#browse-details", Reader).wrap_width
            self.in_background(lambda: self._preview(item, width), self._show_details, group="browse-details")

    def _preview(self, item: int, width: int) -> RenderedText:
        found = browsing.detail(self.project, item, self.workbench.names_worked_under)
        return preview(found, width, self.asked.search)

    def _show_details(self, text: RenderedText) -> None:
        reader = self.query_one("#browse-details", Reader)
        reader.show(text)
        if self.asked.search:
            reader.find(self.asked.search.lower())


def _named_verifiers(conditions: tuple[Condition, ...]) -> tuple[str, ...]:
    fields = (condition.field.partition(":") for condition in conditions)
    return tuple(name for kind, _, name in fields if kind == "verdict")


def preview(item: ItemDetail, width: int = 0, search: str = "") -> RenderedText:
    """Return question, reference and completion, a dozen lines of each, then labels and verdicts.

    Args:
        item: The item.
        width: Cells to lay verdicts out for; 0 leaves that to the reader.
        search: The searched text; the places where it was found come first.
    """
    reference, completion = final_answers(item)
    lines = [
        *_search_hits(item, search),
        *_text_section(f"Question · {item.completion_id}", item.question[:_CHARACTERS], _QUESTION_LINES),
        *_answer_lines("Reference answer", reference),
        *_text_section("Reference", item.reference[:_CHARACTERS], _REFERENCE_LINES),
        *_answer_lines("Completion's answer", completion),
        *_text_section("Completion's end", item.completion[-_TAIL:], _QUESTION_LINES),
        *evidence(item, width).lines,
    ]
    return RenderedText(tuple(lines), {})


def _search_hits(item: ItemDetail, search: str) -> Iterator[RenderedLine]:
    if search:
        for name in ("question", "reference", "completion"):
            if (around := snippet(getattr(item, name), search)) is not None:
                yield line_of(Span(f"Found in the {name}: ", "heading"), Span(around))
        yield line_of()


def _text_section(title: str, text: str, limit: int) -> Iterator[RenderedLine]:
    yield line_of(Span(title, "heading"))
    yield from render(text).lines[:limit]
    yield line_of()


def _answer_lines(title: str, answer: FinalAnswer) -> Iterator[RenderedLine]:
    if answer.found:
        shown = render_answer(answer.text)[:_TAIL].replace("\n", " ")
        if answer.marked:
            yield line_of(Span(f"{title}: ", "heading"), Span(shown, "answer"))
        else:
            yield line_of(Span(f"{title} ({origin(answer)}): ", "heading"), Span(shown, "guess"))
