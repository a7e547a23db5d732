"""Follow the recipes in CONTRIBUTING literally."""

from __future__ import annotations

import csv
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.commands import in_process
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.cli import data
from workbench.app.verbs import COMMANDS
from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.rules import comparing, reading
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.reading import AnswerReader

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(title: str, language: str = "python") -> str:
    """Return the code under a heading."""
    section = TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found, title
    return found[1]


def test_recipe_adds_a_verifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    metadata = tmp_path / "site" / "my_package-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    points = recipe("Adding a verifier", "toml").replace("[project.entry-points.", "[").replace('"', "")
    (metadata / "entry_points.txt").write_text(points)
    (metadata.parent / "my_package.py").write_text(recipe("Adding a verifier"))
    monkeypatch.setattr(sys, "path", [str(metadata.parent), *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(metadata.parent) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    importlib.invalidate_caches()
    project = make_project(tmp_path, numbered(3))
    call = in_process(monkeypatch, capfd)
    listed = {kind["name"]: kind for kind in json.loads(call("verifiers", project.path, "--json")[1])}
    assert listed["ends-with"]["description"] == "The reply ends with the reference"
    assert listed["ends-with"]["options"] == {"fold": "ignore case (default false)"}
    code, output, error = call("verify", project.path, "ends-with", "-o", "fold=true", "--json")
    assert code == 0, error
    assert sum(json.loads(output)["verdicts"].values()) == 3
    assert json.loads(output)["verdicts"]["error"] == 0
    assert call("verify", project.path, "ends-with", "-o", "fold=perhaps")[0] == 2


def test_recipe_adds_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    found = re.search(r'`"(\w+)": \("(\w+)", "(.+?)"\),`', TEXT)
    assert found
    name, module, words = found.groups()
    within = ModuleType("workbench.app.cli.within")
    vars(within).update(vars(data))
    exec(compile(recipe("Adding a command"), "CONTRIBUTING.md", "exec", dont_inherit=True), vars(within))
    assert importlib.import_module(f"workbench.app.cli.{module}") is data
    monkeypatch.setattr(data, f"{name}_command", vars(within)[f"{name}_command"], raising=False)
    monkeypatch.setitem(COMMANDS, name, (module, words))
    project = make_project(tmp_path, numbered(3))
    call = in_process(monkeypatch, capfd)
    code, output, error = call(name, project.path, "--json")
    assert code == 0, error
    assert json.loads(output)["dataset"]
    assert call(name, project.path, "--limit", "0")[0] == 2
    assert "--limit" in call(name, "--help")[1]


def test_recipe_adds_an_answer_type(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`ROMAN` joins `TYPES`" in TEXT
    year, other = (
        TypedQuestion("In which year was the house built?"),
        TypedQuestion("Which letters are on the door?"),
    )
    assert _same(year, "MCMXLIV", "1944") is not True
    roman = ModuleType("workbench.verifiers.rules.roman")
    monkeypatch.setitem(sys.modules, roman.__name__, roman)
    exec(compile(recipe("Adding an answer type to `rules`"), "roman.py", "exec", dont_inherit=True), vars(roman))
    monkeypatch.setattr(reading, "READERS", (roman.ROMAN, *comparing.READERS))
    monkeypatch.setattr(comparing, "COMPARERS", comparing.COMPARERS | roman.ROMAN.comparers)
    assert _same(year, "MCMXLIV", "1944") is True
    assert _same(year, "MCMXLIV", "1946") is False
    assert _same(year, "MCMXLIV", "MCMXLVI") is False
    assert _same(other, "MIX", "1009") is not True


def test_recipe_adds_a_metric(tmp_path: Path) -> None:
    found = re.search(r"has the line `(.*?)`", TEXT)
    assert found
    package, copy = Path(__file__).parents[1] / "workbench", tmp_path / "source" / "workbench"
    shutil.copytree(package, copy, copy_function=os.symlink, ignore=shutil.ignore_patterns("report.pyc"))
    (copy / "statistics" / "metrics" / "f1.py").write_text(recipe("Adding a metric"))
    record = copy / "statistics" / "records" / "report.py"
    source = record.read_text()
    record.unlink()
    import_ = "from workbench.statistics.metrics.fnr import FNR\n"
    patched = source.replace(import_, "from workbench.statistics.metrics.f1 import F1\n" + import_)
    record.write_text(patched.replace("\n\n    @property", f"\n    {found[1]}\n\n    @property", 1))
    project = make_project(tmp_path, numbered(4))
    outcomes = (Outcome.INCORRECT, Outcome.CORRECT, Outcome.CORRECT, Outcome.INCORRECT)
    add_complete_run(project, "rules", [(item, Verdict(outcome=outcome)) for item, outcome in enumerate(outcomes, 1)])
    printed = subprocess.run(
        [sys.executable, "-m", "tests.shown_metric", project.path, "f1"],
        env=os.environ | {"PYTHONPATH": f"{copy.parent}{os.pathsep}{package.parent}", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=True,
    )
    shown = json.loads(printed.stdout)
    rows = {row["verifier"]: row["f1"] for row in shown["json"]["rows"]}
    assert rows == {"rules": 0.5, "always-correct": 2 / 3, "always-incorrect": 0.0, "majority-by-type": 0.0}
    assert next(iter(rows)) == "rules"
    assert "Harmonic mean" in shown["schema"]["$defs"]["AccuracyRow"]["properties"]["f1"]["description"]
    head, line, *_ = csv.DictReader(shown["csv"].splitlines())
    assert [line["f1"] for line in (head, line)] == ["0.5", "0.0"]
    text, latex = ([words for words in shown[form].splitlines() if "F1" in words] for form in ("text", "latex"))
    assert len(text) == len(latex) == 1
    assert shown["screen"]["F1"] == "50.0"
    assert re.search(r"<th[^>]*>F1", shown["report"])


def _same(question: TypedQuestion, reference: str, candidate: str) -> bool | None:
    reader = AnswerReader(question)
    return comparing.Comparison(reader).same(reader.part(reference), reader.part(candidate))
