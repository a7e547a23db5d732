"""Asking for trust: what a verifier wants to use is shown before it may (servers, key variables, templates)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from workbench.app.tui.kit.matrix import printable
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
    """Work in the background; if something isn't accepted yet, ask, and work again after a yes.

    Args:
        work: Called with whether the person has accepted it; runs in a thread.
        then: Takes the result on the app's own thread.
        group: As for `WorkbenchScreen.in_background`.
        stops: As for `WorkbenchScreen.in_background`.
    """

    def arrived(found: Result | NotTrustedError) -> None:
        if isinstance(found, NotTrustedError):
            confirm(screen, _TITLE, _grants(found), lambda: start(partial(work, True), then))
        else:
            then(found)

    start = partial(screen.in_background, group=group, exclusive=False, stops=stops)
    start(partial(_unless_untrusted, work), arrived)


def _unless_untrusted(work: Callable[[bool], Result]) -> Result | NotTrustedError:
    try:
        return work(False)
    except NotTrustedError as error:
        return error


def _grants(error: NotTrustedError) -> str:
    lines = []
    for grant in error.grants:
        lines.append(f"• {printable(grant.text)}")
        lines += [f"  │ {printable(line)}" for line in grant.content.splitlines()]
    return "\n".join(lines)
