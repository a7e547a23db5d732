"""Sets: what is frozen, how far people are with it, what it is short of; and the way to build and publish more."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.worker import Worker, WorkerState

from workbench.app.tui.actions import Action
from workbench.app.tui.kit import set_view as view
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.set_forms import KINDS, begun
from workbench.app.tui.table_screen import TableScreen
from workbench.benchmarks.building.comparing import set_diff
from workbench.benchmarks.building.showing import every_set, set_detail
from workbench.benchmarks.publication import PUBLISHABLE
from workbench.benchmarks.set_views import SetDetail, SetDiff, SetLine
from workbench.core.selection import Condition
from workbench.core.sets import SetReport
from workbench.core.text.figures import counted
from workbench.measuring.judged import BASELINE, everybody


class SetDiffScreen(TableScreen):
    """A row for each item that differs.

    Args:
        old, new: Names of sets with their versions.

    Attributes:
        found: What differs; None until it has come.
    """

    CSS_PATH = "set_diff.tcss"
    TITLE_TEXT = "What differs"
    PREFIX, ABOVE = "diff", ("caption",)
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-diff.open", "i,enter", "open_row", "Items", "Show the row's item, or its question's, in Browse."),
    )

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._old, self._new = old, new
        self.found: SetDiff | None = None

    def heading(self) -> tuple[str, str]:
        """What is compared."""
        return self.TITLE_TEXT, printable(f"{self._old} → {self._new}")

    def on_mount(self) -> None:
        """Compare."""
        self.put("caption", "reading …")
        work = partial(set_diff, self.project, self._old, self._new)
        self.in_background(work, self._show, group="set-diff", stops=True)

    def _show(self, found: SetDiff) -> None:
        self.found = found
        self.put("caption", view.diff_caption(found))
        self.table.show_rows(view.DIFF_COLUMNS, list(view.diff_rows(found)))

    def opened(self, row: int) -> None:
        """Show the item in Browse."""
        from workbench.app.tui.screens.browse import BrowseScreen

        if self.found is None:
            return
        _, one = view.differing(self.found)[row]
        found = [Condition("dataset", "=", one.dataset), Condition("question_id", "=", one.question_id)]
        if one.completion_id is not None:
            found.append(Condition("completion_id", "=", one.completion_id))
        self.app.push_screen(BrowseScreen(*found))


_DETAIL = "sets-detail"

_NO_SETS = "No set has been frozen yet: b builds one, o shows the pool of questions."


class SetsScreen(TableScreen, LiveScreen):
    """The table of sets above everything about the one under the cursor.

    Attributes:
        sets: All sets, in the order they were frozen.
        detail: The one that is shown in full; None until it has come.
    """

    CSS_PATH = "sets.tcss"
    TITLE_TEXT = "Sets"
    PREFIX, DETAIL, PANE, REST_S, WIDE = "sets", True, True, 0.1, 100
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("sets.items", "i,enter", "items", "Items", "List the set's items in Browse."),
        Action("sets.build", "b", "build", "Build", "Build a set: picks, balanced, hard, or a draw of questions."),
        Action("sets.publish", "p", "publish", "Publish", "Write finished sets into a folder with a data card."),
        Action("sets.accuracy", "y", "accuracy", "Accuracy", "Show verifiers' accuracy on the set's items."),
        Action("sets.diff", "d", "diff", "Diff", "Show what differs from the version before."),
        Action("sets.diff-other", "D", "diff_other", "Diff with", "Show what differs from another set.", footer=False),
        Action("sets.pool", "o", "pool", "Pool", "Show the pool of questions, source by source."),
        Action(
            "sets.again", "r", "again", "Read again", "Read the set anew, its judges' later runs too.", footer=False
        ),
        Action("sets.pane", "tab", "app.focus_next", "Pane", "Go to the other pane.", footer=False),
    )

    def __init__(self) -> None:
        super().__init__()
        self.sets: list[SetLine] = []
        self.detail: SetDetail | None = None
        self._arrive_at: str | None = None
        self._reading_of: str | None = None  # a set whose detail is on its way

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> list[SetLine]:
        """All sets."""
        return every_set(self.project)

    def show(self, data: list[SetLine]) -> None:
        """Fill the table, the newest set on top."""
        self.sets = data
        self.say(f"{printable(self.project.path.name)} · {counted(len(data), 'set')}")
        self.fill()
        if not data:
            self._say_instead(_NO_SETS)
        elif self._arrive_at is not None:
            self.go_to(self._arrive_at)
        self._read_detail()

    def fill(self) -> None:
        """List the sets."""
        rows = [view.row(place, line, wide=self.wide) for place, line in enumerate(self.sets)][::-1]
        self.table.show_rows(view.columns(wide=self.wide), rows)

    def go_to(self, name: str) -> None:
        """Put the cursor on a set, now or when it has been read."""
        place = next((place for place, line in enumerate(self.sets) if line.full_name == name), None)
        self._arrive_at = name if place is None else None
        if place is not None:
            self.table.jump_to_id(place)

    @property
    def chosen(self) -> SetLine | None:
        """The set under the cursor."""
        selected = self.table.selected_id
        if not self.sets:
            return None
        return self.sets[-1 if selected is None else selected]

    def highlighted(self, row: int) -> None:
        """Read the set under the cursor."""
        self._read_detail()

    def _read_detail(self) -> None:
        """Read the set under the cursor where it is not shown as it stands; one at a time: it may be slow."""
        line = self.chosen
        if line is None or self._reading_of == line.full_name or (self.detail and self.detail.set == line):
            return
        self._reading_of = line.full_name
        self.in_background(partial(set_detail, self.project, line.full_name), self._show_detail, group=_DETAIL)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A detail that could not be read is no longer on its way."""
        if event.worker.group == _DETAIL and event.state is WorkerState.ERROR:
            self._reading_of = None

    def action_again(self) -> None:
        """Read everything anew."""
        self.detail = self._reading_of = None
        self.read_again()

    def _show_detail(self, found: SetDetail) -> None:
        self._reading_of = None
        line = self.chosen
        if line is None or found.set.full_name != line.full_name:
            self._read_detail()
            return
        same = self.detail is not None and self.detail.set.full_name == found.set.full_name
        self.detail = found
        self.put_detail(view.detail(found), begin=not same)

    def _say_instead(self, text: str) -> None:
        self.detail = None
        self.put_detail(text, begin=False)

    # -- what is in a set --------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        """List the items of the set."""
        self.action_items()

    def action_items(self) -> None:
        """List the items of the set under the cursor."""
        from workbench.app.tui.screens.browse import BrowseScreen

        if (line := self.chosen) is not None:
            self.app.push_screen(BrowseScreen(_in_set(line)))

    def action_accuracy(self) -> None:
        """Show accuracy on the set under the cursor."""
        from workbench.app.tui.screens.accuracy import AccuracyScreen

        if (line := self.chosen) is not None:
            self.app.push_screen(AccuracyScreen(_in_set(line)))

    def action_pool(self) -> None:
        """Show the pool of questions."""
        from workbench.app.tui.screens.pool import PoolScreen

        self.app.push_screen(PoolScreen())

    def action_diff(self) -> None:
        """Compare with the version before; where there is none, with a set that is chosen."""
        line = self.chosen
        if line is not None and line.version > 1:
            self._diff(f"{line.name}@{line.version - 1}")
        else:
            self.action_diff_other()

    def action_diff_other(self) -> None:
        """Choose the set to compare with."""
        line = self.chosen
        others = [one.full_name for one in self.sets[::-1] if one is not line]
        if not others:
            self.notify("There is no other set yet.", markup=False)
            return
        self.app.push_screen(ChoiceMenu("What differs from", [Choice(name, name) for name in others]), self._diff)

    def _diff(self, old: str | None) -> None:
        if old is not None and (line := self.chosen) is not None:
            self.app.push_screen(SetDiffScreen(old, line.full_name))

    # -- building and publishing -------------------------------------------------------------------

    def action_build(self) -> None:
        """Choose what to build."""
        choices = [Choice(kind, f"{kind}: {about}") for kind, about in KINDS.items()]
        self.app.push_screen(ChoiceMenu("Build", choices, wide=True), self._choose_judges)

    def _choose_judges(self, kind: str | None) -> None:
        if kind is not None:
            self.in_background(partial(everybody, self.project), partial(self._build, kind), group="sets-judges")

    def _build(self, kind: str, verifiers: tuple[str, ...]) -> None:
        from workbench.app.tui.screens.build_set import BuildSetScreen

        judges = tuple(name for name in verifiers if name != BASELINE)
        form = begun(kind, judges, self.sets, self.chosen)
        self.app.push_screen(BuildSetScreen(form, self._built))

    def _built(self, report: SetReport) -> None:
        """Go to a set that has been frozen just now."""
        state = "it stood there already" if report.unchanged else "frozen"
        self.notify(
            f"{report.tuples:,} tuples of {report.questions:,} questions; {state}",
            title=f"{printable(report.name)}@{report.version}",
            markup=False,
        )
        self.go_to(f"{report.name}@{report.version}")
        self.read_again()

    def action_publish(self) -> None:
        """Ask where the set under the cursor is to be published."""
        from workbench.app.tui.screens.publish_set import PublishSetScreen

        finished = [line for line in self.sets[::-1] if line.kind in PUBLISHABLE]
        line = self.chosen
        if line is None or line not in finished:
            self.notify("Finished sets are published: balanced and hard ones.", markup=False)
            return
        self.app.push_screen(PublishSetScreen(line.full_name, tuple(one.full_name for one in finished)))


def _in_set(line: SetLine) -> Condition:
    return Condition("set", "=", line.full_name)
