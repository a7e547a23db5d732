"""Notes and titles claim only what the metrics show."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import make_project
from tests.tui.stage import add_run
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.options import TableForm
from workbench.core.project import Project, open_project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.interchange.importing import import_files, plan_import
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
    add_run(project, "good", {n: OutcomeCode(n % 2).outcome for n in range(1, 9)})
    return project


def test_the_macro_average_is_explained_if_shown(tmp_path: Path) -> None:
    one = accuracy_as(accuracy(project_of(tmp_path / "one", ("A1",))), TableForm())
    two = accuracy_as(accuracy(project_of(tmp_path / "two", ("A1", "B1"))), TableForm())
    assert ("macro over" in one, "macro the mean" in one) == (False, False)
    assert ("macro over" in two, "macro the mean" in two) == (True, True)


def test_a_project_without_labels_mentions_no_resampling(tmp_path: Path) -> None:
    text = agreement_text(agreement(project_of(tmp_path, ("A1",))))
    assert "jackknife" not in text
    assert "Wilson" not in text
    assert "There are no labels yet." in text


def test_a_constant_verifier_with_a_run_is_still_a_baseline(tmp_path: Path) -> None:
    project = project_of(tmp_path, ("A1",))
    said = [(item, Verdict(outcome=Outcome.INCORRECT)) for item in range(1, 9)]
    add_complete_run(project, "always-incorrect", said, kind="always-incorrect")
    text = tables_text(paper_tables(PaperFigures(project)), TableForm())
    rules, _, baselines = text.partition("Baselines")
    assert "always-incorrect" not in rules.partition("Table 2")[2]
    assert "always-incorrect" in baselines.partition("Table 3")[0]


def test_untyped_items_are_described_by_the_types_in_their_file(tmp_path: Path) -> None:
    kinds = ("numeric", "expression", "proof sketch")
    rows = [f"q{n},{n}+1?,{n + 1},It is {n + 1}.,{n % 2 == 0},{kinds[n % 3]}" for n in range(9)]
    file = tmp_path / "own.csv"
    file.write_text("\n".join(["completion_id,question,answer,response,gold,kind", *rows]))
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([file], columns={"subtype": "kind"}))
    add_run(project, "good", {n: OutcomeCode(n % 2).outcome for n in range(1, 10)})
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO item_states (completion_id, state, subtype) VALUES (1, 'labelled', 'A1'), "
            "(4, 'labelled', 'A1'), (7, 'labelled', 'A1') ON CONFLICT DO UPDATE SET subtype = 'A1'"
        )
    notes = {by: " ".join(accuracy(project, by=by).notes) for by in ("type", "subtype")}
    assert "3 items have no answer type: kind says proof sketch." in notes["type"]
    assert "6 items have no subtype: kind says expression, proof sketch." in notes["subtype"]
