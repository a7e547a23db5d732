"""Suites written by a model over HTTP: requested once per problem or solution, stored, resumed, run."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.coding import ADD, DOUBLE, make_code_project
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted
from workbench.coding.options import SuiteOptions, Targets
from workbench.coding.problems import EVERY_PROBLEM
from workbench.coding.records.figures import TestsWritten
from workbench.coding.synthesis.tests import filters_of, write_tests
from workbench.core.code import CodeTest
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project
from workbench.data.store import tests
from workbench.data.store.tests import named_solutions, problems_of
from workbench.runs.generation import models_from

SOLUTIONS = {
    "add": [
        {"completion": "def add(a, b):\n    return a + b\n"},
        {"completion": "Here:\n```python\ndef add(a, b):\n    return a - b\n```", "form": "reply"},
        {"completion": "    return b + a\n", "form": "continuation"},
    ],
    "double": [{"completion": "def double(a):\n    return a + a\n"}],
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_code_project(tmp_path, SOLUTIONS)
    yield made
    made.close()


def function_and_code(received: Received) -> tuple[str, str]:
    """Return the function and the code in a request."""
    words = received.body["messages"][0]["content"]
    name = re.search(r"calls (\w+) with values", words)
    assert name is not None
    return name[1], words.partition("The code is:\n")[2]


def answer(received: Received) -> str:
    """Five tests: two good ones, one in another spelling, one cut short, one about nothing; the code decides one."""
    name, code = function_and_code(received)
    number = zlib.crc32(code.encode())
    tests = [f"assert {name}(1{', 1' * (name == 'add')}) == 2", f"assert {name}({number}) is None"]
    tests += [f"assert {name}( {number} )  is None", f"assert {name}(", "assert True"]
    return "<think>easy</think>" + "".join(f"<assertion>{test}</assertion>\n" for test in tests)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer) as made:
        yield made


def write(
    project: Project,
    server: ScriptedServer,
    suite: str,
    wish: SuiteOptions,
    targets: Targets = EVERY_PROBLEM,
    **options: object,
) -> TestsWritten:
    given = {"base_url": server.url, **{name: str(value) for name, value in options.items()}}
    return write_tests(project, suite, wish, models_from(project, ["m"], given), targets=targets)


def suite_of(project: Project, name: str) -> dict[str, tuple[CodeTest, ...]]:
    questions = [row[0] for row in project.database.reader().execute("SELECT id FROM questions ORDER BY id")]
    found = problems_of(project.database, questions, [name])
    return {problem.task_id: problem.suites.get(name, ()) for problem in found.values()}


def test_all_written_tests_are_kept_by_default(project: Project, server: ScriptedServer) -> None:
    """As in Scoring Verifiers, whose broken tests count against their writer."""
    report = write(project, server, "utg", SuiteOptions())
    assert (report.found, report.kept, report.dropped) == (10, 10, {})
    assert sorted(map(len, suite_of(project, "utg").values())) == [5, 5]


def test_a_suite_is_requested_once_per_problem(project: Project, server: ScriptedServer) -> None:
    report = write(project, server, "utg", SuiteOptions(filters="all"))
    assert len(server.received) == 2
    assert report == TestsWritten(
        suite="utg",
        dataset="code",
        run=report.run,
        model="m",
        with_solution=False,
        targets=2,
        unchanged=0,
        failed={},
        empty=0,
        found=10,
        kept=4,
        dropped={"duplicate": 2, "no_python": 2, "no_call": 2},
        skipped={},
    )
    assert suite_of(project, "utg") == {
        "add": (
            CodeTest(form="expression", source="assert add(1, 1) == 2"),
            CodeTest(form="statement", source="assert add(0) is None"),
        ),
        "double": (
            CodeTest(form="expression", source="assert double(1) == 2"),
            CodeTest(form="statement", source="assert double(0) is None"),
        ),
    }


def test_the_suite_records_its_settings(project: Project, server: ScriptedServer) -> None:
    write(project, server, "utg", SuiteOptions(count=7, strip=True, filters="all"), temperature=0.5)
    row = project.database.reader().execute("SELECT origin, about FROM suites WHERE name = 'utg'").fetchone()
    about = json.loads(row[1])
    made = about["made"]
    assert row[0] == "generated"
    assert made["models"]["m"]["sampling"]["temperature"] == 0.5
    assert (made["asked"], made["strip"], made["extractor"]) == (7, True, "assertion-tags-1")
    assert made["filters"] == ["duplicate", "no_assert", "no_call", "no_python", "surplus"]
    assert about["counts"] == {"found": 10, "kept": 4, "dropped": {"duplicate": 2, "no_python": 2, "no_call": 2}}
    assert {body["temperature"] for body in server.bodies} == {0.5}


def test_writing_again_asks_nothing_and_more_problems_go_on(project: Project, server: ScriptedServer) -> None:
    first = write(project, server, "utg", SuiteOptions(filters="all"), Targets(tasks=("add",)))
    assert (first.targets, len(server.received)) == (1, 1)
    both = write(project, server, "utg", SuiteOptions(filters="all"))
    assert (both.targets, both.unchanged, both.found, both.run, len(server.received)) == (2, 1, 10, first.run, 2)
    again = write(project, server, "utg", SuiteOptions(filters="all"))
    assert (again.unchanged, again.found, again.kept, len(server.received)) == (2, 10, 4, 2)


def test_another_reading_of_the_same_replies_is_another_suite_and_asks_nothing(
    project: Project, server: ScriptedServer
) -> None:
    write(project, server, "utg", SuiteOptions(filters="all"))
    raw = write(project, server, "raw", SuiteOptions(filters="none"))
    assert (raw.kept, raw.dropped, len(server.received)) == (10, {}, 2)
    with pytest.raises(UsageError, match="other settings: asked"):
        write(project, server, "utg", SuiteOptions(count=25, filters="all"))
    with pytest.raises(UsageError, match="it was imported"):
        write(project, server, "base", SuiteOptions(filters="all"))
    write(project, server, "more", SuiteOptions(count=25, filters="all"))
    assert len(server.received) == 4


def test_with_the_solution_each_code_has_separate_tests(project: Project, server: ScriptedServer) -> None:
    report = write(project, server, "seen", SuiteOptions(with_solution=True, filters="all"))
    assert (report.targets, report.kept, len(server.received)) == (4, 8, 4)
    shown = {function_and_code(received)[1].splitlines()[2] for received in server.received}
    assert shown == {"    return a + b", "    return a - b", "    return b + a", "    return a + a"}
    own = tests.tests_of(project.database.reader(), "completion", [1, 2, 3, 4], ["seen"])
    assert len({tests["seen"] for tests in own.values()}) == 4
    assert suite_of(project, "seen") == {"add": (), "double": ()}
    counted = {
        one.completion_id: one.tests for one in named_solutions(project.database, [1, 2, 3, 4], ["base", "seen"])
    }
    assert counted == {
        "add/0": {"base": 2, "seen": 2},
        "add/1": {"base": 2, "seen": 2},
        "add/2": {"base": 2, "seen": 2},
        "double/0": {"base": 1, "seen": 2},
    }
    again = write(project, server, "seen", SuiteOptions(with_solution=True, filters="all"))
    assert (again.unchanged, len(server.received)) == (4, 4)


def test_replies_without_tests_and_missing_replies(project: Project) -> None:
    replies = {"add": "No tests today. <assertion>assert add(1", "double": ""}
    refused = [True]

    def answer(received: Received) -> str | Scripted:
        name, _ = function_and_code(received)
        if name == "double" and refused[0]:
            return Scripted(400, body={"error": {"message": "no"}})
        return replies[name] or "<assertion>assert double(0) == 0</assertion>"

    with scripted(answer) as server:
        first = write(project, server, "utg", SuiteOptions(filters="all"))
        assert (first.empty, first.failed, first.kept) == (1, {"bad_request": 1}, 0)
        refused[0] = False
        then = write(project, server, "utg", SuiteOptions(filters="all"))
        assert (then.empty, then.failed, then.kept, then.unchanged) == (1, {}, 1, 1)
        assert len(server.received) == 3


def test_a_budget_stops_the_run_and_stored_replies_are_reused(project: Project, server: ScriptedServer) -> None:
    with pytest.raises(RunError, match="1 of 1 calls"):
        write(project, server, "utg", SuiteOptions(filters="all"), max_calls=1, concurrency=1)
    assert write(project, server, "utg", SuiteOptions(filters="all")).kept == 4
    assert len(server.received) == 2


def test_problems_nothing_is_written_for(tmp_path: Path, server: ScriptedServer) -> None:
    lines = CodeTest(form="stdio", source="1\n", expected="2\n")
    problems = [
        ADD,
        type(ADD)(task_id="echo", suites={"base": (lines,)}),
        type(ADD)(task_id="js", language="javascript", suites={"base": DOUBLE.suites["base"]}),
    ]
    rows = {problem.task_id: [{"completion": "x"}] for problem in problems}
    project = make_code_project(tmp_path, rows, *problems)
    report = write(project, server, "utg", SuiteOptions(filters="all"))
    assert (report.targets, report.skipped) == (1, {"stdio": 1, "language": 1})
    with pytest.raises(UsageError, match="no problem 'sub'"):
        write(project, server, "utg", SuiteOptions(filters="all"), Targets(tasks=("sub",)))
    with pytest.raises(UsageError, match="No data set 'b'"):
        write(project, server, "utg", SuiteOptions(filters="all"), Targets(dataset="b"))
    project.close()


def test_one_model_a_suite_and_filters_by_name(project: Project, server: ScriptedServer) -> None:
    with pytest.raises(UsageError, match="A suite is written by one model"):
        write_tests(
            project, "utg", SuiteOptions(filters="all"), models_from(project, ["m", "n"], {"base_url": server.url})
        )
    with pytest.raises(UsageError, match="no filter 'odd'"):
        filters_of(SuiteOptions(filters="no_call, odd"))
    assert filters_of(SuiteOptions(filters="no_call, duplicate")) == {"no_call", "duplicate"}
