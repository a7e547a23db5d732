"""The sample, labelled and judged, made once; and its published folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publishing import copy_of, freeze, sample_project
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing.publishing import publish
from workbench.benchmarks.records import Publication
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict


@pytest.fixture(scope="session")
def sample_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the labelled sample with two judges; ``chooser`` selected the set ``small``. Tests that write use a copy."""
    path = tmp_path_factory.mktemp("published") / "p.db"
    project = sample_project(path)
    rows = project.database.reader().execute("SELECT id, imported_gold FROM completions ORDER BY id").fetchall()
    wrong = [(item, Verdict(outcome=Outcome.INCORRECT if gold else Outcome.CORRECT)) for item, gold in rows[:10]]
    right = [(item, Verdict(outcome=Outcome.CORRECT if gold else Outcome.INCORRECT)) for item, gold in rows[10:]]
    chose = add_complete_run(project, "chooser", [*wrong, *right], kind="judge")
    add_complete_run(project, "other", [*right, (rows[0][0], Verdict(outcome=Outcome.ABSTAIN))], kind="judge")
    add_complete_run(project, "scores", [(item, Verdict(outcome=Outcome.ABSTAIN, score=0.5)) for item, _ in rows])
    freeze(project, runs=(chose,))
    project.close()
    return path


@pytest.fixture(scope="session")
def made(sample_database: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Publication]:
    """Return the published folder, which is read-only, and its report."""
    project = copy_of(sample_database, tmp_path_factory.mktemp("folder"))
    folder = project.path.with_name("out")
    found = publish(project, PublishOptions(sets=("small",), folder=folder))
    project.close()
    return folder, found


@pytest.fixture
def project(sample_database: Path, tmp_path: Path) -> Iterator[Project]:
    """The sample, to be changed."""
    found = copy_of(sample_database, tmp_path)
    yield found
    found.close()
