"""Answer types derived without a model, for questions without a type; the user selects which to accept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from msgspec.structs import asdict, replace

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ChoiceMenu, choose
from workbench.app.tui.table_screen import TableScreen
from workbench.benchmarks.curating.type_forms import ProposedType, proposed_types
from workbench.benchmarks.curating.types import resolve_types
from workbench.core.label import coordinator_name
from workbench.core.taxonomy import SUBTYPES, type_display
from workbench.core.text.figures import counted
from workbench.labelling.labels import LabelsImported
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, word

_IN, _OUT = Cell("● in", "success"), Cell("○ out", "dim")
"""Cells that show whether a proposal is selected."""


class _Proposal(ProposedType, frozen=True, kw_only=True):
    taken: bool


_COLUMNS: Columns[_Proposal] = (
    column("", lambda one: one.taken, lambda taken: _IN if taken else _OUT, words=True, room=6),
    column(
        "type", lambda one: one.subtype, lambda code: type_display(code) if code else "–", words=True, room=(14, 26)
    ),
    word("derived from", lambda one: one.column or ("form" if one.subtype else "–"), room=(7, 14)),
    word("reference", lambda one: one.reference, room=(16, 40)),
    word("question", lambda one: one.question, room=(20, 60)),
)


class TypeProposalsScreen(TableScreen):
    """Proposed types to select. Nothing is stored until the user accepts; stored types are then used in all metrics.

    Attributes:
        records: The questions without a type and their proposals, in the order of import.
    """

    TITLE_TEXT = "Answer types"
    PREFIX, BELOW = "types", ("said",)
    EMPTY = "Every question has an answer type already."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("types.accept", "f4,ctrl+r", "accept", "Accept", "Accept the selected types."),
        Action("types.take", "space", "take", "Select", "Select the proposal under the cursor, or not."),
        Action("types.type", "t", "choose", "Type", "Choose another type for the question."),
    )

    records: Sequence[_Proposal] = ()

    def on_mount(self) -> None:
        self.put("said", "Nothing is stored yet.")
        self.in_background(partial(proposed_types, self.project), self._show_proposals, group="types", stops=True)

    def _show_proposals(self, found: list[ProposedType]) -> None:
        self.records = [_Proposal(**asdict(one), taken=one.subtype is not None) for one in found]
        self.put("said", _origin_text(found))
        self.fill()

    def fill(self) -> None:
        taken = sum(one.taken for one in self.records)
        left = len(self.records) - taken
        stay = f", {left:,} {'stays' if left == 1 else 'stay'} without a type" if left else ""
        self.say(f"{counted(len(self.records), 'question')} without a type, {taken:,} selected{stay}")
        self.list_records(_COLUMNS, self.records)

    def _set_proposal(self, row: int, subtype: str | None, *, taken: bool) -> None:
        changed = replace(self.records[row], subtype=subtype, taken=taken and subtype is not None)
        self.records = [changed if place == row else one for place, one in enumerate(self.records)]
        self.fill()

    def action_take(self) -> None:
        row, one = self.table.selected_id, self.record_here
        if row is not None and one is not None:
            self._set_proposal(row, one.subtype, taken=not one.taken)

    def opened(self, row: int) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        row, one = self.table.selected_id, self.record_here
        if row is None or one is None:
            return
        choices = {code: f"{code} {name}" for code, name in SUBTYPES.items()}
        menu = ChoiceMenu("Which type is the answer?", choices, about=printable(one.reference))
        choose(self, menu, lambda code: self._set_proposal(row, code, taken=True))

    def action_accept(self) -> None:
        settled = [(one.of, one.subtype) for one in self.records if one.taken and one.subtype is not None]
        if not settled:
            self.notify("No type is selected.")
            return
        work = partial(resolve_types, self.project, settled, by=coordinator_name())
        self.in_background(work, self._show_accepted, group="types-accept")

    def _show_accepted(self, done: LabelsImported) -> None:
        left = len(self.records) - sum(one.taken for one in self.records)
        stay = f" {counted(left, 'question')} {'stays' if left == 1 else 'stay'} without a type." if left else ""
        self.notify(f"{counted(done.imported, 'type')} accepted; metrics by type use them now.{stay}")
        self.workbench.action_go_back()


def _origin_text(found: list[ProposedType]) -> str:
    column = next((one.column for one in found if one.column is not None), None)
    if column is None:
        return "Derived from the form of the references, without a model; nothing is stored yet."
    many = sum(one.column is not None for one in found)
    rest = "the others from the form of the references; nothing is stored yet."
    return f"{many:,} types from the file's column {printable(column)}, {rest}"
