"""Fixtures that speed up hundreds of apps in one process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.notifications import Notification

from tests.tui.quiet import pilots_wait_for_the_loop
from tests.tui.styles import sheets_are_shared


@pytest.fixture(scope="session", autouse=True)
def _speed_up_apps() -> Iterator[None]:
    """Parse each style sheet once, and let a pilot continue as soon as the app is idle."""
    with sheets_are_shared(), pilots_wait_for_the_loop():
        yield


@pytest.fixture(autouse=True)
def _keep_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep notices for inspection, however slow the machine: none expires."""
    monkeypatch.setattr(Notification, "time_left", property(lambda _: 3600.0))
