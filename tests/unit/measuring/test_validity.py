"""Checks of properties other than correctness that verdicts depend on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from tests.helpers import make_project
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring import notes
from workbench.measuring.judged import plain_name
from workbench.measuring.validity import MOST_TEXTS, Check, ValidityFinding, forms, validity
from workbench.runs.store import runs, verdicts

OPTIONS = "Which one?\nA. one\nB. two\nC. three"


def rows(count: int = 120) -> list[dict[str, Any]]:
    """Every second item correct; every third long, every fourth by model m, every fifth chooses the first option."""
    return [
        {
            "question_id": f"q{n}",
            "completion_id": f"c{n}",
            "question": OPTIONS,
            "completion": "word " * (400 if n % 3 == 0 else 10)
            + ("<think>so</think> " if n % 4 == 1 else "")
            + ("答案 " if n % 6 == 5 else "")
            + (rf"\boxed{{{'A' if n % 5 == 0 else 'B'}}}" if n % 7 else f"The answer is {'A' if n % 5 == 0 else 'B'}."),
            "gold": n % 2 == 0,
            "type": "C",
            "subtype": "C1",
            "model": "Org/M-1" if n % 4 == 0 else "other",
        }
        for n in range(count)
    ]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, rows())


def judge(project: Project, name: str, accepts: Any, **config: Any) -> int:
    """A verifier that accepts items by their number, from 0."""
    found = [(n + 1, Verdict(outcome=accepts(n))) for n in range(120)]
    with project.database.write() as connection:
        verifier = runs.add_verifier(
            connection, name=name, kind="llm-judge", options={}, config=config, config_hash=name
        )
        run = runs.add(connection, verifier, "1")
        verdicts.put(connection, run, found)
        runs.complete(connection, run, len(found))
    return run


def of(project: Project, verifier: str) -> dict[str, ValidityFinding]:
    return {finding.check: finding for finding in validity(project, (verifier,)).findings if finding.verifier}


def test_a_perfect_verifier_has_no_finding(project: Project) -> None:
    judge(project, "perfect", lambda n: OutcomeCode(int(n % 2 == 0)).outcome, model="org/m-1")
    found = of(project, "perfect")
    assert {"length", "own-model", "boxed", "thinking", "other-script", "undecided"} <= found.keys()
    assert not any(finding.stands_out for finding in found.values())
    assert found["length"].estimate == 0


@pytest.mark.parametrize(
    ("check", "drawn_by"),
    [
        ("length", lambda n: n % 3 == 0),
        ("own-model", lambda n: n % 4 == 0),
        ("boxed", lambda n: n % 7 != 0),
        ("thinking", lambda n: n % 4 == 1),
        ("other-script", lambda n: n % 6 == 5),
        ("first-option", lambda n: n % 5 == 0),
    ],
)
def test_a_property_that_drives_verdicts_is_marked(project: Project, check: str, drawn_by: Any) -> None:
    judge(project, "drawn", lambda n: OutcomeCode(int(drawn_by(n))).outcome, model="m-1")
    found = of(project, "drawn")[check]
    assert found.stands_out
    assert found.estimate is not None
    assert found.estimate > 0.5
    assert "more often" in found.sentence


def test_a_judge_with_few_own_completions_has_no_estimate(project: Project) -> None:
    judge(project, "third", lambda n: OutcomeCode(n % 2).outcome, model="nobody/else")
    found = of(project, "third")["own-model"]
    assert (found.estimate, found.counts["of_the_kind"]) == (None, 0)
    assert found.sentence.startswith("Too few to tell: 0 completions by its own model")


def test_the_model_of_imported_verdicts_is_known_only_by_name(project: Project) -> None:
    said = [(n + 1, Verdict(outcome=OutcomeCode(n % 2).outcome)) for n in range(120)]
    add_complete_run(project, "answers-of-someone", said, kind="imported")
    add_complete_run(project, "m-1", said, kind="imported")
    found = of(project, "answers-of-someone")["own-model"]
    assert (found.n, found.estimate, found.stands_out) == (0, None, False)
    assert "can't be known" in found.sentence
    assert of(project, "m-1")["own-model"].counts["of_the_kind"] == 30


def test_undecided_items_are_counted_with_their_reasons_and_by_gold(project: Project) -> None:
    found = [
        (
            n + 1,
            Verdict(outcome=Outcome.ABSTAIN, reason="unparsed")
            if n % 2 == 0
            else Verdict(outcome=OutcomeCode(n % 4 // 3).outcome),
        )
        for n in range(120)
    ]
    add_complete_run(project, "shy", found)
    findings = of(project, "shy")
    assert (findings["undecided"].estimate, findings["undecided"].counts) == (0.5, {"abstain": 60, "error": 0})
    assert "(60)" in findings["undecided"].sentence
    assert findings["undecided-by-gold"].estimate == 1
    assert findings["undecided-by-gold"].stands_out


def test_flips_between_samples_and_between_runs(project: Project) -> None:
    run = judge(project, "votes", lambda n: OutcomeCode(n % 2).outcome)
    with project.database.write() as connection:
        for sample in (1, 2):
            said = [
                (n + 1, sample, Verdict(outcome=OutcomeCode(int(n < 30 and sample == 1)).outcome)) for n in range(60)
            ]
            verdicts.put_samples(connection, run, said)
        again = runs.add(connection, runs.verifier_named(connection, "votes").id, "2")  # type: ignore[union-attr]
        newer = [(n + 1, Verdict(outcome=OutcomeCode(int(n % 2 and n >= 12)).outcome)) for n in range(120)]
        verdicts.put(connection, again, newer)
    assert of(project, "votes")["flips-samples"].counts == {"differ": 30}
    with project.database.write() as connection:
        runs.complete(connection, again, 120)
    found = of(project, "votes")
    assert "flips-samples" not in found
    assert (found["flips-runs"].counts, found["flips-runs"].n) == ({"differ": 6}, 120)


def test_judges_that_selected_the_data_are_marked_by_either_name(project: Project) -> None:
    judge(project, "mine", lambda n: OutcomeCode(n % 2).outcome, model="Org/Big-70B")
    judge(project, "clean", lambda n: OutcomeCode(n % 2).outcome, model="Org/Small")
    assert notes.add_selection_judges(project, "sample", ("big-70b", "absent")) == 2
    assert notes.add_selection_judges(project, "sample", ("big-70b",)) == 0
    assert "sample" in of(project, "mine")["selection"].sentence
    assert "selection" not in of(project, "clean")
    assert notes.remove_selection_judges(project, "sample", ("big-70b",)) == 1
    assert notes.judges(project) == {"sample": ["absent"]}
    with pytest.raises(UsageError, match="no data set"):
        notes.add_selection_judges(project, "nothing", ("x",))


def test_model_names_are_compared_without_publisher_and_case() -> None:
    assert plain_name("Qwen/Qwen3-32B") == plain_name("qwen3-32b")


def test_many_completions_are_sampled_evenly(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.measuring import validity as validity_texts
    from workbench.measuring.columns import columns

    items = columns(project).item
    assert len(forms(project, items).place) == 120 < MOST_TEXTS
    monkeypatch.setattr(validity_texts, "MOST_TEXTS", 40)
    chosen = forms(project, items)
    assert len(chosen.place) == 40
    assert 5 < sum(place < 60 for place in chosen.place.tolist()) < 35
    report = validity(project)
    assert report.texts == 40
    assert any("evenly spaced sample of 40 of 120 completions" in note for note in report.notes)


def test_the_command_prints_sentences_and_json(project: Project) -> None:
    judge(project, "drawn\x1b[1m", lambda n: OutcomeCode(int(n % 3 == 0)).outcome)
    runner = CliRunner()
    text = runner.invoke(root, ["validity", str(project.path)])
    assert text.exit_code == 0
    assert "* length: Of equal gold and type, longer completions are accepted" in text.stdout
    assert "\x1b" not in text.stdout
    document = json.loads(runner.invoke(root, ["validity", str(project.path), "--json"]).stdout)
    assert {finding["check"] for finding in document["findings"]} <= {*get_args(Check)}
    assert document["compared"] >= 5
    runner.invoke(root, ["selected-by", str(project.path), "add", "x", "--dataset", "sample"])
    listed = runner.invoke(root, ["selected-by", str(project.path), "--json"])
    assert json.loads(listed.stdout) == {"sample": ["x"]}
    for wrong in (["add", "x"], ["add", "--dataset", "sample"], ["list", "x"]):
        assert runner.invoke(root, ["selected-by", str(project.path), *wrong]).exit_code == 2


def test_a_project_without_runs_has_no_findings(project: Project) -> None:
    assert validity(project).findings == []


def test_length_is_relative_to_completions_of_the_same_gold_and_type(tmp_path: Path) -> None:
    """Correct ones have 9 to 11 words and incorrect ones 49 to 51, as many of the middle as of both others."""
    rows = [
        {
            "question_id": f"q{n}",
            "completion_id": f"c{n}",
            "completion": "word " * ((10 if n % 2 else 50) + (-1, 0, 0, 1)[n // 2 % 4]),
            "gold": n % 2 == 1,
            "type": "A",
            "subtype": "A1",
        }
        for n in range(120)
    ]
    project = make_project(tmp_path, rows)
    judge(project, "judge", lambda n: OutcomeCode(int(n % 5 > 0)).outcome)
    found = of(project, "judge")["length"]
    assert found.counts["of_the_kind"] == 30
    assert found.counts["others"] == 90
    assert found.counts["strata"] == 2
