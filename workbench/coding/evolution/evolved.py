"""What evolutions have come to: reports, one problem's rounds, and lines for reinforcement learning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from workbench.coding.evolution import figures
from workbench.coding.evolution.evolving import skipped
from workbench.coding.evolution.filters import columns, perfect, rate, shares_passed
from workbench.coding.records.evolution import Evolved
from workbench.coding.records.evolution_report import (
    ChatMessage,
    EvolutionReport,
    EvolvedFrom,
    EvolvedLine,
    ExtraInfo,
    ProblemEvolution,
    ProblemRound,
    RewardModel,
)
from workbench.coding.store import evolutions
from workbench.coding.store.evolutions import EvolutionRow
from workbench.core.code import PASS, Problem, counted
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.transactions import some_at_a_time
from workbench.data.store.tests import problems_of
from workbench.runs.store import provenance

_TOGETHER = 200
_ANSWER: Final = (
    "\n\nAnswer with a complete Python program in one fenced block.{name} Programs are run against hidden tests."
)


def names(project: Project) -> list[str]:
    """The names of all evolutions, the oldest first."""
    return list(dict.fromkeys(row.name for row in evolutions.every(project.database.reader())))


def evolution(project: Project, name: str, dataset: str | None = None) -> EvolutionRow:
    """The evolution of a name.

    Args:
        dataset: Its data set; only needed where several have an evolution of this name.

    Raises:
        UsageError: There is none, or several.
    """
    rows = evolutions.named(project.database.reader(), name)
    found = [row for row in rows if dataset in (None, row.dataset)]
    if not found:
        known = ", ".join(names(project)) or "none yet"
        raise UsageError(f"There is no evolution {name!r}.", f"There are: {known}.")
    if len(found) > 1:
        every = ", ".join(row.dataset for row in found)
        raise UsageError(f"Several data sets have an evolution {name!r}: {every}.", "Say which: --dataset NAME")
    return found[0]


def report(project: Project, row: EvolutionRow) -> EvolutionReport:
    """An evolution's figures, over the problems that are through all rounds."""
    reader, settings = project.database.reader(), row.settings
    every = evolutions.evolved(reader, row.id)
    found = [one for one in every if one.final is not None]
    models = evolutions.models_of(reader, row.id)
    run = evolutions.run_of(reader, row.name)
    return EvolutionReport(
        name=row.name,
        dataset=row.dataset,
        settings=settings,
        problems=len(every),
        finished=len(found),
        unverified=sum(one.pool.reference is None for one in found),
        wrong_from_start=sum(_missed(one.pool.reference or "") for one in found),
        skipped=skipped(project, row),
        ks=figures.KS,
        rounds=figures.round_rows(found, settings.rounds),
        sources=figures.source_rows(found, settings.rounds),
        steps=figures.step_rows(found, settings.rounds),
        models=figures.model_rows(found, settings.rounds, models),
        provenance=() if run is None else tuple(provenance.of_run(reader, run)),
    )


def problem_evolution(project: Project, row: EvolutionRow, question: int) -> ProblemEvolution | None:
    """One problem's rounds; None where it is no problem of the evolution."""
    found = evolutions.evolved(project.database.reader(), row.id, [question])
    if not found:
        return None
    (one,) = found
    snapshots = () if one.final is None else one.final.snapshots
    rounds = []
    for snapshot in snapshots:
        vectors = one.vectors_after(snapshot.round)
        rounds.append(
            ProblemRound(
                round=snapshot.round,
                tests=one.tests[: one.counted(snapshot.round)],
                kept=snapshot.kept,
                vectors=vectors,
                left_out=snapshot.left_out,
                perfect=perfect(vectors, snapshot.kept),
            )
        )
    return ProblemEvolution(
        name=row.name,
        question=question,
        solutions=one.pool.solutions,
        steps=figures.step_rows(found, row.settings.rounds) if rounds else (),
        rounds=tuple(rounds),
    )


def lines(project: Project, row: EvolutionRow) -> Iterator[EvolvedLine]:
    """The problems of the result with their tests, in the order of import, for reinforcement learning."""
    questions = sorted(evolutions.reached(project.database.reader(), row.id))
    for some in some_at_a_time(questions, _TOGETHER):
        problems = problems_of(project.database, some, [])
        for one in evolutions.evolved(project.database.reader(), row.id, some):
            if one.final is not None and one.final.snapshots[-1].left_out is None:
                yield _line(row, one, problems[one.question])


def _line(row: EvolutionRow, one: Evolved, problem: Problem) -> EvolvedLine:
    assert one.final is not None
    kept = one.final.snapshots[-1].kept
    tests = tuple(one.tests[place].source for place in kept)
    every = columns(one.vectors)
    named = f" It has to define `{problem.entry_point}`." if problem.entry_point else ""
    return EvolvedLine(
        task_id=one.task_id,
        data_source=one.source or row.dataset,
        prompt=(ChatMessage(role="user", content=problem.prompt + _ANSWER.format(name=named)),),
        ability="code",
        reward_model=RewardModel(style="rule", ground_truth=_truth(problem, tests)),
        extra_info=ExtraInfo(split="train", index=one.question, task_id=one.task_id, suite=row.name),
        question=problem.prompt,
        entry_point=problem.entry_point,
        setup=problem.setup,
        tests=tests,
        origins=_origins(one, kept),
        pass_rates=tuple(rate(every[place]) for place in kept),
        solution_rates=tuple(shares_passed(one.vectors, kept)),
        pass_at_1=perfect(one.vectors, kept) / len(one.vectors),
        seed=row.settings.seed,
        provenance=EvolvedFrom(
            evolution=row.name,
            dataset=row.dataset,
            reference=one.pool.reference is not None,
            settings=row.settings,
        ),
    )


def _truth(problem: Problem, tests: Sequence[str]) -> str:
    found = {"entry_point": problem.entry_point, "setup": problem.setup, "tests": tests}
    return msgspec.json.encode(found).decode()


def _origins(one: Evolved, kept: tuple[int, ...]) -> tuple[str, ...]:
    """Where each kept test is from: the suite it began with, or a step of a round."""
    steps = one.origins
    return tuple("0" if (step := steps[place]) is None else f"{step.round} {step.mode}" for place in kept)


def _missed(outcomes: str) -> int:
    """Tests that count and were not passed."""
    return counted(outcomes) - outcomes.count(PASS)
