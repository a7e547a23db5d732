"""Truncated files read as a whole give an error instead of a traceback."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.coding import formats
from workbench.core.errors import FormatError


@pytest.mark.parametrize(
    "read",
    [lambda path: list(formats.read_vectors(path)), lambda path: list(formats.read(path))],
    ids=["vectors", "candidates"],
)
def test_a_compressed_file_that_is_cut_off_is_an_error(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "rows.json.gz"
    path.write_bytes(gzip.compress(b'{\n "a": ' + bytes(range(33, 91)) * 50)[:-12])
    with pytest.raises(FormatError, match="damaged"):
        read(path)
