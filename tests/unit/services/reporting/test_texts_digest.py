"""The digest of all texts is that of their hashes one by one, however many are read at once."""

from __future__ import annotations

from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.store import describing


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_the_digest_is_that_of_the_hashes_one_by_one(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describing, "_PIECE", piece)
    with closing(make_project(tmp_path, numbered(20))) as project:
        with project.database.write() as connection:
            connection.execute("DELETE FROM completion_text WHERE id IN (4, 5, 6, 20)")
            connection.execute("DELETE FROM completions WHERE id IN (4, 5, 6, 20)")
        expected = blake2b(digest_size=16)
        reader = project.database.reader()
        for hashes in reader.execute(
            "SELECT q.hash, c.hash FROM completions AS c JOIN questions AS q ON q.id = c.question_id ORDER BY c.id"
        ):
            for one in hashes:
                expected.update(one)
        assert describing.texts_digest(reader) == expected.digest()
