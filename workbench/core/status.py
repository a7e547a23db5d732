"""What Home and ``workbench status`` show."""

from __future__ import annotations

from msgspec import Struct


class Matter(Struct, frozen=True, kw_only=True):
    """Something open in a project, in one sentence.

    Attributes:
        kind: What kind of matter it is; the kinds are declared where they are found.
        sentence: What there is to know, with its figures.
        about: What it concerns: ``person``, ``run``, ``verifier``, ``by``, ``group``, ``queue``, as its kind has them.
        size: How many items it is about; of one kind the largest matter comes first.
        screen: The screen of the app where it is dealt with; "" where there is none.
        command: The command that does the same, with DB for the database; "" where there is none.
    """

    kind: str
    sentence: str
    about: dict[str, str | int] = {}
    size: int = 0
    screen: str = ""
    command: str = ""

    def command_for(self, database: str) -> str:
        """The command as it can be typed, given the name of the database as it has to be typed."""
        return self.command.replace("DB", database, 1)


class DatasetInfo(Struct, frozen=True, kw_only=True):
    """One data set. ``types`` is ``trusted`` (imported with its items) or ``labelled`` (people settle them).

    Attributes:
        out: Why people have taken it out; None for one that is in.
    """

    name: str
    items: int
    questions: int
    types: str
    out: str | None = None


class PersonProgress(Struct, frozen=True, kw_only=True):
    """One person's work.

    Attributes:
        done: Correctness labels in force.
        left: Items they have still to label here, as far as can be told: those under lease to them or meant for them,
            and their share of what several people may do.
        types_left: Answer types of which the same is true.
        conflicts: Conflicts they may settle.
        away: Items they took along in a bundle that has not come back.
        paused: They get no items for now.
        settled: Conflicts they have settled.
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
        accepted: How many of the items "labelled" no person has labelled: only the type of their question was accepted.
        checks: How many of the items are checks: their answer is known, and they are part of no benchmark.
        runs: How many runs there are.
        running: How many of them are queued or running.
        quarantined: Rows that could not be imported.
        flags: Flags that wait for the coordinator's answer.
        briefing: What is open, the most pressing first; empty where it was not asked for.
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
        """Items by state as people are shown them: what was only accepted stands by itself, where there is such."""
        shown: dict[str, int] = {}
        for state, number in self.states.items():
            shown[state] = number
            if state == "labelled" and self.accepted:
                shown |= {"labelled": number - self.accepted, "accepted": self.accepted}
        return shown
