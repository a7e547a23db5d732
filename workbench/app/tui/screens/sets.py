"""Sets: frozen sets, their labelling progress and shortfalls."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual.content import Content

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ChoiceMenu, choose
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.app.verbs import verb_named
from workbench.benchmarks import set_text
from workbench.benchmarks.building.comparing import every_set, set_detail
from workbench.benchmarks.building.hard import queue_name
from workbench.benchmarks.records import PUBLISHABLE, SetDetail, SetLine
from workbench.core.selection import Condition
from workbench.core.sets import SetKind
from workbench.core.text.figures import counted


class SetsScreen(TableScreen, LiveScreen):
    """The table of sets, and below it the details of the set under the cursor.

    Attributes:
        sets: All sets, in the order they were frozen.
        detail: The set shown in full; None until loaded.
    """

    TITLE_TEXT = "Sets"
    PREFIX, DETAIL, PANE, REST_S, WIDE = "sets", True, True, 0.1, 100
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("sets.items", "i", "items", "Items", "List the set's items in Browse."),
        Action("sets.build", "a", "build", "Build", "Build a set: picks, balanced, hard, or a draw of questions."),
        Action("sets.publish", "e", "publish", "Publish", "Write finished sets into a folder with a data card."),
        Action("sets.accuracy", "v", "accuracy", "Accuracy", "Show verifiers' accuracy on the set's items."),
        Action("sets.diff", "|", "diff", "Diff", "Show differences from the previous version."),
        Action("sets.diff-other", "\\", "diff_other", "Diff with", "Show differences from another set.", False),
        Action("sets.pool", "o", "pool", "Pool", "Show the pool of questions, source by source."),
        Action("sets.again", "r", "again", "Read again", "Read the set again, with its judges' later runs.", False),
        Action("sets.pane", "tab", "app.focus_next", "Pane", "Go to the other pane.", False),
    )

    sets: Sequence[SetLine] = ()
    detail: SetDetail | None = None
    _reading_of: str | None = None  # full name of the set whose detail is being read

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> list[SetLine]:
        return every_set(self.project)

    def show(self, data: list[SetLine]) -> None:
        self.sets = data
        self.say(f"{printable(self.project.path.name)} · {counted(len(data), 'set')}")
        self.fill()
        if not data:
            build, pool = key_of("sets.build"), key_of("sets.pool")
            self.detail = None
            said = f"No set has been frozen yet: {build} builds one, {pool} shows the pool of questions."
            self.put_detail(said, begin=False)
        self._read_detail()

    def fill(self) -> None:
        columns = set_text.SET_COLUMNS if self.wide else set_text.SET_COLUMNS[:-2]
        self.table.show_records(columns, [*enumerate(self.sets)][::-1])

    @property
    def chosen(self) -> SetLine | None:
        selected = self.table.selected_id
        return self.sets[-1 if selected is None else selected] if self.sets else None

    def highlighted(self, row: int) -> None:
        self._read_detail()

    def _read_detail(self) -> None:
        line = self.chosen
        if line is None or self._reading_of == line.full_name or (self.detail and self.detail.set == line):
            return
        self._reading_of = line.full_name
        work = partial(set_detail, self.project, line.full_name)
        self.in_background(work, self._show_detail, failed=self._leave_detail, group="sets-detail")

    def _leave_detail(self, _: Exception) -> None:
        self._reading_of = None

    def action_again(self) -> None:
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
        self.put_detail(_detail_text(found), begin=not same)

    # -- what is in a set --------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        self.action_items()

    def action_items(self) -> None:
        from workbench.app.tui.screens.browse import BrowseScreen

        if (line := self.chosen) is not None:
            self.app.push_screen(BrowseScreen(_in_set(line)))

    def action_accuracy(self) -> None:
        from workbench.app.tui.screens.accuracy import AccuracyScreen

        if (line := self.chosen) is not None:
            self.app.push_screen(AccuracyScreen(_in_set(line)))

    def action_pool(self) -> None:
        self.workbench.run_verb("curate status")

    def action_diff(self) -> None:
        line = self.chosen
        if line is not None and line.version > 1:
            self._diff(f"{line.name}@{line.version - 1}")
        else:
            self.action_diff_other()

    def action_diff_other(self) -> None:
        line = self.chosen
        others = [one.full_name for one in self.sets[::-1] if one is not line]
        if not others:
            self.notify("There is no other set yet.")
            return
        choose(self, ChoiceMenu("Compare with", {name: name for name in others}), self._diff)

    def _diff(self, old: str) -> None:
        if (line := self.chosen) is not None:
            self.workbench.run_verb("sets", verb="diff", names=shlex.join([old, line.full_name]))

    # -- building and publishing -------------------------------------------------------------------

    def action_build(self) -> None:
        choices = {name: f"{name.split()[-1]}: {verb_named(name).about}" for name in _BUILDS}
        choose(self, ChoiceMenu("Build", choices, wide=True), self._build)

    def _build(self, verb: str) -> None:
        line, begin = self.chosen, {}
        if verb == "build hard" and line is not None and line.kind == "queue":
            begin["name"] = line.name.removesuffix(queue_name(""))
        elif source := _BUILDS[verb]:
            newest = next((one for one in reversed(self.sets) if one.kind == source), None)
            if line is not None and line.kind == source:
                begin["where"] = str(_in_set(line))
            elif newest is not None:
                begin["where"] = f"set={newest.name}"
        self.workbench.open_verb(verb, **begin)

    def action_publish(self) -> None:
        line = self.chosen
        if line is None or line.kind not in PUBLISHABLE:
            self.notify("Only finished sets can be published: balanced and hard ones.")
            return
        folder = self.project.path.parent / line.name.replace("/", "-")
        self.workbench.open_verb("publish", sets=line.full_name, folder=str(folder))


_BUILDS: Final[dict[str, SetKind | None]] = {
    "build picks": "draw",
    "build balanced": "picks",
    "build hard": "draw",
    "build random": None,
    "curate draw": None,
}
"""Command that builds a set -> the kind of set that it usually chooses from."""


def _in_set(line: SetLine) -> Condition:
    return Condition("set", "=", line.full_name)


def _detail_text(found: SetDetail) -> Content:
    first, *others = set_text.detail_lines(found)
    short = [*set_text.shortfall_lines(found.report)]
    warned = [f"! {printable(line)}" for line in (*short, *set_text.changed_lines(found.changed))]
    plain = Content("\n".join(printable(line.replace("\t", " · ")) for line in others if line not in short).strip("\n"))
    parts = (Content.styled(printable(first), "bold"), Content.styled("\n".join(warned), "$text-warning"), plain)
    return Content("\n\n").join(part for part in parts if part)
