"""``workbench audit-figures``: its exit codes, and what scripts read."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from tests.commands import Call, in_process
from tests.helpers import make_project, numbered
from tests.unit.labelling.said import Record
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.schemas import schema
from workbench.auditing.records import Family
from workbench.core.verdict import Outcome, Verdict


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def test_a_difference_ends_with_3_and_is_printed(
    tmp_path: Path, workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path, numbered(12))
    add_complete_run(project, "judge", [(item, Verdict(outcome=Outcome(item % 2))) for item in range(1, 13)])
    project.close()
    code, out, _ = workbench("audit-figures", project.path, "--family", "accuracy", "--json")
    assert code == 0
    found = json.loads(out)
    jsonschema.validate(found, schema("audit-figures"))
    assert (found["differences"], found["families"][0]["family"]) == ([], "accuracy")
    monkeypatch.setattr("workbench.statistics.accuracy.mcc", lambda counts: 0.5)
    code, out, _ = workbench("audit-figures", project.path, "--family", "accuracy")
    assert code == 3
    assert "forced | judge | all | mcc" in out
    code, _, error = workbench("audit-figures", project.path, "--family", "prices")
    assert (code, "no family of figures" in error) == (2, True)


FAULTS: dict[Family, tuple[str, str, str]] = {
    "accuracy": ("workbench.statistics.accuracy.fnr", "module.fpr(*given)", "judge | type A | fnr"),
    "confusion": (
        "workbench.statistics.confusion.confusion",
        "replace(right(*given), fp=right(*given).fn, fn=right(*given).fp)",
        "judge | fp",
    ),
    "compare": (
        "workbench.statistics.compare.metric_differences",
        "[replace(one, a=one.b, b=one.a) for one in right(*given)]",
        "mcc of A",
    ),
    "agreement": ("workbench.statistics.agreement.coefficients.ac1", "right(*given) + 1e-8", "gwet_ac1"),
    "ensembles": ("workbench.statistics.ensembles.at_least", "right(given[0], 1)", "2 of 2 | fpr"),
    "estimates": (
        "workbench.statistics.prediction_powered.powered",
        "replace(right(*given), classical=right(*given).estimate)",
        "accuracy | all | classical",
    ),
    "code": ("workbench.statistics.ensembles.pass_at", "right(given[0], given[1] + 1, given[2])", "pass@1"),
    "calibration": ("workbench.statistics.calibration.equal_mass", "right(given[0], 9)", "score | ece"),
}
"""Family -> a function of the tool, what it gives when it is wrong, and a figure that is another one then."""

PLANT = """
import importlib
from msgspec.structs import replace
module = importlib.import_module({module!r})
right = module.{name}
module.{name} = lambda *given, module=module, right=right: {wrong}
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project that has figures of every family."""
    chance = random.Random(1)
    project = make_project(
        tmp_path_factory.mktemp("audited"),
        [
            row | {"subtype": ("A1", "B1")[place // 2 % 2], "gold": row["gold"] if place % 3 else None}
            for place, row in enumerate(numbered(90))
        ],
    )
    for name, mistakes in (("judge", 0.2), ("scorer", 0.4)):
        said = []
        for item in range(1, 91):
            right = (item % 2 == 1) != (chance.random() < mistakes * (1 + item % 2) / 2)
            score = round(0.5 * right + chance.random() / 2, 2) if name == "scorer" else None
            said.append((item, Verdict(outcome=Outcome(right), score=score)))
        add_complete_run(project, name, said)
    record = Record(project)
    for item in range(1, 61):
        for person in ("ann", "bob"):
            record.say(person, item, "c" if (item % 2 == 1) != (chance.random() < 0.2) else "i")
    with project.database.write() as connection:
        connection.execute("INSERT INTO code_problems (question_id) SELECT id FROM questions WHERE id % 2")
    project.close()
    return project.path


def planted(folder: Path, *families: Family) -> dict[str, str]:
    """The surroundings of a process in which functions of these families are wrong."""
    plants = []
    for place, wrong, _ in (FAULTS[family] for family in families):
        module, _, name = place.rpartition(".")
        plants.append(PLANT.format(module=module, name=name, wrong=wrong))
    (folder / "sitecustomize.py").write_text("".join(plants), encoding="utf-8")
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), *sys.path]))}


def audited(path: Path, surroundings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbench", "audit-figures", str(path), *arguments]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)


def test_without_a_fault_every_family_has_figures_and_none_differs(everything: Path, tmp_path: Path) -> None:
    found = audited(everything, planted(tmp_path), "--json")
    assert found.returncode == 0, found.stderr
    report = json.loads(found.stdout)
    assert report["differences"] == []
    assert {one["family"]: one["figures"] > 0 for one in report["families"]} == dict.fromkeys(get_args(Family), True)


@pytest.mark.parametrize("family", get_args(Family))
def test_a_fault_of_each_family_is_found_by_the_command(everything: Path, family: Family, tmp_path: Path) -> None:
    """As a user would run it, in a process of its own in which one function of the tool is wrong."""
    found = audited(everything, planted(tmp_path, family), "--family", family)
    assert found.returncode == 3, found.stdout + found.stderr
    differing = [line for line in found.stdout.splitlines() if line.startswith(f"{family} ") and " | " in line]
    assert any(FAULTS[family][2] in line for line in differing), found.stdout
