"""``workbench status DB``."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.app.cli.verb import Output, verb
from workbench.core.project import Project
from workbench.core.status import Status
from workbench.core.text.figures import counted


@verb
def command(project: Project) -> Output:
    """Count items, questions, states, people's progress and runs."""
    from workbench.measuring.status import status

    return Output(status(project), _lines)


def _lines(counts: Status) -> Iterator[str]:
    yield f"{counts.items} items, {counts.questions} questions, {counts.runs} runs"
    for state, number in counts.states.items():
        yield f"  {state:<11}{number:>9}"
    if counts.checks:
        yield f"  {counts.checks} of them are checks, which are part of no benchmark"
    for person in counts.people:
        away = f"{person.away} in a bundle, " if person.away else ""
        work = f"{person.done} labelled, {person.left} left"
        yield f"  {person.name}: {work}, {away}{person.conflicts} conflicts to settle"
    if counts.flags:
        yield f"  {counted(counts.flags, 'flag')} to answer: workbench flags DB"
    if counts.quarantined:
        yield f"  {counts.quarantined} rows in quarantine"
