"""The contents of the Home screen and of ``workbench status``."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from msgspec import Struct

from workbench.core.errors import Command
from workbench.core.text.figures import counted


class Matter(Struct, frozen=True, kw_only=True):
    """Something in a project that needs attention, in one sentence.

    Attributes:
        kind: The kind of matter; the modules that find matters declare their kinds.
        sentence: What needs attention, with numbers.
        about: What it concerns, by ``person``, ``run``, ``verifier``, ``by``, ``group`` or ``queue``, depending on its
            kind.
        size: Number of items concerned; of one kind, the largest matter comes first.
        screen: The screen of the app on which to deal with it; "" if there is none.
        command: The command for it, with DB for the database; "" if there is none.
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
    """A data set. ``types`` says where its answer types come from: ``trusted`` (imported) or ``labelled`` (by
    annotators).

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
        done: Number of current correctness labels.
        left: Number of items left to label, as far as known: those assigned to or reserved for the annotator, and a
            share of the items open to several people.
        types_left: Number of answer types left to label, counted in the same way.
        conflicts: Number of open conflicts that the person may adjudicate.
        away: Number of items in a bundle that the person has not returned yet.
        paused: Whether the person is paused and gets no items.
        settled: Number of conflicts that the person has adjudicated.
        accepted: Number of accepted answer types that a column or a model had suggested.
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
        states: Number of items by state.
        accepted: Number of items that count as "labelled" only because their question's suggested type was accepted.
        needs_type: Number of items that count as "labelled" only because their question has no answer type yet: their
            verdict is decided.
        checks: Number of items that are quality checks: their answer is known, and they belong to no benchmark.
        runs: Number of runs.
        running: Number of runs that are queued or running.
        quarantined: Number of rows that could not be imported.
        flags: Number of flags that the coordinator has not answered.
        briefing: Open matters, the most urgent first; empty if not requested.
    """

    items: int
    questions: int
    states: dict[str, int]
    accepted: int
    needs_type: int
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
        """Return the number of items by displayed state; ``accepted`` and ``needs_type`` are separate states."""
        parts = {name: size for name, size in (("accepted", self.accepted), ("needs type", self.needs_type)) if size}
        labelled = self.states["labelled"] - sum(parts.values())
        return {"unlabelled": 0, "labelled": 0} | parts | self.states | {"labelled": labelled}


def status_lines(database: str, counts: Status) -> Iterator[str]:
    yield ", ".join(
        counted(n, noun) for n, noun in ((counts.items, "item"), (counts.questions, "question"), (counts.runs, "run"))
    )
    for state, number in counts.shown_states.items():
        yield f"  {state:<11}{number:>9}"
    if counts.checks:
        yield f"  {counts.checks} of them are checks, which belong to no benchmark"
    for person in counts.people:
        away = f"{person.away} in a bundle, " if person.away else ""
        work = f"{'paused, ' * person.paused}{person.done} labelled, {person.left} left"
        work += f", {counted(person.types_left, 'type')} left" if person.types_left else ""
        settled = f", {person.settled} resolved" if person.settled else ""
        settled += f", {person.accepted} types accepted" if person.accepted else ""
        yield f"  {person.name}: {work}, {away}{person.conflicts} conflicts to resolve{settled}"
    if counts.flags:
        yield f"  {counted(counts.flags, 'flag')} to answer: {Command(f'flags {database}')}"
    if counts.quarantined:
        yield f"  {counted(counts.quarantined, 'row')} in quarantine"
    yield ""
    for number, matter in enumerate(counts.briefing, 1):
        yield from wrap(
            matter.sentence, 100, initial_indent=f"{number:>2}. ", subsequent_indent="    ", break_on_hyphens=False
        )
        if matter.command:
            yield f"    {matter.command_for(database)}"
