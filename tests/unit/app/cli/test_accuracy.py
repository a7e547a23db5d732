"""``accuracy`` on the command line: crossings, formats, other prevalences, intervals by resampling."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from schemas.documents import schema
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.statistics.records.report import METRICS
from workbench.tables.files import FORMATS

ITEMS = 24


@pytest.fixture
def database(tmp_path: Path) -> str:
    rows = [
        {**row, "subtype": ("A1", "A2", "B1")[number // 2 % 3], "domain": "math", "source": f"s{number // 4 % 2}"}
        for number, row in enumerate(numbered(ITEMS))
    ]
    project = make_project(tmp_path, rows)
    for name, every in (("often", 3), ("seldom", 12)):
        said = [
            (item, Verdict(outcome=OutcomeCode((item % 2) ^ (item % every == 0)).outcome))
            for item in range(1, ITEMS + 1)
        ]
        add_complete_run(project, name, said, kind="exact")
    project.close()
    return str(project.path)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(root, ["accuracy", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments: str) -> Any:
    found = json.loads(printed(*arguments, "--json"))
    jsonschema.validate(found, schema("accuracy"))
    return found


def test_a_crossing_lists_its_parts_and_its_name(database: str) -> None:
    found = document(database, "--by", "subtype,source")
    groups = {row["group"]: row["groups"] for row in found["rows"] if row["verifier"] == "often"}
    assert groups.pop(None) == []
    assert groups["A1 · s0"] == ["A1", "s0"]
    assert "A1 - Integer · s0" in printed(database, "--by", "subtype,source")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--by", "colour"], "type, subtype, domain, source, model, dataset, reason, length"),
        (["--by", "type,colour"], "'colour'"),
        (["--by", "type,type"], "twice"),
        (["--prevalence", "2"], "share from 0 to 1"),
        (["--accept-rate", "nan"], "share from 0 to 1"),
    ],
)
def test_invalid_arguments_are_rejected_with_a_suggestion(database: str, arguments: list[str], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        CliRunner().invoke(root, ["accuracy", database, *arguments], catch_exceptions=False)
    assert says in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--format", "pdf"], ["--sort", "luck"]])
def test_click_refuses_the_rest(database: str, arguments: list[str]) -> None:
    assert CliRunner().invoke(root, ["accuracy", database, *arguments]).exit_code == 2


def test_json_describes_the_test_of_deltas(database: str) -> None:
    found = document(database, "--by", "subtype")
    assert found["tests"] == {
        "method": "permutation by question",
        "hypotheses": 2,
        "exact": 2,
        "drawn": 0,
        "approximate": 0,
        "families": 1,
        "seed": None,
    }
    (low,) = (row for row in found["rows"] if (row["verifier"], row["group"]) == ("often", "A1"))
    assert {"delta", "p", "q", "kind", "selection_judge"} <= set(low)
    assert all(row["kind"] == "baseline" for row in found["rows"][-12:])
    assert {average["over"] for average in found["averages"]} == {"subtype"}
    assert (found["transfer"], found["best_at"]) == ([], [])


def test_another_prevalence(database: str) -> None:
    found = document(database, "--prevalence", "0.25", "--accept-rate", "0.5")
    assert [row["verifier"] for row in found["transfer"]][:2] == ["often", "seldom"]
    assert {row["prevalence"] for row in found["transfer"]} == {0.25}
    assert found["best_at"][0]["low"] == 0
    text = printed(database, "--prevalence", "0.25")
    assert "Accuracy to expect where 0.25 of completions are correct" in " ".join(text.split())


def test_mcc_and_balanced_accuracy_have_intervals_by_default(database: str) -> None:
    (row, *_) = document(database, "--verifier", "often")["rows"]
    for name in ("mcc", "balanced_accuracy"):
        low, high = row[f"{name}_ci"]
        assert low < row[name] < high


def test_csv_is_one_format_among_others(database: str) -> None:
    assert len(list(csv.DictReader(io.StringIO(printed(database, "--format", "csv"))))) == 5
    assert "\\begin{tabular}{llrrr" in printed(database, "--long", "--format", "latex")
    assert "| verifier | group |" in printed(database, "--long", "--format", "markdown")


def test_the_first_table_has_verifiers_by_type_with_the_weakest_marked(database: str) -> None:
    said = printed(database, "--sort", "accuracy")
    head, first, second, *_ = said.split("\n\n")[1].splitlines()
    assert head.split() == ["verifier", "A", "B", "all", "95", "%", "interval", "MCC", "n", "?"]
    rows = document(database, "--by", "type", "--verifier", "often")["rows"]
    figures = {row["group"]: f"{row['accuracy']:.3f}" for row in rows if row["verifier"] == "often"}
    weakest = min(("A", "B"), key=lambda code: figures[code])
    assert first.startswith("seldom")
    assert second.split()[:5] == ["often", *sorted([figures["A"], figures["B"], "↓"], key=second.index), figures[None]]
    assert f"{figures[weakest]} ↓" in second
    assert "seldom is the most accurate: " in said
    assert "The weakest cell of the table is often's on " in said
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize("options", [("--long",), ("--by", "domain")])
def test_options_for_more_detail_show_every_metric(database: str, options: tuple[str, ...]) -> None:
    said = printed(database, *options)
    assert "all (micro)" in said
    assert "↓" not in said
    assert [row["group"] for row in document(database)["rows"]] == [None] * 5


def test_a_table_for_a_paper_has_chosen_columns_no_baselines_and_a_label(database: str) -> None:
    form = ("--format", "latex", "--label", "tab:acc", "--no-baselines", "--columns", "verifier,all,ci,mcc")
    said = printed(database, *form)
    assert r"\label{tab:acc}" in said
    assert r"verifier & all & 95 \% interval & MCC \\" in said
    assert "always-" not in said.split(r"\end{tabular}")[0]
    for command in (["compare", database, "often", "seldom"], ["tables", database, "--paper", "--table", "2"]):
        done = CliRunner().invoke(root, [*command, "--format", "latex", "--label", "tab:b"], catch_exceptions=False)
        assert r"\label{tab:b}" in done.stdout


def test_verifiers_can_be_sorted(database: str) -> None:
    names = [row["verifier"] for row in document(database, "--sort", "accuracy")["averages"]]
    assert names[:2] == ["seldom", "often"]
    assert set(names[2:]) == {"always-incorrect", "always-correct", "majority-by-type"}


def test_the_help_lists_the_choices() -> None:
    said = " ".join(printed("--help").split())
    assert "the most frequent label of the same gold it is measured on" in said
    assert all(name in said for name in ("Wilson's", "Clopper and Pearson's", "Zou and Donner"))
    for words in (FORMATS, ("name", *METRICS)):
        assert f"[{'|'.join(words)}]" in said
