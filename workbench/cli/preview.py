"""``workbench preview DB VERIFIER --item COMPLETION_ID``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    option_option,
    options_of,
    print_json,
    project_at,
    show,
)

if TYPE_CHECKING:
    from workbench.services.running.previewing import PreviewedCall


@click.command()
@database_argument
@click.argument("verifier")
@click.option("--item", required=True, metavar="COMPLETION_ID", help="The completion to be judged.")
@option_option
@json_option
def command(database: str, verifier: str, item: str, options: tuple[str, ...], as_json: bool) -> None:
    """Show the exact requests a judge would send about an item; nothing is sent.

    Where a later request rests on what a model has yet to say, a stand-in ⟨…⟩ holds its place.
    """
    from workbench.services.running.previewing import preview_calls

    with project_at(database) as project:
        calls = preview_calls(project, verifier, options_of(options), item)
    if as_json:
        print_json(calls)
    else:
        for call in calls:
            _show(call)


def _show(call: PreviewedCall) -> None:
    show(f"{call.step} ({call.role}): POST {call.url}")
    if not call.exact:
        show("  With stand-ins for what a model has yet to say.")
    for note in call.notes:
        show(f"  {note}")
    for line in call.lines():
        show(f"  {line}")
    show()
