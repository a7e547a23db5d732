"""Import: a file, the mapping of its columns, accepted and rejected rows; then the import itself."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import DirectoryTree, Static

from workbench.app.tui.form import FormField, option_field
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import choose
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.path_suggester import ambiguous_name_message, possible_names
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.verb import VerbFormScreen
from workbench.app.tui.verb_forms import VerbForm
from workbench.app.verbs import verb_named
from workbench.core.errors import OptionError, WorkbenchError
from workbench.core.item import QuarantinedRow
from workbench.core.progress import raise_if_cancelled
from workbench.core.run import RefusedLine
from workbench.data.formats.fields import ITEM_FIELDS, REQUIRED
from workbench.data.formats.first_look import FirstLook, first_look, verifier_name
from workbench.interchange.import_report import ImportReport, counts_line, import_lines
from workbench.interchange.importing import ImportOptions, plans_of, run_import

_FILE: Final = "file"
_DATASET: Final = "dataset"
_VERDICTS: Final = "verdicts"
_CHOSEN_HERE: Final = ("files", "map", "verdict", *ITEM_FIELDS)
"""Options of the command that the file, and the columns chosen for it, determine."""
_SETTLE_S: Final = 0.3
_FIRST: Final = ("question", "reference", "completion", "gold", "type", "subtype", "domain", "model", "source")
_TYPES: Final = {"type", "subtype"}
_OF_VERDICTS: Final = "columns with verdicts or scores; each selected one becomes a verifier"


class _MovedColumn(NamedTuple):
    column: str
    to: str


class ImportScreen(VerbFormScreen):
    """The fields and, below them, the accepted and rejected rows; nothing is written until the user starts the import.

    Attributes:
        look: Columns and sample values from the file's beginning; None before there is a file.
        report: The accepted and rejected rows with the current fields; None while unknown.
    """

    TITLE_TEXT, REMARK, FORM = "Import", "rows of CSV, TSV, XLSX, JSON, Parquet or logs", "import-fields"
    STOPPED = "Stopped. Stored rows stay; importing the file again continues."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("import.store", "f4,ctrl+r", "run", "Import", "Import the file as previewed.", priority=True),
        Action("import.pick", "f2", "pick", "Pick file", "Pick the file from a tree of folders.", priority=True),
        Action("import.preview", "f3,ctrl+t", "try", "Preview", "Read the file again.", priority=True, footer=False),
        Action("import.command", "ctrl+y", "command", "As command", "Show and copy this as a command.", priority=True),
        Action("import.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
        Action("import.page-up", "pageup", "page(-1)", "Page up", "Scroll the preview up.", False, priority=True),
        Action("import.page-down", "pagedown", "page(1)", "Page down", "Scroll the preview down.", priority=True),
        Action("import.back", "escape,q", "back", "Back", "Stop the import, else go back."),
    )

    def __init__(self) -> None:
        super().__init__(verb_named("import"))
        self.look: FirstLook | None = None
        self.report: ImportReport | None = None
        self._path: Path | None = None
        self._gave: dict[str, _MovedColumn] = {}
        self._later: Timer | None = None
        self._bytes = 0
        self._goes_on = True

    heading = WorkbenchScreen.heading

    def fields(self) -> ComposeResult:
        yield option_field(FormField(name=_FILE, about="", is_path=True))
        yield Vertical(id="import-columns")

    def content(self) -> ComposeResult:
        yield from super().content()
        with VerticalScroll(id="import-preview"):
            yield Static(f"Enter a file's name, or pick a file with {key_of('import.pick')}.", markup=False)

    def on_mount(self) -> None:
        self.take_up([self._field(_FILE)])
        if left := self._field(_FILE).value:
            self._field(_FILE).select()
            self._look_at(Path(left).expanduser(), goes_on=False)

    async def begin_with(self, form: VerbForm) -> None:
        if self.look is not None:
            await self._ask_columns(self.look)

    # -- the file ----------------------------------------------------------------------------------

    def _field(self, name: str) -> OptionField:
        return self.query_one(f"#option-{name}", OptionField)

    def action_pick(self) -> None:
        typed = Path(self._field(_FILE).value or self.project.path.parent).expanduser().absolute()
        folder = typed if typed.is_dir() else typed.parent
        choose(self, FilePicker(folder if folder.is_dir() else Path.cwd()), self._take_file)

    def _take_file(self, path: Path) -> None:
        with self.prevent(OptionField.Changed):  # it would clear the messages about the file
            self._field(_FILE).value = str(path)
        self._look_at(path.expanduser())

    def entered(self, field: OptionField) -> None:
        if not self._field(_FILE).value:
            self.show_error(OptionError(_FILE, "Name a file."))
        elif self._is_read:
            self.focus_next()
        else:
            self._read_typed()

    @on(OptionField.Left)
    def _left(self, event: OptionField.Left) -> None:
        name = event.field.value
        if event.field.option == _FILE and name and self.is_current and Path(name).expanduser() != self._path:
            self._read_typed()

    @property
    def _is_read(self) -> bool:
        return self.look is not None and Path(self._field(_FILE).value).expanduser() == self._path

    def _read_typed(self) -> None:
        name = self._field(_FILE).value
        self.in_background(partial(possible_names, name), partial(self._use_typed_name, name), group="import-name")

    def _use_typed_name(self, typed: str, found: list[str]) -> None:
        if self._field(_FILE).value != typed:
            return
        if len(found) > 1:
            self.show_error(OptionError(_FILE, ambiguous_name_message(found)))
        elif found and found[0].endswith(os.sep):
            self._field(_FILE).value = found[0]
        else:
            self._take_file(Path(found[0] if found else typed))

    def _look_at(self, path: Path, *, goes_on: bool = True) -> None:
        self._path, self.look, self.report, self._goes_on = path, None, None, goes_on
        self.complain("")
        self._field(_FILE).complain("")
        # Choices for the columns of another file don't apply to this one.
        self._fresh = {_FILE: ""}
        self._gave.clear()
        if self._as_left.get(_FILE) != self._field(_FILE).value:
            self._as_left = {}
        self.keep()
        self._show("looking …")
        self.query_one("#import-columns").remove_children()
        self.in_background(partial(first_look, path), self._looked, group="import-look")

    def _looked(self, look: FirstLook) -> None:
        if len(look.columns) == 1:
            self._show("")
            said = f"The one column of the file is {look.columns[0]!r}: questions and answers need one each."
            self.show_error(OptionError(_FILE, said))
            return
        self.look = look
        if self.form is not None:
            self.run_worker(self._ask_columns(look), group="import-columns", exclusive=True)

    async def _ask_columns(self, look: FirstLook) -> None:
        box = self.query_one("#import-columns")
        async with self.batch():
            await box.remove_children()
            await box.mount_all(fields := self._fields(look))
        # A mapping is detected anew each time: a wrong one doesn't outlive the screen.
        self.take_up(field for field in fields if field.option not in (_VERDICTS, *ITEM_FIELDS))
        if look.columns and self._goes_on:
            missing = [name for name in REQUIRED if name not in look.fields | look.like]
            self._field(missing[0] if missing else REQUIRED[0]).line.focus()
        self._withhold()
        self._preview_later()

    def _fields(self, look: FirstLook) -> list[OptionField]:
        assert self.form is not None
        others = {one.name: option_field(one) for one in self.form.fields if one.name not in _CHOSEN_HERE}
        dataset = others.pop(_DATASET)
        if not look.columns:
            return [dataset, *others.values()]
        asked = (*_FIRST, *(name for name in ITEM_FIELDS if name not in _FIRST))
        columns = {column: " · ".join(look.values.get(column, ())) for column in look.columns}
        found = {**look.like, **look.fields}
        fields = [OptionField(name, "", {"": "–", **columns}, found.get(name, "")) for name in asked]
        judging = {column: columns[column] for column in look.judging}
        verdicts = OptionField(_VERDICTS, _OF_VERDICTS, judging, shlex.join(look.verdicts), several=True)
        return [dataset, *fields, verdicts, *others.values()]

    # -- what would become of it -------------------------------------------------------------------

    @on(OptionField.Changed)
    def _changed(self, event: OptionField.Changed) -> None:
        if event.field.option in ITEM_FIELDS:
            self._give_way(event.field)
        if event.field.option != _FILE:
            self._withhold()
            self._preview_later()

    def _give_way(self, chosen: OptionField) -> None:
        fields = {field.option: field for field in self.query(OptionField) if field.option in ITEM_FIELDS}
        for name, gave in [*self._gave.items()]:
            if fields[name].value or (gave.to == chosen.option and gave.column != chosen.value):
                del self._gave[name]
                fields[name].value = fields[name].value or gave.column
        for name, field in fields.items():
            if field is not chosen and chosen.value and field.value == chosen.value:
                self._gave[name] = _MovedColumn(chosen.value, chosen.option)
                field.value = ""

    def _withhold(self) -> None:
        fields = {field.option: field for field in self.query(OptionField)}
        if _VERDICTS in fields:
            fields[_VERDICTS].withhold({fields[name].value: name for name in ITEM_FIELDS if name in fields})

    def _preview_later(self) -> None:
        self.report = None
        if self._later is not None:
            self._later.stop()
        self._later = self.set_timer(_SETTLE_S, self.action_try)

    def options(self, *, dry_run: bool = False) -> ImportOptions:
        """Return the record of the import.

        Raises:
            OptionError: There is no file, a required field has no column, or a value is invalid.
        """
        typed = self.typed()
        assert self.form is not None
        return cast("ImportOptions", self.form.record(typed, dry_run=dry_run))

    def typed(self) -> dict[str, str]:
        if self._path is None or self.look is None or self.form is None:
            raise OptionError(_FILE, "Name a file.")
        values = self.values()
        columns = {name: values[name] for name in ITEM_FIELDS if name in values}
        for name in REQUIRED if self._has_completions(columns) else ():
            if not columns[name]:
                raise OptionError(name, f"Choose the column of the {name}.")
        taken = [column for column in columns.values() if column]
        chosen = [column for column in shlex.split(values.get(_VERDICTS, "")) if column not in taken]
        changed = {name for name, column in columns.items() if column != self.look.fields.get(name, "")}
        # "–" marks each field that a column's name would fill.
        changed |= {name for name, column in columns.items() if not column and self.look.is_named(name)}
        if changed & _TYPES:
            # Of one that is named the other isn't guessed.
            changed |= _TYPES & columns.keys()
        return {name: value for name, value in values.items() if name not in columns} | {
            "files": shlex.quote(str(self._path)),
            "map": shlex.join(f"{name}={column}" for name, column in columns.items() if name in changed),
            "verdict": shlex.join(f"{verifier_name(column)}={column}" for column in chosen),
        }

    def _has_completions(self, columns: dict[str, str]) -> bool:
        assert self.look is not None
        pool = {"question", "reference"} <= self.look.fields.keys() and "completion" not in self.look.fields
        return bool(columns) and not (pool and not any(columns[name] for name in ("completion", "gold", "model")))

    def action_try(self) -> None:
        if self._path is None or self.look is None:
            return
        self.complain("")
        try:
            options = self.options(dry_run=True)
        except OptionError as error:
            self._show(error.message)
            return
        self._show("reading …")
        self.in_background(partial(self._import, options), self._previewed, group="import-preview", stops=True)

    def _import(self, options: ImportOptions) -> ImportReport:
        read = (lambda _: raise_if_cancelled()) if options.dry_run else self._count_bytes
        return run_import(self.project, plans_of(options), options, read)

    def _previewed(self, report: ImportReport) -> None:
        self.report = report
        if not self._field(_DATASET).value:
            self._field(_DATASET).hint(f"not set: its name will be {printable(report.dataset)}")
        self.query_one("#import-preview Static", Static).update(preview_text(report))

    def action_page(self, way: int) -> None:
        box = self.query_one("#import-preview")
        box.scroll_relative(y=way * max(box.scrollable_content_region.height - 1, 1), animate=False)

    def _show(self, text: str) -> None:
        self.query_one("#import-preview Static", Static).update(printable(text))

    def show_error(self, error: BaseException | None) -> None:
        if isinstance(error, WorkbenchError) and not isinstance(error, OptionError):
            self._show("")
        super().show_error(error)

    # -- the import --------------------------------------------------------------------------------

    def action_run(self) -> None:
        if self.is_at_work:
            return
        if self._field(_FILE).value and not self._is_read:
            # Nothing is imported before its columns are shown.
            self._read_typed()
            return
        self.complain("")
        options = self.attempt(self.options)
        if options is None or self._path is None:
            return
        self._bytes = 0
        size = max(self._path.stat().st_size, 1) if self._path.exists() else 1

        def tell() -> None:
            share = min(self._bytes / size, 1)
            self.say(f"importing: {share:.0%} · {key_of('import.back')} stops it; stored rows stay")

        self.begin(partial(self._import, options), self._finish_import, tell, 0.5)

    def _count_bytes(self, many: int) -> None:
        self._bytes += many
        raise_if_cancelled()

    def _finish_import(self, report: ImportReport) -> None:
        self.rest()
        self.forget()
        title = f"Imported into {printable(report.dataset)}"
        self.notify(printable(counts_line(report, "imported")), title=title, timeout=8)
        self.workbench.action_go_back()


# -- What would be, and was, imported, in words.


_OF_LINES = ("csv", "tsv", "jsonl", "verifybench")
"""Formats whose rows are identified by line."""
_MAX_REJECTED = 5


def preview_text(found: ImportReport) -> Content:
    first, *rest = import_lines(found, "would be imported")
    lines = [Content.styled(printable(first), "bold"), *(Content(printable(line)) for line in rest)]
    return Content("\n").join([*lines, *_rejected_lines(found)])


def _rejected_lines(found: ImportReport) -> Iterator[Content]:
    refused: list[QuarantinedRow | RefusedLine] = [*found.quarantine, *(found.refused_verdicts or [])]
    where = "line" if found.format in _OF_LINES else "row"
    told = [f"{where} {row.line}, {row.field or 'whole'}: {row.message}" for row in refused[:_MAX_REJECTED]]
    told += [f"and {len(refused) - _MAX_REJECTED:,} more"] if len(refused) > _MAX_REJECTED else []
    told += [one.words for one in (found.broken_tests or [])[:1]]
    yield from (Content.styled(printable(f"! {line}"), "$text-warning") for line in told)


# -- The tree of folders.


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
