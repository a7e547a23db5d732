"""Watched trainings: acceptance by step, phrasings that become more frequent, and near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from textual.content import Content

from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.core.selection import Condition
from workbench.core.text.figures import counted
from workbench.measuring.records.watching import TrainingReport, Trainings
from workbench.measuring.watching import ALIKE, STEPS, WORDINGS, sentences, watched

_LISTS: Final = ("steps", "alarms", "near-duplicates")


_UNLABELLED: Final = (
    "Correctness is unknown, because nothing is labelled yet. Assign ({}) opens label slots; annotators fill them in "
    "Annotate ({})."
)


def _lacks_labels(report: TrainingReport) -> bool:
    return report.scored_by is None and report.all is not None and report.all.audited > 0 and not report.all.labelled


class TrainingsScreen(TableScreen, LiveScreen):
    """One training at a time, shown as one of three lists: steps, alarms or near-duplicates.

    Attributes:
        found: All trainings; None until loaded.
    """

    CSS_PATH = "trainings.tcss"
    TITLE_TEXT = "Trainings"
    PREFIX, ABOVE, DETAIL = "trainings", ("said",), True
    EMPTY = (
        "No training is watched here. A reward with an audit stores a share of its judged items in a project:\n\n"
        'workbench.reward("rules", audit="p.db")'
    )
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("trainings.open", "enter", "open_row", "Items", "List the completions behind the row."),
        Action("trainings.kinds", "w", "list", "Next list", "List steps, alarms, or accepted near-duplicates."),
        Action("trainings.next", "]", "next", "Next", "Show the next training.", False),
        Action("trainings.reload", "r", "reload", "Reload", "Read the training again."),
    )
    found: Trainings | None = None
    _place = 0
    _list = 0

    @property
    def training(self) -> TrainingReport | None:
        reports = [] if self.found is None else self.found.trainings
        return reports[self._place % len(reports)] if reports else None

    @property
    def listed(self) -> Sequence[Any]:
        report = self.training
        return () if report is None else (report.steps, report.wordings, report.alike)[self._list]

    def read(self) -> Trainings:
        return watched(self.project)

    def show(self, data: Trainings) -> None:
        self.found = data
        self.set_class(not data.trainings, "empty")
        report = self.training
        if report is None:
            self.say("none")
            return
        next_step = _UNLABELLED.format(key_of("app.palette"), DESTINATIONS["annotate"].keys)
        said = [*sentences(report), *([next_step] if _lacks_labels(report) else [])]
        self.put("said", Content("\n").join(Content(printable(line)) for line in said))
        columns: Any = (STEPS, WORDINGS, ALIKE)[self._list]
        self.table.show_records(columns, enumerate(self.listed))
        self.say(f"{printable(report.training)} · {_LISTS[self._list]} · {len(self.listed):,} listed")
        self.table.focus()
        self.highlighted(0)

    def highlighted(self, row: int) -> None:
        rows = self.listed
        one = rows[row] if row < len(rows) else None
        if one is None:
            self.put_detail("")
        elif self._list == 0:
            self.put_detail(f"{counted(one.undecided, 'completion')} undecided, {one.dropped:,} not judged.")
        else:
            self.put_detail(Content(printable(one.example)))

    def opened(self, row: int) -> None:
        report = self.training
        if report is None or row >= len(self.listed):
            return
        if self._list == _LISTS.index("near-duplicates"):
            from workbench.app.tui.screens.item import ItemScreen

            items = report.alike[row].items
            self.app.push_screen(ItemScreen(items[0], items))
            return
        from workbench.app.tui.screens.browse import BrowseScreen

        self.app.push_screen(BrowseScreen(Condition("dataset", "=", report.training)))

    def action_list(self) -> None:
        self._list = (self._list + 1) % len(_LISTS)
        if self.found is not None:
            self.show(self.found)

    def action_next(self) -> None:
        self._place += 1
        if self.found is not None:
            self.show(self.found)
