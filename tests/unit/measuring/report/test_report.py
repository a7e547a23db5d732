"""The HTML report of a project: its sections, and that the same data gives the same bytes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

from tests.helpers import make_project, numbered
from tests.hostile_report import hostile_project
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.app.cli import root
from workbench.app.demo import sample_folder
from workbench.core.errors import FormatError, StoreError, UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, Verdict
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_items import AccuracyCell
from workbench.measuring.notes import add_selection_judges
from workbench.measuring.report.contents import Contents
from workbench.measuring.report.gathering import WrittenReport, gather, write_report
from workbench.measuring.report.people import methods_section
from workbench.measuring.reviewing import triage
from workbench.measuring.reviewing.triage import Cause
from workbench.statistics.records.report import CellTests

WHEN = "2025-01-01 00:00 UTC"


def words(outcomes: str) -> list[tuple[int, Verdict]]:
    """Verdicts of the items in order: c, i, a(bstain) or e(rror)."""
    kinds = {"c": Outcome.CORRECT, "i": Outcome.INCORRECT, "a": Outcome.ABSTAIN, "e": Outcome.ERROR}
    return [(item, Verdict(outcome=kinds[letter], reason="letter")) for item, letter in enumerate(outcomes, 1)]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = numbered(12, subtype="A1", domain="math", source="s", model="m")
    for row in rows[6:]:
        row |= {"subtype": "C1", "domain": "logic", "source": "t", "model": "n"}
    project = make_project(tmp_path, rows)
    add_complete_run(project, "good", words("cicicicicica"), kind="rules")
    add_complete_run(project, "bad", words("ecccccccccie"), kind="llm-judge")
    add_complete_run(project, "scores", scores({item: item / 12 for item in range(1, 13)}))
    yield project
    project.close()


def gathered(project: Project, **options: object) -> Contents:
    return gather(project, generated_at=WHEN, **options)  # type: ignore[arg-type]


def write(project: Project, path: Path | None, *, when: str = WHEN, **options: Any) -> WrittenReport:
    asked = {name: options.pop(name) for name in ("figures", "format", "more", "force") if name in options}
    return write_report(project, path, partial(gather, project, generated_at=when, **options), **asked)


def written(project: Project, path: Path, **options: Any) -> str:
    write(project, path, **options)
    return path.read_text(encoding="utf-8")


def test_metrics_match_the_accuracy_table(project: Project) -> None:
    found = gathered(project, protocol="strict")
    assert found.overall == accuracy(project, verifiers=("good", "bad"), protocol="strict")
    assert found.by["subtype"] == accuracy(project, verifiers=("good", "bad"), by="subtype", protocol="strict")
    assert list(found.by) == ["type", "subtype", "domain", "source", "model"]
    assert found.family is not None
    assert [member.verifier for member in found.family.members] == ["good", "bad"]


@pytest.mark.soak
def test_plots_are_saved_as_files_for_a_paper(project: Project, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "a" / "figures"
    for place in (folder, tmp_path / "again"):
        done = write(project, None, figures=place)
    assert done.size is None
    names = {path.stem for path in folder.iterdir()}
    assert {"accuracy", "errors", "accuracy-A", "accuracy-C"} <= names
    assert {"scores-1-scores", "calibration-1-scores"} <= names
    assert len(list(folder.iterdir())) == 3 * len(names) == len(done.figures)
    assert all(path.read_bytes() == (tmp_path / "again" / path.name).read_bytes() for path in folder.iterdir())
    with pytest.raises(FormatError, match="exists"):
        write(project, None, figures=folder)
    write(project, tmp_path / "r.html", figures=folder, force=True)
    assert (tmp_path / "r.html").stat().st_size > 1_000
    with pytest.raises(FormatError, match="Name another folder"):
        write(project, None, figures=tmp_path / "r.html", force=True)


def test_plots_of_hostile_data_use_safe_file_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = write(hostile_project(tmp_path), None, figures=tmp_path / "figures")
    assert all(re.fullmatch(r"[a-zA-Z0-9-]+\.(svg|pdf|png)", path.name) for path in done.figures)
    assert not any(b"<script" in path.read_bytes() for path in done.figures)


def test_a_report_is_written_somewhere(project: Project, tmp_path: Path) -> None:
    done = CliRunner().invoke(root, ["report", str(project.path)])
    assert isinstance(done.exception, UsageError)
    assert "--figures" in done.exception.hint


def test_triage_causes_are_listed_in_a_table(project: Project, tmp_path: Path) -> None:
    assert "Causes of errors" not in written(project, tmp_path / "none.html")
    scope = triage.of_cell(project, AccuracyCell(verifier="bad"), "items")
    found = [one for item in scope.items[:2] if (one := triage.case(project, scope, item)) is not None]
    triage.give_cause(project, found, Cause("other", "a <b>guess</b>"), scope, by="dora")
    (line,) = gathered(project).causes
    assert (line.verifier, line.cause, line.n, line.share) == ("bad", "a <b>guess</b>", 2, 1.0)
    page = written(project, tmp_path / "some.html")
    assert "Causes of errors" in page
    assert "a <b>guess</b>" not in page


def test_confusions_have_every_verdict(project: Project) -> None:
    found = {one.verifier: one for one in gathered(project, protocol="strict").confusions}
    assert (found["good"].of_correct, found["good"].of_incorrect) == ((6, 0, 0), (0, 5, 1))
    assert (found["bad"].of_correct, found["bad"].of_incorrect) == ((4, 1, 1), (5, 0, 1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values", [(-1.7e308, 1.7e308), (-5e-324, 0.0), (1.7e308, 1.7e308), (2.0, 2.0 + 2**-51)], ids=str
)
def test_scores_of_any_size_can_be_drawn(tmp_path: Path, values: tuple[float, float]) -> None:
    project = make_project(tmp_path, numbered(8))
    add_complete_run(project, "wide", scores({item: values[item % 2] for item in range(1, 9)}))
    (found,) = gathered(project).scores
    assert sum(one.correct for one in found.bins) == sum(one.incorrect for one in found.bins) == 4
    assert (found.bins[0].low, found.bins[-1].high) == values or values[0] == values[1]
    assert not re.findall(r'"-?(nan|inf)', written(project, tmp_path / "r.html"))
    project.close()


def test_a_verifier_without_verdicts_has_scores_only(project: Project) -> None:
    found = gathered(project)
    assert {row.verifier for row in found.overall.rows if row.kind == "verifier"} == {"good", "bad"}
    assert [one.verifier for one in found.scores] == ["scores"]
    assert found.scores[0].n == sum(one.correct + one.incorrect for one in found.scores[0].bins) == 12
    assert found.scores[0].auroc == pytest.approx(15 / 36)


def test_examples_that_other_verifiers_get_right_come_first(project: Project) -> None:
    add_complete_run(project, "mixed", words("cccccccicici"), kind="rules")
    errors = {(one.verifier, one.kind): one for one in gathered(project).errors}
    accepted = errors["bad", "accepted"]
    assert accepted.count == 5
    assert [(example.completion_id, example.others_right, example.others) for example in accepted.examples] == [
        ("c7", 2, 2),
        ("c9", 2, 2),
        ("c1", 1, 2),
    ]
    assert (errors["good", "undecided"].count, errors["bad", "undecided"].count) == (1, 2)
    assert errors["good", "undecided"].examples[0].others_right == 1
    assert gathered(project, examples=0).errors == []


def test_the_card_counts_the_items(project: Project) -> None:
    add_selection_judges(project, "sample", ("bad",))
    card = gathered(project).card
    assert {(row.of, row.group): row.counts["sample"] for row in card.counts.rows} == {
        ("questions", None): 6,
        ("completions", None): 12,
        ("correct", None): 6,
        ("wrong", None): 6,
        ("type", "A"): 6,
        ("type", "C"): 6,
        ("domain", "logic"): 6,
        ("domain", "math"): 6,
    }
    assert [(row.name, row.items, row.questions, row.correct) for row in card.models] == [
        ("m", 6, 3, 3),
        ("n", 6, 3, 3),
    ]
    assert card.crossing == {("A", "math"): 6, ("C", "logic"): 6}
    assert card.selection_judges == {"sample": ["bad"]}
    assert "12 items belong to 6 questions: intervals are clustered by question." in card.quirks


def test_a_selection_narrows_everything(project: Project, tmp_path: Path) -> None:
    some = Selection((parse_condition("type=A"),))
    found = gathered(project, selection=some, verifiers=("good",))
    assert {row.n for row in found.overall.rows} == {6}
    assert found.card.counts.rows[1].counts == {"sample": 6}
    assert found.family is None
    page = written(project, tmp_path / "r.html", selection=some)
    assert "Items: type=A." in page
    assert "C - Multi-choice" not in page


def test_the_same_data_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    first = written(project, tmp_path / "a.html")
    project.close()
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "p.db", tmp_path / "copy" / "p.db")
    again = open_project(tmp_path / "copy" / "p.db")
    assert written(again, tmp_path / "b.html") == first
    assert written(again, tmp_path / "c.md", format="markdown") == written(again, tmp_path / "d.md", format="markdown")
    write(again, tmp_path / "e.html", when="another day")
    assert (tmp_path / "e.html").read_text() == first.replace(WHEN, "another day")
    again.close()


def test_the_content_hash_is_of_texts_gold_and_verdicts(tmp_path: Path) -> None:
    def content_hash(name: str, outcomes: str = "ci", **fields: object) -> str:
        (tmp_path / name).mkdir()
        project = make_project(tmp_path / name, numbered(2, **fields))
        add_complete_run(project, "judge", words(outcomes))
        found = gathered(project).software.content_hash
        project.close()
        return found

    first = content_hash("a")
    assert content_hash("b") == first
    assert len({first, content_hash("c", "cc"), content_hash("d", gold=True), content_hash("e", completion="x")}) == 4


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_every_section_is_there(project: Project, tmp_path: Path, form: str) -> None:
    page = written(project, tmp_path / "r", format=form)
    for title in (
        "Summary",
        "Data card",
        "Accuracy by group",
        "Confusion matrices",
        "Comparison",
        "Scores",
        "Bias and validity",
        "Examples of errors",
        "Methods",
        "Versions and hashes",
        "Appendix: all metrics",
    ):
        assert re.search(rf"(<h2>|^## ){title}", page, re.MULTILINE), title
    assert "always-incorrect" in page
    assert "majority-by-type" in page


def test_an_empty_project_has_a_report(tmp_path: Path) -> None:
    empty = make_project(tmp_path)
    page = written(empty, tmp_path / "r.html")
    assert "No verifier has a complete run on these items yet." in page
    empty.close()


def test_labels_bring_agreement_without_names(tmp_path: Path) -> None:
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([sample_folder() / "tuples.jsonl"]), dataset="sample")
    import_labels(project, sample_folder() / "labels.jsonl")
    found = gathered(project)
    page = written(project, tmp_path / "r.html")
    project.close()
    assert found.agreement is not None
    assert found.agreement.alpha_ci
    assert "Agreement between people" in page
    assert "annotator 1" in page
    for person in found.agreement.per_annotator:
        assert not re.search(rf"\b{person.name}\b", page)
    assert found.card.files[0].blake2b in page


@pytest.mark.parametrize("end", ["", "-wal", ".columns", ".columns/items", ".columns/r/r.html"])
def test_a_report_never_overwrites_a_database_file(project: Project, end: str) -> None:
    with pytest.raises(StoreError, match="belongs to the database"):
        write(project, Path(f"{project.path}{end}"), force=True)


def test_a_file_is_overwritten_only_with_force_and_never_half_written(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FormatError, match="--force"):
        write(project, path)
    with pytest.raises(UsageError):
        write(project, path, verifiers=("nobody",), force=True)
    assert path.read_text() == "mine"
    with pytest.raises(StoreError):
        write(project, project.path, force=True)
    assert write(project, path, force=True).size == path.stat().st_size
    assert sorted(one.name for one in tmp_path.iterdir() if "part" in one.name) == []


def test_the_file_extension_selects_the_format(project: Project, tmp_path: Path) -> None:
    for name, begins in (("r.html", "<!DOCTYPE html>"), ("r.md", "# Verifiers on sample")):
        done = CliRunner().invoke(root, ["report", str(project.path), "-o", str(tmp_path / name), "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["written"] == str(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(begins)
    done = CliRunner().invoke(root, ["report", str(project.path), "-o", str(tmp_path / "r.md")])
    assert done.exception is not None


@pytest.mark.soak
def test_the_report_of_two_thousand_large_items_stays_small(tmp_path: Path) -> None:
    rows = numbered(2_000, completion="<" * 3_000, question="&" * 3_000, reference="<" * 3_000, subtype="A1")
    project = make_project(tmp_path, rows)
    for number in range(20):
        outcomes = "".join("ciae"[(place * (number + 3) + place // 7) % 4] for place in range(2_000))
        add_complete_run(project, f"organisation/verifier-number-{number}", words(outcomes), kind="llm-judge")
    assert (write(project, tmp_path / "r.html").size or 0) < 3_000_000
    project.close()


def test_hostile_data_is_written(tmp_path: Path) -> None:
    project = hostile_project(tmp_path)
    page, text = written(project, tmp_path / "r.html"), written(project, tmp_path / "r.md", format="markdown")
    project.close()
    assert "<script" not in page
    assert "&lt;script&gt;window.hacked = 1&lt;/script&gt;" in page
    assert "<script" not in re.sub(r"(?ms)^(`{3,})text\n.*?\n\1$", "", text)
    assert len(page) < 1_000_000


def test_methods_state_the_number_of_looks(project: Project) -> None:
    found = gathered(project)
    tested = {name: report.tests.hypotheses for name, report in found.by.items() if report.tests is not None}
    # Two verifiers, two groups that are set against each other: one test each. A type of one subtype has none.
    assert tested == {"type": 2, "domain": 2, "source": 2, "model": 2}
    said = str(methods_section(found))
    assert "This report took 8 looks (tests of a cell) in 4 tables." in said
    one = structs.replace(
        found, by={"domain": structs.replace(found.by["domain"], tests=CellTests(hypotheses=1, exact=1))}
    )
    assert "This report took 1 look (tests of a cell) in 1 table." in str(methods_section(one))
    none = structs.replace(found, by={"domain": structs.replace(found.by["domain"], tests=None)})
    assert "look (" not in str(methods_section(none))
    assert "looks (" not in str(methods_section(none))
