"""What can be done on the screen of conflicts, and what it says where there is none."""

from __future__ import annotations

from workbench.model.label import Task
from workbench.tui.actions import Action
from workbench.tui.judging import looking_actions
from workbench.tui.person import person_action

ADJUDICATE_ACTIONS: tuple[Action, ...] = (
    Action("adjudicate.correct", "1", "decide('correct')", "Correct", "Decide: correct."),
    Action("adjudicate.incorrect", "0", "decide('incorrect')", "Incorrect", "Decide: incorrect."),
    Action("adjudicate.unsuitable", "x", "unsuitable", "Unsuitable", "Decide: unsuitable; asks for the reason."),
    Action("adjudicate.type", "t", "type", "Type", "Decide on the answer type: then a letter and a number."),
    Action("adjudicate.accept-a", "a", "accept('A')", "As A", "Decide as A does, reason and marks included."),
    Action("adjudicate.accept-b", "b", "accept('B')", "As B", "Decide as B does, reason and marks included."),
    Action("adjudicate.undo", "z", "undo", "Undo", "Take your last decision back."),
    Action("adjudicate.skip", "s", "skip", "Skip", "Leave the conflict for later.", False),
    Action("adjudicate.note", "c", "note", "Note", "Write a note to the decision; it is kept as a draft.", False),
    Action("adjudicate.tag", "m", "tag", "Mark", "Say more beside the verdict, such as wrong reasoning.", False),
    Action("adjudicate.labels", "l", "labels", "Labels", "The labels in full; again: the card.", False),
    Action("adjudicate.case", "e", "case", "Case", "Add a sentence on this case to the guidelines.", False),
    Action("adjudicate.kinds", "d", "app.open_screen('conflicts')", "By kind", "Many alike at once.", False),
    Action("adjudicate.older", "left_square_bracket", "older", "Older", "Your decision before this one.", False),
    Action("adjudicate.newer", "right_square_bracket", "newer", "Newer", "Your decision after it, or on.", False),
    person_action("adjudicate"),
    *looking_actions("adjudicate"),
)

NOTHING_LEFT = """\
There is no conflict for {name} to settle.

Conflicts appear here by themselves when two people differ. Nobody settles an item they have labelled, and a batch
that names an adjudicator leaves its conflicts to that person:

  workbench assign {database} --annotators NAME,OTHER --per-item 2 --adjudicator {typed}

z takes your last decision back.
"""
NOBODY = """\
Nobody has a conflict to settle. Conflicts come up when two people differ; whoever has not labelled the item may
settle them, or whom the batch names. A coordinator adds people with

  workbench annotators {database} add NAME

P looks again.
"""
HIDDEN: dict[Task, frozenset[str]] = {
    "correctness": frozenset({"type"}),
    "type": frozenset({"decide", "unsuitable", "tag"}),
}
"""Actions that have no place in a conflict of a task."""
