"""The paper's tables: which verifiers each one lists, and the notes on missing ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from schemas.documents import schema
from tests.commands import run
from tests.helpers import make_project, numbered
from tests.publishing import freeze, with_gold
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, selection_of
from workbench.core.verdict import Outcome, Verdict
from workbench.measuring.paper import PaperFigures
from workbench.measuring.records.documents import AccuracyTable, PairwiseTable, ReferenceTable
from workbench.runs.store import runs, verdicts


def add_judge(
    project: Project, name: str, outcomes: str, options: dict[str, str] | None = None, **config: object
) -> None:
    """A complete run of a judge with this configuration; outcomes by letter: c, i, a."""
    kinds = {"c": Outcome.CORRECT, "i": Outcome.INCORRECT, "a": Outcome.ABSTAIN}
    rows = [(item, Verdict(outcome=kinds[letter])) for item, letter in enumerate(outcomes, 1)]
    with project.database.write() as connection:
        verifier = runs.add_verifier(
            connection, name=name, kind="llm-judge", options=options or {}, config=dict(config), config_hash=name
        )
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), len(rows), 1)
        verdicts.put(connection, run, rows)
        runs.complete(connection, run, len(rows))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    paired = numbered(8, dataset="paired", subtype="A1")
    single = [
        row | {"dataset": "single", "question_id": f"s{place}", "completion_id": f"s{place}"}
        for place, row in enumerate(numbered(4, subtype="D1"))
    ]
    project = make_project(tmp_path, [*paired, *single])
    add_judge(project, "with", "cicicicicici", model="m", reference=True, samples=1)
    add_judge(project, "without", "ccccccccccca", model="m", reference=False, samples=1)
    add_judge(project, "other", "iiiiiiiiiiii", model="n", reference=False, samples=1)
    add_complete_run(project, "reward", scores({item: float(item % 3) for item in range(1, 13)}))
    yield project
    project.close()


def references(project: Project, **options: object) -> ReferenceTable:
    return PaperFigures(project, **options).references()  # type: ignore[arg-type]


def test_judges_that_differ_only_in_the_reference_are_a_pair(project: Project) -> None:
    found = references(project)
    assert [(row.dataset, row.with_reference, row.without_reference) for row in found.rows] == [
        ("paired", "with", "without"),
        ("single", "with", "without"),
    ]
    assert [(row.n, row.accuracy_with, row.accuracy_without, row.delta) for row in found.rows] == [
        (8, 1.0, 0.5, -0.5),
        (4, 1.0, 0.5, -0.5),
    ]


def test_published_judges_of_one_copy_are_a_pair(project: Project) -> None:
    """The released prompt for judges without the reference is not an additional difference."""
    shown = {"template": "w_ref@1", "template_sha256": "a", "published": "released", "reference": True}
    alone = {"template": "wo_ref@1", "template_sha256": "b", "published": "changed", "reference": False}
    for copy in ("mine", "other"):
        add_judge(project, f"{copy}-shown", "cicicicicici", {"published": copy}, model="p", **shown)
        add_judge(project, f"{copy}-alone", "ccccccccccca", {"published": copy}, model="p", **alone)
    add_judge(project, "q-alone", "ccccccccccca", {"published": "mine"}, model="q", **alone)
    found = [(row.with_reference, row.without_reference) for row in references(project, datasets=["paired"]).rows]
    assert sorted(found) == [("mine-shown", "mine-alone"), ("other-shown", "other-alone"), ("with", "without")]


def test_a_pair_can_be_named(project: Project) -> None:
    found = references(project, given=[("with", "other")], datasets=["paired"])
    assert [row.without_reference for row in found.rows] == ["other", "without"]
    with pytest.raises(UsageError, match="nobody"):
        references(project, given=[("with", "nobody")])


def test_the_default_protocol_is_strict(project: Project) -> None:
    strict = PaperFigures(project).accuracy()
    forced = PaperFigures(project, protocol="forced").accuracy()
    assert isinstance(strict, AccuracyTable)
    figures = [
        {row.verifier: row.accuracy for row in table.sets[1].rows if row.group is None} for table in (strict, forced)
    ]
    assert (figures[0]["without"], figures[1]["without"]) == (0.5, 0.75)
    assert strict.undecided == ["reward"]


def test_only_paired_data_is_compared_pairwise(project: Project) -> None:
    found = PaperFigures(project).pairwise()
    assert isinstance(found, PairwiseTable)
    paired, single = found.sets
    assert [report.verifier for report in paired.reports] == ["reward"]
    assert paired.reports[0].rows[0].n == 4
    assert single.refused is not None
    assert "0 of 4 questions" in single.refused


def test_an_unknown_dataset_or_verifier_is_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="There is no data set 'x'"):
        PaperFigures(project, datasets=["x"])
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        PaperFigures(project, verifiers=["nobody"])


def test_the_json_output_matches_its_schema(project: Project) -> None:
    done = CliRunner().invoke(root, ["tables", str(project.path), "--paper", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema("tables"))
    assert [table["table"] for table in found["tables"]] == [1, 2, 3, 4, 5]
    one = CliRunner().invoke(root, ["tables", str(project.path), "--paper", "--table", "3", "--format", "csv"])
    assert one.stdout.splitlines()[0] == (
        "Judge,Without reference,paired n,paired w/ ref,paired w/o ref,paired w/o ref +/-,"
        "single n,single w/ ref,single w/o ref,single w/o ref +/-"
    )
    assert CliRunner().invoke(root, ["tables", str(project.path)]).exit_code == 2


def frozen(project: Project, name: str, *items: int) -> None:
    freeze(project, name, members=[member for member in with_gold(project) if member.item in items])


def test_frozen_benchmarks_are_columns_of_one_table(project: Project) -> None:
    frozen(project, "easy", 1, 2, 3)
    frozen(project, "hard", 9, 10)
    figures = PaperFigures(project, sets=["easy", "hard"])
    assert figures.counts().datasets == ["easy", "hard"]
    by_kind = {row.of: row.counts for row in figures.counts().rows if row.group is None}
    assert by_kind["completions"] == {"easy": 3, "hard": 2}
    sets = figures.accuracy().sets
    assert [{row.n for row in part.rows if row.group is None} for part in sets] == [{3}, {2}]
    assert {row.dataset: row.n for row in figures.references().rows} == {"easy": 3, "hard": 2}
    both = PaperFigures(project, datasets=["single"], sets=["easy"])
    assert [part.dataset for part in both.accuracy().sets] == ["single", "easy"]
    with pytest.raises(UsageError, match="no set"):
        PaperFigures(project, sets=["none"])
    frozen(project, "single", 1, 2)
    with pytest.raises(UsageError, match="'single' is the name of both a data set and a frozen set"):
        PaperFigures(project, datasets=["single"], sets=["single"])


def test_a_selection_applies_to_every_column(project: Project) -> None:
    only = selection_of(("gold=correct",))
    found = PaperFigures(project, only=only).counts()
    by_kind = {row.of: row.counts for row in found.rows if row.group is None}
    assert by_kind["completions"] == by_kind["correct"] == {"paired": 4, "single": 2}
    assert set(by_kind["wrong"].values()) == {0}


def test_scores_of_other_benchmarks_are_columns_next_to_the_pairs(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.csv"
    file.write_text("verifier,benchmark,score\nreward,RM-Bench,0.675\nreward,RewardBench,.5\nstranger,RM-Bench,0.9\n")
    command = ["tables", str(project.path), "--paper", "--table", "4", "--elsewhere", str(file)]
    done = CliRunner().invoke(root, [*command, "--format", "csv"])
    assert done.exit_code == 0, done.output
    head, row, *_ = done.stdout.splitlines()
    assert head.endswith(",RM-Bench AVG,RewardBench AVG")
    assert row.endswith(",67.50,50.00")
    said = CliRunner().invoke(root, command).output
    assert "67.50" in said
    assert "stranger has scores on other benchmarks, but none on a pair here" in said
    for score, status, said in (("67.5", 2, "shares, 0 to 1"), ("much", 1, "line 2, score: score is not a number")):
        file.write_text(f"verifier,benchmark,score\nreward,RM-Bench,{score}\n")
        refused = run(*command)
        assert refused.returncode == status
        assert said in refused.stderr
