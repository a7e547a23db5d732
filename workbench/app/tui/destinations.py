"""The screens and forms that Go to opens by name or letter."""

from __future__ import annotations

from typing import Final, NamedTuple

from workbench.app.tui.keymap import key_of


class Destination(NamedTuple):
    """A screen to go to.

    Attributes:
        name: Its name, which is also its module in ``tui/screens`` (imported on first use), or its command.
        letter: Its short name after the key of Go to.
        title: Its title.
        text: What it shows, in a few words.
        is_command: Whether it is the form of the command with this name.
    """

    name: str
    letter: str
    title: str
    text: str
    is_command: bool = False

    @property
    def keys(self) -> str:
        """Return the keys that open the screen, as a hint shows them: ``:a``."""
        go = key_of("app.go")
        return f"{go}{' ' * (len(go) > 1)}{self.letter}"

    @property
    def screen(self) -> str:
        """Return the name of the class that it opens: ``AddJudgeScreen`` in ``add_judge``."""
        title = self.name.title().replace("_", "")
        return f"{'Verb' if self.is_command and title != 'Import' else title}Screen"


DESTINATIONS: Final = {
    one.name: one
    for one in (
        Destination("home", "h", "Home", "data sets, states, people, runs"),
        Destination("annotate", "a", "Annotate", "label the next item"),
        Destination("adjudicate", "j", "Adjudicate", "resolve conflicts"),
        Destination("conflicts", "d", "Conflicts by kind", "resolve many similar ones at once"),
        Destination("flags", "f", "Flags", "annotators' questions to you"),
        Destination("import", "i", "Import", "rows of a file", is_command=True),
        Destination("browse", "b", "Browse", "every item in a table"),
        Destination("runs", "v", "Verifiers & runs", "start, watch, pause, cancel"),
        Destination("accuracy", "y", "Accuracy", "verifiers by answer type"),
        Destination("compare", "c", "Compare", "two verifiers on the same items"),
        Destination("disagreements", "r", "Disagreements", "where verifiers and people differ"),
        Destination("triage", "w", "Triage", "why verifiers err, case by case"),
        Destination("best-of", "m", "Best of n", "how well verifiers pick", is_command=True),
        Destination("estimate", "e", "Estimate", "accuracy from few labels", is_command=True),
        Destination("validity", "t", "Validity", "what else verdicts depend on", is_command=True),
        Destination("downstream", "k", "Downstream", "accuracy and models trained with it", is_command=True),
        Destination("code", "o", "Code", "problems: solutions against tests"),
        Destination("sets", "s", "Sets", "frozen sets: build and publish"),
        Destination("agreement", "g", "Agreement", "annotators compared pair by pair"),
        Destination("add_judge", "n", "Add a judge", "a model server's verdicts"),
        Destination("history", "l", "History", "your own labels"),
        Destination("quarantine", "x", "Quarantine", "rows rejected at import, and why"),
    )
}
ANNOTATOR_DESTINATIONS: Final = ("home", "annotate", "adjudicate", "conflicts", "history")
"""Names of the screens for an annotator, who opens the app with ``--as NAME``."""
