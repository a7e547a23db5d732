"""One meaning per key, on every screen that uses it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """The meaning of a key.

    Attributes:
        keys: The key and its equivalents, comma-separated.
        name: The meaning in one or two words.
        text: The meaning as a sentence.
        verbs: Second parts of the ids of actions with this meaning (``filter`` of ``browse.filter``); a whole id where
            the same word has another meaning on other screens.
        at_desks: Whether the meaning applies only on screens where people label and adjudicate; on other screens the
            key has another one.
    """

    keys: str
    name: str
    text: str
    verbs: str = ""
    at_desks: bool = False


DESKS: Final = ("annotate", "adjudicate", "conflict-class")
"""Prefixes of the screens where people label and adjudicate."""

MEANINGS: Final = (
    # -- to go about
    Meaning(
        "enter",
        "open",
        "Open what is under the cursor, or accept the offer.",
        "open choose flags.answer list section.fold",
    ),
    Meaning("escape,q,backspace", "back", "Close what is open, or go back.", "back close no accuracy.up"),
    Meaning("colon", "go to", "Go anywhere by name, or to an item by its id's end.", "go"),
    Meaning("question_mark,f1", "keys", "Show the screen's keys; again: the meaning of each key.", "help help.turn"),
    Meaning("ctrl+p", "commands", "Find a command by name.", "palette"),
    Meaning("ctrl+q", "quit", "Leave the app.", "quit"),
    Meaning("ctrl+n", "projects", "Leave this project for another one.", "projects"),
    Meaning(
        "right_square_bracket",
        "next",
        "Go to the next item, call, problem or verifier.",
        "next newer code-rounds.evolution",
    ),
    Meaning("left_square_bracket", "previous", "Go to the previous one.", "previous older"),
    Meaning(
        "tab",
        "on",
        "Go to the next pane or field; completes a word.",
        "pane complete judge.next verb.next import.next what-if.next set-up-run.next replay.next",
    ),
    Meaning("up,k", "up", "Move up a line.", "up above"),
    Meaning("down,j", "down", "Move down a line.", "down below"),
    Meaning("left", "left", "Move left.", "left before"),
    Meaning("right", "right", "Move right.", "right pick.next"),
    Meaning("pageup,ctrl+u", "page up", "Move up a page.", "page-up"),
    Meaning("pagedown,ctrl+d", "page down", "Move down a page.", "page-down"),
    Meaning("home", "beginning", "Go to the beginning.", "first reader.top"),
    Meaning("end", "end", "Go to the end.", "last reader.bottom"),
    Meaning("ctrl+home", "first row", "Go to the first row.", "matrix.top"),
    Meaning("ctrl+end", "last row", "Go to the last row.", "matrix.bottom"),
    # -- to find and to choose
    Meaning("slash", "find", "Find a text.", "find search"),
    Meaning(
        "n",
        "next hit",
        "Go to the next hit, box, change, test or open case.",
        "find-next boxed code-diff.next next-test disagreements.next elsewhere",
    ),
    Meaning(
        "N",
        "previous hit",
        "Go to the previous hit, box, change or test.",
        "find-previous code-diff.previous test-before",
    ),
    Meaning(
        "at", "number", "Enter a number: a row, a run, a count.", "jump disagreements.split sizes code-problem.run"
    ),
    Meaning("f", "filter", "Show only rows that meet conditions.", "filter"),
    Meaning("F", "unfilter", "Remove the last condition.", "unfilter"),
    Meaning("equals_sign", "only", "Show only rows like this one.", "only"),
    Meaning("number_sign", "counts", "Count the values of the column.", "counts"),
    Meaning("minus", "hide a column", "Hide the column.", "table.hide"),
    Meaning("underscore", "columns", "Choose columns.", "table.columns"),
    Meaning("less_than_sign", "narrower", "Make the column narrower.", "narrower"),
    Meaning("greater_than_sign", "wider", "Make the column wider.", "wider"),
    Meaning("D", "data set", "Choose a data set.", "dataset"),
    Meaning("s", "sort", "Sort, or choose the order.", "sort order columns"),
    Meaning("S", "turn round", "Reverse the order, or swap.", "reverse swap order-before"),
    Meaning(
        "w",
        "which",
        "Choose the list, queue, table or suite.",
        "which agreement.view queue code-rounds.list where suite table kinds every selected code.run",
    ),
    Meaning(
        "W",
        "which before",
        "Show the previous list, table or suite.",
        "which-before list-before where-before suite-before",
    ),
    Meaning("v", "verifiers", "Choose verifiers, or show their verdicts.", "verifiers who verdicts verdict accuracy"),
    Meaning(
        "V",
        "verifier before",
        "Choose the previous verifier, or one in another role.",
        "verdict-before subject metrics rankings",
    ),
    Meaning("b", "by", "Break down by the next property.", "by"),
    Meaning("B", "by before", "Break down by the previous property.", "by-before"),
    Meaning("g", "gold", "Choose the gold.", "gold"),
    Meaning("p", "protocol", "Choose how abstentions are counted.", "protocol"),
    Meaning("t", "type", "Choose the answer type, or the task.", "type types task"),
    Meaning("comma", "the left one", "Choose the left one of two (A).", "a accept-a"),
    Meaning("full_stop", "the right one", "Choose the right one of two (B).", "b accept-b"),
    Meaning("vertical_line", "against", "Compare with another one.", "compare diff family against"),
    Meaning("backslash", "against …", "Compare with one of your choice.", "diff-other"),
    # -- to see
    Meaning("d", "details", "Show or hide details.", "details reasons accuracy.view summary panes answers item.answer"),
    Meaning("h", "hide", "Hide or show less important things.", "hide think fold-all whole weights validity.all"),
    Meaning(
        "i",
        "items",
        "Open the items behind a row, or the item's problem.",
        "items item agreement.all flags.open item.code code.tests",
    ),
    Meaning(
        "o",
        "other view",
        "Change the view: metric, text, side by side.",
        "figure measure raw beside pool errors code.evolution code-problem.evolution",
    ),
    Meaning("O", "view before", "Change to the previous view.", "figure-before measure-before"),
    Meaning("r", "read again", "Read the data again.", "again reload"),
    Meaning("Q", "question", "Open the whole question.", "question"),
    Meaning("R", "reference", "Open the reference.", "reference reference-answer"),
    Meaning("C", "completion", "Open the model's text.", "completion completion-answer reply"),
    Meaning("T", "transcript", "Show a judge's calls, as a list or a tree.", "transcript tree calls"),
    Meaning("L", "labels", "Show labels, and resolve conflicts.", "labels single adjudicate agreement.round"),
    Meaning("G", "guidelines", "Open the guidelines.", "guidelines"),
    # -- to do
    Meaning(
        "space",
        "pick",
        "Select, pin, fold or hold the cursor's row, or undo that.",
        "pin select take pause like code-problem.fold",
    ),
    Meaning("asterisk", "all", "Select all, or none.", "conflict-class.all"),
    Meaning(
        "a",
        "add",
        "Start or add a run, a set, a case or a round of labels.",
        "start build case reopen file accuracy.split annotate",
    ),
    Meaning("A", "add …", "Add a judge first.", "add"),
    Meaning("m", "mark", "Mark what is wrong, and why.", "triage tag error"),
    Meaning("c", "comment", "Write a note.", "note"),
    Meaning("x", "exclude", "Exclude, cancel or call unsuitable.", "unsuitable exclude cancel"),
    Meaning("y", "yes", "Confirm that it is right.", "yes confirm"),
    Meaning("l", "later", "Do it again, or do it later.", "skip send-back retry"),
    Meaning("z", "undo", "Undo the last decision.", "undo"),
    Meaning("Y", "copy", "Copy what is under the cursor.", "copy"),
    Meaning("f2", "choose a file", "Choose a file from a tree of folders.", "import.pick"),
    Meaning("f5", "test", "Test the model server.", "set-up-run.test judge.test"),
    Meaning("f6", "save", "Save the verifier under its name.", "set-up-run.save"),
    Meaning("f7", "replay", "Serve recorded replies instead of a model server.", "replay"),
    Meaning("f8", "stop", "Stop serving.", "replay.stop"),
    Meaning("f9", "more", "Show or hide rarely used fields.", "more"),
    Meaning("ctrl+y", "as command", "Show the equivalent command, and copy it.", "command"),
    Meaning("e", "export", "Save to a file, or copy.", "export save write publish"),
    Meaning(
        "ctrl+r,f4",
        "run",
        "Run, save or write.",
        "resume judge.save verb.run store accept what-if.save template.save set-up-run.start trial.start "
        "replay.serve verb-output.run",
    ),
    Meaning("ctrl+t,f3", "try", "Show a preview or a plan first.", "preview try what-if"),
    # -- to label
    Meaning("1", "correct", "Label as correct.", "correct", at_desks=True),
    Meaning("0", "incorrect", "Label as incorrect.", "incorrect", at_desks=True),
    Meaning("u", "unsure", "Mark as unsure, or not.", "unsure"),
    Meaning("percent_sign", "partly", "Give the share of the answer that is right.", "partial"),
    Meaning("exclamation_mark", "flag", "Flag the item for the coordinator.", "flag"),
    Meaning("ampersand", "go on", "Turn auto-advance on or off.", "auto"),
    Meaning("P", "person", "Work under another name.", "person"),
    Meaning("0", "another", "Choose one that is not listed.", "triage.other"),
    *(
        Meaning(
            str(place),
            f"number {place}",
            f"Choose number {place} of the list.",
            f"matter-{place} cause-{place} step-{place} {verb}",
        )
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
