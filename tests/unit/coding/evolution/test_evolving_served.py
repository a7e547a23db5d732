"""Evolutions with a model server and the real sandbox: on ten real problems, and killed."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from threading import Event

import pytest

from tests.background import until
from tests.evolving_served import answering, call, command, need_a_sandbox, own_served, real_project
from tests.servers.scripted import ScriptedServer, scripted
from workbench.coding import store
from workbench.coding.evolution import evolved
from workbench.coding.evolution.growing import columns, is_split, rate
from workbench.coding.evolution.refining import USUAL
from workbench.coding.evolution.running import export, run
from workbench.coding.options import ProgramOptions
from workbench.coding.records.evolution import EvolutionSettings
from workbench.core.project import Project
from workbench.runs.generation import models_from

SETTINGS = EvolutionSettings(model="m")
SHORT = EvolutionSettings(model="m", rounds=2)


def evolve(project: Project, server: ScriptedServer, settings: EvolutionSettings = SETTINGS) -> None:
    run(
        project,
        "grown",
        models_from(project, ["m"], {"base_url": server.url}, USUAL),
        settings,
        programs=ProgramOptions(workers=2),
    )


def assert_rules(project: Project) -> None:
    """Every rule holds on every problem of an evolution."""
    row = evolved.evolution(project, "grown")
    for one in store.evolved_problems(project.database.reader(), row.id):
        assert one.final is not None
        tests = columns(one.vectors)
        assert len(tests) == len({test.source for test in one.tests})
        first = len(one.pool.tests)
        for step in one.growth:
            added = tests[first : first + len(step.tests)]
            first += len(step.tests)
            assert len(step.shown) <= 5
            assert step.mode == "adversarial" or all(map(is_split, added))
        perfect = len(one.pool.solutions)
        for snapshot in one.final.snapshots:
            kept = Counter(tests[place] for place in snapshot.kept)
            assert all(count <= 5 and rate(column) >= 0.1 for column, count in kept.items())
            solved = sum(all(vector[place] == "1" for place in snapshot.kept) for vector in one.vectors)
            assert solved <= perfect
            perfect = solved
            expected = "few_tests" if len(snapshot.kept) < 5 else None
            if expected is None and solved / len(one.vectors) > 60 / 64:
                expected = "too_easy"
            assert snapshot.left_out == expected


@pytest.mark.real_data
def test_ten_real_problems_grow_harder_for_three_rounds(shared_data: Path, tmp_path: Path) -> None:
    need_a_sandbox()
    project, more = real_project(shared_data, tmp_path, problems=10, solutions=5)
    with scripted(answering(more)) as server:
        evolve(project, server)
        asked = len(server.received)
        evolve(project, server)
        assert len(server.received) == asked
    assert_rules(project)
    report = evolved.report(project, evolved.evolution(project, "grown"))
    assert report.finished == 10
    shares = [one.pass_at["1"] or 0.0 for one in report.rounds]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < shares[0]
    assert {"no_python", "no_assert", "no_call", "reaches_out", "duplicate", "wrong"} <= set(report.steps[0].rejected)
    assert report.rounds[3].taken > report.rounds[0].taken
    project.close()


@pytest.mark.soak
def test_a_killed_process_is_resumed_by_the_same_command(tmp_path: Path) -> None:
    need_a_sandbox()
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    with own_served(tmp_path / "whole") as (project, server):
        evolve(project, server, SHORT)
        export(project, evolved.evolution(project, "grown"), tmp_path / "whole.jsonl")
    goes_on = Event()
    with own_served(tmp_path / "killed", waits=6, until=goes_on) as (project, server):
        going = subprocess.Popen(command(project, server, "--workers", "1", "--rounds", "2"), stdout=subprocess.DEVNULL)
        until(lambda: len(server.received) >= 6)
        going.send_signal(signal.SIGKILL)
        going.wait()
        assert 2 < steps(project) < 12
        goes_on.set()
        evolve(project, server, SHORT)
        export(project, evolved.evolution(project, "grown"), tmp_path / "killed.jsonl")
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.soak
@pytest.mark.real_data
def test_twenty_kills_lead_to_the_same_bytes(shared_data: Path, tmp_path: Path) -> None:
    need_a_sandbox()
    folders = [tmp_path / name for name in ("whole", "killed")]
    for folder in folders:
        folder.mkdir()
        project, more = real_project(shared_data, folder, problems=10, solutions=20)
        with scripted(answering(more)) as server:
            for number in range(20 if folder is folders[1] else 0):
                going = subprocess.Popen(command(project, server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(0.8 + 0.09 * number)
                going.send_signal(signal.SIGKILL)
                going.wait()
            done = call(*command(project, server, "--export", str(folder / "lines.jsonl")))
            assert done.returncode == 0, done.stderr
        assert_rules(project)
        project.close()
    whole, killed = ((folder / "lines.jsonl").read_bytes() for folder in folders)
    assert whole == killed


def steps(project: Project) -> int:
    row: tuple[int] = project.database.reader().execute("SELECT count(*) FROM evolution_steps").fetchone()
    return row[0]
