"""Combine: verifiers that vote, that pick, that predict gold, and what is trained with them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, get_args

from msgspec import structs
from textual import events
from textual.content import Content
from textual.worker import Worker, WorkerState

from workbench.errors import UsageError, WorkbenchError
from workbench.model.selection import Condition
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.services.measuring.combined import CombinedSheet, combined_as, save_combined
from workbench.services.measuring.comparing import GROUPS
from workbench.services.measuring.judged import BASELINE, everybody
from workbench.services.measuring.selecting import read_sizes
from workbench.tui.actions import Action
from workbench.tui.combined_reading import CombinedQuery, CombinedView, Task, read, subject_of
from workbench.tui.sharing import share
from workbench.tui.switches import following
from workbench.tui.table_screen import QueryScreen
from workbench.tui.widgets import combine_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.choices import Choice, ChoiceMenu
from workbench.tui.widgets.many_choices import ManyMenu
from workbench.tui.widgets.sources import MemorySource
from workbench.tui.widgets.title_bar import RemarkPiece, TitleBar

TALL = 34
"""Terminal lines from which more of the words is in sight."""

_READ = "combine"
_COUNTING = "counting …"

_ONLY_FOR: dict[str, tuple[Task, ...]] = {
    "choose_verifiers": ("ensembles", "best-of", "estimate"),
    "weights": ("ensembles",),
    "choose_subject": ("estimate",),
    "sizes": ("best-of",),
    "file": ("downstream",),
    "next_group": ("ensembles", "estimate", "downstream"),
}
"""Action -> what it is for."""


class CombineScreen(QueryScreen):
    """One question's tables, one at a time, and everything about the row under the cursor.

    Attributes:
        wanted: What is asked for.
        found: What was counted last; None until it has come, and where it can't be counted.
        place: Which of its tables is shown.
    """

    CSS_PATH = "combine.tcss"
    TITLE_TEXT = "Combine"
    PREFIX, ABOVE, DETAIL, PANE = "combine", ("tabs", "head", "caption"), True, True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("combine.ensembles", "1", "task('ensembles')", "Ensembles", "Let verifiers vote.", footer=False),
        Action("combine.best-of", "2", "task('best-of')", "Best of n", "Let them pick one of n.", footer=False),
        Action("combine.estimate", "3", "task('estimate')", "Estimate", "Estimate accuracy from few labels.", False),
        Action("combine.downstream", "4", "task('downstream')", "Downstream", "Set scores beside accuracy.", False),
        Action("combine.table", "t", "next_table", "Table", "Show the next table: members, the mix of labels …"),
        Action("combine.file", "o", "file", "File", "Name the file of downstream scores."),
        Action("combine.subject", "a", "choose_subject", "Of whom", "Choose whose accuracy is estimated."),
        Action("combine.verifiers", "v", "choose_verifiers", "Verifiers", "Choose who votes, picks or predicts."),
        Action("combine.weights", "w", "weights", "Weights", "Weighted votes, too, or k of n only."),
        Action("combine.sizes", "n", "sizes", "Of how many", "Say of how many completions one is picked."),
        Action("combine.by", "b", "next_group(1)", "By", "Break down by the next property (type, source …)."),
        Action("combine.by-before", "B", "next_group(-1)", "By before", "The property before.", footer=False),
        Action("combine.protocol", "p", "next_protocol", "Protocol", "Count undecided rows in the next way."),
        Action("combine.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("combine.filter", "f", "filter", "Filter", "Count only items for which conditions hold."),
        Action("combine.save", "e", "save", "Save", "Copy or save this table: CSV, Markdown, LaTeX."),
        Action("combine.again", "r", "again", "Count again", "Count anew.", footer=False),
        Action("combine.back", "escape", "back", "Back", "Close the line, else clear the filter, else go back."),
    )

    def __init__(self) -> None:
        super().__init__()
        self.wanted = CombinedQuery()
        self.found: CombinedView | None = None
        self.place = 0

    def on_mount(self) -> None:
        """Count."""
        self._clear()
        self._ask()

    def on_resize(self, event: events.Resize) -> None:
        """More words where there is room."""
        self.set_class(event.size.height >= TALL, "tall")

    # -- reading and showing -----------------------------------------------------------------------

    def _ask(self, **changes: Any) -> None:
        """Count what is wanted now."""
        self.wanted = structs.replace(self.wanted, **changes)
        self._tell(_COUNTING)
        self.in_background(partial(read, self.project, self.wanted), self._show, group=_READ, stops=True)

    def _show(self, found: CombinedView) -> None:
        if found.wanted != self.wanted:
            return
        before, self.found = self.sheet, found
        self._tell()
        self.put("head", view.head(found.head))
        self._fill(found, begin=before is None or view.names(before) != view.names(found.sheets[self.place]))
        if before is None:
            self.refresh_bindings()

    def _fill(self, found: CombinedView, *, begin: bool) -> None:
        """The table that is shown; the cursor stays, or begins where it matters most."""
        sheet = found.sheets[self.place]
        self.put("caption", view.caption(sheet, self.place, len(found.sheets)), layout=False)
        table = self.table
        table.set_source(MemorySource(view.columns(sheet), view.rows(sheet)))
        row = sheet.begin if begin or table.selected_id is None else table.selected_id
        table.jump_to_id(row)
        self.highlighted(row)

    def _clear(self, text: str = _COUNTING) -> None:
        """No figures of one question below the name of another."""
        self.found, self.place = None, 0
        self.put("tabs", view.tabs(self.wanted.task, self._keys()), layout=False)
        for part in ("head", "caption"):
            self.put(part, "")
        self.table.set_source(view.nothing(text))
        self.put_detail(Content())
        self.refresh_bindings()

    def _keys(self) -> dict[Task, str]:
        """The key of each question, as the person knows it."""
        defaults = {action.id: action.keys for action in self.ACTIONS}
        shown = {task: self.workbench.shown_keys(f"combine.{task}", defaults[f"combine.{task}"]) for task in view.TASKS}
        return {task: next(iter(keys), "") for task, keys in shown.items()}

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What can't be counted leaves a reason, and no figures of something else."""
        error = event.worker.error
        if event.worker.group != _READ or event.state is not WorkerState.ERROR or error is None:
            return
        self._clear("no figures")
        self._tell()
        self.put_detail(view.trouble(error))
        if isinstance(error, WorkbenchError):
            event.prevent_default()  # It is said here: no notice.

    def highlighted(self, row: int) -> None:
        """Everything about a row."""
        sheet = self.sheet
        if sheet is not None and row < len(sheet.lines):
            self.put_detail(view.words(sheet, row))

    @property
    def sheet(self) -> CombinedSheet | None:
        """The table that is shown."""
        return None if self.found is None else self.found.sheets[self.place]

    def _tell(self, remark: str = "") -> None:
        """What is asked for."""
        wanted = self.wanted
        parts = [
            RemarkPiece(remark),
            RemarkPiece(printable(self.project.path.name), 2),
            RemarkPiece(f"by {wanted.by}" if wanted.by else "", 1),
            self.filter_piece,
        ]
        self.query_one(TitleBar).say_parts(parts)

    # -- which question, which table ---------------------------------------------------------------

    def action_task(self, task: Task) -> None:
        """Ask another question."""
        if task != self.wanted.task:
            self.wanted = structs.replace(self.wanted, task=task)
            self._clear()
            self._ask()

    def action_next_table(self) -> None:
        """Show the next table of the same figures."""
        if self.found is not None:
            self.place = (self.place + 1) % len(self.found.sheets)
            self._fill(self.found, begin=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Some keys belong to some of the questions."""
        if action == "next_table":
            return self.found is not None and len(self.found.sheets) > 1
        return self.wanted.task in _ONLY_FOR.get(action, get_args(Task))

    def action_save(self) -> None:
        """Copy or save the table that is shown."""
        if self.found is not None:
            report, path = self.found.report, self.project.path
            share(self, partial(combined_as, report, self.place), partial(save_combined, report, self.place, path))

    def action_again(self) -> None:
        """Count anew."""
        self._ask()

    # -- who ---------------------------------------------------------------------------------------

    def action_choose_verifiers(self) -> None:
        """Choose who takes part."""
        self._with_names(self._ask_verifiers)

    def action_choose_subject(self) -> None:
        """Choose whose accuracy is estimated."""
        self._with_names(self._ask_subject)

    def _with_names(self, then: Callable[[tuple[str, ...]], None]) -> None:
        self.in_background(partial(everybody, self.project), partial(self._named, then), group="combine-names")

    def _named(self, then: Callable[[tuple[str, ...]], None], names: tuple[str, ...]) -> None:
        if names:
            then(names)
        else:
            self.notify("No verifier has a complete run yet.", markup=False)

    def _ask_verifiers(self, names: tuple[str, ...]) -> None:
        if self.wanted.task == "estimate":
            others = tuple(name for name in names if name != subject_of(self.wanted, names))
            present = self.wanted.predictors or without_baseline(others)
            self.app.push_screen(ManyMenu("Whose verdicts predict gold?", others, present), self._predictors_chosen)
            return
        title = "Who votes?" if self.wanted.task == "ensembles" else "Who picks?"
        present = self.wanted.verifiers or (without_baseline(names) if self.wanted.task == "ensembles" else names)
        self.app.push_screen(ManyMenu(title, names, present), self._verifiers_chosen)

    def _predictors_chosen(self, names: tuple[str, ...] | None) -> None:
        if names is not None:
            self._ask(predictors=names)

    def _verifiers_chosen(self, names: tuple[str, ...] | None) -> None:
        if names is not None:
            self._ask(verifiers=names)

    def _ask_subject(self, names: tuple[str, ...]) -> None:
        choices = [Choice(name, printable(name)) for name in names]
        menu = ChoiceMenu("Whose accuracy?", choices, chosen={subject_of(self.wanted, names)})
        self.app.push_screen(menu, self._subject_chosen)

    def _subject_chosen(self, name: str | None) -> None:
        if name is not None:
            self._ask(subject=name, predictors=tuple(other for other in self.wanted.predictors if other != name))

    # -- how ---------------------------------------------------------------------------------------

    def action_weights(self) -> None:
        """Weighted votes, too, or k of n only."""
        self._ask(weighted=not self.wanted.weighted)

    def action_next_group(self, step: int) -> None:
        """Break down by the next property; after the last one by none."""
        self._ask(by=following(self.wanted.by, (None, *GROUPS)[::step]))

    def action_next_protocol(self) -> None:
        """Count undecided rows in the next way."""
        self._ask(protocol=following(self.wanted.protocol, get_args(Protocol3)))

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        self._ask(gold=following(self.wanted.gold, get_args(GoldChoice)))

    # -- what is typed -----------------------------------------------------------------------------

    def action_sizes(self) -> None:
        """Ask for the sizes."""
        text = ",".join(map(str, self.wanted.sizes))
        self.ask("sizes", "best of", text, hint="1,2,4  (empty: 1, 2, 4, 8 …)")

    def action_file(self) -> None:
        """Ask for the file."""
        hint = 'lines of {"verifier": …, "benchmark": …, "score": …}, or CSV'
        self.ask("file", "file", self.wanted.path, hint=hint)

    def narrow(self, conditions: tuple[Condition, ...]) -> None:
        """Count only items for which conditions hold."""
        self._ask(conditions=conditions)

    def answered(self, asked: str, text: str) -> bool:
        """Take sizes, or a file."""
        if asked == "sizes":
            self._ask(sizes=read_sizes(text) if text else ())
        elif asked == "file":
            path = os.path.expanduser(text)
            if text and not Path(path).is_file():
                raise UsageError(f"There is no file {path}.")
            self._ask(path=path)
        return super().answered(asked, text)


def without_baseline(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those that look at the completion."""
    return tuple(name for name in names if name != BASELINE)
