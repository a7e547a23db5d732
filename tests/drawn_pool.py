"""A pool of questions without completions, all of them drawn into one set."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from tests.helpers import CREATED
from workbench.core.database import sets
from workbench.core.project import Project, open_project
from workbench.core.sets import NewSet, QuestionMember

DRAW = "draw"
"""The name of the set."""


def make_drawn_pool(folder: Path, questions: Iterable[str]) -> Project:
    """Create ``folder/p.db`` with questions ``q0``, ``q1`` … of the data set ``pool``, all drawn into `DRAW`."""
    project = open_project(folder / "p.db", create=True)
    with project.database.write() as connection:
        connection.execute("INSERT INTO datasets (name, created_at) VALUES ('pool', ?)", (CREATED,))
        texts = [*enumerate(questions, 1)]
        connection.executemany(
            "INSERT INTO questions (id, dataset_id, key, hash) VALUES (?, 1, ?, ?)",
            [(number, f"q{number - 1}", blake2b(text.encode(), digest_size=16).digest()) for number, text in texts],
        )
        connection.executemany("INSERT INTO question_text (id, text, reference) VALUES (?, ?, '7')", texts)
        members = tuple(QuestionMember(question=number, stratum="all") for number, _ in texts)
        sets.put(connection, NewSet(name=DRAW, kind="draw", seed=0, config="{}", report="{}", questions=members))
    return project
