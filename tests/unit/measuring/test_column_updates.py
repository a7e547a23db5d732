"""Incrementally updated columns equal freshly read ones after any change to the database."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import add_items, make_project
from tests.unit.measuring.plain_columns import agree
from workbench.core.project import Project, open_project
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.measuring import column_memory
from workbench.measuring.column_memory import ColumnMemory
from workbench.measuring.columns import Columns, columns
from workbench.runs.store import runs, verdicts

RUNS = (1, 2)
SUBTYPES = (None, "A1", "A2", "B5", "D2")
REASONS = (None, "", "number", "timeout", "none")


class World:
    """A project to which things happen, as a seed says."""

    def __init__(self, path: Path, seed: int) -> None:
        self.project = open_project(path)
        self.draw = random.Random(seed)

    def verdicts(self) -> None:
        run = self.draw.choice(RUNS)
        with self.project.database.write() as connection:
            free = connection.execute(
                "SELECT id FROM completions EXCEPT SELECT completion_id FROM verdicts WHERE run_id = ?", (run,)
            ).fetchall()
            chosen = [item for (item,) in self.draw.sample(free, min(len(free), self.draw.randint(1, 8)))]
            verdicts.put(connection, run, [(item, self._verdict()) for item in chosen])

    def take_back(self) -> None:
        with self.project.database.write() as connection:
            verdicts.delete_errors(connection, self.draw.choice(RUNS))

    def people(self) -> None:
        state = self.draw.choice(("labelled", "conflict", "final", "excluded"))
        gold = self.draw.choice((0, 1)) if state in ("final", "conflict") else None
        source = self.draw.choice(("agreed", "adjudicated")) if gold is not None else None
        self._write(
            "INSERT OR REPLACE INTO item_states (completion_id, state, gold, gold_from, subtype) "
            "VALUES (?, ?, ?, ?, ?)",
            self._item(),
            state,
            gold,
            source,
            self.draw.choice(SUBTYPES),
        )

    def nobody(self) -> None:
        self._write("DELETE FROM item_states WHERE completion_id = ?", self._item())

    def all_states_anew(self) -> None:
        with self.project.database.write() as connection:
            connection.execute("DELETE FROM item_states")
            connection.execute(
                "INSERT INTO item_states (completion_id, state) SELECT min(id), 'excluded' FROM completions"
            )

    def check(self) -> None:
        self._write(
            "INSERT OR IGNORE INTO check_items (completion_id, verdict, added_at) VALUES (?, 'correct', '')",
            self._item(),
        )

    def no_check(self) -> None:
        self._write("DELETE FROM check_items")

    def begin_import(self) -> None:
        """Add rows of an unfinished import, some of which have verdicts already."""
        with self.project.database.write() as connection:
            if connection.execute("SELECT 1 FROM imports WHERE state = 'running'").fetchone():
                return
            first = 1 + connection.execute("SELECT coalesce(max(id), 0) FROM completions").fetchone()[0]
            connection.execute(
                "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, "
                "started_at) VALUES (1, '', 'jsonl', 'running', ?, 1, '')",
                (first,),
            )
            for item in range(first, first + self.draw.randint(0, 5)):
                connection.execute(
                    "INSERT INTO completions (id, question_id, key, model_id, imported_gold, hash, characters) "
                    "VALUES (?, (SELECT max(id) FROM questions), ?, ?, ?, x'00', ?)",
                    (
                        item,
                        f"n{item}",
                        self.draw.choice((None, 1)),
                        self.draw.choice((None, 0, 1)),
                        self.draw.choice((None, 7)),
                    ),
                )
                if self.draw.random() < 0.5:
                    verdicts.put(connection, self.draw.choice(RUNS), [(item, self._verdict())])

    def complete_import(self) -> None:
        self._write("UPDATE imports SET state = 'complete'")

    def give_up_import(self) -> None:
        with self.project.database.write() as connection:
            row = connection.execute("SELECT first_completion_id FROM imports WHERE state = 'running'").fetchone()
            if row is not None:
                connection.execute("DELETE FROM verdicts WHERE completion_id >= ?", row)
                connection.execute("DELETE FROM completions WHERE id >= ?", row)
                connection.execute("DELETE FROM imports WHERE state = 'running'")

    def more_items(self) -> None:
        with self.project.database.write() as connection:
            if connection.execute("SELECT 1 FROM imports WHERE state = 'running'").fetchone():
                return
        add_items(
            self.project.database, [{"question_id": f"more{self.draw.random()}", "model": "third", "source": "new"}]
        )

    def deleted(self) -> None:
        item = self._item()
        with self.project.database.write() as connection:
            if connection.execute("SELECT count(*) FROM completions").fetchone()[0] < 5:
                return
            for table in ("verdicts", "item_states", "check_items"):
                connection.execute(f"DELETE FROM {table} WHERE completion_id = ?", (item,))
            connection.execute("DELETE FROM completion_text WHERE id = ?", (item,))
            connection.execute("DELETE FROM completions WHERE id = ?", (item,))

    def corrected(self) -> None:
        self._write(
            "UPDATE completions SET imported_gold = ?, model_id = ? WHERE id = ?",
            self.draw.choice((None, 0, 1)),
            self.draw.choice((None, 1, 2)),
            self._item(),
        )

    def retyped(self) -> None:
        subtype = self.draw.choice(SUBTYPES)
        self._write(
            "UPDATE questions SET subtype = ?, type = ? WHERE id = (SELECT question_id FROM completions WHERE id = ?)",
            subtype,
            subtype and subtype[0],
            self._item(),
        )

    def renamed(self) -> None:
        table = self.draw.choice(("models", "sources", "datasets"))
        self._write(f"UPDATE {table} SET name = name || hex(randomblob(4)) WHERE id = (SELECT max(id) FROM {table})")

    def moved(self) -> None:
        self._write("UPDATE sources SET domain = ? WHERE id = 1", self.draw.choice((None, "math", "law")))

    def _verdict(self) -> Verdict:
        outcome = OutcomeCode(self.draw.randrange(4)).outcome
        return Verdict(
            outcome=outcome, reason=self.draw.choice(REASONS), score=self.draw.choice((None, 0.1 + 0.2, -1.5))
        )

    def _item(self) -> int:
        """One that can be seen."""
        found = self.project.database.reader().execute(
            "SELECT id FROM completions WHERE id < (SELECT completion_id FROM horizon)"
        )
        return int(self.draw.choice(found.fetchall())[0])

    def _write(self, statement: str, *values: object) -> None:
        with self.project.database.write() as connection:
            connection.execute(statement, values)


HAPPENINGS: dict[str, Callable[[World], None]] = {
    name: happening for name, happening in vars(World).items() if not name.startswith("_")
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        {
            "question_id": f"q{number // 2}",
            "gold": (True, False, None)[number % 3],
            "model": ("small", "large", None)[number % 3],
            "source": f"s{number % 4 // 2}",
            "subtype": SUBTYPES[number // 2 % len(SUBTYPES)],
            "dataset": "one" if number < 8 else "two",
        }
        for number in range(14)
    ]
    project = make_project(tmp_path_factory.mktemp("template"), rows)
    with project.database.write() as connection:
        for number in RUNS:
            verifier = runs.add_verifier(
                connection, name=f"v{number}", kind="v", options={}, config={}, config_hash=str(number)
            )
            runs.add(connection, verifier, "1")
    project.database.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    project.close()
    return project.path


@settings(deadline=None, max_examples=25)
@given(
    happenings=st.lists(st.sampled_from(sorted(HAPPENINGS)), min_size=1, max_size=14),
    seed=st.integers(0, 2**16),
    worth=st.sampled_from([1, 12, 10**6]),
)
def test_updated_columns_equal_freshly_read_ones(template: Path, happenings: list[str], seed: int, worth: int) -> None:
    """In memory, from files of different times, and by a plain read of every row."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(column_memory, "WORTH", worth)
        world = World(Path(shutil.copy(template, Path(folder) / "p.db")), seed)
        agree(columns(world.project), world.project, RUNS)
        for happening in happenings:
            HAPPENINGS[happening](world)
            agree(columns(world.project), world.project, RUNS)
        agree(_by_another_process(world.project), world.project, RUNS)
        world.project.close()


def _by_another_process(project: Project) -> Columns:
    memory = ColumnMemory(project.database)
    return Columns(project.database, memory, memory.items())
