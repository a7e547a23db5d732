"""pass@k of models by dataset, their average, and the improvement over a model (EvolveCoder, table 3)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from tests.scored_code import scored_project
from workbench.coding.ranking.passing import pass_report, passes_by_tests, with_difference, with_models
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.tables import passes_as
from workbench.coding.records.figures import ModelPasses, PassReport
from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.core.project import Project

WROTE: dict[str, dict[str, tuple[str | None, str]]] = {
    "t": {"a1": ("base", "pf"), "a2": ("base", "pp"), "b1": ("r1", "pp"), "b2": ("r1", "pp"), "c1": ("r2", "pp")},
    "u": {"d1": ("base", "ff"), "e1": ("r1", "pp"), "e2": ("r1", "ff"), "x": (None, "pp")},
}
"""Problem -> solution -> its author and outcomes; each problem is moved to a separate dataset."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = {
        f"{task}/{name}": {} if model is None else {"model": model}
        for task, found in WROTE.items()
        for name, (model, _) in found.items()
    }
    outcomes = {task: {name: letters for name, (_, letters) in found.items()} for task, found in WROTE.items()}
    made = scored_project(tmp_path, outcomes, rows=rows)
    with made.database.write() as connection:
        connection.execute("INSERT INTO datasets (name, created_at) VALUES ('other', '')")
        connection.execute(
            "UPDATE questions SET dataset_id = (SELECT id FROM datasets WHERE name = 'other') WHERE key = 'u'"
        )
    return made


def measured(project: Project, *sizes: int, against: str | None = None) -> PassReport:
    passes = passes_by_tests(project, truth_of(project))
    return with_models(project, passes, pass_report(passes, sizes), sizes, against)


def test_averages_count_each_dataset_as_much_and_delta_is_above_the_other(project: Project) -> None:
    rows = {row.model: row for row in measured(project, 1, against="base").models}
    first, second = measured(project, 1).rows[0].dataset, "other"
    assert rows["base"].values == {first: 0.5, second: 0.0}
    assert rows["r1"].values == {first: 1.0, second: 0.5}
    assert (rows["base"].average, rows["base"].delta) == (0.25, None)
    assert (rows["r1"].average, rows["r1"].delta) == (0.75, 0.5)
    assert rows["base"].gain is None
    assert rows["r1"].gain == pytest.approx(-2 / 3)


def test_missing_values_are_undefined_rather_than_zero(project: Project) -> None:
    rows = {row.model: row for row in measured(project, 1, against="base").models}
    assert rows["r2"].values["other"] is None
    assert (rows["r2"].average, rows["r2"].delta) == (None, None)
    assert set(rows) == {"base", "r1", "r2"}
    assert measured(project, 1).unnamed == 1
    at_two = {row.model: row for row in measured(project, 2, against="r1").models}
    assert (at_two["base"].average, at_two["base"].delta, at_two["r1"].average) == (None, None, 1.0)
    text = passes_as(measured(project, 1, against="base"), TableForm())
    (line,) = (line for line in text.splitlines() if line.strip().startswith("r2"))
    assert line.split()[-3:] == ["–", "–", "–"]
    assert "+50.0" in text
    assert "Not shown: 1 solution without a known model." in text


@pytest.mark.parametrize(
    ("average", "best", "printed"),
    [(0.426, 0.490, "+15"), (0.441, 0.490, "+11"), (0.448, 0.490, "+9"), (0.472, 0.490, "+4"), (0.485, 0.490, "+1")],
)
def test_the_gain_is_the_one_of_evolvecoders_table_3(average: float, best: float, printed: str) -> None:
    row = ModelPasses(model="m", k=1, values={}, average=average, delta=None, gain=None)
    assert f"{100 * (with_difference(row, best).gain or 0):+.0f}" == printed


def test_nothing_is_a_share_of_nothing() -> None:
    row = ModelPasses(model="m", k=1, values={}, average=0.0, delta=None, gain=None)
    found = with_difference(row, 0.5)
    assert (found.delta, found.gain) == (-0.5, None)


def test_a_model_that_wrote_nothing_is_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="There are no solutions by the model 'r9'") as caught:
        measured(project, 1, against="r9")
    assert "base, r1, r2" in str(caught.value.hint)


def test_the_command_in_every_form(
    project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    call: Call = in_process(monkeypatch, capfd)
    asked = ("code", "passk", project.path, "--k", "1")
    code, out, err = call(*asked, "--by-model", "--against", "base", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["against"], [one["model"] for one in found["models"]]) == ("base", ["base", "r1", "r2"])
    _, out, _ = call(*asked, "--by-model", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert {line["model"]: line["average"] for line in lines} == {"base": "0.25", "r1": "0.75", "r2": ""}
    assert "average" in call(*asked, "--by-model")[1]
    assert "Δ" not in call(*asked, "--by-model")[1]
    assert json.loads(call(*asked, "--json")[1])["models"] == []
    assert call(*asked, "--against", "base")[0] == 2
