"""Solutions written by models over HTTP: rounds until there are k scores, with stable ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.coding import ADD, DOUBLE, ScriptedSandbox, make_code_project
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted
from workbench.coding.options import SolutionOptions, Targets
from workbench.coding.records.figures import SolutionsWritten
from workbench.coding.synthesis import solutions
from workbench.coding.synthesis.solutions import kinds_of, write_solutions
from workbench.core.code import Execution, Program
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.llm.records import Sampling
from workbench.runs.generation import models_from
from workbench.verifiers.execution.settings import PoolSettings

WRONG = "def {name}(a, b=0):\n    return 0  # {outcomes}\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_code_project(tmp_path, {"add": [{"completion": ADD.canonical}], "double": [{"completion": "x ="}]})
    yield made
    made.close()


def outcome(program: Program, _: int) -> Execution:
    """A comment in the code says what comes of it; the references pass, what is no code fails as such."""
    said = re.search(r"# ([pfe]+)", program.source)
    known = program.source in (ADD.canonical, DOUBLE.canonical)
    letters = said[1] if said else ("p" if known else "s") * len(program.tests)
    return Execution(outcomes=letters[: len(program.tests)], level="L3")


def sandbox() -> ScriptedSandbox:
    return ScriptedSandbox("L3", 1, PoolSettings(), outcome)


def name_of(received: Received) -> str:
    found = re.search(r"needed to run it, (\w+) among it", received.body["messages"][0]["content"])
    assert found is not None
    return found[1]


def is_wrong(received: Received) -> bool:
    return "programs with mistakes" in received.body["messages"][0]["content"]


def fenced(code: str) -> str:
    return f"Here you are.\n```python\n{code}```\nIt is right."


def answer(received: Received) -> str:
    """Right code is the reference's own; wrong code of `add` passes fewer tests each time, that of `double` none."""
    name = name_of(received)
    if not is_wrong(received):
        return fenced(ADD.canonical if name == "add" else DOUBLE.canonical)
    letters = ["ppf", "pff", "fff"][min(received.body["seed"], 2)]
    return fenced(WRONG.format(name=name, outcomes=letters if name == "add" else f"e{'p' * received.body['seed']}"))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer) as made:
        yield made


def write(
    project: Project,
    server: ScriptedServer,
    wish: SolutionOptions,
    *names: str,
    targets: Targets | None = None,
    **options: object,
) -> SolutionsWritten:
    given = {"base_url": server.url, "seed": "0", **{name: str(value) for name, value in options.items()}}
    models = models_from(project, names or ("m",), given, Sampling(temperature=1.0))
    return write_solutions(project, "new", wish, models, sandbox(), targets=targets or Targets())


def stored(project: Project) -> list[Any]:
    return (
        project.database.reader()
        .execute(
            "SELECT c.key, m.name, c.imported_gold, s.form, t.text, t.extra FROM completions AS c "
            "JOIN completion_text AS t ON t.id = c.id LEFT JOIN models AS m ON m.id = c.model_id "
            "LEFT JOIN code_solutions AS s ON s.completion_id = c.id WHERE s.form IS NOT NULL ORDER BY c.id"
        )
        .fetchall()
    )


def test_rounds_go_on_until_a_problem_has_k_scores(project: Project, server: ScriptedServer) -> None:
    report = write(project, server, SolutionOptions(k=3, rounds=4))
    add, double = report.problems
    assert (add.task_id, add.scores, add.reached, add.rounds) == ("add", (1.0, 0.67, 0.33), True, 2)
    assert (add.written, add.repeated, add.empty, add.failed) == (2, 2, 0, 0)
    assert (double.scores, double.reached, double.rounds) == ((1.0,), False, 4)
    assert (double.written, double.repeated) == (4, 4)
    assert len(server.received) == 2 * 2 + 4 * 2
    # One problem has its reference among the solutions; for the other it is added.
    assert report.imported == 6 + 1


def test_a_solution_of_a_dead_sandbox_is_run_again(
    project: Project, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(program: Program, seed: int) -> Execution:
        killed = "# ppf" in program.source or program.source == DOUBLE.canonical
        found = outcome(program, seed)
        return Execution(outcomes="n" * len(program.tests), level="L3", harness_killed=True) if killed else found

    wish = SolutionOptions(k=3, rounds=1)
    with monkeypatch.context() as patched:
        patched.setitem(globals(), "sandbox", lambda: ScriptedSandbox("L3", 1, PoolSettings(), dying))
        add, double = write(project, server, wish).problems
    assert (add.scores, add.written, add.killed) == ((1.0,), 1, 1)
    assert (double.scores, double.killed) == ((), 0)
    assert not [row for row in stored(project) if row[0].startswith("add/")]
    assert not [row for row in stored(project) if row[0] == "double/new-reference"]
    asked = len(server.received)
    add, double = write(project, server, wish).problems
    assert (add.scores, add.killed, double.scores) == ((1.0, 0.67), 0, (1.0,))
    assert {row[0] for row in stored(project)} >= {"add/new-incorrect-1", "double/new-reference"}
    assert len(server.received) == asked


def test_solutions_join_the_dataset_as_programs(project: Project, server: ScriptedServer) -> None:
    write(project, server, SolutionOptions(k=3, rounds=1), targets=Targets(tasks=("add",)))
    ((key, model, gold, form, text, extra),) = stored(project)
    assert (key, model, gold, form) == ("add/new-incorrect-1", "m", 0, "program")
    assert text == WRONG.format(name="add", outcomes="ppf")
    assert json.loads(extra) == {"kind": "incorrect", "sample": 0, "score": 0.67, "suites": ["base", "plus"]}


def test_the_same_call_is_idempotent_and_more_rounds_continue(project: Project, server: ScriptedServer) -> None:
    wish = SolutionOptions(k=4, rounds=1)
    write(project, server, wish)
    calls, rows = len(server.received), stored(project)
    again = write(project, server, wish)
    assert (again.imported, len(server.received), stored(project)) == (0, calls, rows)
    more = write(project, server, SolutionOptions(k=4, rounds=3))
    assert stored(project)[: len(rows)] == rows
    assert more.problems[0].scores == (1.0, 0.67, 0.33, 0.0)
    assert [row[0] for row in stored(project)] == [
        "double/new-reference",
        "add/new-incorrect-1",
        "double/new-incorrect-1",
        "add/new-incorrect-2",
        "add/new-incorrect-3",
        "double/new-incorrect-2",
        "double/new-incorrect-3",
    ]
    assert len(server.received) == 3 * 4


def test_existing_solutions_count(tmp_path: Path, server: ScriptedServer) -> None:
    """Solutions written by hand make up for what models don't bring."""
    by_hand = [{"completion": WRONG.format(name="double", outcomes=one)} for one in ("p", "f")]
    project = make_code_project(tmp_path, {"double": by_hand}, DOUBLE)
    report = write(project, server, SolutionOptions(k=2))
    assert (report.problems[0].scores, report.problems[0].rounds, server.received) == ((1.0, 0.0), 0, [])
    assert stored(project) == [("double/new-reference", None, 1, "program", DOUBLE.canonical, None)]
    flagged = (
        project.database.reader().execute("SELECT completion_id FROM code_solutions WHERE ground_truth").fetchall()
    )
    assert flagged == [(3,)]
    project.close()


def test_each_round_uses_every_model(project: Project, server: ScriptedServer) -> None:
    only = Targets(tasks=("double",))
    report = write(project, server, SolutionOptions(kinds="incorrect", rounds=2), "small", "large", targets=only)
    assert [(body["model"], body["seed"]) for body in server.bodies] in (
        [("small", 0), ("large", 0), ("small", 1), ("large", 1)],
        [("large", 0), ("small", 0), ("small", 1), ("large", 1)],
        [("small", 0), ("large", 0), ("large", 1), ("small", 1)],
        [("large", 0), ("small", 0), ("large", 1), ("small", 1)],
    )
    # Both write the same code; the first one's stays.
    assert [row[:2] for row in stored(project)] == [
        ("double/new-reference", None),
        ("double/new-small-incorrect-1", "small"),
        ("double/new-small-incorrect-2", "small"),
    ]
    assert report.problems[0].repeated == 2


def test_replies_that_hold_no_solution(project: Project) -> None:
    replies = ["I can't help with that.", "```python\n```", "```python\ndef add(\n```", "<think>def add" + "(" * 10**6]

    def answer(received: Received) -> str | Scripted:
        if name_of(received) == "double":
            return Scripted(400, body={"error": {"message": "no"}})
        seed: int = received.body["seed"]
        return replies[seed % 4]

    with scripted(answer) as server:
        report = write(project, server, SolutionOptions(rounds=4, kinds="correct"))
    add, double = report.problems
    assert (add.written, add.empty, double.failed, report.imported) == (0, 4, 4, 1)


def test_a_stop_in_any_round_is_resumed_with_the_same_rows(
    project: Project, tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solutions, "_BATCH_PROBLEMS", 1)
    wish = SolutionOptions(k=4, rounds=2)
    whole = write(project, server, wish)
    rows, calls = stored(project), len(server.received)
    folder = tmp_path / "other"
    folder.mkdir()
    other = make_code_project(folder, {"add": [{"completion": ADD.canonical}], "double": [{"completion": "x ="}]})
    most = 0
    while True:
        most += 1
        try:
            ended = write(other, server, wish, max_calls=most, concurrency=1)
            break
        except RunError:
            assert len(server.received) == calls + most
    assert (most, stored(other)) == (calls, rows)
    assert len(server.received) == 2 * calls
    assert ended.problems == whole.problems or ended.imported < whole.imported
    other.close()


def test_an_id_that_another_solution_has(tmp_path: Path, server: ScriptedServer) -> None:
    problem = {"task_id": "add", "entry_point": "add", "prompt": "", "canonical_solution": "", "tests": ["assert 1"]}
    taken = {"task_id": "add", "solution_id": "new-incorrect-1", "code": "def add(a, b):\n    return 1\n"}
    files = [tmp_path / "problems.jsonl", tmp_path / "solutions.jsonl"]
    for file, row in zip(files, (problem, taken), strict=True):
        file.write_text(json.dumps(row))
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import(files))
    rows = stored(project)
    with pytest.raises(UsageError, match="add/new-incorrect-1"):
        write(project, server, SolutionOptions(k=5, rounds=1))
    assert stored(project) == rows
    project.close()


def test_problems_without_tests_and_kinds_by_name(tmp_path: Path, server: ScriptedServer) -> None:
    project = make_code_project(tmp_path, {"bare": [{"completion": "x"}]}, type(ADD)(task_id="bare", entry_point="f"))
    report = write(project, server, SolutionOptions())
    assert (report.problems, report.skipped, server.received) == ((), {"no_tests": 1}, [])
    assert kinds_of("incorrect, correct") == ("correct", "incorrect")
    with pytest.raises(UsageError, match="no kind of solution 'wrong'"):
        kinds_of("wrong")
    project.close()
