"""The first line of a screen: where one is, and who is looking."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class TitleBar(Static):
    """One line: a title at the left, a remark beside it. Both are data, never markup."""

    DEFAULT_CSS = """
    TitleBar {
        dock: top;
        height: 1;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, title: str, remark: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._title = title
        self.remark = remark

    def on_mount(self) -> None:
        """Draw."""
        self.say(self.remark)

    def say(self, remark: str) -> None:
        """Replace the remark."""
        self.remark = remark
        self.update(Content.assemble((self._title, "bold"), "  ", (remark, "$foreground-muted")), layout=False)
