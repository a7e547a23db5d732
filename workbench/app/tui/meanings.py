"""One meaning per key, on every screen that uses it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """The meaning of a key.

    Attributes:
        keys: The key and its equivalents, comma-separated.
        text: The meaning as a sentence.
        verbs: Second parts of the ids of actions with this meaning (``filter`` of ``browse.filter``); a whole id where
            the same word has another meaning on other screens.
        at_desks: Whether the meaning applies only on screens where people label and adjudicate; on other screens the
            key has another one.
    """

    keys: str
    text: str
    verbs: str = ""
    at_desks: bool = False


MEANINGS: Final = (
    # -- to go about
    Meaning(
        "enter", "Open what is under the cursor, or accept the offer.", "open choose flags.answer list section.fold"
    ),
    Meaning("escape,q,backspace", "Close what is open, or go back.", "back close no accuracy.up"),
    Meaning("colon", "Go anywhere by name, or to an item by its id's end.", "go"),
    Meaning("question_mark,f1", "Show the screen's keys; again: the meaning of each key.", "help help.turn"),
    Meaning("ctrl+p", "Find a command by name.", "palette"),
    Meaning("ctrl+q", "Leave the app.", "quit"),
    Meaning("ctrl+n", "Leave this project for another one.", "projects"),
    Meaning(
        "right_square_bracket", "Go to the next item, call, problem or verifier.", "next newer code-rounds.evolution"
    ),
    Meaning("left_square_bracket", "Go to the previous one.", "previous older"),
    Meaning(
        "tab",
        "Go to the next pane or field; completes a word.",
        "pane complete judge.next verb.next import.next what-if.next set-up-run.next replay.next",
    ),
    Meaning("up,k", "Move up a line.", "up above"),
    Meaning("down,j", "Move down a line.", "down below"),
    Meaning("left", "Move left.", "left before"),
    Meaning("right", "Move right.", "right pick.next"),
    Meaning("pageup,ctrl+u", "Move up a page.", "page-up"),
    Meaning("pagedown,ctrl+d", "Move down a page.", "page-down"),
    Meaning("home", "Go to the beginning.", "first reader.top"),
    Meaning("end", "Go to the end.", "last reader.bottom"),
    Meaning("ctrl+home", "Go to the first row.", "matrix.top"),
    Meaning("ctrl+end", "Go to the last row.", "matrix.bottom"),
    # -- to find and to choose
    Meaning("slash", "Find a text.", "find search"),
    Meaning(
        "n",
        "Go to the next hit, box, change, test or open case.",
        "find-next boxed code-diff.next next-test disagreements.next elsewhere",
    ),
    Meaning("N", "Go to the previous hit, box, change or test.", "find-previous code-diff.previous test-before"),
    Meaning("at", "Enter a number: a row, a run, a count.", "jump disagreements.split sizes code-problem.run"),
    Meaning("f", "Show only rows that meet conditions.", "filter"),
    Meaning("F", "Remove the last condition.", "unfilter"),
    Meaning("equals_sign", "Show only rows like this one.", "only"),
    Meaning("number_sign", "Count the values of the column.", "counts"),
    Meaning("minus", "Hide the column.", "table.hide"),
    Meaning("underscore", "Choose columns.", "table.columns"),
    Meaning("less_than_sign", "Make the column narrower.", "narrower"),
    Meaning("greater_than_sign", "Make the column wider.", "wider"),
    Meaning("D", "Choose a data set.", "dataset"),
    Meaning("s", "Sort, or choose the order.", "sort order columns"),
    Meaning("S", "Reverse the order, or swap.", "reverse swap order-before"),
    Meaning(
        "w",
        "Choose the list, queue, table or suite.",
        "which agreement.view queue code-rounds.list where suite table kinds every selected code.run",
    ),
    Meaning("W", "Show the previous list, table or suite.", "which-before list-before where-before suite-before"),
    Meaning("v", "Choose verifiers, or show their verdicts.", "verifiers who verdicts verdict accuracy"),
    Meaning("V", "Choose the previous verifier, or one in another role.", "verdict-before subject metrics rankings"),
    Meaning("b", "Break down by the next property.", "by"),
    Meaning("B", "Break down by the previous property.", "by-before"),
    Meaning("g", "Choose the gold.", "gold"),
    Meaning("p", "Choose how abstentions are counted.", "protocol"),
    Meaning("t", "Choose the answer type, or the task.", "type types task"),
    Meaning("comma", "Choose the left one of two (A).", "a accept-a"),
    Meaning("full_stop", "Choose the right one of two (B).", "b accept-b"),
    Meaning("vertical_line", "Compare with another one.", "compare diff family against"),
    Meaning("backslash", "Compare with one of your choice.", "diff-other"),
    # -- to see
    Meaning("d", "Show or hide details.", "details reasons accuracy.view summary panes answers item.answer"),
    Meaning("h", "Hide or show less important things.", "hide think fold-all whole weights validity.all"),
    Meaning(
        "i",
        "Open the items behind a row, or the item's problem.",
        "items item agreement.all flags.open item.code code.tests",
    ),
    Meaning(
        "o",
        "Change the view: metric, text, side by side.",
        "figure measure raw beside pool errors code.evolution code-problem.evolution",
    ),
    Meaning("O", "Change to the previous view.", "figure-before measure-before"),
    Meaning("r", "Read the data again.", "again reload"),
    Meaning("Q", "Open the whole question.", "question"),
    Meaning("R", "Open the reference.", "reference reference-answer"),
    Meaning("C", "Open the model's text.", "completion completion-answer reply"),
    Meaning("T", "Show a judge's calls, as a list or a tree.", "transcript tree calls"),
    Meaning("L", "Show labels, and resolve conflicts.", "labels single adjudicate agreement.round"),
    Meaning("G", "Open the guidelines.", "guidelines"),
    # -- to do
    Meaning(
        "space",
        "Select, pin, fold or hold the cursor's row, or undo that.",
        "pin select take pause like code-problem.fold",
    ),
    Meaning("asterisk", "Select all, or none.", "conflict-class.all"),
    Meaning(
        "a",
        "Start or add a run, a set, a case or a round of labels.",
        "start build case reopen file accuracy.split annotate",
    ),
    Meaning("A", "Add a judge first.", "add"),
    Meaning("m", "Mark what is wrong, and why.", "triage tag error"),
    Meaning("c", "Write a note.", "note"),
    Meaning("x", "Exclude, cancel or call unsuitable.", "unsuitable exclude cancel"),
    Meaning("y", "Confirm that it is right.", "yes confirm"),
    Meaning("l", "Do it again, or do it later.", "skip send-back retry"),
    Meaning("z", "Undo the last decision.", "undo"),
    Meaning("Y", "Copy what is under the cursor.", "copy"),
    Meaning("f2", "Choose a file from a tree of folders.", "import.pick"),
    Meaning("f5", "Test the model server.", "set-up-run.test judge.test"),
    Meaning("f6", "Save the verifier under its name.", "set-up-run.save"),
    Meaning("f7", "Serve recorded replies instead of a model server.", "replay"),
    Meaning("f8", "Stop serving.", "replay.stop"),
    Meaning("f9", "Show or hide rarely used fields.", "more"),
    Meaning("ctrl+y", "Show the equivalent command, and copy it.", "command"),
    Meaning("e", "Save to a file, or copy.", "export save write publish"),
    Meaning(
        "ctrl+r,f4",
        "Run, save or write.",
        "resume judge.save verb.run store accept what-if.save template.save set-up-run.start trial.start "
        "replay.serve verb-output.run",
    ),
    Meaning("ctrl+t,f3", "Show a preview or a plan first.", "preview try what-if"),
    # -- to label
    Meaning("1", "Label as correct.", "correct", at_desks=True),
    Meaning("0", "Label as incorrect.", "incorrect", at_desks=True),
    Meaning("u", "Mark as unsure, or not.", "unsure"),
    Meaning("percent_sign", "Give the share of the answer that is right.", "partial"),
    Meaning("exclamation_mark", "Flag the item for the coordinator.", "flag"),
    Meaning("ampersand", "Turn auto-advance on or off.", "auto"),
    Meaning("P", "Work under another name.", "person"),
    Meaning("0", "Choose one that is not listed.", "triage.other"),
    *(
        Meaning(str(place), f"Choose number {place} of the list.", f"matter-{place} cause-{place} step-{place} {verb}")
        for place, verb in enumerate(("best-of", "estimate", "downstream", *[""] * 6), 1)
    ),
)

_OF_VERBS: Final = {verb: meaning for meaning in MEANINGS for verb in meaning.verbs.split()}


def meaning_of(name: str) -> Meaning | None:
    """Return the meaning of an action's key; None if it has none.

    Args:
        name: The action's id.
    """
    return _OF_VERBS.get(name) or _OF_VERBS.get(name.partition(".")[2])
