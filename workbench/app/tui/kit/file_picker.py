"""A tree of folders for picking a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import DirectoryTree

from workbench.app.tui.kit.cells import printable

_BESIDE: Final = (
    *(".db", "-wal", "-shm", ".db.columns"),
    *(f".db.{what}" for what in ("runner.lock", "runner.log", "app.log")),
)
"""Suffixes of databases and their companion files, which have no rows to import."""


class _VisibleFilesTree(DirectoryTree):
    below: Path | None = None

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        return [path for path in paths if not path.name.startswith(".") and not path.name.endswith(_BESIDE)]

    async def watch_path(self) -> None:
        await super().watch_path()
        listed = [node.data.path for node in self.root.children if node.data is not None]
        self.cursor_line = listed.index(self.below) if self.below in listed else 0


class FilePicker(ModalScreen[Path | None]):
    """Returns a file, or None.

    Args:
        folder: The initial folder.
    """

    DEFAULT_CSS = """
    FilePicker { align: center middle; }
    FilePicker DirectoryTree { width: 90%; height: 90%; border: round $primary; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace,left", "up", "Folder above"),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def compose(self) -> ComposeResult:
        tree = _VisibleFilesTree(self._folder)
        tree.border_title = Content(printable(str(self._folder)))
        tree.border_subtitle = Content("enter: choose or open · ←: folder above · escape: cancel")
        yield tree

    @on(DirectoryTree.FileSelected)
    def _file_selected(self, event: DirectoryTree.FileSelected) -> None:
        event.stop()
        self.dismiss(event.path)

    async def on_mount(self) -> None:
        tree = self.query_one(_VisibleFilesTree)
        tree.show_root = False
        await tree.watch_path()

    def action_up(self) -> None:
        tree = self.query_one(_VisibleFilesTree)
        tree.below, self._folder = self._folder, self._folder.parent
        tree.path = self._folder
        tree.border_title = Content(printable(str(self._folder)))
