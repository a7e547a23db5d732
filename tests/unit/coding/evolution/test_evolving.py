"""Evolving suites: every rule of the result, and the same bytes after any kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from tests.evolving import MODELS, ActingModel, ActingSandbox, executed, own_project
from workbench.coding import store
from workbench.coding.evolution import evolved, evolving
from workbench.coding.evolution.growing import columns, is_split, rate
from workbench.coding.ranking.passing import pass_report, passes_by_tests, with_models
from workbench.coding.ranking.scores import truth_of
from workbench.coding.records.evolution import EvolutionReport, EvolutionSettings, Evolved, GrowthStep
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.data.store import tests
from workbench.data.store.tests import problems_of
from workbench.interchange.importing import import_files, plan_import

SETTINGS = EvolutionSettings(model="m")
SUITES = ["grown-round-1", "grown-round-2", "grown-round-3", "grown"]


class Killed(BaseException):
    """Ends the work wherever it is, as a signal would."""


def evolve(project: Project, settings: EvolutionSettings = SETTINGS, **options: Any) -> ActingModel:
    """Run an evolution to its end."""
    model = ActingModel()
    evolving.evolve(project, evolving.begin(project, "grown", settings), model, ActingSandbox(), **options)
    return model


def steps(project: Project) -> list[Evolved]:
    (row,) = store.evolutions_named(project.database.reader(), "grown")
    return store.evolved_problems(project.database.reader(), row.id)


def report(project: Project) -> EvolutionReport:
    return evolved.report(project, evolved.evolution(project, "grown"))


def result(project: Project) -> bytes:
    """All that an evolution leaves: its steps, its report, its lines for training and its suites."""
    row, found = evolved.evolution(project, "grown"), steps(project)
    suites = problems_of(project.database, [one.question for one in found], SUITES)
    return msgspec.json.encode([found, evolved.report(project, row), list(evolved.lines(project, row)), suites])


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three problems that are through three rounds."""
    folder = tmp_path_factory.mktemp("grown")
    project = own_project(folder)
    evolve(project)
    project.close()
    return folder / "p.db"


@pytest.fixture
def project(grown: Path) -> Any:
    made = open_project(grown)
    yield made
    made.close()


def test_every_rule_holds_on_the_result(project: Project) -> None:
    for one in steps(project):
        assert one.final is not None
        tests = columns(one.vectors)
        assert len(tests) == len(one.tests) == len({test.source for test in one.tests})
        first = len(one.pool.tests)
        for step in one.growth:
            added = tests[first : first + len(step.tests)]
            first += len(step.tests)
            assert step.mode == "adversarial" or all(map(is_split, added))
            assert len(step.shown) == 5
            assert all(rate(tests[place]) >= 0.1 for place in step.view)
            if step.mode == "discriminative":
                assert len({tests[place] for place in step.view}) == len(step.view)
        for snapshot in one.final.snapshots:
            kept = Counter(tests[place] for place in snapshot.kept)
            assert max(kept.values()) <= 5
            assert min(map(rate, kept)) >= 0.1
            assert snapshot.left_out is None
            assert len(snapshot.kept) >= 5


def test_useless_duplicate_broken_and_hostile_tests_are_rejected(project: Project) -> None:
    first = [one for one in report(project).steps if one.round == 1]
    assert first[0].rejected == {
        "duplicate": 7,
        "no_assert": 6,
        "no_call": 6,
        "no_python": 3,
        "reaches_out": 9,
        "wrong": 6,
    }
    assert all(one.proposed == sum(one.rejected.values()) + one.taken for one in report(project).steps)
    sources = [test.source for one in steps(project) for test in one.tests]
    assert not [source for source in sources if "import" in source or "open" in source or "False" in source]


def test_pass_at_1_falls_or_stays_over_the_same_problems(project: Project) -> None:
    shares = [one.pass_at["1"] for one in report(project).rounds]
    assert shares == pytest.approx([0.9, 0.4, 0.2, 0.2])
    assert [one.pass_at["8"] for one in report(project).rounds] == pytest.approx([1, 1, 44 / 45, 44 / 45])


def test_the_final_suites_are_there_to_be_run(project: Project) -> None:
    (first, *_) = steps(project)
    assert first.final is not None
    suites = problems_of(project.database, [first.question], SUITES)[first.question].suites
    for name, snapshot in zip(SUITES, [*first.final.snapshots[1:], first.final.snapshots[-1]], strict=True):
        assert list(suites[name]) == [first.tests[place] for place in snapshot.kept]
    row = project.database.reader().execute("SELECT origin, about FROM suites WHERE name = 'grown'").fetchone()
    assert row[0] == "evolved"
    assert msgspec.json.decode(row[1])["settings"]["seed"] == 0


def test_training_lines_have_all_fields_of_a_trainer(project: Project) -> None:
    lines = list(evolved.lines(project, evolved.evolution(project, "grown")))
    assert [line.task_id for line in lines] == ["own/10", "own/11", "own/12"]
    line = lines[0]
    assert line.prompt[0].role == "user"
    assert "`clip10`" in line.prompt[0].content
    truth = msgspec.json.decode(line.reward_model.ground_truth)
    assert truth["tests"] == list(line.tests)
    assert truth["setup"] == "candidate = clip10"
    assert truth["pass_rates"] == list(line.pass_rates)
    assert len(line.pass_rates) == len(line.tests) == len(line.origins)
    assert len(line.solution_rates) == 10
    assert line.pass_at_1 == pytest.approx(0.2)
    assert line.solution_rates.count(1.0) == 2
    assert set(line.origins) == {"0", "1 adversarial", "1 discriminative", "2 adversarial"} | {
        "2 discriminative",
        "3 adversarial",
        "3 discriminative",
    }


def test_one_problem_is_shown_round_by_round(project: Project) -> None:
    question = steps(project)[0].question
    found = evolved.problem_evolution(project, evolved.evolution(project, "grown"), question)
    assert found is not None
    assert [one.perfect for one in found.rounds] == [9, 4, 2, 2]
    assert [len(one.tests) for one in found.rounds] == sorted(len(one.tests) for one in found.rounds)
    assert evolved.problem_evolution(project, evolved.evolution(project, "grown"), 999) is None


def test_a_missing_reply_is_recorded_and_the_work_continues(project: Project) -> None:
    third = [one for one in report(project).steps if one.round == 3]
    assert [(one.asked, one.replied) for one in third] == [(3, 2), (3, 2)]


def test_a_second_run_asks_and_writes_nothing(project: Project) -> None:
    before = result(project)
    assert evolve(project).requests == []
    assert result(project) == before


def test_another_order_of_results_and_another_database_give_the_same_bytes(grown: Path, tmp_path: Path) -> None:
    other, project = own_project(tmp_path), open_project(grown)
    evolve(other)
    assert result(other) == result(project)
    for one in (other, project):
        one.close()


def test_another_seed_keeps_other_tests(tmp_path: Path, project: Project) -> None:
    other = own_project(tmp_path)
    evolve(other, structs.replace(SETTINGS, seed=1))
    assert [one.pool for one in steps(other)] == [one.pool for one in steps(project)]
    assert [one.final for one in steps(other)] != [one.final for one in steps(project)]
    other.close()


def counting(last: int) -> Callable[[], None]:
    """Kills at the call of that number."""
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        if calls > last:
            raise Killed

    return call


@pytest.mark.few(4)
@pytest.mark.parametrize("point", [0, 60, 120, 210])
def test_a_kill_anywhere_is_gone_on_from_to_the_same_bytes(grown: Path, tmp_path: Path, point: int) -> None:
    project, whole = own_project(tmp_path), open_project(grown)
    killed = counting(point)
    row = evolving.begin(project, "grown", SETTINGS)
    with pytest.raises(Killed):
        evolving.evolve(project, row, ActingModel(killed), ActingSandbox(before=killed))
    evolve(project)
    assert result(project) == result(whole)
    for one in (project, whole):
        one.close()


@pytest.mark.parametrize("point", [11, 22, 27])
def test_a_kill_between_two_writes_is_gone_on_from_to_the_same_bytes(
    grown: Path, tmp_path: Path, point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, whole = own_project(tmp_path), open_project(grown)
    killed = counting(point)

    def then_killed(write: Callable[..., None]) -> Callable[..., None]:
        def writing(*given: Any) -> None:
            write(*given)
            killed()

        return writing

    with monkeypatch.context() as patch:
        for module, name in ((store, "put_step"), (tests, "put_tests")):
            patch.setattr(module, name, then_killed(getattr(module, name)))
        with pytest.raises(Killed):
            evolve(project)
    evolve(project)
    assert result(project) == result(whole)
    for one in (project, whole):
        one.close()


def test_a_name_is_bound_to_one_configuration(project: Project) -> None:
    with pytest.raises(UsageError, match="seed was 0"):
        evolving.begin(project, "grown", structs.replace(SETTINGS, seed=5))
    with pytest.raises(UsageError, match="'base' already"):
        evolving.begin(project, "base", SETTINGS)
    with pytest.raises(UsageError, match="No data set 'x'"):
        evolving.begin(project, "other", SETTINGS, "x")
    with pytest.raises(UsageError, match="no extractor"):
        evolving.begin(project, "other", structs.replace(SETTINGS, extractor="fence-0"))
    with pytest.raises(UsageError, match="There are: grown"):
        evolved.evolution(project, "gorwn")


def test_several_datasets_need_a_dataset_name(tmp_path: Path) -> None:
    project = own_project(tmp_path, 1)
    files = [tmp_path / "problems.jsonl", tmp_path / "solutions.jsonl"]
    import_files(project, plan_import(files), dataset="other")
    with pytest.raises(UsageError, match="Several data sets hold code problems"):
        evolving.begin(project, "grown", SETTINGS)
    rows = [evolving.begin(project, "grown", SETTINGS, name) for name in ("own", "other")]
    assert [row.dataset for row in rows] == ["own", "other"]
    with pytest.raises(UsageError, match="Several data sets have an evolution 'grown': own, other"):
        evolved.evolution(project, "grown")
    assert evolved.evolution(project, "grown", "other") == rows[1]
    with pytest.raises(UsageError, match="seed was 0"):
        evolving.begin(project, "grown", structs.replace(SETTINGS, seed=1), "own")
    project.close()


@pytest.mark.parametrize("written", [False, True])
def test_without_a_human_reference_new_tests_are_unverified(tmp_path: Path, written: bool) -> None:
    project = own_project(tmp_path, 1, reference=written)
    with project.database.write() as connection:
        connection.execute("UPDATE code_problems SET reference_by = 'model'")
    evolve(project)
    found = report(project)
    assert found.unverified == 1
    assert all("wrong" not in one.rejected for one in found.steps)
    # No solution passes the wrong tests, so the filter drops them, as in the paper.
    sources = [test.source for one in steps(project) for test in one.tests]
    assert "assert candidate(4) == 5" in sources
    assert "assert candidate(4) == 5" not in next(evolved.lines(project, evolved.evolution(project, "grown"))).tests
    project.close()


def test_tests_that_the_reference_fails_are_accepted_on_request(tmp_path: Path) -> None:
    project = own_project(tmp_path, 1)
    evolve(project, structs.replace(SETTINGS, keep_unverified=True))
    assert all("wrong" not in one.rejected for one in report(project).steps)
    project.close()


def test_only_so_many_problems_and_none_that_cannot(tmp_path: Path) -> None:
    project = own_project(tmp_path, 3)
    with project.database.write() as connection:
        connection.execute("DELETE FROM tests WHERE question_id = 1")
        connection.execute("UPDATE code_problems SET language = 'javascript' WHERE question_id = 2")
    evolve(project, problems=1)
    assert [one.task_id for one in steps(project)] == ["own/12"]
    assert report(project).skipped == {"no_tests": 1, "language": 1}
    project.close()


def test_excluded_solutions_and_ground_truths_are_in_no_pool(tmp_path: Path) -> None:
    project = own_project(tmp_path, 1)
    with project.database.write() as connection:
        connection.execute("UPDATE code_solutions SET ground_truth = 1 WHERE completion_id = 1")
        connection.execute("INSERT INTO item_states (completion_id, state) VALUES (2, 'excluded')")
    evolve(project, structs.replace(SETTINGS, rounds=1))
    assert steps(project)[0].pool.solutions == tuple(range(3, 11))
    project.close()


def test_pass_at_k_of_the_final_suite_equals_the_evolution(tmp_path: Path) -> None:
    project = own_project(tmp_path)
    with project.database.write() as connection:
        connection.execute("UPDATE code_solutions SET ground_truth = 1 WHERE completion_id IN (1, 11, 21)")
    evolve(project)
    executed(project, "execution", "grown")
    shown = report(project)
    passes = passes_by_tests(project, truth_of(project, suites=("grown",)))
    found = with_models(project, passes, pass_report(passes, shown.ks), shown.ks)
    of_set = {str(row.k): row.value for row in found.rows}
    assert of_set == shown.rounds[-1].pass_at == shown.rounds[-1].pass_at_set
    assert {row.solutions for row in found.rows if row.k == 1} == {27}
    by_model = {model: {str(row.k): row.average for row in found.models if row.model == model} for model in MODELS}
    assert by_model == {row.model: row.pass_at for row in shown.models}
    project.close()


def test_a_problem_without_passed_tests_sends_no_request(tmp_path: Path) -> None:
    project = own_project(tmp_path, 1, tests=["assert candidate(3) == 99"] * 2)
    model = evolve(project)
    assert model.requests == []
    growth: list[GrowthStep] = [step for one in steps(project) for step in one.growth]
    assert {step.skipped for step in growth} == {"no_tests"}
    assert report(project).rounds[3].left_out == {"few_tests": 1}
    assert list(evolved.lines(project, evolved.evolution(project, "grown"))) == []
    project.close()


def test_a_model_sees_problem_programs_tests_and_results_between_markers(tmp_path: Path) -> None:
    project = own_project(tmp_path, 1)
    model = evolve(project, structs.replace(SETTINGS, rounds=1))
    adversarial, discriminative = (one.messages[-1].content for one in model.requests)
    assert "`clip10`" in adversarial
    assert adversarial.count("\nprogram 5:\n") == 1
    assert "1. assert candidate(3) == 3" in adversarial
    assert "program 1: pass pass pass pass pass" in adversarial
    assert "at least one must fail" in discriminative
    lines = Counter(line for line in adversarial.splitlines() if line.startswith("data-"))
    assert list(lines.values()) == [2 * 8]
    assert [one.sample for one in model.requests] == [1, 1]
    project.close()
