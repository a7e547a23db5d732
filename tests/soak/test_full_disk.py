"""Every command on a disk that is full, or fills up while it runs: what was not done is said and not half done.

The short form of it is tests/unit/cli/test_full_disk.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.full_disk import SmallDisk, small_disk
from tests.full_disk_commands import COMMANDS, Given, prepare, try_command

pytestmark = pytest.mark.soak

LEFT = (0, 4_096, 20_000, 45_000, 80_000, 150_000, 300_000, 600_000, 1_500_000, 4_000_000)
"""Bytes that are free as a command begins."""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_all_or_says_that_it_did_not(given: Given, disk: SmallDisk, command: str) -> None:
    print(command, try_command(given, disk, command, LEFT), flush=True)
