"""The verifier ``execution``: its options and its verdicts."""

from __future__ import annotations

import sys

import pytest
from msgspec import structs

from tests.coding import ADD
from workbench.core.code import CodeTest, Execution, Failure, Problem, SolutionForm
from workbench.core.errors import OptionError, UsageError
from workbench.core.reasons import explain_verdict
from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.base import identity
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.execution.verifier import HARNESS_VERSION, ExecutionVerifier
from workbench.verifiers.registry import Registry

CODE = "def add(a, b):\n    return a - b\n"


def ran(outcomes: str, *failures: Failure, killed: bool = False) -> Execution:
    return Execution(outcomes=outcomes, level="L3", failures=failures, ms=2.0, harness_killed=killed)


def verdict(base: Execution, plus: Execution | None = None, text: str = CODE) -> Verdict:
    found = {"base": base} if plus is None else {"base": base, "plus": plus}
    return ExecutionVerifier(suite="base,plus").verdict(ADD, text, "program", [found]).verdict


def test_a_solution_is_correct_if_every_test_of_all_suites_passes() -> None:
    found = verdict(ran("pp"), ran("p"))
    assert (found.outcome, found.score, found.reason, found.ms) == (Outcome.CORRECT, 1.0, "tests_passed", 6.0)
    found = verdict(ran("pp"), ran("f"))
    assert (found.outcome, found.score, found.rule) == (Outcome.INCORRECT, 2 / 3, "test.plus.1")


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ("pf", "assertion"),
        ("pe", "exception"),
        ("ss", "syntax"),
        ("pt", "time_limit"),
        ("px", "killed"),
        ("pn", "time_limit"),
        ("fe", "assertion"),
        ("et", "exception"),
    ],
)
def test_the_first_failing_test_gives_the_reason(outcomes: str, reason: str) -> None:
    found = verdict(ran(outcomes))
    assert (found.outcome, found.reason, found.score) == (Outcome.INCORRECT, reason, outcomes.count("p") / 2)
    assert explain_verdict("incorrect", reason).endswith(".")


def test_the_first_failure_is_the_evidence() -> None:
    found = verdict(ran("pf", Failure(position=1, outcome="f", got="-1", expected="0")))
    assert (found.reference_final, found.candidate_final, found.candidate_span) == ("0", "-1", None)
    assert found.detail == "base 2 of 2 · assert candidate(0, 0) == 0"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (CODE, "program"),
        ("    return a - b\n", "continuation"),
        (f"So:\n\n  ```python\n  def add(a, b):\n      return a - b\n```\n{CODE}", "reply"),
    ],
)
def test_the_line_that_raised_is_marked_in_the_stored_text(text: str, form: SolutionForm) -> None:
    failure = Failure(position=0, outcome="e", error="TypeError", message="no", line=2)
    found = ExecutionVerifier().verdict(ADD, text, form, [{"base": ran("ep", failure)}]).verdict
    assert found.candidate_span is not None
    assert text[slice(*found.candidate_span)] == "return a - b"
    assert found.candidate_final is None
    assert found.detail == "base 1 of 2 · assert candidate(1, 2) == 3 · TypeError: no · line 2"


@pytest.mark.parametrize("line", [None, 0, 1, 99])
def test_a_line_outside_the_text_is_not_marked(line: int | None) -> None:
    failure = Failure(position=0, outcome="e", error="TypeError", line=line)
    found = ExecutionVerifier().verdict(ADD, "    return a\n", "continuation", [{"base": ran("ep", failure)}])
    assert found.verdict.candidate_span is None


def test_a_dead_harness_is_an_error_of_no_solution() -> None:
    found = verdict(ran("xx", killed=True), ran("f"))
    assert (found.outcome, found.reason, found.score) == (Outcome.ERROR, "harness_killed", None)
    assert explain_verdict("error", "harness_killed").endswith(".")


@pytest.mark.parametrize("problem", [None, structs.replace(ADD, suites={})])
def test_nothing_to_run_is_an_abstention(problem: Problem | None) -> None:
    verifier = ExecutionVerifier(suite="plus")
    if problem is not None:
        assert verifier.programs(problem, CODE, "program") == {}
    found = verifier.verdict(problem, CODE, None, [{}]).verdict
    assert (found.outcome, found.reason) == (Outcome.ABSTAIN, "no_tests")


def test_a_long_test_is_shortened_and_a_whole_program_omitted() -> None:
    long = CodeTest(form="statement", source="x" * 1000)
    whole = CodeTest(form="program", source="check(add)")
    typed = CodeTest(form="stdio", source="5\n", expected="10\n")
    problem = structs.replace(ADD, suites={"long": (long,), "whole": (whole,), "typed": (typed,)})
    details = [
        ExecutionVerifier(suite=name).verdict(problem, CODE, None, [{name: ran("f")}]).verdict.detail
        for name in problem.suites
    ]
    assert details == [f"long 1 of 1 · {'x' * 299}…", "whole 1 of 1", "typed 1 of 1 · input 5"]


def test_other_hash_seeds_vote_and_do_not_decide() -> None:
    verifier = ExecutionVerifier(hash_seed="3", hash_seeds="3")
    assert verifier.seeds == (3, 4, 5)
    runs = [{"base": ran(outcomes)} for outcomes in ("pp", "pf", "pp")]
    found = verifier.verdict(ADD, CODE, "program", runs)
    assert (found.verdict.outcome, found.verdict.reason) == (Outcome.CORRECT, "unstable")
    assert found.verdict.detail == "other outcomes with PYTHONHASHSEED=4 than with 3"
    assert [vote.outcome for vote in found.votes] == [Outcome.CORRECT, Outcome.INCORRECT, Outcome.CORRECT]
    steady = verifier.verdict(ADD, CODE, "program", [{"base": ran("pp")}] * 3)
    assert (steady.verdict.reason, len(steady.votes)) == ("tests_passed", 3)


def test_settings_include_the_options() -> None:
    verifier = ExecutionVerifier(
        stop_early="yes", fresh_per_test="true", fresh_namespace="1", budget="5", memory="64", hash_seeds="2"
    )
    assert verifier.settings(1) == PoolSettings(
        hash_seed=1,
        stop_early=True,
        fresh_per_test=True,
        fresh_namespace=True,
        memory_bytes=64 * 2**20,
        seconds_total=5.0,
    )


def test_a_scratch_folder_is_sized_in_megabytes_and_needs_l3() -> None:
    verifier = ExecutionVerifier(scratch="16MB", memory="64MB", isolation="L3")
    assert (verifier.scratch, verifier.settings(0).scratch_bytes) == (2**24, 2**24)
    assert verifier.config()["scratch"] == 16
    assert "scratch" not in ExecutionVerifier().config(), "what was run without it keeps its identity"
    assert identity(ExecutionVerifier(scratch="16MB")) == identity(ExecutionVerifier(scratch="16"))
    for level in ("L1", "L2"):
        with pytest.raises(OptionError, match="only isolation L3 has a scratch folder"):
            Registry().load("execution", {"scratch": "16", "isolation": level})


def test_the_time_limit_reaches_the_program() -> None:
    assert ExecutionVerifier(timeout="0.5").programs(ADD, CODE, None)["base"].seconds == 0.5


@pytest.mark.parametrize(
    "options",
    [
        {"suite": "plus"},
        {"timeout": "1"},
        {"isolation": "L2"},
        {"stop_early": "yes"},
        {"fresh_per_test": "yes"},
        {"fresh_namespace": "yes"},
        {"hash_seed": "1"},
        {"hash_seeds": "2"},
        {"extractor": "lines"},
        {"python": sys.executable},
        {"budget": "5"},
        {"memory": "64"},
        {"scratch": "16"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_every_option_is_part_of_the_identity(options: dict[str, str]) -> None:
    assert identity(ExecutionVerifier(**options)) != identity(ExecutionVerifier())


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("suite", " , "),
        ("timeout", "0"),
        ("timeout", "nan"),
        ("timeout", "soon"),
        ("isolation", "L4"),
        ("stop_early", "maybe"),
        ("hash_seed", "-1"),
        ("hash_seeds", "0"),
        ("hash_seeds", "1e3"),
        ("extractor", "guess"),
        ("python", "/there/is/no/python"),
        ("budget", "inf"),
        ("memory", "²"),
        ("scratch", "16 GB"),
        ("scratch", "1009"),
    ],
)
def test_an_invalid_option_is_named(option: str, text: str) -> None:
    with pytest.raises(OptionError) as caught:
        Registry().load("execution", {option: text})
    assert caught.value.option == option


def test_the_version_names_only_the_current_interpreter() -> None:
    major, minor = sys.version_info[:2]
    assert ExecutionVerifier().version == f"{HARNESS_VERSION}+python{major}.{minor}"
    assert ExecutionVerifier(python=sys.executable).version == HARNESS_VERSION


def test_it_works_in_runs_only() -> None:
    with pytest.raises(UsageError, match="runs programs"):
        Registry().local("execution")


def test_broken_tests_do_not_count() -> None:
    found = verdict(ran("pb"), ran("b"))
    assert (found.outcome, found.score, found.detail) == (Outcome.CORRECT, 1.0, "2 tests excluded")
    found = verdict(ran("bf"), ran("p"))
    assert (found.outcome, found.score, found.rule) == (Outcome.INCORRECT, 0.5, "test.base.2")
    assert (found.detail or "").endswith(" · 1 test excluded")
    found = verdict(ran("bb"))
    assert (found.outcome, found.score, found.reason) == (Outcome.ABSTAIN, None, "broken_tests")


def test_a_verdict_names_the_error_of_broken_tests() -> None:
    tests = tuple(CodeTest(form="expression", source=f"assert ad({number}) == 3") for number in range(2))
    problem = structs.replace(ADD, suites={"base": tests})
    error = "NameError: name 'ad' is not defined"
    found = ExecutionVerifier().verdict(problem, CODE, "program", [{"base": ran("bb")}]).verdict
    assert (found.outcome, found.reason, found.detail) == (Outcome.ABSTAIN, "broken_tests", error)
    mixed = structs.replace(problem, suites={"base": (*tests, *ADD.suites["base"][:1])})
    found = ExecutionVerifier().verdict(mixed, CODE, "program", [{"base": ran("bbp")}]).verdict
    assert found.detail == f"2 tests excluded: {error}"


def test_a_skipped_test_hides_no_later_failure() -> None:
    assert verdict(ran("nf")).reason == "assertion"


def test_uninformative_tests_are_not_run() -> None:
    sources = ("assert add(1, 2) == 3", "assert add(1, 2) == 3)", "assert sub(1, 2) == 3")
    problem = structs.replace(
        ADD, suites={"base": tuple(CodeTest(form="expression", source=source) for source in sources)}
    )
    assert ExecutionVerifier().programs(problem, CODE, "program")["base"].broken == (1, 2)
    other = ExecutionVerifier(python=sys.executable).programs(problem, CODE, "program")
    assert other["base"].broken == (2,)
