"""One meaning per key, on every screen that uses it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """The meaning of a key.

    Attributes:
        keys: The key and its equivalents, comma-separated.
        name: In a word or two.
        text: In plain words.
        verbs: Endings of the ids of actions with this meaning (``filter`` of ``browse.filter``); a whole id if the
            same word means something else elsewhere.
        at_desks: It applies where people label and adjudicate; elsewhere the key has its other meaning.
    """

    keys: str
    name: str
    text: str
    verbs: str = ""
    at_desks: bool = False


DESKS: Final = ("annotate", "adjudicate", "conflict-class")
"""Beginnings of ids of the screens where people label and settle."""

MEANINGS: Final = (
    # -- to go about
    Meaning(
        "enter",
        "open",
        "Open what the cursor is on, or take what is offered.",
        "open choose flags.answer freeze list section.fold",
    ),
    Meaning("escape,q,backspace", "back", "Close what is open, else go back.", "back close no accuracy.up"),
    Meaning("colon", "go to", "Go anywhere by name, or to an item by its id's end.", "go"),
    Meaning("question_mark,f1", "keys", "The keys of the screen; again: what each key means.", "help help.turn"),
    Meaning("ctrl+p", "commands", "Find a command by name.", "palette"),
    Meaning("ctrl+q", "quit", "Leave the app.", "quit"),
    Meaning("ctrl+n", "projects", "Leave this project for another one.", "projects"),
    Meaning(
        "right_square_bracket",
        "next",
        "The next one: item, call, problem, verifier.",
        "next newer code-rounds.evolution",
    ),
    Meaning("left_square_bracket", "previous", "The one before.", "previous older"),
    Meaning(
        "tab",
        "on",
        "On to the next pane or field; completes a word.",
        "pane complete judge.next build-set.next publish.next verb.next import.next what-if.next set-up-run.next "
        "replay.next",
    ),
    Meaning("up,k", "up", "A line up.", "up above"),
    Meaning("down,j", "down", "A line down.", "down below"),
    Meaning("left", "left", "To the left.", "left before"),
    Meaning("right", "right", "To the right.", "right pick.next"),
    Meaning("pageup,ctrl+u", "page up", "A page up.", "page-up"),
    Meaning("pagedown,ctrl+d", "page down", "A page down.", "page-down"),
    Meaning("home", "beginning", "To the beginning.", "first reader.top"),
    Meaning("end", "end", "To the end.", "last reader.bottom"),
    Meaning("ctrl+home", "first row", "To the first row.", "matrix.top"),
    Meaning("ctrl+end", "last row", "To the last row.", "matrix.bottom"),
    # -- to find and to choose
    Meaning("slash", "find", "Find a text.", "find search"),
    Meaning(
        "n",
        "next hit",
        "The next hit, box, change, test or open case.",
        "find-next boxed code-diff.next next-test disagreements.next elsewhere",
    ),
    Meaning(
        "N", "previous hit", "The hit, box, change or test before.", "find-previous code-diff.previous test-before"
    ),
    Meaning(
        "at", "number", "A number: of a row, of a run, how many.", "jump disagreements.split sizes code-problem.run"
    ),
    Meaning("f", "filter", "Show only what meets conditions.", "filter"),
    Meaning("F", "unfilter", "Take the last condition away.", "unfilter"),
    Meaning("equals_sign", "only", "Only what is like this one.", "only"),
    Meaning("number_sign", "counts", "Count the values of the column.", "counts"),
    Meaning("minus", "hide a column", "Hide the column.", "table.hide"),
    Meaning("underscore", "columns", "Choose columns.", "table.columns"),
    Meaning("less_than_sign", "narrower", "Make the column narrower.", "narrower"),
    Meaning("greater_than_sign", "wider", "Make the column wider.", "wider"),
    Meaning("D", "data set", "Choose a data set.", "dataset"),
    Meaning("s", "sort", "Sort, or choose the order.", "sort order columns"),
    Meaning("S", "turn round", "The other way round.", "reverse swap order-before"),
    Meaning(
        "w",
        "which",
        "Other rows: which list, queue, table or suite.",
        "which agreement.view queue code-rounds.list where suite table kinds every selected code.run",
    ),
    Meaning(
        "W", "which before", "The list, table or suite before.", "which-before list-before where-before suite-before"
    ),
    Meaning("v", "verifiers", "Verifiers: which, and what they say.", "verifiers who verdicts verdict accuracy"),
    Meaning(
        "V",
        "verifier before",
        "The verifier before; verifiers in another role.",
        "verdict-before subject metrics rankings",
    ),
    Meaning("b", "by", "Break down by the next property.", "by"),
    Meaning("B", "by before", "Break down by the property before.", "by-before"),
    Meaning("g", "gold", "What counts as gold.", "gold"),
    Meaning("p", "protocol", "How undecided rows are counted.", "protocol"),
    Meaning("t", "type", "The answer type, or the task.", "type types task"),
    Meaning("comma", "the left one", "The left one of two: A.", "a accept-a"),
    Meaning("full_stop", "the right one", "The right one of two: B.", "b accept-b"),
    Meaning("vertical_line", "against", "Hold against another: compare, differ.", "compare diff family against"),
    Meaning("backslash", "against …", "Hold against another of your choice.", "diff-other"),
    # -- to see
    Meaning(
        "d", "details", "Details, here or gone.", "details reasons accuracy.view summary panes answers item.answer"
    ),
    Meaning("h", "hide", "Hide what matters less, or show it.", "hide think fold-all whole weights validity.all"),
    Meaning(
        "i",
        "items",
        "The items behind it, or the item's problem.",
        "items item agreement.all flags.open item.code code.tests",
    ),
    Meaning(
        "o",
        "other view",
        "The same, seen otherwise: figure, text, side by side.",
        "figure measure raw beside pool errors code.evolution code-problem.evolution",
    ),
    Meaning("O", "view before", "The view before.", "figure-before measure-before"),
    Meaning("r", "read again", "Read again.", "again reload"),
    Meaning("Q", "question", "The whole question.", "question"),
    Meaning("R", "reference", "The reference.", "reference reference-answer"),
    Meaning("C", "completion", "What a model wrote.", "completion completion-answer reply"),
    Meaning("T", "transcript", "A judge's calls, in a row or as a tree.", "transcript tree calls"),
    Meaning(
        "L", "labels", "People's labels, and settling where they differ.", "labels single adjudicate agreement.round"
    ),
    Meaning("G", "guidelines", "What is asked of annotators.", "guidelines"),
    # -- to do
    Meaning(
        "space",
        "pick",
        "Pick, pin, fold or hold what the cursor is on, or let go.",
        "pin select take pause like code-problem.fold",
    ),
    Meaning("asterisk", "all", "All of them, or none.", "conflict-class.all"),
    Meaning(
        "a",
        "add",
        "Begin or add: a run, a set, a case, a round of labels.",
        "start build case version reopen file accuracy.split annotate",
    ),
    Meaning("A", "add …", "Begin what comes before it: a judge.", "add"),
    Meaning("m", "mark", "Mark: what is wrong, and why.", "triage tag error"),
    Meaning("c", "comment", "Write a note.", "note"),
    Meaning("x", "exclude", "Out: unsuitable, cancelled.", "unsuitable exclude cancel"),
    Meaning("y", "yes", "Yes: it is right as it stands.", "yes confirm"),
    Meaning("l", "later", "Once more, later.", "skip send-back retry"),
    Meaning("z", "undo", "Take the last one back.", "undo"),
    Meaning("Y", "copy", "Copy what the cursor is on.", "copy"),
    Meaning("f2", "choose a file", "Choose a file from a tree of folders.", "import.pick"),
    Meaning("f5", "test", "Test the model server.", "set-up-run.test judge.test"),
    Meaning("f6", "save", "Save it under its name.", "set-up-run.save"),
    Meaning("f7", "replay", "Let recorded replies stand for a model server.", "replay"),
    Meaning("f8", "stop", "End what is served.", "replay.stop"),
    Meaning("f9", "more", "The fields of a form that few need.", "more"),
    Meaning("ctrl+y", "as command", "Show it as a command, and copy that.", "command"),
    Meaning("e", "export", "To a file, or to be copied.", "export save write publish"),
    Meaning(
        "ctrl+r,f4",
        "run",
        "Do it: run, save, write.",
        "resume judge.save publish.write verb.run store accept what-if.save template.save set-up-run.start trial.start "
        "replay.serve verb-output.run",
    ),
    Meaning("ctrl+t,f3", "try", "Try it first: preview, plan.", "preview plan try what-if"),
    # -- to label
    Meaning("1", "correct", "Correct.", "correct", at_desks=True),
    Meaning("0", "incorrect", "Incorrect.", "incorrect", at_desks=True),
    Meaning("u", "unsure", "Unsure, or not.", "unsure"),
    Meaning("percent_sign", "partly", "How much of it is right.", "partial"),
    Meaning("exclamation_mark", "flag", "Call the coordinator.", "flag"),
    Meaning("ampersand", "go on", "Go on by itself, or not.", "auto"),
    Meaning("P", "person", "Work under another name.", "person"),
    Meaning("0", "another", "Another one than is listed.", "triage.other"),
    *(
        Meaning(
            str(place),
            f"number {place}",
            f"Number {place} of what is listed.",
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
