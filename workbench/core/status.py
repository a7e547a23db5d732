"""The contents of Home and ``workbench status``."""

from __future__ import annotations

from msgspec import Struct


class Matter(Struct, frozen=True, kw_only=True):
    """An open matter in a project, in one sentence.

    Attributes:
        kind: Its kind; the kinds are declared where they are found.
        sentence: The fact, with its numbers.
        about: What it concerns: ``person``, ``run``, ``verifier``, ``by``, ``group``, ``queue``, as its kind has them.
        size: How many items it is about; of one kind the largest matter comes first.
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
        out: Why people have excluded it; None for one that is in use.
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
        left: Items they have still to label here, as far as known: those reserved for or assigned to them, and their
            share of what several people may do.
        types_left: Answer types of which the same is true.
        conflicts: Conflicts they may adjudicate.
        away: Items in a bundle of theirs that has not come back.
        paused: They get no items for now.
        settled: Conflicts they have adjudicated.
        accepted: Answer types they have accepted, as a column or a model proposed them.
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
        accepted: How many of the items "labelled" no annotator has labelled: only the type of their question was
            accepted.
        checks: How many of the items are checks: their answer is known, and they are part of no benchmark.
        runs: How many runs there are.
        running: How many of them are queued or running.
        quarantined: Rows that could not be imported.
        flags: Flags that wait for the coordinator's answer.
        briefing: Open matters, the most pressing first; empty if they were not requested.
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
        """Return items by state as people see them: items of which only the type was accepted are separate."""
        shown: dict[str, int] = {}
        for state, number in self.states.items():
            shown[state] = number
            if state == "labelled" and self.accepted:
                shown |= {"labelled": number - self.accepted, "accepted": self.accepted}
        return shown
