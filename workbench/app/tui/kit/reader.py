"""A reader for long styled texts: wrapped once per width, drawn line by line."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final, get_args

from rich.segment import Segment
from textual import on
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.app.tui.allocating import release_worker_after
from workbench.app.tui.kit.cells import printable, restyle
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.wrapping import Extent, Wrapped, prepare
from workbench.core.errors import UsageError
from workbench.core.text.document import RenderedText, StyleName


@dataclass
class WrapReady(Message, bubble=False):
    wrapped: Wrapped


_MAX_UNTHREADED: Final = 40_000
"""Maximum characters of a text that is wrapped without a thread; longer texts would cause a noticeable pause."""

_CONTEXT: Final = 2
"""Lines shown above the target of a jump, if as many fit below it."""


def _component_class(style: str) -> str:
    return f"reader--{style.replace('.', '-')}"


class Reader(ScrollView, can_focus=True, inherit_bindings=False):
    """A widget that shows a `RenderedText`, or a `Wrapped` text made by `prepare`."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {_component_class(style) for style in get_args(StyleName) if style} | {
        "reader--hit",
        "reader--current-hit",
    }
    DEFAULT_CSS = """
    Reader {
        height: 1fr;
        background: $surface;
        color: $foreground;
        padding-left: 1;
        overflow-x: auto;
        overflow-y: scroll;
        scrollbar-size: 1 1;
        & > .reader--math { color: $text-accent; }
        & > .reader--code { background: $panel; color: $foreground; }
        & > .reader--code-keyword { background: $panel; color: $text-accent; text-style: bold; }
        & > .reader--code-string { background: $panel; color: $text-success; }
        & > .reader--code-comment { background: $panel; color: $text-muted; text-style: italic; }
        & > .reader--code-number { background: $panel; color: $text-warning; }
        & > .reader--code-name { background: $panel; color: $text-primary; }
        & > .reader--heading { color: $text-primary; text-style: bold underline; }
        & > .reader--bold { text-style: bold; }
        & > .reader--italic { text-style: italic; }
        & > .reader--dim { color: $text-muted; text-style: dim; }
        & > .reader--answer { background: $success-muted; color: $text-success; text-style: bold underline; }
        & > .reader--guess { background: $warning-muted; color: $text-warning; text-style: underline; }
        & > .reader--success { color: $text-success; text-style: bold; }
        & > .reader--think { color: $text-muted; text-style: italic; }
        & > .reader--quote { color: $text-muted; }
        & > .reader--error { color: $text-error; text-style: bold; }
        & > .reader--removed { background: $error-muted; color: $foreground; }
        & > .reader--removed-word { background: $error-muted; color: $text-error; text-style: bold underline; }
        & > .reader--added { background: $success-muted; color: $foreground; }
        & > .reader--added-word { background: $success-muted; color: $text-success; text-style: bold underline; }
        & > .reader--hit { background: $warning-muted; color: $text-warning; text-style: underline; }
        & > .reader--current-hit { text-style: bold reverse; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "lines(-1)", "Up", show=False, id="reader.up"),
        Binding("down,j", "lines(1)", "Down", show=False, id="reader.down"),
        Binding("pageup,ctrl+u", "pages(-1)", "Page up", show=False, id="reader.page-up"),
        Binding("pagedown,ctrl+d", "pages(1)", "Page down", show=False, id="reader.page-down"),
        Binding("left", "columns(-1)", "Left", show=False, id="reader.left"),
        Binding("right", "columns(1)", "Right", show=False, id="reader.right"),
        Binding("home", "top", "Beginning", show=False, id="reader.top"),
        Binding("end", "bottom", "End", show=False, id="reader.bottom"),
    ]

    def __init__(self, document: RenderedText | None = None, *, title: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_title(title)
        self._document = document
        self._wrapped: Wrapped | None = None
        self._strips: LRUCache[int, Strip] = LRUCache(1024)
        self._query = ""
        self._hits: list[Extent] = []
        self._hit = 0
        self._jump = ("", 0)

    # -- what screens call -------------------------------------------------------------------------

    @property
    def wrap_width(self) -> int:
        """Return the width, in cells, to `prepare` a text for; 0 before the first layout."""
        return max(0, self.scrollable_size.width - 1)  # a free cell before the scrollbar

    @property
    def _breadth(self) -> int:
        return self.wrap_width if self._wrapped is None else self._wrapped.breadth

    @property
    def document(self) -> RenderedText | None:
        return self._document

    @property
    def row_count(self) -> int:
        return 0 if self._wrapped is None else len(self._wrapped.rows)

    @property
    def hits(self) -> int:
        return len(self._hits)

    def set_title(self, title: str) -> None:
        self.border_title = Content(printable(title))

    def show(self, document: RenderedText | Wrapped | None) -> None:
        """Show a text from its beginning; the search in the former text ends."""
        self._document = document.rendered if isinstance(document, Wrapped) else document
        self._query, self._hits, self._jump, self.border_subtitle = "", [], ("", 0), ""
        self._wrapped = None
        self.scroll_to(x=0, y=0, animate=False, force=True)
        if isinstance(document, Wrapped) and document.width == self.wrap_width:
            self._set_wrapped(document)
        else:
            self._wrap()

    def jump(self, mark: str, step: int = 1) -> bool:
        """Scroll to the next row with this mark (`step` -1: the previous one), wrapping around.

        Returns:
            False if the text has no such mark.
        """
        wrapped = self._wrap_completely()
        rows = [] if wrapped is None else wrapped.marked_rows(mark)
        last, number = self._jump
        if last != mark or not number:
            number = 0 if step > 0 else 1
        number = (number - 1 + step) % len(rows) + 1 if rows else 0
        self._jump = (mark, number)
        if rows:
            self._show_row(rows[number - 1])
        return bool(rows)

    def find(self, text: str) -> int:
        """Search for a text; the first hit at or below the top row becomes the current one. "" ends the search.

        Returns:
            The number of hits.
        """
        wrapped = self._wrap_completely()
        self._query = text
        self._hits = [] if wrapped is None else wrapped.find(text)
        self._hit = 0
        if wrapped is not None and self._hits:
            top = wrapped.rows[min(self.scroll_offset.y, self.row_count - 1)]
            self._hit = bisect_left(self._hits, (top.line, top.start, 0)) % len(self._hits)
        self._show_hit()
        return len(self._hits)

    def find_next(self, step: int = 1) -> None:
        if self._hits:
            self._hit = (self._hit + step) % len(self._hits)
            self._show_hit()

    def ask_text(self) -> None:
        """Ask for a text and find it while it is typed; escape ends the search."""

        def find(text: str) -> None:
            if not self.find(text) and text:
                raise UsageError("Not found.")

        left = partial(self.find, "")
        self.app.push_screen(PromptLine("/", entered=find, typed=find, left=left, hint="text to find"))

    # -- wrapping ----------------------------------------------------------------------------------

    def on_resize(self) -> None:
        if self._wrapped is None or self._wrapped.width != self.wrap_width:
            self._wrap()
        if self._hits and self._wrapped is not None:
            # An input line that opens or closes must not hide the hit.
            line, start, _ = self._hits[self._hit]
            self._keep_in_sight(self._wrapped.row_of(line, start))

    def _wrap(self) -> None:
        document, width = self._document, self.wrap_width
        if document is None:
            self._set_wrapped(None)
            return
        if width < 1:
            return
        if not _is_long(document):
            self._set_wrapped(prepare(document, width))
            return
        if self._wrapped is None:
            self._set_wrapped(prepare(document, width, limit=2 * self.scrollable_size.height))

        def work() -> None:
            self.post_message(WrapReady(prepare(document, width)))

        # The description is given because the default one is the repr of the whole text.
        self.run_worker(
            release_worker_after(work), group="reader-wrap", description="wrap", thread=True, exclusive=True
        )

    def _wrap_completely(self) -> Wrapped | None:
        if self._wrapped is not None and not self._wrapped.complete:
            self._set_wrapped(prepare(self._wrapped.rendered, self._wrapped.width))
        return self._wrapped

    @on(WrapReady)
    def _wrap_ready(self, event: WrapReady) -> None:
        wrapped = event.wrapped
        if wrapped.rendered is self._document and wrapped.width == self.wrap_width:
            self._set_wrapped(wrapped)

    def _set_wrapped(self, wrapped: Wrapped | None) -> None:
        before, top = self._wrapped, self.scroll_offset.y
        self._wrapped = wrapped
        self._strips.clear()
        beside = self.container_size.width - self.scrollbar_size_vertical - self.wrap_width
        self.virtual_size = Size(self._breadth + beside * (self._breadth > self.wrap_width), self.row_count)
        self.refresh()
        if before is not None and wrapped is not None and top < len(before.rows):
            line, start, _ = before.rows[top]
            self.scroll_to(y=wrapped.row_of(line, start), animate=False, force=True)
            if self._query:
                self._hits = wrapped.find(self._query)

    # -- moving ------------------------------------------------------------------------------------

    def _scroll_rows(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)

    def _show_row(self, row: int) -> None:
        above = min(_CONTEXT, max(0, self.scrollable_size.height - 1) // 2)
        self.scroll_to(y=row - above, animate=False, force=True)

    def _show_hit(self) -> None:
        self._strips.clear()
        self.refresh()
        if self._hits and self._wrapped is not None:
            line, start, _ = self._hits[self._hit]
            row = self._wrapped.row_of(line, start)
            self._keep_in_sight(row)
        self.border_subtitle = f"hit {self._hit + 1} of {len(self._hits)}" if self._hits else ""

    def _keep_in_sight(self, row: int) -> None:
        if not 0 <= row - self.scroll_offset.y < self.scrollable_size.height:
            self._show_row(row)

    def action_lines(self, lines: int) -> None:
        self._scroll_rows(lines)

    def action_pages(self, pages: int) -> None:
        self._scroll_rows(pages * max(1, self.scrollable_size.height - 1))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._breadth > self.wrap_width if action == "columns" else super().check_action(action, parameters)

    def action_columns(self, step: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + step * self.wrap_width // 4, animate=False, force=True)

    def action_top(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_bottom(self) -> None:
        self._wrap_completely()
        self.scroll_to(y=self.row_count, animate=False, force=True)

    # -- drawing -----------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        strip = self._strips.get(row)
        if strip is None:
            strip = self._strips[row] = self._draw(row)
        wrapped = self._wrapped
        # Lines of a table move sideways; other texts stay.
        moves = wrapped is not None and row < len(wrapped.rows) and wrapped.rows[row].line in wrapped.aligned
        left = self.scroll_offset.x if moves else 0
        return strip.crop(left, left + self.wrap_width)

    def _draw(self, row: int) -> Strip:
        width, base = self._breadth, self.rich_style
        if self._wrapped is None or row >= self.row_count:
            return Strip.blank(width, base)
        segments = [
            Segment(text, self.get_component_rich_style(_component_class(style)) if style else base)
            for text, style in self._wrapped.spans(row)
        ]
        return Strip(self._highlight(row, segments)).adjust_cell_length(width, base)

    def _highlight(self, row: int, segments: list[Segment]) -> list[Segment]:
        if self._wrapped is None or not self._hits:
            return segments
        line, start, end = self._wrapped.rows[row]
        length = self._hits[0].end - self._hits[0].start
        first = bisect_right(self._hits, (line, start - length, sys.maxsize))
        last = bisect_left(self._hits, (line, end, 0))
        style = self.get_component_rich_style("reader--hit")
        here = style + self.get_component_rich_style("reader--current-hit", partial=True)
        for number, hit in enumerate(self._hits[first:last], first):
            segments = restyle(segments, hit.start - start, hit.end - start, here if number == self._hit else style)
        return segments


def _is_long(document: RenderedText) -> bool:
    characters = 0
    for line in document.lines:
        characters += 1 + sum(len(span.text) for span in line.spans)
        if characters > _MAX_UNTHREADED:
            return True
    return False
