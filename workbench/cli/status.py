"""``workbench status DB``."""

from __future__ import annotations

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, show


@click.command()
@database_argument
@json_option
def command(database: str, as_json: bool) -> None:
    """Count items, questions, states, people's progress and runs."""
    from workbench.render.bars import counted
    from workbench.services.status import status

    with project_at(database) as project:
        counts = status(project)
    if as_json:
        print_json(counts)
        return
    show(f"{counts.items} items, {counts.questions} questions, {counts.runs} runs")
    for state, number in counts.states.items():
        show(f"  {state:<11}{number:>9}")
    if counts.checks:
        show(f"  {counts.checks} of them are checks, which are part of no benchmark")
    for person in counts.people:
        away = f"{person.away} in a bundle, " if person.away else ""
        show(
            f"  {person.name}: {person.done} labelled, {person.left} left, {away}{person.conflicts} conflicts to settle"
        )
    if counts.flags:
        show(f"  {counted(counts.flags, 'flag')} to answer: workbench flags DB")
    if counts.quarantined:
        show(f"  {counts.quarantined} rows in quarantine")
