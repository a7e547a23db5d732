"""What the doctor finds of the sandbox, found once in a process."""

from __future__ import annotations

from functools import cache

import pytest

from workbench.verifiers.execution import levels

_surveyed = cache(levels.survey)


@pytest.fixture(autouse=True)
def _sandboxes_are_attacked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All attacks on every level take ten seconds of a processor; their own tests hold what comes of them."""
    monkeypatch.setattr(levels, "survey", _surveyed)
