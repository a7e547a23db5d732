"""Probing local verifiers: counts, stored reports, and no side effects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import install_plugin
from tests.helpers import add_items, make_project
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.interchange.importing import import_files, plan_import
from workbench.measuring.accuracy import accuracy
from workbench.measuring.briefing import status
from workbench.runs.probes import accepted, latest, plan, run
from workbench.runs.run_status import runs
from workbench.runs.verifying import start
from workbench.statistics.records.probe import FamilyFigures, ProbeReport
from workbench.verifiers.probes.building import SUITE_VERSION

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "tuples.jsonl"
HARMLESS = ("P1", "P2", "P3", "P4", "P5", "P6")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    install_plugin(tmp_path, monkeypatch)
    made = make_project(
        tmp_path,
        [
            {
                "question_id": f"q{number // 2}",
                "completion_id": f"c{number}",
                "question": f"What is {number // 2} + 20?",
                "reference": f"\\boxed{{{number // 2 + 20}}}",
                "completion": f"Let me see [b]. So \\boxed{{{number // 2 + 20 + number % 2}}}.",
                "gold": number % 2 == 0,
                "subtype": "ABCD"[number // 2 % 4] + "1",
            }
            for number in range(40)
        ],
    )
    yield made
    made.close()


def probed(project: Project, kind: str, *families: str, limit: int = 8, seed: int = 0) -> ProbeReport:
    return run(project, plan(project, kind, families=families, limit=limit, seed=seed))


def by_family(report: ProbeReport) -> dict[str, FamilyFigures]:
    return {one.family: one for one in report.families}


def test_a_verifier_that_rejects_everything_has_no_success(project: Project) -> None:
    report = probed(project, "always-incorrect")
    assert (report.rows, report.overall.accepted, report.overall.asr, report.control.asr) == (8, 0, 0.0, 0.0)
    assert report.overall.ci is not None
    # However many probes a row has, eight rows are eight trials.
    assert report.overall.ci == pytest.approx((0.0, 1 - 0.025 ** (1 / 8)))
    assert set(report.by_type) == set("ABCD")
    assert {one.asr for one in report.families} == {0.0, None}
    assert by_family(report)["P18"].skipped == {"no_program": 24}
    assert list(accepted(project, "always-incorrect")) == []


def test_a_verifier_that_accepts_everything_is_always_hacked(project: Project) -> None:
    report = probed(project, "always-correct")
    assert (report.overall.asr, report.control.asr, report.carrier.asr) == (1.0, 1.0, 1.0)
    assert {one.asr for one in report.families if one.n} == {1.0}
    assert [one.family for one in report.families if not one.n] == ["P18", "P22"]
    assert all(one.ci is not None and one.ci[1] == 1.0 for one in report.families if one.n)


def test_a_weak_verifier_is_detected(project: Project) -> None:
    report = by_family(probed(project, "naive"))
    for family in ("P4", "P11", "P12"):
        assert (report[family].asr or 0) > 0
    assert report["P1"].asr == 0.0
    echoes = {one.variant: one.asr for one in report["P11"].variants}
    assert echoes["question-echo"] == 0.0
    assert echoes["reference-example"] == 1.0


def test_counts_add_up(project: Project) -> None:
    report = probed(project, "naive")
    assert report.parsed == report.overall.parsed == sum(one.parsed for one in report.families)
    assert report.overall.n == sum(one.n for one in report.by_type.values())
    for one in report.families:
        counted = [variant for variant in one.variants if variant.expected == "incorrect"]
        assert (one.n, one.accepted) == (sum(v.n for v in counted), sum(v.accepted for v in counted))
        assert one.n == sum(figures.n for figures in one.by_type.values())
        made = len(one.variants) * report.rows - sum(one.skipped.values())
        assert made == sum(variant.n for variant in one.variants)
    expected = {v.variant for one in report.families for v in one.variants if v.expected == "correct"}
    assert expected == {"wrong-box-early", "digits-right"}


def test_scores_above_the_control_are_reported(project: Project) -> None:
    report = by_family(probed(project, "naive", "P1", "P15"))
    # "Let's solve this problem step by step." alone is longer than the control.
    assert (report["P1"].above_control, report["P15"].above_control) == (0.1, 1.0)
    assert by_family(probed(project, "always-incorrect", "P1"))["P1"].above_control is None


def test_a_hang_or_crash_affects_only_its_probe(project: Project) -> None:
    report = probed(project, "fragile", "P1", limit=2)
    (family,) = report.families
    assert (family.n, family.parsed, family.abstain, family.asr) == (20, 16, 4, 0.0)
    assert family.no_verdict == 0.2


def test_accepted_probes_have_their_evidence(project: Project) -> None:
    probed(project, "naive", "P4", "P12", limit=2)
    found = list(accepted(project, "naive"))
    assert {one.family for one in found} == {"P4", "P12"}
    assert [one.family for one in found] == sorted((one.family for one in found), key=lambda name: int(name[1:]))
    last = next(one for one in found if one.variant == "right-last")
    assert last.candidate_span is not None
    start_, end = last.candidate_span
    assert last.completion[start_:end] == last.candidate_final == last.reference
    assert (last.expected, last.verdict, last.reason, last.reply) == ("incorrect", "correct", "looked", None)
    assert last.question_id.startswith("q")
    json = next(one for one in found if one.variant == "json")
    assert json.completion.endswith('\n\n{"correct": true}')
    assert json.completion.startswith("Let me see [b].")
    assert {one.family for one in accepted(project, "naive", ("p12",))} == {"P12"}


def test_the_latest_report_is_stored(project: Project) -> None:
    assert latest(project, "naive") is None
    with pytest.raises(UsageError, match="not been probed yet"):
        accepted(project, "naive")
    first = probed(project, "naive", "P1")
    second = probed(project, "naive", "P4", seed=3)
    assert first != second
    assert latest(project, "naive") == second
    assert (second.suite, second.seed, second.version, second.kind) == (SUITE_VERSION, 3, "1", "naive")
    assert second.config_hash != probed(project, "always-correct", "P1").config_hash


def test_the_same_seed_gives_the_same_probes(project: Project) -> None:
    def tried(seed: int) -> list[tuple[str, str, str]]:
        probed(project, "always-correct", "P3", limit=5, seed=seed)
        return [(one.question_id, one.variant, one.completion) for one in accepted(project, "always-correct")]

    assert tried(1) == tried(1)
    assert tried(1) != tried(2)


def test_probing_changes_nothing_else(project: Project) -> None:
    reader = project.database.reader()
    tables = ("completions", "questions", "verdicts", "label_events", "runs", "item_states")
    before = [reader.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
    figures = (status(project), accuracy(project))
    probed(project, "always-correct", "P1", "P4")
    assert [reader.execute(f"SELECT * FROM {table}").fetchall() for table in tables] == before
    assert (status(project), accuracy(project)) == figures
    assert runs(project) == []


def test_the_plan_counts_before_anything_is_judged(project: Project) -> None:
    planned = plan(project, "naive", families=("P1", "P4"), limit=6)
    assert (planned.probes, planned.companions, planned.calls) == (6 * (10 + 9), 12, None)
    seen: list[int] = []
    report = run(project, planned, lambda done, _: seen.append(done))
    assert report.overall.n == planned.probes
    assert report.control.n + report.carrier.n == planned.companions
    assert seen == sorted(seen)


def test_excluded_and_unselected_items_give_no_probes(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO item_states (completion_id, state) SELECT id, 'excluded' FROM completions LIMIT 2"
        )
    assert len(plan(project, "naive", limit=100).rows) == 19
    chosen = Selection((parse_condition("type=B"), parse_condition("gold=incorrect")))
    rows = plan(project, "naive", selection=chosen).rows
    assert {row.type for row in rows} == {"B"}
    assert all(row.right is None and row.wrong is not None for row in rows)


def test_verifiers_that_cannot_be_probed_are_rejected(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no question"):
        plan(project, "naive", selection=Selection((parse_condition("dataset=none"),)))
    with pytest.raises(UsageError, match="'P0'"):
        plan(project, "naive", families=("P0",))
    with pytest.raises(UsageError, match="nobody"):
        plan(project, "nobody")
    with pytest.raises(UsageError, match="judges no completions"):
        plan(project, "answer-type", {"base_url": "http://127.0.0.1:9/v1", "model": "m"})


def test_a_name_stays_bound_to_its_configuration(project: Project) -> None:
    run(project, plan(project, "slow", {"ms": "0"}, "mine", families=("P2",), limit=1))
    assert latest(project, "mine") is not None
    again = plan(project, "mine", families=("P2",), limit=1)
    assert (again.kind, again.options) == ("slow", {"ms": "0"})
    with pytest.raises(UsageError, match="another configuration"):
        run(project, plan(project, "slow", {"ms": "1"}, "mine", families=("P2",), limit=1))
    with pytest.raises(UsageError, match="another configuration"):
        start(project, "slow", {"ms": "1"}, "mine")


def test_questions_without_gold_or_answer_are_skipped(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    add_items(project.database, [{"question": "Why?", "reference": "", "completion": ""}])
    report = probed(project, "exact")
    project.close()
    assert (report.rows, report.control.n, report.control.asr, report.control.ci) == (1, 0, None, None)
    assert by_family(report)["P12"].skipped == {"no_answer": 3}
    assert set(report.by_type) == {"untyped"}


def test_code_questions_get_the_probes_for_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)
    project = make_project(tmp_path)
    code = "def double(n):\n    return 2 * n"
    add_items(project.database, [{"question": ">>> double(2)\n4", "reference": code, "completion": code, "gold": True}])
    report = probed(project, "always-correct", "P18")
    found = {one.variant: one.completion for one in accepted(project, "always-correct")}
    project.close()
    assert (report.families[0].n, report.families[0].asr, report.families[0].skipped) == (3, 1.0, {})
    assert "arguments == (2,)" in found["examples-hard-coded"]


def check_rules(project: Project, least_rows: int, *families: str) -> None:
    report = probed(project, "rules", *families, limit=least_rows)
    assert report.rows == least_rows
    assert set(report.by_type) == set("ABCD")
    found = by_family(report)
    for name in HARMLESS:
        assert (name, found[name].accepted, found[name].asr_all) == (name, 0, 0.0)
        assert found[name].n >= 5 * least_rows
    for one in found["P11"].variants:
        if one.variant.startswith("question"):
            assert (one.variant, one.accepted) == (one.variant, 0)
    assert (report.control.asr or 0) >= 0.9
    assert report.overall.error == 0


@pytest.mark.soak
def test_the_rules_over_the_sample(tmp_path: Path) -> None:
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([SAMPLE]))
    check_rules(project, 39, *HARMLESS, "P11")
    project.close()


@pytest.mark.soak
@pytest.mark.real_data
def test_the_rules_over_real_rows(tmp_path: Path, real_file: Path) -> None:
    """With every family; a comparison that takes too long is ended by its CPU time, whatever the clock says."""
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([real_file]))
    check_rules(project, 100)
    project.close()
