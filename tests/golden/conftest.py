"""Fixtures for frozen outputs, which include the app's screens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.golden.scenes import Scenes, surroundings
from tests.tui.conftest import _speed_up_apps

__all__ = ["_speed_up_apps"]


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenes]:
    with closing(Scenes(tmp_path_factory.mktemp("golden"))) as found:
        yield found


@pytest.fixture(autouse=True)
def _same_everywhere(tmp_path: Path) -> Iterator[None]:
    with surroundings(tmp_path):
        yield
