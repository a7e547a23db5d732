"""Benefits and costs of a Ray cluster: two nodes against one, leases, writing results, memory, and a plan.

Usage: python -m bench.cluster [--turns 3] [--rows 50000] [--memory 1000000] [--cores 16] [--unpinned]
                               [--only speed,lease,writers,memory]

The nodes run on this machine, each pinned to one core. The benchmark compares a machine with one core, shared by the
driver, the cluster's head and a node, with the same machine plus a second one that runs only a node. With
``--unpinned`` the driver and the head use any idle core: then one node benefits from the other core, and two nodes do
not. Each rate is reported with the number of cores that the nodes used, and measurements with one and two nodes
alternate. The plan is an extrapolation; no cluster of that size was measured.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil
import pytest
from msgspec import Struct

from bench.figures import left_out, median, report
from bench.synthetic import build, released_rows
from tests.background import runner_pid
from tests.cluster import Nodes, cluster
from workbench.core.code import BASE, CodeTest, Execution, Program
from workbench.core.database.connection import Database
from workbench.core.project import Project, open_project
from workbench.core.run import ClusterUse
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.data.store.tests import problems_of
from workbench.interchange.importing import import_files, plan_import
from workbench.interchange.row_files import HeldRow, RowVerdict, row_file
from workbench.runs import cluster as executor
from workbench.runs import runner
from workbench.runs.cluster import Feed, NodeAbout, NodeReply, connected
from workbench.runs.cluster import Nodes as Executor
from workbench.runs.cluster_pool import PROGRAMS_PER_WORKER
from workbench.runs.configuring import bound_run
from workbench.runs.lease import Lease
from workbench.runs.local import ResultSink
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.store import verdicts
from workbench.runs.store.verdicts import TestResult
from workbench.runs.verifying import start
from workbench.verifiers.base import Judged
from workbench.verifiers.registry import Registry

ROOT: Final = Path(__file__).resolve().parents[1]
_CODE: Final = ROOT.parent / "shared" / "data" / "code"
_RATIO: Final = 1.8
_EXECUTIONS: Final = 48_000_000
_NODES: Final = (8, 64, 512)
_LEASES: Final = 400
_COPIES: Final = 5
_FAR: Final = 100
"""One row in so many needs the algebra stage, which takes as long as all others together."""
_PART: Final = 100_000


class Costs(Struct):
    """The measured inputs of the plan.

    Attributes:
        solution: Processor seconds of a node for a solution.
        driver: Processor seconds of the driver for a solution, from reading it to having it stored.
        written: Rows written to Parquet per second.
    """

    solution: float | None = None
    driver: float | None = None
    written: float | None = None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3, help="with one node, and with two")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--memory", type=int, default=1_000_000, help="rows over which memory has to stay the same")
    parser.add_argument("--cores", type=int, default=16, help="of each node of the plan")
    parser.add_argument("--unpinned", action="store_true", help="driver and head on whichever core has time")
    parser.add_argument("--only", default="speed,lease,writers,memory")
    options, _ = parser.parse_known_args()
    only, costs = options.only.split(","), Costs()
    if (os.cpu_count() or 1) < 2:
        left_out("cluster", "this machine has one core")
        return
    if find_spec("ray") is None:
        left_out("cluster", "Ray is not installed")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "writers" in only:
            _solutions_cost(folder, costs)
            _sqlite(folder)
            _parquet(folder, costs)
        if "lease" in only:
            _leases()
            _driver(folder, costs)
        if "speed" in only:
            # A node's time per solution includes more than the tests themselves.
            code, rows = _code_project(folder, _COPIES), _rows_project(folder, options.rows)
            with nullcontext() if options.unpinned else on_core(0):
                costs.solution = speed(folder, "execution", code, options.turns)
                speed(folder, "rules", rows, options.turns)
        if "memory" in only:
            _memory(folder, options.memory)
    _plan(costs, options.cores)


# -- Input


def _rows_project(folder: Path, count: int) -> Path:
    source = folder / "rows.jsonl"
    with source.open("w") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in released_rows(count, pad=600, far=_FAR))
    with closing(open_project(folder / "rows.db", create=True)) as project:
        import_files(project, plan_import([source]), dataset="rows")
        return project.path


def _code_project(folder: Path, copies: int = 1) -> Path:
    """Create real problems with several copies of their solutions, or those of the sample."""
    problems, solutions = "problems.jsonl", "solutions.jsonl"
    place, before = (_CODE, "") if _CODE.is_dir() else (ROOT / "sample_data", "code_")
    path, more = folder / f"code-{copies}.db", folder / solutions
    if not path.exists():
        rows = [json.loads(line) for line in (place / f"{before}{solutions}").read_text().splitlines()]
        with more.open("w") as file:
            for number in range(copies):
                file.writelines(f"{json.dumps(row | _named(row, number))}\n" for row in rows)
        with closing(open_project(path, create=True)) as project:
            import_files(project, plan_import([place / f"{before}{problems}", more]), dataset="code")
    return path


def _named(row: dict[str, Any], number: int) -> dict[str, str]:
    return {"solution_id": f"{row['solution_id']}-{number}", "code": f"{row['code']}\n# {number}\n"}


# -- Two nodes against one


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Pin this process and the processes it starts to one core of this machine."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def speed(folder: Path, kind: str, empty: Path, turns: int) -> float:
    """Measure rates with one node and with two; return a node's processor seconds per result."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    had: dict[int, list[float]] = {1: [], 2: []}
    with cluster(0) as nodes:
        nodes.add(core=0)
        for _ in range(turns):
            for count in (1, 2):
                if count == 2:
                    nodes.add(core=1)
                rate, cores = _turn(folder, kind, empty, nodes)
                rates[count].append(rate)
                had[count].append(cores)
            nodes.remove()
    for count in (1, 2):
        report(f"cluster_{kind}_per_second_{count}", median(rates[count]), "results/s")
        report(f"cluster_{kind}_cores_had_{count}", median(had[count]), "cores")
    ratios = [two / one for one, two in zip(rates[1], rates[2], strict=True)]
    report(f"cluster_{kind}_two_nodes", median(ratios), "x", _RATIO, at_least=True)
    of_cores = [two / one for one, two in zip(had[1], had[2], strict=True)]
    report(f"cluster_{kind}_two_nodes_cores", median(of_cores), "x the cores that one had")
    each = [ratio / cores for ratio, cores in zip(ratios, of_cores, strict=True)]
    report(f"cluster_{kind}_two_nodes_a_core", median(each), "x what one node did with a core it had")
    cost = median([cores / rate for cores, rate in zip(had[1], rates[1], strict=True)])
    report(f"cluster_{kind}_node_ms", 1000 * cost, "ms of a node's processor for a result")
    return cost


def _turn(folder: Path, kind: str, empty: Path, nodes: Nodes) -> tuple[float, float]:
    """Return the results per second between the first and the last, and the cores that the nodes used."""
    database = Path(shutil.copyfile(empty, folder / "turn.db"))
    command = [sys.executable, "-m", "workbench", "verify", str(database), kind, "--on", "ray"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seen: list[tuple[float, int, float]] = []
    with closing(open_project(database)) as project:
        while process.poll() is None:
            stored = _stored(project)
            if stored and (not seen or stored > seen[-1][1]):
                seen.append((time.perf_counter(), stored, _cpu(nodes)))
            time.sleep(0.1)
        assert process.stderr is not None
        if process.returncode:
            raise RuntimeError(process.stderr.read())
        process.stderr.close()
    for end in ("", "-wal", "-shm"):
        Path(f"{database}{end}").unlink(missing_ok=True)
    (began, first, before), (ended, last, _) = seen[0], seen[-1]
    # The processor time of actors that have ended is lost.
    until, _, after = max(seen, key=lambda one: one[2])
    return (last - first) / (ended - began), (after - before) / max(until - began, 0.1)


def _stored(project: Project) -> int:
    (count,) = project.database.reader().execute("SELECT count(*) FROM verdicts").fetchone()
    return int(count)


def _cpu(nodes: Nodes) -> float:
    """Return the processor seconds of the nodes' workers and their children."""
    total = 0.0
    for actor in nodes.actors():
        for process in _with_children(actor):
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _with_children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


# -- The driver's cost of a lease


class Echo:
    """Return a previously measured result at once."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def about(self) -> NodeAbout:
        """See `ReadingNode`."""
        return NodeAbout(version="")

    def work(self, pieces: Sequence[tuple[int, Any]]) -> NodeReply[Any]:
        """See `ReadingNode`."""
        return NodeReply([(number, copy(self._result)) for number, _ in pieces])


def _leases() -> None:
    """Measure wall and processor time of the driver for leases that take nodes no time."""
    verdict, tests = Verdict(outcome=Outcome.CORRECT, reason="number", score=1.0), _usual_tests()
    execution = Execution(outcomes="p" * len(tests), level="L3", ms=0.1)

    def item(number: int) -> VerifierInput:
        question, reference, completion = (f"{number:06d}" * times for times in (30, 15, 150))
        return VerifierInput(item=number, question=question, reference=reference, completion=completion)

    def program(number: int) -> Program:
        # Consecutive solutions belong to one problem and share its tests.
        return Program(source=f"{number:06d}" * 100, tests=tests, setup="candidate = f", entry_point="f")

    with cluster(2):
        _lease("items", item, verdict, executor.ITEMS_PER_WORKER)
        _lease("programs", program, execution, PROGRAMS_PER_WORKER)


def _lease(name: str, piece: Callable[[int], Any], result: Any, most: int) -> None:
    def made(on_node: Any, processors: int) -> Any:
        return on_node(Echo).remote(result)

    pieces = [(number, piece(number)) for number in range(_LEASES * most)]
    with connected("ray") as ray, Executor(ray, made, lambda _: "", ClusterUse(address="ray"), ResultSink()) as nodes:
        nodes.wait_for_first_node()
        began, before = time.perf_counter(), time.process_time()
        for _ in nodes.work(Feed(pieces, lambda _: 1, most), lambda: None):
            pass
        spent, wall = time.process_time() - before, time.perf_counter() - began
    report(f"cluster_lease_{name}_driver_ms", 1000 * spent / _LEASES, f"ms of processor a lease of {most}")
    report(f"cluster_lease_{name}_wall_ms", 1000 * wall / _LEASES, "ms a lease, two nodes on the same cores")
    report(f"cluster_driver_{name}_per_second", _LEASES * most / spent, f"{name} a second of its processor")


def _driver(folder: Path, costs: Costs) -> None:
    """Measure the driver's processor time in a real run, between the first stored solutions and the last."""
    with cluster(2):
        calls = _recorded(Path(shutil.copyfile(_code_project(folder, _COPIES), folder / "driver.db")), on="ray")
    count = sum(len(call.judged) for call in calls[1:])
    costs.driver = (calls[-1].spent - calls[0].spent) / count
    report(
        "cluster_driver_solution_ms", 1000 * costs.driver, f"ms of processor, read, given out and stored, of {count}"
    )


def _usual_tests() -> tuple[CodeTest, ...]:
    """Return the base tests of the problem with the median number of tests."""
    with tempfile.TemporaryDirectory() as folder, closing(open_project(_code_project(Path(folder)))) as project:
        questions = [row[0] for row in project.database.reader().execute("SELECT question_id FROM code_problems")]
        found = problems_of(project.database, questions, [BASE])
        return sorted((problem.suites[BASE] for problem in found.values()), key=len)[len(found) // 2]


# -- The cost of a solution, and the speed of writing results


class _Stored(NamedTuple):
    """The results a run had stored at a time, and the processor time of this process by then."""

    judged: Sequence[tuple[int, Judged]]
    results: Sequence[TestResult]
    spent: float


def _recorded(database: Path, *, on: str | None) -> list[_Stored]:
    """Run ``execution`` in this process."""
    calls: list[_Stored] = []
    whole = runner._Sink.store_executed

    def recorded(self: Any, judged: Sequence[tuple[int, Judged]], results: Sequence[TestResult]) -> None:
        whole(self, judged, results)
        if judged:
            calls.append(_Stored(judged, results, time.process_time()))

    with (
        pytest.MonkeyPatch.context() as patch,
        closing(open_project(database)) as project,
    ):
        patch.setattr(runner._Sink, "store_executed", recorded)
        patch.setattr(runner, "_IDLE_S", 0.0)
        lease = Lease.acquire(project.database)
        assert lease is not None
        run = start(project, "execution", workers=None if on else 1, on=on).run
        Runner(project.database, lease).work()
        assert run_info(project, run).state == "complete"
    return calls


def _solutions_cost(folder: Path, costs: Costs) -> None:
    """Measure the processor time of a solution's tests, and the speed of storing verdicts with outcomes."""
    empty = _code_project(folder)
    before = _children()
    calls = _recorded(Path(shutil.copyfile(empty, folder / "cost.db")), on=None)
    judged = [one for call in calls for one in call.judged]
    results = [one for call in calls for one in call.results]
    costs.solution = (_children() - before) / len(judged)
    report(
        "cluster_solution_cpu_ms",
        1000 * costs.solution,
        f"ms of processor, mean of {len(judged)} with their base tests",
    )
    rates = []
    for _ in range(9):
        database = Path(shutil.copyfile(empty, folder / "cost.db"))
        with closing(Database(database)) as opened:
            run = _bound(opened, "execution")
            began = time.process_time()
            for place in range(0, len(judged), 500):
                with opened.write("normal") as connection:
                    samples = [row for item, found in judged[place : place + 500] for row in found.samples(item)]
                    verdicts.put_samples(connection, run, samples)
                    verdicts.put_outcomes(connection, run, results[place : place + 500])
            rates.append(len(judged) / (time.process_time() - began))
    report("cluster_sqlite_solutions_per_second", median(rates), "with outcomes and failures, a second of processor")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _bound(database: Database, kind: str) -> int:
    with database.write() as connection:
        return bound_run(connection, kind, Registry().load(kind, {}), {})


def _sqlite(folder: Path) -> None:
    """Store verdicts on texts in a database of a million items, the first and the last of them."""
    items = 10 * _PART
    path = build(folder / "items.db", items, verdicts=False, runs=0, labelled=0)
    with closing(Database(path)) as database:
        run = _bound(database, "rules")
        verdict = Verdict(outcome=Outcome.CORRECT, reason="number", score=1.0)
        rates, size = [], path.stat().st_size
        for begin in range(1, items, _PART):
            began = time.process_time()
            for first in range(begin, begin + _PART, 300):
                rows = [(item, verdict) for item in range(first, min(first + 300, begin + _PART))]
                with database.write("normal") as connection:
                    verdicts.put(connection, run, rows)
            rates.append(_PART / (time.process_time() - began))
        database.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    report(
        "cluster_sqlite_verdicts_per_second_first", rates[0], "a second of processor, the first 100,000 of a million"
    )
    report("cluster_sqlite_verdicts_per_second_last", rates[-1], "a second of processor, the last 100,000")
    report("cluster_sqlite_bytes_per_verdict", (path.stat().st_size - size) / items, "bytes")
    path.unlink()


def _parquet(folder: Path, costs: Costs) -> None:
    """Write rows with their verdicts, as ``judge-file`` writes them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        left_out("cluster_parquet_rows_per_second", "pyarrow is not installed")
        return
    source = folder / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(list(released_rows(_PART, pad=600))), source)
    file = row_file(source, {}, "")
    rows = [row.own for row in file.rows() if isinstance(row, HeldRow)]
    verdict, rates = RowVerdict(Verdict(outcome=Outcome.CORRECT, reason="number", score=1.0)), []
    for place in range(0, len(rows), 10_000):
        some = [(row, verdict) for row in rows[place : place + 10_000]]
        began = time.process_time()
        with file.writer(io.BytesIO()) as write:
            write(some)
        rates.append(len(some) / (time.process_time() - began))
    costs.written = median(rates)
    report("cluster_parquet_rows_per_second", costs.written, "rows of 900 bytes, a second of processor")


# -- Memory


def _memory(folder: Path, count: int) -> None:
    """Measure the memory of the driver and the actors while one run judges more and more rows."""
    database = build(folder / "memory.db", count, verdicts=False, runs=0, labelled=0)
    marks = [count // 5, 3 * count // 5, count * 99 // 100]
    with cluster(2) as nodes, closing(open_project(database)) as project:
        command = [sys.executable, "-m", "workbench", "verify", str(database), "rules", "--on", "ray"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            done = _stored(project)
            if marks and done >= marks[0]:
                driver, actors = _sizes(project, nodes)
                mark = f"{marks.pop(0)}_rows"
                report(f"cluster_driver_mb_{mark}", driver, "MB, proportional share")
                report(f"cluster_actors_mb_{mark}", actors, "MB, both with their workers")
            time.sleep(1.0)
    for count in marks:
        left_out(f"cluster_driver_mb_{count}_rows", "the run ended before it")


def _sizes(project: Project, nodes: Nodes) -> tuple[float, float]:
    pid = runner_pid(project)
    driver = _memory_of(_with_children(psutil.Process(pid))) if pid else float("nan")
    return driver, sum(_memory_of(_with_children(actor)) for actor in nodes.actors())


def _memory_of(processes: Sequence[psutil.Process]) -> float:
    total = 0
    for process in processes:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 2**20


# -- The plan


def _plan(costs: Costs, cores: int) -> None:
    """Estimate the time of 48 million executions on so many nodes, and the first bottleneck."""
    if costs.solution is None or costs.driver is None:
        left_out("cluster_plan", "it rests on lease and writers")
        return
    report("cluster_cores_of_one_driver", costs.solution / costs.driver, "cores that one driver keeps at work")
    for count in _NODES:
        work, driver_seconds = _EXECUTIONS * costs.solution / count / cores, _EXECUTIONS * costs.driver
        first = "the nodes" if work > driver_seconds else "the driver, which is one process"
        report(
            f"cluster_plan_hours_{count}_nodes",
            max(work, driver_seconds) / 3600,
            f"h, {cores} cores each; first: {first}",
        )
        report(f"cluster_plan_minutes_{count}_nodes_files", work / 60, "min, if each writes files of its own")
    if costs.written is not None:
        share = cores / costs.solution / costs.written
        report("cluster_plan_writer_share", share, "of one core of a node writes what the node finds into Parquet")


if __name__ == "__main__":
    main()
