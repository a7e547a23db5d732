"""Asking for trust: shows the servers, key variables and templates that a verifier wants to use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.confirm import confirm
from workbench.runs.trust import NotTrustedError

Result = TypeVar("Result")
_TITLE = "Accept this for the project?"


def trusting(
    screen: WorkbenchScreen,
    work: Callable[[bool], Result],
    then: Callable[[Result], None],
    *,
    group: str,
    stops: bool = False,
) -> None:
    """Run work in the background; if it needs something that isn't trusted yet, ask, and run it again after a yes.

    Args:
        work: Called with whether the user has accepted what it needs; runs in a thread.
        then: Called with the result on the app's own thread.
        group: As for `WorkbenchScreen.in_background`.
        stops: As for `WorkbenchScreen.in_background`.
    """

    def arrived(found: Result | NotTrustedError) -> None:
        if isinstance(found, NotTrustedError):
            confirm(screen, _TITLE, _grants_text(found), lambda: start(partial(work, True), then))
        else:
            then(found)

    def attempt() -> Result | NotTrustedError:
        try:
            return work(False)
        except NotTrustedError as error:
            return error

    start = partial(screen.in_background, group=group, exclusive=False, stops=stops)
    start(attempt, arrived)


def _grants_text(error: NotTrustedError) -> str:
    lines = []
    for grant in error.grants:
        lines.append(f"• {printable(grant.text)}")
        lines += [f"  │ {printable(line)}" for line in grant.content.splitlines()]
    return "\n".join(lines)
