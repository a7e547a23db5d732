"""``stack`` on the command line: the search, one stack, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from msgspec import structs

from schemas.documents import schema
from tests.helpers import make_project
from tests.tui.stage import add_run
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import opened_project
from workbench.core.verdict import OutcomeCode
from workbench.measuring.records.stack import StackOptions
from workbench.measuring.stack_choosing import best_stacks
from workbench.measuring.stack_tables import stack_sentences

ITEMS = 120
EITHER = ("rules:correct, exact:both", "exact:correct, rules:both")
"""What accepts where one of the two does."""


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Rules that accept only what is right, but not all of it, and a judge that is wrong on every twelfth."""
    kinds = ["AB"[n // 60] for n in range(ITEMS)]
    rows = [
        {"question_id": f"q{n // 2}", "completion_id": f"c{n}", "gold": n % 2 == 0, "type": kind, "subtype": f"{kind}1"}
        for n, kind in enumerate(kinds)
    ]
    project = make_project(tmp_path, rows)
    add_run(project, "rules", {n + 1: OutcomeCode(int(n % 2 == 0 and n % 3 != 0)).outcome for n in range(ITEMS)})
    add_run(project, "exact", {n + 1: OutcomeCode((n % 2 == 0) ^ (n % 12 in (4, 9))).outcome for n in range(ITEMS)})
    project.close()
    return str(project.path)


def call(*arguments: str) -> Any:
    return CliRunner().invoke(root, ["stack", *arguments], catch_exceptions=False)


def document(name: str, *arguments: str) -> Any:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    jsonschema.validate(found, schema(name))
    return found


def test_the_best_is_found_and_judged_on_questions_it_was_not_chosen_by(database: str) -> None:
    found = document("stack", database, "--not-worse-than", "exact", "--under", "1000", "--against", "seconds")
    assert (found["items"], found["questions"], found["verifiers"]) == (ITEMS, ITEMS // 2, ["rules", "exact"])
    best, under, not_worse = found["choices"]
    # What the rules accept is right; what they leave, the judge gets right but for the odd ones of its errors.
    assert best["stages"] in EITHER
    assert best["figures"]["accuracy"] == best["apparent"] == pytest.approx(110 / 120)
    assert best["same"] == 5
    assert best["against_best"]["difference"] >= 10 / 120 - 1e-9
    assert (under["wanted"], under["cap"]) == ("under", 1.0)
    assert not_worse["not_worse"] is True
    assert found["front"][-1]["figures"]["accuracy"] == best["figures"]["accuracy"]
    of_all = [row for row in found["stages"] if row["group"] is None]
    assert [sum(row[name] for row in of_all) for name in ("accepted", "accepted_wrong", "refused", "left")] == [
        70, 10, 50, of_all[0]["left"],
    ]  # fmt: skip
    for stage in of_all:
        types = [row for row in found["stages"] if row["stage"] == stage["stage"] and row["group"] is not None]
        assert [row["group"] for row in types] == ["A", "B"]
        assert sum(row["accepted"] for row in types) == stage["accepted"]


def test_the_cheapest_may_be_the_verifier_it_is_held_against(database: str) -> None:
    arguments = (database, "--verifier", "rules", "--verifier", "always-incorrect", "--not-worse-than", "rules")
    found = document("stack", *arguments, "--margin", "0")
    chosen = next(one for one in found["choices"] if one["wanted"] == "not_worse")
    assert (chosen["stages"], chosen["not_worse"], chosen["against_reference"]) == ("rules:both", True, None)
    assert "It is rules itself." in call(*arguments, "--margin", "0").output


@pytest.mark.parametrize(("holds", "words"), [(True, "it is not worse"), (False, "it may be worse")])
def test_whether_a_stack_is_worse_is_said_with_its_interval(database: str, holds: bool, words: str) -> None:
    with opened_project(database) as project:
        report = best_stacks(project, StackOptions(reference="exact"))
    one = next(one for one in report.choices if one.wanted == "not_worse")
    beside = structs.replace(one, against_reference=report.choices[0].against_best, not_worse=holds)
    said = stack_sentences(structs.replace(report, choices=[beside]))[0]
    assert f"On questions it was not chosen on {words} than exact by more than 1 point: +" in said
    assert said.endswith(" points at 95 %.")


def test_a_stack_that_is_named(database: str) -> None:
    found = document("stack-simulated", database, "--stages", "rules:correct@A, exact")
    assert (found["stages"], found["items"], found["lacking"]) == ("rules:correct@A, exact:both", ITEMS, 0)
    assert found["rows"][0]["reached"] == 60
    whole = document("stack-simulated", database, "--stages", "exact")
    assert whole["figures"]["accuracy"] == whole["alone"][0]["figures"]["accuracy"] == pytest.approx(100 / 120)


def test_words_and_other_forms(database: str) -> None:
    said = call(database, "--not-worse-than", "rules").stdout
    assert "It is rules itself." in " ".join(said.split())
    assert any(f"Most accurate: {one}." in said for one in EITHER)
    assert "Decisions of each stage" in said
    for form in ("markdown", "latex", "csv"):
        assert call(database, "--format", form).exit_code == 0
        assert call(database, "--stages", "rules, exact", "--format", form).exit_code == 0


def test_the_front_is_drawn(database: str, tmp_path: Path) -> None:
    assert call(database, "--figures", str(tmp_path / "drawn")).exit_code == 0
    assert sorted(path.suffix for path in (tmp_path / "drawn").iterdir()) == [".pdf", ".png", ".svg"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stages", "rules, nobody"], "No complete run of 'nobody'"),
        (["--stages", "rules:maybe"], "'maybe' decides nothing"),
        (["--stages", "rules", "--under", "1"], "--under is only for the search"),
        (["--verifier", "rules"], "Stacks are made of 2 to 8 verifiers, not 1: rules."),
        (["--not-worse-than", "gpt"], "'gpt' is not among the verifiers"),
        (["--folds", "100"], "100 folds need at least 100 questions"),
    ],
)
def test_what_cannot_be_is_refused(database: str, arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        call(database, *arguments)
