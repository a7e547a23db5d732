"""Sampling of batches: how items are drawn, what is recorded, and its use in estimates and plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run as command
from tests.helpers import make_project
from tests.tui.stage import add_run
from workbench.core.label import LabelVerdict
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode
from workbench.labelling import checks, people
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.measuring.estimating import estimate, estimate_text
from workbench.measuring.planning import ordering_by, plan, plan_text
from workbench.statistics.records.report import BatchOrder, BatchSample

QUESTIONS, EACH = 20, 6
ITEMS = QUESTIONS * EACH


def make(folder: Path, gold: bool | None = None) -> Project:
    """Twenty questions of six completions, in the order of questions."""
    rows = [
        {
            "question_id": f"q{number // EACH}",
            "completion_id": f"c{number}",
            "gold": gold,
            "subtype": ("A1", "B2")[number // EACH % 2],
        }
        for number in range(ITEMS)
    ]
    return make_project(folder, rows)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path)
    for name in ("one", "two"):
        add_run(made, name, {item: OutcomeCode(item % 2).outcome for item in range(1, ITEMS + 1)})
    yield made
    made.close()


def label(project: Project, name: str = "amira") -> None:
    """Label every available item."""
    session = AnnotationSession(project, name)
    while (item := session.next()) is not None:
        verdict: LabelVerdict = "correct" if item.completion % 3 else "incorrect"
        session.submit(item, Answer(verdict=verdict, subtype="A1" if item.asks_type else None))
    session.close()


def samples(project: Project) -> list[tuple[str, int | None]]:
    return project.database.reader().execute("SELECT sample, seed FROM batches ORDER BY id").fetchall()


def questions(project: Project) -> int:
    (found,) = project.database.reader().execute(
        "SELECT count(DISTINCT c.question_id) FROM assignments AS a JOIN completions AS c ON c.id = a.subject "
        "WHERE a.task = 'correctness'"
    )
    return int(found[0])


def test_a_limit_draws_by_question_and_the_seed_is_stored(project: Project) -> None:
    done = people.assign(project, ["amira"], per_item=1, selection=Selection((), QUESTIONS), seed=5)
    assert (done.items, done.chosen_from, done.sample, done.seed) == (QUESTIONS, ITEMS, "drawn", 5)
    assert questions(project) == done.questions >= QUESTIONS - 1
    assert samples(project) == [("drawn", 5)]
    # The same again opens nothing, and a larger draw only what it adds.
    assert people.assign(project, ["amira"], per_item=1, selection=Selection((), QUESTIONS), seed=5).assigned == 0
    assert people.assign(project, ["amira"], per_item=1, selection=Selection((), 50), seed=5).assigned == 50 - QUESTIONS
    assert people.assign(project, ["amira"], per_item=1).sample == "all"


@pytest.mark.parametrize(
    ("order", "sample"),
    [
        (BatchOrder(name="disagreement", limit=9), "order"),
        (BatchOrder(name="disagreement"), "order"),
        (BatchOrder(per_subtype=5), "quota"),
        (BatchOrder(limit=7), "drawn"),
    ],
)
def test_an_ordered_batch_is_not_a_random_sample(project: Project, order: BatchOrder, sample: str) -> None:
    done = people.assign(project, ["amira"], per_item=1, ordering=ordering_by(project, order), seed=3)
    assert done.sample == sample
    assert samples(project) == [(sample, 3 if sample in ("quota", "drawn") else None)]


def test_checks_are_drawn_among_eligible_items(tmp_path: Path) -> None:
    with closing(make(tmp_path, gold=True)) as project:
        people.assign(project, ["amira"], per_item=1, selection=Selection((), 40))
        found = checks.add_checks(project, Selection((), 15), seed=0)
        assert (found.added, found.refused, found.seed, found.chosen_from) == (15, 0, 0, ITEMS)
        assert found.passed_over == sum(int(str(one["items"])) for one in found.refusals) > 0
        again = checks.add_checks(project, Selection((), 15), seed=0)
        assert (again.added, again.unchanged) == (0, 15)
        (of,) = project.database.reader().execute(
            "SELECT count(DISTINCT question_id) FROM completions WHERE id IN (SELECT completion_id FROM check_items)"
        )
        assert of[0] >= 10
        short = checks.add_checks(project, Selection((), ITEMS), seed=0)
        assert (short.added, short.refused, short.passed_over) == (ITEMS - 40 - 15, 40, 0)


def test_labels_of_a_random_draw_count_as_a_random_sample(project: Project) -> None:
    people.assign(project, ["amira"], per_item=1, selection=Selection((), 30))
    label(project)
    assert estimate(project, "one").samples == plan(project, per_item=1).samples == []


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ("first", "taken in import order"),
        ("order", "given first to items on which verifiers disagree"),
        ("quota", "a fixed number per answer subtype"),
    ],
)
def test_labels_of_other_samples_are_reported_as_not_random(project: Project, sample: str, words: str) -> None:
    people.assign(project, ["amira"], per_item=1, selection=Selection((), 30))
    label(project)
    people.assign(project, ["amira"], per_item=1, selection=Selection((), 50))
    with project.database.write() as connection:
        connection.execute("UPDATE batches SET sample = ? WHERE id = 1", (sample,))
    found = estimate(project, "one")
    assert [(one.batch, one.sample, one.items) for one in found.samples] == [(1, sample, 30)]
    said = " ".join(estimate_text(found).split())
    assert "The labels of batch 1 (30 items)" in said
    assert words in said
    assert "not a random sample" in said
    planned = plan(project, per_item=1, by="type")
    assert planned.samples == [BatchSample(batch=1, sample=found.samples[0].sample, items=30)]
    assert words in plan_text(planned)
    # Quotas of subtypes do no harm to figures by subtype.
    by_subtype = plan_text(plan(project, per_item=1, by="subtype"))
    assert (words in by_subtype) == (sample != "quota")


def test_commands_print_how_items_were_drawn(project: Project) -> None:
    path = str(project.path)
    words = ["assign", path, "--annotators", "amira", "--per-item", "1", "--limit", "12", "--seed", "4"]
    shown = command(*words).stdout
    assert f"drawn at random of {ITEMS}, spread over the questions (seed 4)" in shown
    again = json.loads(command(*words, "--json").stdout)
    assert (again["sample"], again["seed"], again["items"], again["chosen_from"]) == ("drawn", 4, 12, ITEMS)
    assert again["assigned"] == 0
    ordered = command(*words[:-4], "--order", "disagreement", "--limit", "3").stdout
    assert "not a random sample" in ordered
