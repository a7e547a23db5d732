"""Combine: verifiers that pick the best completion, that predict gold, and results of training with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple, get_args

from msgspec import structs
from textual import events
from textual.content import Content

from workbench.app.tui.figure_screen import FIGURES, FigureQuery, FigureScreen, counting
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ChoiceMenu, ManyMenu, choose, following
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.screen import SHORT
from workbench.app.tui.sharing import share
from workbench.app.tui.table_screen import FilterScreen, TablesScreen
from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.options import read_sizes
from workbench.core.project import Project
from workbench.core.selection import Condition
from workbench.measuring.combined import (
    CombinedReport,
    CombinedTable,
    Standing,
    combined_as,
    combined_name,
    conclusion,
    head,
    parts,
)
from workbench.measuring.downstream import downstream
from workbench.measuring.estimating import estimate
from workbench.measuring.judged import BASELINE, everybody
from workbench.measuring.selecting import best_of
from workbench.tables.document import Cell, Table, heads

Task = Literal["best-of", "estimate", "downstream"]


class CombinedQuery(FigureQuery, frozen=True, kw_only=True):
    """A request for one of the three tasks.

    Attributes:
        verifiers: Names of the verifiers that pick; empty for all that have a complete run.
        sizes: Numbers of completions to pick from; empty for 1, 2, 4 ...
        subject: The verifier whose accuracy is estimated; None for the first one.
        predictors: Names of the verifiers whose verdicts predict gold; empty for all except ``subject``.
        path: The file of downstream scores; "" before one is named.
        by: Property by which items are grouped; None for all items in one group.
    """

    task: Task = "best-of"
    verifiers: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    subject: str | None = None
    predictors: tuple[str, ...] = ()
    path: str = ""
    by: str | None = None
    conditions: tuple[Condition, ...] = ()


class CombinedView(NamedTuple):
    report: CombinedReport
    head: str
    sheets: tuple[CombinedTable, ...]


def subject_of(wanted: CombinedQuery, names: tuple[str, ...]) -> str:
    """Return the verifier whose accuracy is estimated.

    Raises:
        UsageError: No verifier has a complete run.
    """
    if not names:
        raise UsageError("No verifier has a complete run.", "Start one in Verifiers & runs.")
    return wanted.subject or next((name for name in names if name != BASELINE), names[0])


def _report(project: Project, wanted: CombinedQuery) -> CombinedReport:
    if wanted.task == "best-of":
        return best_of(project, wanted.verifiers, sizes=wanted.sizes, **counting(wanted))
    if wanted.task == "estimate":
        subject = subject_of(wanted, everybody(project))
        return estimate(project, subject, wanted.predictors, by=wanted.by, **counting(wanted))
    if not wanted.path:
        raise UsageError(
            "Does a better verifier make a better model? This needs a file with scores of trained models.",
            "Name one: each line has verifier, benchmark and score, as JSON or CSV.",
        )
    return downstream(project, Path(wanted.path), by=wanted.by, **counting(wanted))


_TASKS: Final[dict[Task, str]] = {"best-of": "Best of n", "estimate": "Estimate", "downstream": "Downstream"}
"""Task -> its title, in the order of the keys."""

_STANDINGS: Final[dict[Standing, Cell]] = {
    "": Cell(""),
    "better": Cell("▲ better", "success", value="better"),
    "worse": Cell("▼ worse", "error", value="worse"),
    "not distinguishable": Cell("≈ alike", "dim", value="alike"),
}

TALL = 34
"""Terminal lines from which more of the text is visible."""


_ONLY_FOR: dict[str, tuple[Task, ...]] = {
    "choose_verifiers": ("best-of", "estimate"),
    "choose_subject": ("estimate",),
    "sizes": ("best-of",),
    "file": ("downstream",),
    "next_group": ("estimate", "downstream"),
}
"""Action -> the tasks it applies to; actions not listed apply to all."""


class CombineScreen(TablesScreen, FilterScreen, FigureScreen):
    """One task's tables, one at a time, and all details of the row under the cursor.

    Attributes:
        found: The newest result; None until it has been computed, or if it can't be.
    """

    CSS_PATH = "combine.tcss"
    TITLE_TEXT = "Combine"
    PREFIX, ABOVE = "combine", ("tabs", "head", "caption")
    asked: CombinedQuery = CombinedQuery()
    found: CombinedView | None = None
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("combine.best-of", "1", "task('best-of')", "Best of n", "Show how well verifiers pick one of n.", False),
        Action("combine.estimate", "2", "task('estimate')", "Estimate", "Estimate accuracy from few labels.", False),
        Action("combine.downstream", "3", "task('downstream')", "Downstream", "Compare with downstream scores.", False),
        Action("combine.table", "w", "next_table", "Table", "Show the next table: the mix of labels, curves …"),
        Action("combine.file", "a", "file", "File", "Name the file of downstream scores."),
        Action("combine.subject", "V", "choose_subject", "Subject", "Choose whose accuracy is estimated."),
        Action("combine.verifiers", "v", "choose_verifiers", "Verifiers", "Choose the verifiers that pick or predict."),
        Action("combine.sizes", "@", "sizes", "Sizes", "Set the numbers of completions to pick from."),
        Action("combine.by", "b", "next_group(1)", "By", "Break down by the next property (type, source …)."),
        Action("combine.by-before", "B", "next_group(-1)", "Before", "Break down by the previous one.", False),
        Action("combine.protocol", "p", "next_protocol", "Protocol", "Change how abstentions are counted."),
        Action("combine.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("combine.filter", "f", "filter", "Filter", "Count only items that meet conditions."),
        Action("combine.save", "e", "save", "Save", "Copy or save this table: CSV, Markdown, LaTeX."),
        Action("combine.again", "r", "again", "Count again", "Compute the metrics again.", False),
        Action("combine.back", "escape,q", "back", "Back", "Clear the filter, then go back."),
    )

    def on_mount(self) -> None:
        self._clear()
        self.change()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= TALL, "tall")
        self.set_class(event.size.height < SHORT, "short")

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> CombinedView:
        return read(self.project, self.asked)

    def show(self, found: CombinedView) -> None:
        before, self.found = self.sheet, found
        self._update_title()
        self._fill(found, begin=before is None or _row_names(before) != _row_names(found.sheets[self.place]))
        if before is None:
            self.refresh_bindings()

    def _fill(self, found: CombinedView, *, begin: bool) -> None:
        row = found.sheets[self.place].begin if begin else None
        self.show_tables(found.head, [*map(_with_standings, found.sheets)], row)

    def _clear(self) -> None:
        self.found, self.place = None, 0
        self.put("tabs", _tabs_text(self.asked.task), layout=False)
        self.show_tables("", ())
        self.refresh_bindings()

    def show_failure(self, error: Exception) -> None:
        self._clear()
        self._update_title("no metrics")
        self.put_detail(_error_text(error))
        if not isinstance(error, WorkbenchError):
            self.show_error(error)

    def shows_errors_of(self, group: str) -> bool:
        return group != FIGURES

    def about(self, row: int) -> Sequence[str]:
        return () if self.sheet is None else self.sheet.said[row].words

    @property
    def sheet(self) -> CombinedTable | None:
        return None if self.found is None else self.found.sheets[self.place]

    def _update_title(self, remark: str = "") -> None:
        wanted = self.asked
        parts = [
            RemarkPiece(remark),
            RemarkPiece(printable(self.project.path.name), 2),
            RemarkPiece(f"by {wanted.by}" if wanted.by else "", 1),
            self.filter_piece,
        ]
        self.query_one(TitleBar).say_parts(parts)

    # -- which question, which table ---------------------------------------------------------------

    def action_task(self, task: Task) -> None:
        if task != self.asked.task:
            self.asked = structs.replace(self.asked, task=task)
            self._clear()
            self.change()

    def action_next_table(self, step: int = 1) -> None:
        if self.found is not None:
            self.place = (self.place + step) % len(self.found.sheets)
            self._fill(self.found, begin=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_table":
            return self.found is not None and len(self.found.sheets) > 1
        return self.asked.task in _ONLY_FOR.get(action, get_args(Task))

    def action_save(self) -> None:
        if self.found is not None:
            report = self.found.report
            name = combined_name(report, self.place)
            share(self, name, partial(combined_as, report, self.place), lambda: report)

    def action_again(self) -> None:
        self.change()

    # -- who ---------------------------------------------------------------------------------------

    def action_choose_verifiers(self) -> None:
        self._with_names(self._ask_verifiers)

    def action_choose_subject(self) -> None:
        self._with_names(self._ask_subject)

    def _with_names(self, then: Callable[[tuple[str, ...]], None]) -> None:
        self.in_background(partial(everybody, self.project), partial(self._use_typed_name, then), group="combine-names")

    def _use_typed_name(self, then: Callable[[tuple[str, ...]], None], names: tuple[str, ...]) -> None:
        if names:
            then(names)
        else:
            self.notify("No verifier has a complete run yet.", markup=False)

    def _ask_verifiers(self, names: tuple[str, ...]) -> None:
        if self.asked.task == "estimate":
            others = tuple(name for name in names if name != subject_of(self.asked, names))
            present = self.asked.predictors or {*others} - {BASELINE}
            menu = ManyMenu("Which verifiers predict gold?", others, present)
            choose(self, menu, lambda chosen: self.change(predictors=chosen))
        else:
            menu = ManyMenu("Who picks?", names, self.asked.verifiers or names)
            choose(self, menu, lambda chosen: self.change(verifiers=chosen))

    def _ask_subject(self, names: tuple[str, ...]) -> None:
        choices = {name: printable(name) for name in names}
        menu = ChoiceMenu("Which verifier's accuracy?", choices, chosen={subject_of(self.asked, names)})
        choose(self, menu, self._subject_chosen)

    def _subject_chosen(self, name: str) -> None:
        self.change(subject=name, predictors=tuple(other for other in self.asked.predictors if other != name))

    # -- how ---------------------------------------------------------------------------------------

    def action_next_group(self, step: int) -> None:
        self.change(by=following(self.asked.by, (None, *self.groups_of_items)[::step]))

    # -- what is typed -----------------------------------------------------------------------------

    def action_sizes(self) -> None:
        text = ",".join(map(str, self.asked.sizes))
        self.app.push_screen(PromptLine("best of", text, entered=self._set_sizes, hint="1,2,4  (empty: 1, 2, 4, 8 …)"))

    def _set_sizes(self, text: str) -> None:
        self.change(sizes=read_sizes(text) if text else ())

    def action_file(self) -> None:
        hint = 'lines of {"verifier": …, "benchmark": …, "score": …}, or CSV'
        self.app.push_screen(PromptLine("file", self.asked.path, entered=self._set_file, hint=hint))

    def _set_file(self, text: str) -> None:
        path = os.path.expanduser(text)
        if text and not Path(path).is_file():
            raise UsageError(f"There is no file {path}.")
        self.change(path=path)


def _tabs_text(task: Task) -> Content:
    parts: list[str | tuple[str, str]] = []
    for name, title in _TASKS.items():
        text = f"{key_of(f'combine.{name}')} {title}".strip()
        parts.append((f"[{text}]", "bold $text-accent") if name == task else f" {text} ")
    return Content.assemble(*parts)


def _with_standings(sheet: CombinedTable) -> Table:
    """Return the table with a column that says whether a row is better or worse than what it is compared with."""
    table, left = sheet.table, sheet.table.left
    if not any(said.standing for said in sheet.said):
        return table
    rows = (
        structs.replace(row, cells=(*row.cells[:left], _STANDINGS[said.standing], *row.cells[left:]))
        for row, said in zip(table.rows, sheet.said, strict=True)
    )
    return structs.replace(
        table,
        head=(heads(*table.titles[:left], "", *table.titles[left:]),),
        rows=tuple(rows),
        notes=(f"▲ better ▼ worse ≈ not distinguishable: compared with {sheet.against}.", *table.notes),
    )


def _row_names(sheet: CombinedTable) -> list[tuple[Cell, ...]]:
    return [row.cells[: sheet.table.left] for row in sheet.table.rows]


def _error_text(error: BaseException) -> Content:
    if isinstance(error, WorkbenchError):
        return Content.styled(printable(str(error)), "bold")
    return Content(f"{type(error).__name__}: {printable(str(error))}")


def read(project: Project, wanted: CombinedQuery) -> CombinedView:
    """Compute the report.

    Raises:
        UsageError: See `best_of`, `estimate` and `downstream`.
        FormatError: The file of scores can't be read.
    """
    report = _report(project, wanted)
    return CombinedView(report, f"{conclusion(report)}\n{head(report)}".strip(), parts(report))
