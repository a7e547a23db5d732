"""What makes hundreds of apps in one process start, and tests on them go on, faster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.notifications import Notification

from tests.tui.quiet import pilots_wait_for_the_loop
from tests.tui.styles import sheets_are_shared


@pytest.fixture(scope="session", autouse=True)
def _apps_are_quick() -> Iterator[None]:
    """A style sheet is worked on once, and a pilot goes on as soon as the app rests."""
    with sheets_are_shared(), pilots_wait_for_the_loop():
        yield


@pytest.fixture(autouse=True)
def _notices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was said is there to be looked at, however busy the machine is: no notice ends by the clock."""
    monkeypatch.setattr(Notification, "time_left", property(lambda _: 3600.0))
