"""What can be done on the labelling screen."""

from __future__ import annotations

from workbench.tui.actions import Action
from workbench.tui.judging import looking_actions
from workbench.tui.person import person_action

ANNOTATE_ACTIONS: tuple[Action, ...] = (
    Action("annotate.correct", "1", "label('correct')", "Correct", "The final answer is correct."),
    Action("annotate.incorrect", "0", "label('incorrect')", "Incorrect", "The final answer is incorrect."),
    Action("annotate.unsuitable", "x", "unsuitable", "Unsuitable", "Nobody could judge it; asks for the reason."),
    Action("annotate.type", "t", "type", "Type", "The question's answer type: then a letter and a number."),
    Action("annotate.unsure", "u", "unsure", "Unsure", "Mark the label as unsure, or not.", False),
    Action("annotate.tag", "m", "tag", "Mark", "Say more beside the verdict, such as wrong reasoning.", False),
    Action("annotate.partial", "p", "partial", "Partial", "How much of the answer is right, in quarters.", False),
    Action("annotate.undo", "z", "undo", "Undo", "Take the last label back, also after a restart."),
    Action("annotate.skip", "s", "skip", "Skip", "Give the item back; it comes again at the end."),
    Action("annotate.note", "c", "note", "Note", "Write a note; it is kept as a draft.", False),
    Action("annotate.flag", "f", "flag", "Flag", "Call the coordinator and ask something, or take it back.", False),
    Action("annotate.answers", "F", "answers", "Answers", "What the coordinator has answered to your flags.", False),
    Action("annotate.older", "left_square_bracket", "older", "Older", "Your label before this one.", False),
    Action("annotate.newer", "right_square_bracket", "newer", "Newer", "Your label after it, or on.", False),
    Action("annotate.auto", "A", "auto", "Auto-advance", "Go on by itself after a label, or not.", False),
    person_action("annotate"),
    *looking_actions("annotate"),
)
