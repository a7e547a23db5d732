"""The pool of questions by source: exclusions with reasons, types, and draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.content import Content

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.benchmarks.curating.types import SOURCES, pool_status
from workbench.core.errors import UsageError
from workbench.core.selection import NAMELESS, Condition
from workbench.core.text.figures import counted
from workbench.measuring.records.curation import COUNTING, PoolStatus, Scope, SourceStatus


class PoolScreen(TableScreen, LiveScreen):
    """The table of sources, and a text about the source under the cursor.

    Attributes:
        status: The shown counts; None until loaded, or if there is no question.
    """

    CSS_PATH = "pool.tcss"
    TITLE_TEXT = "Pool of questions"
    PREFIX, BELOW = "pool", ("words",)
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("pool.items", "i", "open_row", "Items", "List the source's completions in Browse."),
    )
    status: PoolStatus | None = None

    def read(self) -> PoolStatus:
        return pool_status(self.project, Scope())

    def show(self, data: PoolStatus) -> None:
        self.status = data
        self.say(f"{printable(self.project.path.name)} · {counted(data.questions, 'question')}")
        self.fill()

    def fill(self) -> None:
        if self.status is not None:
            self.table.show_records(SOURCES, enumerate(self._sources_with_total))
            self.highlighted(self.table.selected_id or 0)

    @property
    def _sources_with_total(self) -> tuple[SourceStatus, ...]:
        return () if self.status is None else (*self.status.sources, self.status.total)

    def show_error(self, error: BaseException | None) -> None:
        if isinstance(error, UsageError):
            self.say("no questions")
            self.put("words", Content(printable(str(error))))
        else:
            super().show_error(error)

    def highlighted(self, row: int) -> None:
        if self.status is not None and row < len(self._sources_with_total):
            whole = row == len(self._sources_with_total) - 1
            text = _source_text(self._sources_with_total[row], whole=whole, stale=self.status.stale)
            self.put("words", text)

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.browse import BrowseScreen

        if self.status is None:
            return
        one = self._sources_with_total[row]
        anywhere = one is self.status.total or one.source == NAMELESS
        self.app.push_screen(BrowseScreen(*(() if anywhere else (Condition("source", "=", one.source),))))


def _source_text(one: SourceStatus, *, whole: bool, stale: int) -> Content:
    """Return a text on a source's exclusions with reasons, the origin of its types, and draws.

    Args:
        whole: Whether ``one`` is the total of the whole pool.
        stale: Number of questions excluded as duplicates of a question that is itself excluded, over all sources.
    """
    lines = [
        f"{counted(one.questions, 'question')}, {one.left:,} in"
        + ("" if whole else f"; licence: {one.licence or 'unknown'}"),
        f"out: {_counts_text(one.excluded)}",
        f"types: {_counts_text(one.types)}",
        f"they count: {_counts_text({word: one.origins[word] for word in COUNTING if word in one.origins})}",
        f"not yet: {_counts_text({word: count for word, count in one.origins.items() if word not in COUNTING})}"
        + (" (curate types, accept)" if {"one person", "model"} & set(one.origins) else ""),
        f"drawn: {_counts_text(one.drawn)}",
    ]
    text = Content.assemble((printable(one.source), "bold"), "\n", "\n".join(map(printable, lines)))
    if stale:
        text += Content.styled(f"\n! {stale:,} duplicates of a question that is itself excluded", "$text-warning")
    return text


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"
