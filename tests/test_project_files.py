"""The public repository files agree with the project: citation, issue forms, workflows."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.documents import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def read(name: str) -> Any:
    return yaml.load((ROOT / name).read_text(encoding="utf-8"), yaml.BaseLoader)


def test_citation_names_this_version() -> None:
    citation = read("CITATION.cff")
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    papers = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    cited = [one["identifiers"][0]["value"].removeprefix("arXiv:") for one in citation["references"]]
    assert len(cited) == 4
    assert [number for number in cited if number not in papers] == []


def test_ci_runs_the_make_targets_on_every_python() -> None:
    job = read(".github/workflows/ci.yml")["jobs"]["test"]
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert job["strategy"]["matrix"]["python"][0] == oldest
    assert [step["run"] for step in job["steps"] if "run" in step] == ["bash .ci/run"]


def test_weekly_soak_slices_cover_all_tests() -> None:
    *folders, rest = read(".github/workflows/soak.yml")["jobs"]["soak"]["strategy"]["matrix"]["tests"]
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert rest.split() == ["tests", *(f"--ignore={folder}" for folder in folders)]


def test_release_builds_both_wheels() -> None:
    steps = read(".github/workflows/release.yml")["jobs"]["build"]["steps"]
    assert "make dist" in [step.get("run") for step in steps]
    recipe = re.search(r"(?m)^dist:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text())
    assert recipe is not None
    assert recipe[1].count("hatchling build") == 2


@pytest.mark.parametrize("form", ["bug", "format", "wrong-verdict"])
def test_issue_form_asks_for_what_reproduces_the_fault(form: str) -> None:
    found = read(f".github/ISSUE_TEMPLATE/{form}.yml")
    fields = {field["id"]: field for field in found["body"]}
    assert {"name", "description", "labels"} <= found.keys()
    assert any(field.get("validations", {}).get("required") == "true" for field in fields.values())
    assert all(field["attributes"]["label"] for field in fields.values())


def test_pre_commit_runs_the_linters_of_make() -> None:
    lint = re.search(r"(?m)^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text())
    hooks = [hook["entry"].removeprefix(".venv/bin/") for hook in read(".pre-commit-config.yaml")["repos"][0]["hooks"]]
    assert lint is not None
    assert [entry for entry in hooks if f"$(BIN)/{entry.removesuffix(' --fix')}" not in lint[1]] == []
