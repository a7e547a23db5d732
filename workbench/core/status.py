"""The contents of Home and ``workbench status``."""

from __future__ import annotations

from msgspec import Struct


class Matter(Struct, frozen=True, kw_only=True):
    """An open matter in a project, in one sentence.

    Attributes:
        kind: Its kind; the kinds are declared in the modules that find them.
        sentence: The fact, with its numbers.
        about: Its subject: ``person``, ``run``, ``verifier``, ``by``, ``group``, ``queue``, depending on its kind.
        size: Number of items concerned; within a kind the largest matter comes first.
        screen: The screen of the app for it; "" if there is none.
        command: The equivalent command, with DB for the database; "" if there is none.
    """

    kind: str
    sentence: str
    about: dict[str, str | int] = {}
    size: int = 0
    screen: str = ""
    command: str = ""

    def command_for(self, database: str) -> str:
        """Return the command to type, given the database's name in its shell-quoted form."""
        return self.command.replace("DB", database, 1)


class DatasetInfo(Struct, frozen=True, kw_only=True):
    """One dataset. ``types`` is ``trusted`` (imported with its items) or ``labelled`` (by annotators).

    Attributes:
        out: Why it was excluded; None if it is in use.
    """

    name: str
    items: int
    questions: int
    types: str
    out: str | None = None


class PersonProgress(Struct, frozen=True, kw_only=True):
    """One annotator's work.

    Attributes:
        done: Current correctness labels.
        left: Items left to label here, as far as known: those reserved for or assigned to them, and their share of
            items open to several people.
        types_left: Answer types left to label, in the same way.
        conflicts: Conflicts they may adjudicate.
        away: Items in a bundle of theirs that has not come back.
        paused: Whether they get no items for now.
        settled: Conflicts they have adjudicated.
        accepted: Answer types proposed by a column or a model that they have accepted.
    """

    name: str
    role: str
    done: int
    left: int
    conflicts: int
    types_left: int = 0
    away: int = 0
    paused: bool = False
    settled: int = 0
    accepted: int = 0


class Status(Struct, frozen=True, kw_only=True):
    """Counts over the whole database.

    Attributes:
        states: Items by public state.
        accepted: Items "labelled" without annotators' labels, because only the type of their question was accepted.
        checks: Items that are checks: they have a known answer and belong to no benchmark.
        runs: Number of runs.
        running: Number of runs that are queued or running.
        quarantined: Rows that could not be imported.
        flags: Flags that the coordinator has not answered.
        briefing: Open matters, the most urgent first; empty if not requested.
    """

    items: int
    questions: int
    states: dict[str, int]
    accepted: int
    checks: int
    runs: int
    running: int
    quarantined: int
    flags: int
    datasets: list[DatasetInfo]
    people: list[PersonProgress]
    briefing: list[Matter] = []

    @property
    def shown_states(self) -> dict[str, int]:
        """Return items by displayed state: items of which only the type was accepted are separate."""
        shown: dict[str, int] = {}
        for state, number in self.states.items():
            shown[state] = number
            if state == "labelled" and self.accepted:
                shown |= {"labelled": number - self.accepted, "accepted": self.accepted}
        return shown
