"""Model-written code in the real sandbox: hostile tests, and solutions of every quality."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.coding import ADD, make_code_project
from tests.evolving_served import need_a_sandbox
from tests.servers.scripted import scripted
from tests.servers.wire import Received
from workbench.coding.options import SolutionOptions, SuiteOptions
from workbench.coding.problems import opened_sandbox, results
from workbench.coding.synthesis.solutions import write_solutions
from workbench.coding.synthesis.tests import write_tests
from workbench.core.project import Project
from workbench.runs import runner
from workbench.runs.generation import models_from
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.store.runs import of_run
from workbench.runs.verifying import start


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    need_a_sandbox()
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    made = make_code_project(tmp_path, {"add": [{"completion": ADD.canonical}]}, ADD)
    yield made
    made.close()


def test_hostile_tests_do_nothing_but_fail(project: Project, tmp_path: Path) -> None:
    traces = [tmp_path / name for name in ("written", "shell")]
    hostile = [
        "assert add(1, 2) == 3",
        " assert add(1, 2) == 3",
        f"open({str(traces[0])!r}, 'w').write('here')",
        f"import os; assert os.system('touch {traces[1]}') == 0",
        "import os; os.kill(os.getppid(), 9)",
        "class Any:\n    def __eq__(self, other): return True\nassert add(1, 2) is Any()",
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
        "import os; os._exit(0)",
    ]
    reply = "".join(f"<assertion>{test}</assertion>" for test in hostile)
    with scripted(lambda received: reply) as server:
        models = models_from(project, ["m"], {"base_url": server.url})
        write_tests(project, "utg", SuiteOptions(filters="none"), models)
    lease = Lease.acquire(project.database)
    assert lease is not None
    run = start(project, "execution", {"suite": "utg", "timeout": "1"}, "utg-m")
    Runner(project.database, lease).work()
    assert run_info(project, run.run).state == "complete"
    (line,) = results(project, "utg-m")
    assert line.outcomes[:2] == "ps"
    assert "p" not in line.outcomes[2:]
    assert not any(trace.exists() for trace in traces)


def test_solutions_are_scored_by_running_them(project: Project) -> None:
    wrong = [
        "    return a - b\n",
        "    return 3\n",
        "    return a + b if a else None\n",
        "    import os; os._exit(0)\n",
    ]

    def answer(received: Received) -> str:
        seed: int = received.body["seed"]
        asked = re.search(r"needed to run it, (\w+) among it", received.body["messages"][0]["content"])
        assert asked is not None
        return f"```python\ndef {asked[1]}(a, b):\n    {wrong[seed]}\n```"

    with scripted(answer) as server, opened_sandbox(project, workers=1) as sandbox:
        models = models_from(project, ["m"], {"base_url": server.url, "seed": "0"})
        wish = SolutionOptions(kinds="incorrect", k=4, rounds=4)
        report = write_solutions(project, "new", wish, models, sandbox, provenance=sandbox.provenance())
    (problem,) = report.problems
    # add(1, 2), add(0, 0) and add('a', 'b'): of these a - b does one, 3 another, and the third solution two.
    assert (problem.scores, problem.written, problem.reached) == ((1.0, 0.67, 0.33), 4, False)
    rows = project.database.reader().execute("SELECT key, imported_gold FROM completions ORDER BY id").fetchall()
    assert rows[1:] == [(f"add/new-incorrect-{number}", 0) for number in (1, 2, 3, 4)]
    assert [one.level for one in of_run(project.database.reader(), report.run)] == [sandbox.provenance().level]
