"""The journal of labels restores every saved label of a destroyed database, whenever its writers were killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.unit.core.database.test_journal import destroyed_after_kills


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_journal_has_every_saved_label_after_200_kills(tmp_path: Path) -> None:
    destroyed_after_kills(make_project(tmp_path, numbered(4)), 200)
