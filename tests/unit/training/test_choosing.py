"""The choice of a reward verifier, and warnings about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.background import install_plugin
from tests.helpers import make_project, numbered
from workbench.core.errors import UsageError
from workbench.core.project import open_project
from workbench.runs import probes
from workbench.training.choosing import RewardVerifier, load_reward_verifier


def probed(path: Path, kind: str) -> RewardVerifier:
    project = open_project(path)
    probes.run(project, probes.plan(project, kind, families=("P1", "P5"), limit=2, workers=1))
    project.close()
    return load_reward_verifier(kind, database=path)


def test_a_verifier_that_accepted_empty_answers_is_not_recommended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_plugin(tmp_path, monkeypatch)
    project = make_project(tmp_path, numbered(4))
    project.close()
    found = probed(project.path, "always-correct")
    assert found.probe is not None
    assert found.probe.accepted["P1"] == 1.0
    assert len(found.warnings) == 2
    assert all(" probes of P" in warning for warning in found.warnings)


def test_a_verifier_that_accepted_no_probe_has_no_warning(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    project.close()
    assert load_reward_verifier("exact", database=project.path).warnings[0].startswith("exact was never probed here")
    found = probed(project.path, "exact")
    assert found.warnings == ()
    assert found.probe is not None
    assert found.probe.accepted["P1"] == 0.0


def test_without_a_project_no_probes_are_looked_up() -> None:
    found = load_reward_verifier("exact")
    assert (found.name, found.probe, found.warnings) == ("exact", None, ())


OPTIONS = {"base_url": "http://localhost:9/v1", "model": "m"}


def test_a_server_verifier_needs_a_database(tmp_path: Path) -> None:
    make_project(tmp_path).close()
    assert (
        load_reward_verifier("llm-judge", OPTIONS, tmp_path / "p.db", trust=True, asking=True).database
        == tmp_path / "p.db"
    )
    assert load_reward_verifier("exact", database=tmp_path / "p.db", asking=True).database is None
    with pytest.raises(UsageError, match="asks a model server"):
        load_reward_verifier("llm-judge", OPTIONS, asking=True)
    with pytest.raises(UsageError, match="judges no completions"):
        load_reward_verifier("answer-type", OPTIONS, tmp_path / "p.db", trust=True, asking=True)
    assert load_reward_verifier("execution", database=tmp_path / "p.db", asking=True).by_tests


@pytest.mark.parametrize("kind", ["answer-type", "pairwise", "llm-judge"])
def test_a_verifier_of_no_completions_is_rejected(tmp_path: Path, kind: str) -> None:
    project = make_project(tmp_path)
    project.close()
    with pytest.raises(UsageError):
        load_reward_verifier(kind, OPTIONS, project.path, trust=True)
