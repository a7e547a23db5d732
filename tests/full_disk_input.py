"""Input for commands that run on a full disk: databases with content of every kind, files, a model server."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4
from zlib import crc32

from msgspec import Struct

from tests.background import runner_ends
from tests.commands import run
from tests.damage import KINDS, hurt, owners
from tests.evolving import own_project
from tests.evolving_served import answering, own_tests
from tests.helpers import add_items, make_project, numbered
from tests.publishing import SAMPLE, freeze, sample_project
from tests.servers.scripted import Received, Scripted, ScriptedServer, scripted
from tests.unit.measuring.scored_runs import add_complete_run
from tests.unit.verifiers.judges.modelled import modelled
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.interchange.exporting import write_archive
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.people import assign
from workbench.runs.store import runs
from workbench.verifiers.judges.template import builtin_text

REFINED = {
    "question": "Write total(numbers), their sum.",
    "entry_point": "total",
    "solution": "def total(numbers):\n    return sum(numbers)\n",
    "tests": [f"assert total([{number}, 1]) == {number + 1}" for number in range(9)],
}


class CommandInput(Struct):
    """Input for the commands.

    Attributes:
        folder: Holds the databases ``p.db``, ``pool.db``, ``code.db`` and ``judged.db``, and the files to read.
        item: The id of an item.
        flagged: The id of a flagged item.
        url: The address of the model server.
    """

    folder: Path
    item: str
    flagged: str
    url: str = ""


def answer(received: Received) -> str | list[float] | Scripted:
    """Return a reply that depends on the request alone."""
    if received.path.endswith("/embeddings"):
        data = [
            {"index": index, "object": "embedding", "embedding": [1.0, crc32(text.encode()) / 2**32, 0.0]}
            for index, text in enumerate(received.body["input"])
        ]
        return Scripted(body={"object": "list", "data": data, "usage": {"prompt_tokens": 9, "total_tokens": 9}})
    if received.body["model"] == "scores":
        return [crc32(text.encode()) / 2**32 for text in received.body.get("text_2") or received.body["input"]]
    words = received.body["messages"][-1]["content"]
    match received.body["model"]:
        case "types":
            return f"Answer type: {'ABCD'[len(words) % 4]}1"
        case "grow":
            return answering(own_tests(2))(received)
        case "tests":
            assertions = [f"assert clip10({number}) == {min(number, 10)}" for number in range(12)]
            return "".join(f"<assertion>{one}</assertion>" for one in assertions)
        case "solutions":
            return "```python\ndef clip10(x):\n    return max(0, min(10, x))\ndef clip11(x):\n    return x\n```"
        case "refine":
            return json.dumps(REFINED)
        case "pairs":
            return "Overall: 1"
        case "judge":
            return modelled(received)
        case _:
            return f"So \\boxed{{{len(words)}}}. " * 20


@contextmanager
def prepared(folder: Path, *, with_server: bool = False) -> Iterator[CommandInput]:
    """Prepare all input.

    Args:
        with_server: Also prepare input for commands that call a model server, and start the server.
    """
    command_input = prepare(folder)
    if not with_server:
        yield command_input
        return
    with scripted(answer) as server:
        command_input.url = server.url
        _prepare_code(folder)
        _prepare_judged(folder, server)
        _prepare_plan(folder, server)
        yield command_input


def prepare(folder: Path) -> CommandInput:
    """Prepare the input that needs no model server."""
    project = sample_project(folder / "p.db")
    items = _items(project)
    for name, even in (("often", 2), ("seldom", 3), ("thrice", 5)):
        found = [(item, Verdict(outcome=OutcomeCode(item % even == 0).outcome, score=item % 7 / 7)) for item in items]
        add_complete_run(project, name, found)
    add_complete_run(project, "asked", [(item, Verdict(outcome=Outcome.CORRECT)) for item in items], kind="llm-judge")
    freeze(project)
    freeze(project, "other")
    assign(project, ["amira"], per_item=1)
    flagged = _flag(project)
    # These items are not assigned: they may become checks.
    add_items(project.database, numbered(12, dataset="spare"))
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name="exact", kind="exact", options={}, config={}, config_hash="x")
        runs.queue(connection, runs.add(connection, verifier, "1"), Selection(), 1, 1)
    (key,) = project.database.reader().execute("SELECT key FROM completions WHERE id = ?", (items[0],)).fetchone()
    write_archive(project, folder / "archive.db", force=False, checks=True, calls=True)
    project.close()
    with closing(sqlite3.connect(folder / "p.db")) as connection:
        # A session closes its connections when its threads end; copies are made of the database file without its log.
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    rows = [
        {"question_id": f"n{n}", "completion_id": f"n{n}", "question": f"{n}?", "answer": "1", "completion": "x" * 900}
        for n in range(1_000)
    ]
    _write(folder / "more.jsonl", rows)
    (folder / "guidelines.md").write_text("# Anew\n" + "Be careful. " * 2_000)
    lines = [json.loads(line) for line in (SAMPLE / "labels.jsonl").read_text().splitlines()]
    labels = [one | {"annotator": "kim", "uuid": str(uuid4())} for one in lines if one.get("annotator") == "amira"]
    _write(folder / "labels.jsonl", labels)
    shutil.copy(SAMPLE / "downstream.jsonl", folder / "downstream.jsonl")
    steps = [{"verifier": "often", "benchmark": "sums", "score": step / 9, "step": step} for step in range(9)]
    _write(folder / "steps.jsonl", steps)
    _write(folder / "verdicts.jsonl", [{"completion_id": key, "verifier": "theirs", "verdict": "correct"}])
    _write(folder / "checks.jsonl", [{"completion_id": "c3", "verdict": "correct"}])
    shutil.copy(folder / "p.db", folder / "other.db")
    assert run("review", folder / "other.db", "confirm", key).returncode == 0
    assert run("review", folder / "other.db", "export", folder / "reviews.jsonl").returncode == 0
    assert run("labels", folder / "other.db", "import", folder / "labels.jsonl").returncode == 0
    published = {"question_id": "g1", "question": "1 + 1?", "answer": "2", "source": "math_reasoning/GSM8K"}
    _write(folder / "published.jsonl", [published])
    pool = open_project(folder / "pool.db", create=True)
    import_files(pool, plan_import([SAMPLE / "questions.jsonl"]), dataset="pool")
    pool.close()
    _write(folder / "vectors.jsonl", [{"task_id": str(n), "vector": [1, n]} for n in range(3)])
    _write(folder / "cases.jsonl", [{"name": "a", "vectors": ["111", "110", "000"]}])
    ranked = [{"id": n, "average_test_score": n / 9, "average_time_taken": 1, "rank": n + 1} for n in range(9)]
    _write(folder / "candidates.jsonl", [{"task_id": "t", "candidates": ranked}])
    _write(folder / "replies.jsonl", [{"id": "1", "text": "[Correct]"}])
    (folder / "prompt.toml").write_text(builtin_text("vanilla"))
    _wear(folder)
    return CommandInput(folder=folder, item=key, flagged=flagged)


def _flag(project: Project) -> str:
    """Flag an item and return its id. The session ends here: a database must be closed before it is copied."""
    session = AnnotationSession(project, "amira")
    item = session.next(())
    assert item is not None
    session.flag(item, True, "How many digits?")
    rows = project.database.reader().execute("SELECT key FROM completions WHERE id = ?", (item.completion,))
    return str(rows.fetchone()[0])


def _wear(folder: Path) -> None:
    """Create a database whose states do not follow from its events, and one with a damaged index."""
    shutil.copy(folder / "p.db", folder / "worn.db")
    with closing(sqlite3.connect(folder / "worn.db")) as connection, connection:
        connection.execute("UPDATE task_states SET state = 'unlabelled'")
    page = next(page for page, name in owners(folder / "p.db").items() if name == "label_events_subject")
    hurt(folder / "p.db", folder / "hurt.db", page, KINDS[3], 1)


def _prepare_code(folder: Path) -> None:
    """Create problems with solutions, one that reads standard input, and a draw of the pool to complete."""
    parts = folder / "code"
    parts.mkdir()
    project = own_project(parts, 2)
    row = {
        "task_id": "taco/1",
        "prompt": "Read numbers, print their sum.",
        "canonical_solution": "print(sum(map(int, input().split())))",
        "tests": [{"input": "1 2\n", "output": "3\n"}],
    }
    _write(parts / "taco.jsonl", [row])
    import_files(project, plan_import([parts / "taco.jsonl"]), dataset="taco")
    project.close()
    shutil.copy(parts / "p.db", folder / "code.db")


def _prepare_judged(folder: Path, server: ScriptedServer) -> None:
    """Create a few items with judgements and reasoning of two judges."""
    parts = folder / "judged"
    parts.mkdir()
    rows = [{**row, "completion": f"print({number})"} for number, row in enumerate(numbered(4))]
    with runner_ends(make_project(parts, rows)) as project:
        for name in ("one", "two"):
            judge = ("-o", f"base_url={server.url}", "-o", "model=judge", "-o", f"seed={len(name)}")
            done = run("verify", project.path, "llm-judge", "--name", name, *judge, "--json")
            assert done.returncode == 0, done.stderr
    # The copy includes the content of the log.
    assert run("backup", parts / "p.db", folder / "judged.db").returncode == 0


def _prepare_plan(folder: Path, server: ScriptedServer) -> None:
    models = "".join(f'[[models]]\nname = "{name}"\n' for name in ("first", "second"))
    head = f'dataset = "pool"\n[defaults]\nbase_url = "{server.url}"\nserver = "vllm"\n'
    (folder / "plan.toml").write_text(head + models)


def _items(project: Project) -> list[int]:
    return [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
