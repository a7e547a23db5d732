"""Files of tables next to the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.errors import FormatError
from workbench.tables.files import write_next_to


def test_a_file_is_written_next_to_the_database_without_overwriting(tmp_path: Path) -> None:
    first, second = (write_next_to(tmp_path / "p.db", "errors", ".csv", text) for text in ("a\n", "b\n"))
    assert (first, second) == (tmp_path / "p-errors.csv", tmp_path / "p-errors-2.csv")
    assert (first.read_text("utf-8"), second.read_text("utf-8")) == ("a\n", "b\n")


def test_a_failed_write_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="It was not written"):
        write_next_to(tmp_path / "nowhere" / "p.db", "errors", ".csv", "a")
