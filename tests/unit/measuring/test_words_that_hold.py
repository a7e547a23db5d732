"""Notes and titles say only what the figures beside them hold."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import make_project
from tests.tui.stage import add_run
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict
from workbench.labelling.agreement.measuring import agreement
from workbench.labelling.agreement.text import agreement_text
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as
from workbench.measuring.paper import PaperFigures, paper_tables, tables_text


def project_of(path: Path, subtypes: tuple[str, ...]) -> Project:
    rows = [
        {"question_id": f"q{n}", "completion_id": f"c{n}", "gold": n % 2 == 0, "subtype": subtypes[n % len(subtypes)]}
        for n in range(8)
    ]
    path.mkdir(exist_ok=True)
    project = make_project(path, rows)
    add_run(project, "good", {n: Outcome(n % 2) for n in range(1, 9)})
    return project


def test_the_macro_average_is_explained_where_it_stands(tmp_path: Path) -> None:
    one = accuracy_as(accuracy(project_of(tmp_path / "one", ("A1",))), TableForm())
    two = accuracy_as(accuracy(project_of(tmp_path / "two", ("A1", "B1"))), TableForm())
    assert ("macro over" in one, "macro the mean" in one) == (False, False)
    assert ("macro over" in two, "macro the mean" in two) == (True, True)


def test_nobody_is_said_to_have_been_resampled_where_nobody_labelled(tmp_path: Path) -> None:
    text = agreement_text(agreement(project_of(tmp_path, ("A1",))))
    assert "jackknife" not in text
    assert "Wilson" not in text
    assert "no item has two labels" in text


def test_a_constant_that_was_run_is_a_baseline_all_the_same(tmp_path: Path) -> None:
    project = project_of(tmp_path, ("A1",))
    said = [(item, Verdict(outcome=Outcome.INCORRECT)) for item in range(1, 9)]
    add_complete_run(project, "always-incorrect", said, kind="always-incorrect")
    text = tables_text(paper_tables(PaperFigures(project)), TableForm())
    rules, _, baselines = text.partition("Baselines")
    assert "always-incorrect" not in rules.partition("Table 2")[2]
    assert "always-incorrect" in baselines.partition("Table 3")[0]
