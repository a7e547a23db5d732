"""What can be done on a screen that shows one item: decide, look, find, write."""

from __future__ import annotations

from typing import Final

from workbench.tui.actions import Action
from workbench.tui.coordinating import coordinating_actions
from workbench.tui.reviewing import reviewing_actions

ITEM_ACTIONS: Final[tuple[Action, ...]] = (
    *reviewing_actions("item"),
    Action("item.next", "n,right_square_bracket", "go(1)", "Next", "Open the next item of the list."),
    Action("item.previous", "p,left_square_bracket", "go(-1)", "Previous", "Open the item before.", footer=False),
    Action("item.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
    Action(
        "item.answer",
        "f",
        "answer",
        "Answer",
        "Show the final answers of the reference and the completion.",
        footer=False,
    ),
    Action(
        "item.reference-answer",
        "R",
        "answer_of('reference')",
        "Reference's answer",
        "Go to the final answer in the reference.",
        footer=False,
    ),
    Action(
        "item.completion-answer",
        "C",
        "answer_of('completion')",
        "Completion's answer",
        "Go to the final answer in the completion.",
        footer=False,
    ),
    Action(
        "item.verdict", "m", "choose(1)", "Verdict", "Choose the next verdict: its answers are marked.", footer=False
    ),
    Action("item.verdict-before", "M", "choose(-1)", "Verdict before", "Choose the verdict before.", footer=False),
    Action(
        "item.transcript",
        "T",
        "transcript",
        "Transcript",
        "Show the calls that the chosen verdict rests on.",
        footer=False,
    ),
    Action("item.find", "slash", "find", "Find", "Find a text in the pane in focus.", footer=False),
    Action("item.find-next", "full_stop", "find_next(1)", "Next hit", "Go to the next hit.", footer=False),
    Action("item.find-previous", "comma", "find_next(-1)", "Previous hit", "Go to the previous hit.", footer=False),
    Action("item.raw", "v", "raw", "Raw", "Show the stored text itself, and back.", footer=False),
    Action("item.think", "t", "think", "Think", "Open or fold <think> blocks.", footer=False),
    Action("item.code", "s", "code", "Tests", "Open the code problem: solutions against tests.", footer=False),
    Action("item.write", "w", "write", "Write", "Write the item to a JSON file beside the database.", footer=False),
    *coordinating_actions("item"),
    Action("item.adjudicate", "a", "adjudicate", "Adjudicate", "Settle what two annotators differ on."),
    Action("item.back", "escape", "back", "Back", "Go back to the screen before."),
)
