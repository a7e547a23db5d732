"""Question pools for tests of curation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import

EVERYTHING: dict[str, dict[str, Any]] = {
    "sum": {"question": "What is 2 + 3?", "answer": "5", "source": "math/sums", "licence": "MIT", "type": "A1"},
    "sum again": {"question": "What  is 2+3", "answer": "5", "source": "math/more", "licence": "MIT"},
    "other sum": {"question": "What is 2 + 5?", "answer": "7", "source": "math/sums", "licence": "MIT", "type": "A1"},
    "planet": {"question": "Which planet is nearest to the Sun?", "answer": "Mercury", "source": "general/sky"},
    "planet again": {"question": "Which planet is nearest to the sun", "answer": "Mercury", "source": "general/sky"},
    "proof": {"question": "Prove that the sum is even.", "answer": "Proof. It is.", "source": "math/sums"},
    "empty": {"question": "How tall is the tower?", "answer": "", "source": "general/sky"},
}
"""Questions by id: two pairs that say the same, and two that belong out."""


def pool_of(folder: Path, rows: Mapping[str, Mapping[str, Any]] = EVERYTHING) -> Project:
    """A new project ``folder/p.db`` whose data set ``pool`` has these questions."""
    project = open_project(folder / "p.db", create=True)
    add_questions(project, folder, rows)
    return project


def add_questions(project: Project, folder: Path, rows: Mapping[str, Mapping[str, Any]], dataset: str = "pool") -> None:
    """Import questions into a data set."""
    file = folder / f"{dataset}-{len(rows)}.jsonl"
    lines = [json.dumps({"question_id": key, **row}) for key, row in rows.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_files(project, plan_import([file]), dataset=dataset)


def typed(count: int, types: Sequence[str] = ("A1", "B5", "C1", "D2"), first: int = 0) -> dict[str, dict[str, Any]]:
    """Questions that have nothing in common but their types, which take turns."""
    return {
        f"q{number}": {
            "question": f"What is {number} times {number + 1}?",
            "answer": "x",
            "type": types[number % len(types)],
            "source": f"math/set-{number % 3}",
        }
        for number in range(first, first + count)
    }
