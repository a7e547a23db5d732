"""``workbench preview DB VERIFIER --item COMPLETION_ID``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import options_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, VerifierSettings, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.runs.previewing import PreviewedCall


class PreviewOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()]
    item: Annotated[str, option("The completion to be judged.", metavar="COMPLETION_ID")]
    settings: VerifierSettings = ()


@verb
def command(project: Project, options: PreviewOptions) -> Output:
    """Show the exact requests a judge would send about an item; nothing is sent.

    Where a later request rests on what a model has yet to say, a stand-in ⟨…⟩ holds its place.
    """
    from workbench.runs.previewing import preview_calls

    calls = preview_calls(project, options.verifier, options_of(options.settings), options.item)
    return Output(calls, lambda found: chain.from_iterable(map(_lines, found)))


def _lines(call: PreviewedCall) -> Iterator[str]:
    yield f"{call.step} ({call.role}): POST {call.url}"
    if not call.exact:
        yield "  With stand-ins for what a model has yet to say."
    for note in call.notes:
        yield f"  {note}"
    for line in call.lines():
        yield f"  {line}"
    yield ""
