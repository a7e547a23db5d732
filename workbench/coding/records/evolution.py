"""Records of evolutions: settings, stored steps, and reports (EvolveCoder)."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import PASS, CodeTest, Provenance

Mode = Literal["adversarial", "discriminative"]
"""The purpose of new tests: to fail the best solutions, or to split equivalent ones."""
MODES: Final[tuple[Mode, ...]] = ("adversarial", "discriminative")
"""The steps of a round, in their order."""
Objective = Literal["released", "max-min", "max-sum"]
"""The criterion for three solutions in addition to the two best.

- ``released``: the greatest minimum distance between any two, then the greatest sum of distances, among solutions that
  pass 40 % to under 90 % of the tests.
- ``max-min``: as ``released``, but among all other solutions, regardless of their pass rate.
- ``max-sum``: the greatest sum of distances among all other solutions.
"""
REJECTIONS: Final[dict[str, str]] = {
    "no_python": "no Python, too long or nested too deeply",
    "no_assert": "not one assert statement",
    "no_call": "does not call what is to be tested",
    "reaches_out": "not made of constant values: it uses time, chance, files or internals of the program",
    "duplicate": "there already",
    "broken": "uses names that neither the problem nor its reference solution has, or is false for any solution",
    "wrong": "the reference solution fails it",
    "no_split": "no solution passes it, or none fails it",
}
"""Why a test that a model wrote is rejected, by code."""


class EvolutionSettings(Struct, frozen=True, kw_only=True):
    """The settings that an evolution's result depends on, besides problems, solutions and replies.

    Attributes:
        model: The model that writes tests, by its name at the server.
        suite: The suite of round 0.
        rounds: Number of rounds, each with an adversarial and a discriminative step.
        seed: Seed of every draw.
        asked: Number of tests requested in each call.
        objective: See `Objective`.
        easiest: Tests that at least this share of the solutions pass are not shown to the model in an adversarial step;
            None shows all.
        least: Tests that a smaller share of the solutions pass are likely wrong: they are neither shown nor kept.
        most_alike: Maximum number of kept tests that exactly the same solutions pass.
        fewest: A problem with fewer kept tests is excluded.
        most_perfect: A problem that a greater share of the solutions solves is excluded.
        keep_unverified: Whether to accept tests that the reference solution fails.
        seconds: Wall time a test may take; None leaves it to the problem, else 3.
        scratch: Megabytes of a writable folder for solutions; 0 for none.
        packages: Whether solutions run in another interpreter with its packages; the provenance names it.
        extractor: The method of extracting code from a reply, with its version.
        prompts: Digest of the prompts, custom ones included.
    """

    model: str
    suite: str = "base"
    rounds: int = 3
    seed: int = 0
    asked: int = 20
    objective: Objective = "released"
    easiest: float | None = None
    least: float = 0.1
    most_alike: int = 5
    fewest: int = 5
    most_perfect: float = 60 / 64
    keep_unverified: bool = False
    seconds: float | None = None
    scratch: int = 0
    packages: bool = False
    extractor: str = "fence-1"
    prompts: str = ""


class PoolStep(Struct, frozen=True, kw_only=True, tag="pool"):
    """The start of a problem's evolution: its solutions, and their outcomes in the initial suite.

    Attributes:
        solutions: Row ids of the completions, in the order of every vector.
        tests: The tests of round 0.
        outcomes: One string for each solution, with one letter for each test (`OUTCOMES`).
        reference: The reference solution's outcomes; None without one.
    """

    solutions: tuple[int, ...]
    tests: tuple[CodeTest, ...]
    outcomes: tuple[str, ...]
    reference: str | None = None


class GrowthStep(Struct, frozen=True, kw_only=True, tag="growth"):
    """The result of one request to the model.

    Attributes:
        round: Number of the round, from 1.
        shown: Positions of the solutions shown to the model, ascending; fewer than five if no more were available.
        view: Positions of the tests shown to the model.
        skipped: Why no request was made; None if it was.
        replied: Whether a reply arrived.
        proposed: Number of tests in the reply.
        rejected: Number of rejected tests, by a code of `REJECTIONS`.
        tests: The accepted tests.
        outcomes: One string for each solution, with one letter for each accepted test.
    """

    round: int
    mode: Mode
    shown: tuple[int, ...] = ()
    view: tuple[int, ...] = ()
    skipped: str | None = None
    replied: bool = False
    proposed: int = 0
    rejected: dict[str, int] = {}
    tests: tuple[CodeTest, ...] = ()
    outcomes: tuple[str, ...] = ()


class Snapshot(Struct, frozen=True, kw_only=True):
    """A problem's suite after a round.

    Attributes:
        round: Number of the round, from 0.
        kept: Positions of the kept tests in all tests up to this round, ascending.
        below: Number of tests removed because too few solutions pass them.
        alike: Number of tests removed because the same solutions pass enough other tests.
        left_out: Why the problem is excluded after the round (``few_tests``, ``too_easy``); None if it is included.
    """

    round: int
    kept: tuple[int, ...]
    below: int
    alike: int
    left_out: str | None = None


class FinalStep(Struct, frozen=True, kw_only=True, tag="final"):
    """The end of a problem's evolution: the kept tests after each round, the last being the result."""

    snapshots: tuple[Snapshot, ...]


Step = PoolStep | GrowthStep | FinalStep


class Evolved(Struct, frozen=True, kw_only=True):
    """A problem's evolution so far.

    Attributes:
        question: The problem's row id.
        task_id: The problem's id in its source.
        source: The source of the problem; None if unknown.
        final: The final step; None while rounds are missing.
    """

    question: int
    task_id: str
    source: str | None
    pool: PoolStep
    growth: tuple[GrowthStep, ...] = ()
    final: FinalStep | None = None

    @property
    def tests(self) -> tuple[CodeTest, ...]:
        """Return all accepted tests, in order."""
        return (*self.pool.tests, *(test for step in self.growth for test in step.tests))

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Return one string for each solution, with one letter for each of `tests`."""
        parts = [self.pool.outcomes, *(step.outcomes for step in self.growth if step.tests)]
        return tuple("".join(each) for each in zip(*parts, strict=True))

    @property
    def vectors(self) -> tuple[str, ...]:
        """Return `outcomes` with 1 for a pass and 0 for any other outcome."""
        return tuple(vector_of(one) for one in self.outcomes)

    @property
    def origins(self) -> tuple[GrowthStep | None, ...]:
        """Return the step that added each of `tests`; None for tests of round 0."""
        return (*(None for _ in self.pool.tests), *(step for step in self.growth for _ in step.tests))

    def counted(self, round: int) -> int:
        """Count the `tests` that existed after a round."""
        return len(self.pool.tests) + sum(len(step.tests) for step in self.growth if step.round <= round)

    def vectors_after(self, round: int) -> tuple[str, ...]:
        """Return `vectors` over the tests that existed after a round."""
        count = self.counted(round)
        return tuple(vector[:count] for vector in self.vectors)


def vector_of(outcomes: str) -> str:
    """Convert outcome letters to a pass vector: 1 for a pass, 0 for any other outcome."""
    return "".join("1" if letter == PASS else "0" for letter in outcomes)


class Representatives(Struct, frozen=True, kw_only=True):
    """One line of ``workbench code representatives``: the solutions that a model would be shown.

    Attributes:
        selected: Positions of the solutions, from 0, ascending; fewer than five if no more are available.
        objective: The criterion of an adversarial choice; None for a discriminative one.
        solutions: Number of solutions to choose from.
    """

    name: str
    selected: tuple[int, ...]
    mode: Mode
    objective: Objective | None
    seed: int
    solutions: int


class VectorCase(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code representatives``: the solutions of a problem as pass vectors.

    Attributes:
        name: The case's name in the file; None without one.
        vectors: One text for each solution, all of the same length: one character for each test, ``1`` for a pass.
    """

    vectors: tuple[str, ...]
    name: str | None = None


# -- Results of an evolution of test suites by round; null if undefined (EvolveCoder, section 3).


Shares = dict[str, float | None]
"""pass@k by k; None if no problem has k solutions."""


class RoundRow(Struct, frozen=True, kw_only=True):
    """The problems after a round; round 0 is the start.

    Attributes:
        problems: Number of included problems.
        tests: Number of their kept tests.
        mean_tests: Mean kept tests of a problem (table 2).
        taken: Number of tests accepted up to the round, of all problems, before the filter.
        alike: Share of these tests that exactly the same solutions pass as another test of the problem.
        kept_alike: Share of the kept tests that exactly the same solutions pass as another kept test.
        pass_at: pass@k over the same problems in every round: those with a kept test in round 0 (figure 4). It never
            rises from round to round.
        pass_at_set: pass@k over the included problems, which differ between rounds.
        solutions: Number of solutions of the problems that ``pass_at`` is over.
        perfect: Share of these solutions that pass all kept tests.
        failed: Share of these solutions that pass no kept test.
        mean_score: Mean share of kept tests that a solution passes.
        scores: Histogram of solutions by that share, in tenths, the last including its end.
        left_out: Numbers of excluded problems, by reason.
    """

    round: int
    problems: int
    tests: int
    mean_tests: float | None
    taken: int
    alike: float | None
    kept_alike: float | None
    pass_at: Shares
    pass_at_set: Shares
    solutions: int
    perfect: float | None
    failed: float | None
    mean_score: float | None
    scores: tuple[int, ...]
    left_out: dict[str, int]


class SourceRow(Struct, frozen=True, kw_only=True):
    """One source's share of the problems after a round (table 2)."""

    round: int
    source: str
    problems: int
    mean_tests: float | None


class StepRow(Struct, frozen=True, kw_only=True):
    """The result of one step of a round, over all problems (figure 5).

    Attributes:
        asked: Number of problems with a request.
        replied: Number of replies.
        few_shown: Number of problems with fewer than five solutions to show.
        proposed: Number of tests in the replies.
        rejected: Numbers of rejected tests, by a code of `REJECTIONS`.
        taken: Number of accepted tests.
        retained: Number of accepted tests that the filter keeps after this round.
        retained_share: Share of the proposed tests that are kept.
    """

    round: int
    mode: Mode
    asked: int
    replied: int
    few_shown: int
    proposed: int
    rejected: dict[str, int]
    taken: int
    retained: int
    retained_share: float | None


class ModelRow(Struct, frozen=True, kw_only=True):
    """Share of one model's solutions that pass the final suites, over the included problems (figure 6).

    Attributes:
        model: The model's name; None for solutions of unknown origin.
    """

    model: str | None
    problems: int
    solutions: int
    pass_at: Shares


class EvolutionReport(Struct, frozen=True, kw_only=True):
    """``workbench code evolve DB --name NAME --show --json``.

    Attributes:
        problems: Number of evolving problems.
        unbegun: Number of problems that can evolve but have not begun, such as those beyond the requested number.
        finished: Number of problems that have finished all rounds; metrics are over these.
        unverified: Number of problems without a reference solution for checking new tests.
        wrong_from_start: Number of tests of round 0 that their reference solution fails.
        skipped: Numbers of problems in the data set that can't evolve, by reason.
        ks: The k of pass@k.
        rounds: One row for each round, round 0 first.
        sources: One row for each round and source, if problems have sources.
        steps: Two rows for each round.
        models: One row for each model.
        provenance: What outcomes depend on besides the texts; most evolutions have one entry.
    """

    name: str
    dataset: str
    settings: EvolutionSettings
    problems: int
    unbegun: int = 0
    finished: int
    unverified: int
    wrong_from_start: int
    skipped: dict[str, int]
    ks: tuple[int, ...]
    rounds: tuple[RoundRow, ...]
    sources: tuple[SourceRow, ...]
    steps: tuple[StepRow, ...]
    models: tuple[ModelRow, ...]
    provenance: tuple[Provenance, ...]


class ProblemRound(Struct, frozen=True, kw_only=True):
    """One problem after a round, for display.

    Attributes:
        tests: All tests accepted up to the round.
        kept: Positions of the kept tests.
        vectors: One pass vector for each solution, over all these tests.
        left_out: Why the problem is excluded; None if it is included.
        perfect: Number of solutions that pass all kept tests.
    """

    round: int
    tests: tuple[CodeTest, ...]
    kept: tuple[int, ...]
    vectors: tuple[str, ...]
    left_out: str | None
    perfect: int


class ProblemEvolution(Struct, frozen=True, kw_only=True):
    """One problem's evolution.

    Attributes:
        question: The problem's row id.
        solutions: Row ids of the completions, in the order of every vector.
        steps: The results of the steps, in order.
        rounds: The rounds, once all are done; else empty.
    """

    name: str
    question: int
    solutions: tuple[int, ...]
    steps: tuple[StepRow, ...]
    rounds: tuple[ProblemRound, ...]


class ChatMessage(Struct, frozen=True, kw_only=True):
    """One message of a prompt."""

    role: str
    content: str


class RewardFields(Struct, frozen=True, kw_only=True):
    """The reward fields that verl's readers expect.

    Attributes:
        ground_truth: JSON of an object with ``entry_point``, ``setup``, ``tests`` and ``pass_rates``.
    """

    style: str
    ground_truth: str


class ExtraInfo(Struct, frozen=True, kw_only=True):
    """The fields that verl passes to the reward function."""

    split: str
    index: int
    task_id: str
    suite: str


class EvolvedFrom(Struct, frozen=True, kw_only=True):
    """The origin of a line's tests.

    Attributes:
        reference: Whether new tests were checked by a reference solution.
    """

    evolution: str
    dataset: str
    reference: bool
    settings: EvolutionSettings


class EvolvedLine(Struct, frozen=True, kw_only=True):
    """One line of an evolution exported for reinforcement learning.

    ``prompt``, ``data_source``, ``ability``, ``reward_model`` and ``extra_info`` are the fields that verl reads;
    trainers that read prompts as chats (TRL) use ``prompt`` and pass the other columns to the reward function.

    Attributes:
        prompt: A chat of one message: the problem, and the required format of the reply.
        question: The problem's text.
        tests: Assert statements; a program passes if all of them pass.
        setup: Code to run between the program and the tests.
        origins: The origin of each test: ``"0"`` for the initial suite, or round and step.
        pass_rates: Share of the pool's solutions that pass each test.
        solution_rates: Share of the tests that each solution of the pool passes.
        pass_at_1: Share of the pool's solutions that pass all tests.
    """

    task_id: str
    data_source: str
    prompt: tuple[ChatMessage, ...]
    ability: str
    reward_model: RewardFields
    extra_info: ExtraInfo
    question: str
    entry_point: str | None
    setup: str
    tests: tuple[str, ...]
    origins: tuple[str, ...]
    pass_rates: tuple[float, ...]
    solution_rates: tuple[float, ...]
    pass_at_1: float
    seed: int
    provenance: EvolvedFrom
