"""Compute the results of evolutions: reports, one problem's rounds, and lines for reinforcement learning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from workbench.coding import store
from workbench.coding.evolution.evolving import count_not_started, count_skipped
from workbench.coding.evolution.growing import columns, count_perfect, rate, shares_passed
from workbench.coding.evolution.representatives import SHOWN_SOLUTIONS
from workbench.coding.records.evolution import (
    MODES,
    ChatMessage,
    EvolutionReport,
    Evolved,
    EvolvedFrom,
    EvolvedLine,
    ExtraInfo,
    GrowthStep,
    Mode,
    ModelRow,
    ProblemEvolution,
    ProblemRound,
    RewardFields,
    RoundRow,
    Shares,
    Snapshot,
    SourceRow,
    StepRow,
)
from workbench.coding.store import EvolutionRow
from workbench.core.code import PASS, Problem, counted
from workbench.core.errors import UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.data.store.tests import problems_of
from workbench.runs.store import runs

# -- Results of an evolution: the paper's table 2 and figures 4 to 6 as data.


KS: Final = (1, 4, 8)
"""The k of pass@k, as in the paper."""
_TENTHS = 10


def round_rows(found: Sequence[Evolved], rounds: int) -> tuple[RoundRow, ...]:
    """Return a row with metrics of the problems after each round.

    Args:
        found: Problems that have finished all rounds.
    """
    same = [one for one in found if _snapshot(one, 0).kept]
    return tuple(_round_row(found, same, round) for round in range(rounds + 1))


def source_rows(found: Sequence[Evolved], rounds: int) -> tuple[SourceRow, ...]:
    sources = sorted({one.source for one in found if one.source is not None})
    rows = []
    for round in range(rounds + 1):
        for source in sources:
            inside = [one for one in _included_problems(found, round) if one.source == source]
            tests = sum(len(_snapshot(one, round).kept) for one in inside)
            rows.append(
                SourceRow(round=round, source=source, problems=len(inside), mean_tests=_mean_over(tests, inside))
            )
    return tuple(rows)


def step_rows(found: Sequence[Evolved], rounds: int) -> tuple[StepRow, ...]:
    return tuple(_step_row(found, round, mode) for round in range(1, rounds + 1) for mode in MODES)


def model_rows(found: Sequence[Evolved], rounds: int, model_of: Mapping[int, str | None]) -> tuple[ModelRow, ...]:
    """Return how often each model's solutions pass the final suites.

    Args:
        model_of: The model that wrote each solution, by its row id.
    """
    counts: dict[str | None, list[tuple[int, int]]] = defaultdict(list)
    for one in _included_problems(found, rounds):
        kept = _snapshot(one, rounds).kept
        by_model: dict[str | None, list[bool]] = defaultdict(list)
        for item, vector in zip(one.pool.solutions, one.vectors, strict=True):
            by_model[model_of.get(item)].append(all(vector[place] == "1" for place in kept))
        for model, passes in by_model.items():
            counts[model].append((len(passes), sum(passes)))
    return tuple(
        ModelRow(
            model=model,
            problems=len(pairs),
            solutions=sum(size for size, _ in pairs),
            pass_at={str(k): mean_pass_at(k, pairs) for k in KS},
        )
        for model, pairs in sorted(counts.items(), key=lambda entry: (entry[0] is None, entry[0] or ""))
    )


def mean_pass_at(k: int, pairs: Iterable[tuple[int, int]]) -> float | None:
    """Return the mean over problems of 1 - C(n - c, k) / C(n, k); None if no problem has k solutions.

    Args:
        pairs: n and c of each problem: the numbers of solutions and of passing solutions.
    """
    import numpy as np

    from workbench.statistics.best_of import pass_at

    enough = [pair for pair in pairs if pair[0] >= k]
    if not enough:
        return None
    size, right = np.array(enough, dtype=np.int64).T
    return float(pass_at(k, size, right).mean())


def _round_row(found: Sequence[Evolved], same: Sequence[Evolved], round: int) -> RoundRow:
    inside = _included_problems(found, round)
    tests = sum(len(_snapshot(one, round).kept) for one in inside)
    scores = [score for one in same for score in _solution_scores(one, round)]
    taken = [columns(one.vectors_after(round)) for one in found]
    kept = [[every[place] for place in _snapshot(one, round).kept] for one, every in zip(found, taken, strict=True)]
    return RoundRow(
        round=round,
        problems=len(inside),
        tests=tests,
        mean_tests=_mean_over(tests, inside),
        taken=sum(map(len, taken)),
        alike=_share_equivalent(taken),
        kept_alike=_share_equivalent(kept),
        pass_at=_pass_at(same, round),
        pass_at_set=_pass_at(inside, round),
        solutions=len(scores),
        perfect=_mean_over(sum(score == 1 for score in scores), scores),
        failed=_mean_over(sum(score == 0 for score in scores), scores),
        mean_score=_mean_over(sum(scores), scores),
        scores=_count_by_tenth(scores),
        left_out=dict(sorted(Counter(filter(None, (_snapshot(one, round).left_out for one in found))).items())),
    )


def _step_row(found: Sequence[Evolved], round: int, mode: Mode) -> StepRow:
    pairs = [(one, step) for one in found for step in one.growth if (step.round, step.mode) == (round, mode)]
    asked = [step for _, step in pairs if step.skipped is None]
    rejected: Counter[str] = Counter()
    for step in asked:
        rejected.update(step.rejected)
    proposed = sum(step.proposed for step in asked)
    retained = sum(_count_retained(one, step) for one, step in pairs)
    return StepRow(
        round=round,
        mode=mode,
        asked=len(asked),
        replied=sum(step.replied for step in asked),
        few_shown=sum(len(step.shown) < SHOWN_SOLUTIONS for step in asked),
        proposed=proposed,
        rejected=dict(sorted(rejected.items())),
        taken=sum(len(step.tests) for step in asked),
        retained=retained,
        retained_share=retained / proposed if proposed else None,
    )


def _count_retained(one: Evolved, step: GrowthStep) -> int:
    steps = one.origins
    return sum(steps[place] is step for place in _snapshot(one, step.round).kept)


def _snapshot(one: Evolved, round: int) -> Snapshot:
    assert one.final is not None
    return one.final.snapshots[round]


def _included_problems(found: Sequence[Evolved], round: int) -> list[Evolved]:
    return [one for one in found if _snapshot(one, round).left_out is None]


def _solution_scores(one: Evolved, round: int) -> list[float]:
    return shares_passed(one.vectors, _snapshot(one, round).kept)


def _pass_at(found: Sequence[Evolved], round: int) -> Shares:
    scores = [_solution_scores(one, round) for one in found]
    pairs = [(len(each), sum(score == 1 for score in each)) for each in scores]
    return {str(k): mean_pass_at(k, pairs) for k in KS}


def _share_equivalent(matrices: Sequence[Sequence[str]]) -> float | None:
    counts = [Counter(matrix) for matrix in matrices]
    total = sum(map(len, matrices))
    repeated = sum(count for each in counts for count in each.values() if count > 1)
    return repeated / total if total else None


def _count_by_tenth(scores: Sequence[float]) -> tuple[int, ...]:
    counts = Counter(min(int(score * _TENTHS + 1e-9), _TENTHS - 1) for score in scores)
    return tuple(counts[tenth] for tenth in range(_TENTHS))


def _mean_over(total: float, things: Sequence[object]) -> float | None:
    return total / len(things) if things else None


_BATCH_PROBLEMS = 200
_ANSWER: Final = (
    "\n\nAnswer with a complete Python program in one fenced block.{name} Programs are run against hidden tests."
)


def evolution(project: Project, name: str, dataset: str | None = None) -> EvolutionRow:
    """Return the evolution with a name.

    Args:
        dataset: Its data set; only needed if several have an evolution with this name.

    Raises:
        UsageError: No evolution has this name, or several have it.
    """
    rows = store.evolutions_named(project.database.reader(), name)
    found = [row for row in rows if dataset in (None, row.dataset)]
    if not found:
        known = (
            ", ".join(dict.fromkeys(row.name for row in store.every_evolution(project.database.reader()))) or "none yet"
        )
        raise UsageError(f"There is no evolution {name!r}.", f"There are: {known}.")
    if len(found) > 1:
        every = ", ".join(row.dataset for row in found)
        raise UsageError(f"Several data sets have an evolution {name!r}: {every}.", f"Say which: {opt.dataset:NAME}")
    return found[0]


def report(project: Project, row: EvolutionRow) -> EvolutionReport:
    reader, settings = project.database.reader(), row.settings
    every = store.evolved_problems(reader, row.id)
    found = [one for one in every if one.final is not None]
    references = [one.pool.reference for one in found if one.pool.reference is not None]
    models = store.evolution_models(reader, row.id)
    run = store.evolution_run(reader, row.name)
    return EvolutionReport(
        name=row.name,
        dataset=row.dataset,
        settings=settings,
        problems=len(every),
        unbegun=count_not_started(project, row),
        finished=len(found),
        unverified=len(found) - len(references),
        wrong_from_start=sum(counted(letters) - letters.count(PASS) for letters in references),
        skipped=count_skipped(project, row),
        ks=KS,
        rounds=round_rows(found, settings.rounds),
        sources=source_rows(found, settings.rounds),
        steps=step_rows(found, settings.rounds),
        models=model_rows(found, settings.rounds, models),
        provenance=() if run is None else tuple(runs.of_run(reader, run)),
    )


def problem_evolution(project: Project, row: EvolutionRow, question: int) -> ProblemEvolution | None:
    """Return one problem's rounds; None if it is not part of the evolution."""
    found = store.evolved_problems(project.database.reader(), row.id, [question])
    if not found:
        return None
    (one,) = found
    snapshots = () if one.final is None else one.final.snapshots
    rounds = []
    for snapshot in snapshots:
        vectors = one.vectors_after(snapshot.round)
        rounds.append(
            record_from(
                ProblemRound,
                snapshot,
                tests=one.tests[: one.counted(snapshot.round)],
                vectors=vectors,
                perfect=count_perfect(vectors, snapshot.kept),
            )
        )
    return ProblemEvolution(
        name=row.name,
        question=question,
        solutions=one.pool.solutions,
        steps=step_rows(found, row.settings.rounds) if rounds else (),
        rounds=tuple(rounds),
    )


def lines(project: Project, row: EvolutionRow) -> Iterator[EvolvedLine]:
    """Yield the resulting problems with their tests, in the order of import, for reinforcement learning."""
    questions = sorted(store.step_counts(project.database.reader(), row.id))
    for some in batches(questions, _BATCH_PROBLEMS):
        problems = problems_of(project.database, some, [])
        for one in store.evolved_problems(project.database.reader(), row.id, some):
            if one.final is not None and one.final.snapshots[-1].left_out is None:
                yield _evolved_line(row, one, problems[one.question])


def _evolved_line(row: EvolutionRow, one: Evolved, problem: Problem) -> EvolvedLine:
    assert one.final is not None
    kept = one.final.snapshots[-1].kept
    tests = tuple(one.tests[place].source for place in kept)
    every = columns(one.vectors)
    rates = tuple(rate(every[place]) for place in kept)
    named = f" It has to define `{problem.entry_point}`." if problem.entry_point else ""
    return EvolvedLine(
        task_id=one.task_id,
        data_source=one.source or row.dataset,
        prompt=(ChatMessage(role="user", content=problem.prompt + _ANSWER.format(name=named)),),
        ability="code",
        reward_model=RewardFields(style="rule", ground_truth=_ground_truth_json(problem, tests, rates)),
        extra_info=ExtraInfo(split="train", index=one.question, task_id=one.task_id, suite=row.name),
        question=problem.prompt,
        entry_point=problem.entry_point,
        setup=problem.setup,
        tests=tests,
        origins=_test_origins(one, kept),
        pass_rates=rates,
        solution_rates=tuple(shares_passed(one.vectors, kept)),
        pass_at_1=count_perfect(one.vectors, kept) / len(one.vectors),
        seed=row.settings.seed,
        provenance=EvolvedFrom(
            evolution=row.name, dataset=row.dataset, reference=one.pool.reference is not None, settings=row.settings
        ),
    )


def _ground_truth_json(problem: Problem, tests: Sequence[str], rates: Sequence[float]) -> str:
    found = {"entry_point": problem.entry_point, "setup": problem.setup, "tests": tests, "pass_rates": rates}
    return msgspec.json.encode(found).decode()


def _test_origins(one: Evolved, kept: tuple[int, ...]) -> tuple[str, ...]:
    steps = one.origins
    return tuple("0" if (step := steps[place]) is None else f"{step.round} {step.mode}" for place in kept)
