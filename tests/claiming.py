"""Annotators who work concurrently, each in a separate process, with or without a verifier that stores verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.people import assign
from workbench.runs.store import runs, verdicts

ROOT = Path(__file__).parents[1]
GROUP = 500
"""Verdicts per transaction, the same as in the runner."""

_LONGEST_S = 600


def team(count: int) -> list[str]:
    """Return this many annotator names."""
    return [f"p{number:02}" for number in range(count)]


def assigned(folder: Path, items: int, people: int, *, others: int = 0) -> Project:
    """Create a project with ``items`` items of two slots each, and others that are not assigned."""
    project = make_project(folder, numbered(items + others))
    assign(project, team(people), per_item=2, selection=Selection(limit=items))
    return project


def work(project: Project, people: int, *, restless: bool = False) -> list[dict[str, list[float]]]:
    """Let all annotators label everything that is left, concurrently.

    Args:
        restless: They also skip, undo, and go away and come back.

    Returns:
        For each person the milliseconds of every ``next`` and every ``submit``, and when each ``submit`` began.
    """
    go = Path(f"{project.path}.go")
    processes = [_python("label", str(project.path), name, str(int(restless))) for name in team(people)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.communicate()
        go.touch()
        outputs = [process.communicate(timeout=_LONGEST_S) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, error) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, error
    return [json.loads(out) for out, _ in outputs]


@contextmanager
def verifying(project: Project, rows_a_second: int) -> Iterator[dict[str, float]]:
    """Store verdicts of the project's items in another process, starting when the annotators start.

    Yields:
        Afterwards: the pace it kept, as ``rows_a_second``.
    """
    rates: dict[str, float] = {}
    stop = Path(f"{project.path}.stop")
    for mark in (stop, Path(f"{project.path}.go")):
        mark.unlink(missing_ok=True)
    process = _python("verify", str(project.path), str(rows_a_second))
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
        yield rates
        stop.touch()
        out, error = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert process.returncode == 0, error
    rates["rows_a_second"] = json.loads(out)


def quotas(project: Project, task: str = "correctness") -> set[tuple[int, int]]:
    """Return the pairs (current labels, annotators) that occur among labelled subjects."""
    rows = project.database.reader().execute(
        "SELECT count(*), count(DISTINCT annotator_id) FROM label_events AS e WHERE kind = 'label' AND task = ? "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.supersedes = e.uuid) GROUP BY subject",
        (task,),
    )
    return set(rows.fetchall())


def labelled(project: Project) -> int:
    """Return the number of items with a current label."""
    row: tuple[int] = (
        project.database.reader()
        .execute(
            "SELECT count(DISTINCT subject) FROM label_events AS e WHERE kind = 'label' AND task = 'correctness' "
            "AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.supersedes = e.uuid)"
        )
        .fetchone()
    )
    return row[0]


def rank(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank quantile."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def overtaken(times: Sequence[dict[str, list[float]]]) -> list[int]:
    """Return for each ``submit`` how many others began after it and ended before it."""
    spans = [span for person in times for span in zip(person["began"], person["submit"], strict=True)]
    return [sum(began < other < other + took < began + waited for other, took in spans) for began, waited in spans]


def _python(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.claiming", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _label(path: str, name: str, restless: bool) -> None:
    project = open_project(path)
    session = AnnotationSession(project, name)
    _wait_for_go(path)
    times: dict[str, list[float]] = {"next": [], "submit": [], "began": []}
    number = 0
    while True:
        began = time.perf_counter()
        item = session.next()
        times["next"].append((time.perf_counter() - began) * 1000)
        if item is None:
            break
        number += 1
        if restless and number % 7 == 3:
            session.skip(item)
            continue
        if restless and number % 13 == 7:
            session.release(item.completion)
            continue
        answer = Answer(verdict="correct" if number % 3 else "incorrect", subtype="A1" if item.asks_type else None)
        began = time.perf_counter()
        session.submit(item, answer)
        times["submit"].append((time.perf_counter() - began) * 1000)
        times["began"].append(began * 1000)
        if restless and number % 11 == 5:
            session.undo()
    session.close()
    project.close()
    print(json.dumps(times))


def _wait_for_go(path: str) -> None:
    print("ready", flush=True)
    while not Path(path + ".go").exists():
        time.sleep(0.001)


def _verify(path: str, rows_a_second: int) -> None:
    project = open_project(path)
    items = [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name="v", kind="v", options={}, config={}, config_hash="0")
    _wait_for_go(path)
    began, stored, passes = time.perf_counter(), 0, 0
    while not Path(path + ".stop").exists():
        with project.database.write() as connection:
            passes += 1
            run = runs.add(connection, verifier, str(passes))
        for start in range(0, len(items), GROUP):
            found = [(item, Verdict(outcome=Outcome.CORRECT)) for item in items[start : start + GROUP]]
            with project.database.write() as connection:
                verdicts.put(connection, run, found)
            stored += len(found)
            time.sleep(max(began + stored / rows_a_second - time.perf_counter(), 0))
            if Path(path + ".stop").exists():
                break
    print(json.dumps(round(stored / (time.perf_counter() - began))))
    project.close()


if __name__ == "__main__":
    if sys.argv[1] == "label":
        _label(sys.argv[2], sys.argv[3], bool(int(sys.argv[4])))
    else:
        _verify(sys.argv[2], int(sys.argv[3]))
