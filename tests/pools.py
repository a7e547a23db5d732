"""Pools of questions with labelled completions but without texts: thousands are created quickly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.helpers import CREATED, make_project
from workbench.core.project import Project

_STATES = {
    "+": ("final", 1, "agreed", None),
    "-": ("final", 0, "adjudicated", None),
    "x": ("conflict", None, None, None),
    "l": ("labelled", None, None, None),
    "u": ("excluded", None, None, "proof"),
}


class PoolQuestion(NamedTuple):
    """A question and its completions.

    Attributes:
        key: The id of the question; a completion's id is this and its number, from 1.
        people: One sign per completion: + and - final labels, x conflict, l labelled by one annotator, u unsuitable,
            ``.`` unlabelled.
        models: One model per completion.
    """

    key: str
    subtype: str | None
    people: str
    source: str = "math/one"
    models: Sequence[str] = ("m1", "m2", "m3", "m4")


def make_pool(folder: Path, questions: Iterable[PoolQuestion], *, gold: bool = False) -> Project:
    """Create a project with these questions.

    Args:
        gold: Whether + and - are also imported as gold.
    """
    project = make_project(folder)
    pool_questions = list(questions)
    sources = list(dict.fromkeys(one.source for one in pool_questions))
    models = list(dict.fromkeys(model for one in pool_questions for model in one.models))
    written = [
        (number, one, place, sign)
        for number, one in enumerate(pool_questions, 1)
        for place, sign in enumerate(one.people, 1)
    ]
    with project.database.write() as connection:
        connection.execute("INSERT INTO datasets (id, name, created_at) VALUES (1, 'pool', ?)", (CREATED,))
        connection.executemany(
            "INSERT INTO sources (name, domain) VALUES (?, ?)", [(name, name.partition("/")[0]) for name in sources]
        )
        connection.executemany("INSERT INTO models (name) VALUES (?)", [(name,) for name in models])
        connection.executemany(
            "INSERT INTO questions (id, dataset_id, key, source_id, type, subtype, hash) VALUES (?, 1, ?, ?, ?, ?, ?)",
            [
                (number, one.key, sources.index(one.source) + 1, *_types(one.subtype), one.key.encode())
                for number, one in enumerate(pool_questions, 1)
            ],
        )
        connection.executemany(
            "INSERT INTO completions (id, question_id, key, model_id, imported_gold, hash, characters) "
            "VALUES (?, ?, ?, ?, ?, ?, 9)",
            [
                (
                    item,
                    number,
                    f"{one.key}-{place}",
                    models.index(one.models[(place - 1) % len(one.models)]) + 1,
                    {"+": 1, "-": 0}.get(sign) if gold else None,
                    f"{one.key}-{place}".encode(),
                )
                for item, (number, one, place, sign) in enumerate(written, 1)
            ],
        )
        connection.executemany(
            "INSERT INTO item_states (completion_id, state, gold, gold_from, reason) VALUES (?, ?, ?, ?, ?)",
            [(item, *_STATES[row[3]]) for item, row in enumerate(written, 1) if row[3] != "."],
        )
    return project


def _types(subtype: str | None) -> tuple[str | None, str | None]:
    return (None, None) if subtype is None else (subtype[0], subtype if len(subtype) > 1 else None)
