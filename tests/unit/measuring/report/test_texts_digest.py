"""The digest of all texts equals the digest of their hashes, whatever the batch size."""

from __future__ import annotations

from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.measuring.store import overview


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_the_digest_equals_the_digest_of_single_hashes(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "_BATCH_ROWS", piece)
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
        assert overview.texts_digest(reader, overview.text_hashes(reader)) == expected.digest()


def test_repetitions_are_those_of_one_question(tmp_path: Path) -> None:
    with closing(make_project(tmp_path, numbered(20))) as project:
        with project.database.write() as connection:
            connection.execute("UPDATE completions SET question_id = 1 WHERE id < 9")
            # Question 1 has three equal and two equal completions; another equal one belongs to another question.
            connection.execute("UPDATE completions SET hash = x'%s' WHERE id IN (2, 3, 7, 15)" % ("ab" * 16))
            connection.execute("UPDATE completions SET hash = x'%s' WHERE id IN (4, 8)" % ("cd" * 16))
        reader = project.database.reader()
        texts = overview.text_hashes(reader)
        for first in (1, 3, 9, 21):
            (expected,) = reader.execute(
                "SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM completions WHERE id >= ? "
                "GROUP BY question_id, hash)",
                (first,),
            ).fetchone()
            assert overview.repeated_completions(texts.of(texts.item[texts.item >= first])) == expected
            assert expected > 0 or first > 8
