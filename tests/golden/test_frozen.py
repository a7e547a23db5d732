"""What users see is what was frozen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.golden.shown import FROZEN, digests, printed, seen

pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def others(shown: Mapping[str, str], *, screens: bool) -> set[str]:
    """Names of what is not as it was; for the texts: ``python -m tests.golden FOLDER``, here and at an older commit."""
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    was = {name: digest for name, digest in frozen.items() if name.startswith("screen ") == screens}
    found = digests(shown)
    return {name for name in was.keys() | found.keys() if was.get(name) != found.get(name)}


def test_what_is_printed_and_written_is_as_it_was(tmp_path: Path) -> None:
    shown = printed(tmp_path)
    of_real_rows = {"verdicts", "rows"} - {name.split()[0] for name in shown}
    assert {name for name in others(shown, screens=False) if name.split()[0] not in of_real_rows} == set()


async def test_what_the_screens_show_is_as_it_was(tmp_path: Path) -> None:
    assert others(await seen(tmp_path), screens=True) == set()
