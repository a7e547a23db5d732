"""Trainings that are watched: weighted shares by step, drift, groups; what is undefined is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import run
from tests.watched_training import SimulatedTraining, free_rewards
from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.core.project import Project, open_project
from workbench.measuring.watching import training_text, watched
from workbench.statistics.watching import first_rise, weighted_share
from workbench.training.audit import Watcher
from workbench.training.auditing import Audit


def test_a_weighted_share_is_the_ratio_of_sums_of_weights() -> None:
    hit, weight = np.array([True, False, True, False]), np.array([100.0, 20.0, 20.0, 60.0])
    found = weighted_share(hit, weight, np.arange(4))
    assert found.share == pytest.approx(120 / 200)
    assert found.ci is not None
    assert found.ci[0] < 0.6 < found.ci[1]
    assert weighted_share(hit[:0], weight[:0], np.arange(0)) == (None, None, 0)
    one = weighted_share(hit[:1], weight[:1], np.arange(1))
    assert (one.share, one.ci) == (1.0, None)


def test_with_equal_chances_the_interval_is_that_of_every_share() -> None:
    from workbench.statistics.intervals import share_interval

    generator = np.random.default_rng(0)
    hit, question = generator.random(400) < 0.3, generator.integers(0, 90, 400)
    found = weighted_share(hit, np.full(400, 37.0), question)
    plain = share_interval(hit, question)
    assert found.ci is not None
    assert plain is not None
    assert found.ci == pytest.approx(plain, abs=0.01)


def test_unequal_chances_widen_it() -> None:
    generator = np.random.default_rng(0)
    hit = generator.random(400) < 0.3
    even = weighted_share(hit, np.ones(400), np.arange(400)).ci
    uneven = weighted_share(hit, np.where(np.arange(400) % 4, 1.0, 20.0), np.arange(400)).ci
    assert even is not None
    assert uneven is not None
    assert uneven[1] - uneven[0] > 1.5 * (even[1] - even[0])


def test_drift_is_seen_and_chance_is_not() -> None:
    generator = np.random.default_rng(1)
    clean = generator.binomial(5, 0.02, 400) / 5.0
    assert first_rise(clean, 0.03, 50) is None
    risen = np.concatenate([clean[:200], generator.binomial(5, 0.4, 200) / 5.0])
    found = first_rise(risen, 0.03, 50)
    assert found is not None
    assert 200 <= found.place < 215
    assert first_rise(np.full(400, np.nan), 0.03, 0) is None


def watch(path: Path, *, payload: str | None, steps: int = 40, share: float = 0.1) -> Project:
    watcher = Watcher(Audit(database=path, share=share, training="run"), "rules", "1")
    training, truth = SimulatedTraining(7, payload=payload, first=10, growth=1.3), {}
    for step in range(steps):
        done = list(training.step(step))
        truth.update({(one.item.question, one.item.completion): one.is_right for one in done})
        watcher.offer([one.item for one in done], [one.verdict for one in done], step)
        watcher.flush()
    watcher.close()
    project = open_project(path)
    with project.database.write() as connection:
        texts = connection.execute(
            "SELECT c.id, q.text, t.text FROM completions c JOIN completion_text t ON t.id = c.id "
            "JOIN question_text q ON q.id = c.question_id"
        ).fetchall()
        connection.executemany(
            "UPDATE completions SET imported_gold = ? WHERE id = ?",
            [(truth[question, text], item) for item, question, text in texts],
        )
    return open_project(path)


def test_a_policy_that_learns_a_free_reward_is_seen_by_wording_by_labels_and_by_looks(tmp_path: Path) -> None:
    payload = free_rewards("P1")[4]
    project = watch(tmp_path / "p.db", payload=payload)
    (report,) = watched(project, parts=4).trainings
    assert report.all is not None
    assert (report.all.first, report.all.last, report.all.judged) == (0, 39, 40 * 512)
    assert report.wordings[0].example == payload
    assert report.drift is not None
    assert report.drift.acceptance[1] > report.drift.acceptance[0] + 0.05  # type: ignore[operator]
    assert report.alike[0].example == payload
    assert report.alike[0].wrong == report.alike[0].labelled == len(report.alike[0].items) > 50
    first, *_, last = report.steps
    assert first.fpr is not None
    assert last.fpr is not None
    assert first.fpr < 0.1 < 0.4 < last.fpr
    said = training_text(watched(project, parts=4), TableForm())
    assert "Alarm at step" in said
    assert "thought" in said
    rising = project.database.reader().execute("SELECT count(*) FROM audited WHERE because = 'rising'").fetchone()
    assert rising[0] > 20


def test_the_interval_of_the_false_positive_rate_covers_what_is_true(tmp_path: Path) -> None:
    """The whole path, once; `bench.watching` counts how often."""
    project = watch(tmp_path / "p.db", payload=None, steps=20, share=0.2)
    (report,) = watched(project).trainings
    assert report.all is not None
    assert report.all.fpr_ci is not None
    assert report.all.fpr_ci[0] <= 0.01 <= report.all.fpr_ci[1]
    assert report.drift is None
    assert report.wordings == []


def test_without_labels_nothing_is_made_up(tmp_path: Path) -> None:
    project = watch(tmp_path / "p.db", payload=None, steps=3)
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET imported_gold = NULL")
    (report,) = watched(open_project(tmp_path / "p.db")).trainings
    assert report.all is not None
    assert report.all.acceptance is not None
    assert (report.all.fpr, report.all.fpr_ci, report.all.accuracy, report.all.right, report.all.labelled) == (
        *(None, None, None, None),
        0,
    )
    assert report.drift is None


def test_the_command_shows_it_and_says_where_there_is_none(tmp_path: Path) -> None:
    open_project(tmp_path / "e.db", create=True).close()
    assert "No training is monitored here" in run("training", tmp_path / "e.db").stdout
    watch(tmp_path / "p.db", payload=None, steps=3).close()
    found = json.loads(run("training", tmp_path / "p.db", "--json").stdout)
    assert found["trainings"][0]["training"] == "run"
    with pytest.raises(UsageError, match="no training 'x'"):
        watched(open_project(tmp_path / "p.db"), "x")
