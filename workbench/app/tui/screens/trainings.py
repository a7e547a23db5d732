"""Watched trainings: acceptance by step, phrasings that become more frequent, and near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TablesScreen
from workbench.core.selection import Condition
from workbench.core.text.figures import counted
from workbench.measuring.records.watching import AlikeGroup, TrainingReport, Trainings, TrainingSteps, WordingAlarm
from workbench.measuring.watching import sentences, tables_of, watched

_UNLABELLED: Final = (
    "Correctness is unknown, because nothing is labelled yet. Assign ({}) opens label slots; annotators fill them in "
    "Annotate ({})."
)


class TrainingsScreen(TablesScreen, LiveScreen):
    """One training at a time: its sentences, and its tables of steps, alarms and near-duplicates.

    Attributes:
        found: All trainings; None until loaded.
    """

    CSS_PATH = "trainings.tcss"
    TITLE_TEXT = "Trainings"
    PREFIX = "trainings"
    EMPTY = (
        "No training is watched here. A reward with an audit stores a share of its judged items in a project:\n\n"
        'workbench.reward("rules", audit="p.db")'
    )
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("trainings.open", "enter", "open_row", "Items", "List the completions behind the row."),
        Action("trainings.kinds", "w", "next_table", "Next list", "List steps, alarms, or accepted near-duplicates."),
        Action("trainings.next", "]", "next", "Next", "Show the next training.", False),
        Action("trainings.reload", "r", "reload", "Reload", "Read the training again."),
    )
    found: Trainings | None = None
    _place = 0

    @property
    def training(self) -> TrainingReport | None:
        reports = [] if self.found is None else self.found.trainings
        return reports[self._place % len(reports)] if reports else None

    @property
    def listed(self) -> Sequence[TrainingSteps | WordingAlarm | AlikeGroup]:
        """Return the records behind the rows of the shown table."""
        report = self.training
        lists = () if report is None else (report.steps, report.wordings, report.alike)
        return [one for one in lists if one or one is lists[0]][self.place] if lists else ()

    def read(self) -> Trainings:
        return watched(self.project)

    def show(self, data: Trainings) -> None:
        self.found = data
        self.set_class(not data.trainings, "empty")
        report = self.training
        if report is None:
            self.say("none")
            return
        said = [*sentences(report)]
        if report.scored_by is None and report.all is not None and report.all.audited and not report.all.labelled:
            said.append(_UNLABELLED.format(key_of("app.palette"), DESTINATIONS["annotate"].keys))
        self.show_tables("\n".join(said), tables_of(report))
        self.say(printable(report.training))

    def about(self, row: int) -> Sequence[str]:
        one = self.listed[row]
        if isinstance(one, TrainingSteps):
            return (f"{counted(one.undecided, 'completion')} undecided, {one.dropped:,} not judged.",)
        return (one.example,)

    def opened(self, row: int) -> None:
        report = self.training
        if report is None or row >= len(self.listed):
            return
        one = self.listed[row]
        if isinstance(one, AlikeGroup):
            from workbench.app.tui.screens.item import ItemScreen

            self.app.push_screen(ItemScreen(one.items[0], one.items))
            return
        from workbench.app.tui.screens.browse import BrowseScreen

        self.app.push_screen(BrowseScreen(Condition("dataset", "=", report.training)))

    def action_next(self) -> None:
        self._place, self.place = self._place + 1, 0
        if self.found is not None:
            self.show(self.found)
