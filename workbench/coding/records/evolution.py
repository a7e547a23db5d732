"""Records of evolutions: settings, stored steps, and reports (EvolveCoder)."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import PASS, CodeTest, Provenance

Mode = Literal["adversarial", "discriminative"]
"""What new tests are for: to fail the best solutions, or to tell alike ones apart."""
MODES: Final[tuple[Mode, ...]] = ("adversarial", "discriminative")
"""The steps of a round, in their order."""
Objective = Literal["released", "max-min", "max-sum"]
"""By what three solutions are chosen beside the two best.

- ``released``: the greatest smallest distance, then the greatest sum, among solutions that pass 40 % to under 90 %.
- ``max-min``: the same among all others, whatever they pass.
- ``max-sum``: the greatest sum of distances among all others.
"""
REJECTIONS: Final[dict[str, str]] = {
    "no_python": "no Python, too long or nested too deeply",
    "no_assert": "not one assert statement",
    "no_call": "does not call what is to be tested",
    "reaches_out": "not made of constant values: time, chance, files or the program's inside",
    "duplicate": "there already",
    "broken": "uses names that neither the problem nor its reference solution has, or is false for any solution",
    "wrong": "the reference solution fails it",
    "no_split": "no solution passes it, or none fails it",
}
"""Why a test that a model wrote is not taken, by code."""


class EvolutionSettings(Struct, frozen=True, kw_only=True):
    """The settings that an evolution's result depends on, besides problems, solutions and replies.

    Attributes:
        model: The model that writes tests, as its server calls it.
        suite: The suite that round 0 consists of.
        rounds: Rounds, each with an adversarial and a discriminative step.
        seed: Of every draw.
        asked: Tests asked for in one request.
        objective: See `Objective`.
        easiest: Tests that at least this share of the solutions pass are not shown in an adversarial step; None shows
            them.
        least: Tests that a smaller share of the solutions pass are likely to be wrong: neither shown nor kept.
        most_alike: Kept tests that the same solutions pass, at most.
        fewest: A problem with fewer kept tests is left out.
        most_perfect: A problem that a greater share of the solutions solves is left out.
        keep_unverified: Take tests that the reference solution fails, too.
        seconds: Wall time a test may take; None leaves it to the problem, else 3.
        scratch: Megabytes of a folder that solutions may write in; 0 for none.
        packages: Whether they run in another interpreter than this one, with its packages; provenance says which.
        extractor: How code is taken from a reply, with its version.
        prompts: Names the words that tests are asked for with.
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
    """The starting point of a problem.

    Attributes:
        solutions: Row ids of the completions, in the order of every vector.
        tests: Round 0's.
        outcomes: A string a solution, a letter a test (`OUTCOMES`).
        reference: The reference solution's own outcomes; None without one.
    """

    solutions: tuple[int, ...]
    tests: tuple[CodeTest, ...]
    outcomes: tuple[str, ...]
    reference: str | None = None


class GrowthStep(Struct, frozen=True, kw_only=True, tag="growth"):
    """The result of one request to the model.

    Attributes:
        round: From 1.
        shown: Places of the solutions the model was shown, ascending; fewer than five where no more were to be had.
        view: Places of the tests it was shown.
        skipped: Why nothing was asked; None where it was.
        replied: Whether a reply came.
        proposed: Tests in it.
        rejected: How many of them were not taken, by a code of `REJECTIONS`.
        tests: Those that were taken.
        outcomes: A string a solution, a letter a test taken.
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
        round: From 0.
        kept: Places of the tests that stay, ascending, in all tests up to this round.
        below: Tests out because too few solutions pass them.
        alike: Tests out because enough others are passed by the same solutions.
        left_out: Why the problem is not in the round's set (``few_tests``, ``too_easy``); None where it is.
    """

    round: int
    kept: tuple[int, ...]
    below: int
    alike: int
    left_out: str | None = None


class FinalStep(Struct, frozen=True, kw_only=True, tag="final"):
    """The end of a problem's evolution: what stays after each round, the last being the result."""

    snapshots: tuple[Snapshot, ...]


Step = PoolStep | GrowthStep | FinalStep


class Evolved(Struct, frozen=True, kw_only=True):
    """A problem's evolution so far.

    Attributes:
        question: The problem's row id.
        task_id: The source's own id.
        source: The set it is from; None where none is known.
        final: None while rounds are missing.
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
        """Return a string a solution, a letter a test of `tests`."""
        parts = [self.pool.outcomes, *(step.outcomes for step in self.growth if step.tests)]
        return tuple("".join(each) for each in zip(*parts, strict=True))

    @property
    def vectors(self) -> tuple[str, ...]:
        """Return `outcomes` with 1 for a pass and 0 for anything else."""
        return tuple(vector_of(one) for one in self.outcomes)

    @property
    def origins(self) -> tuple[GrowthStep | None, ...]:
        """Return the step that each of `tests` came with; None for those of round 0."""
        return (*(None for _ in self.pool.tests), *(step for step in self.growth for _ in step.tests))

    def counted(self, round: int) -> int:
        """Count the `tests` that existed after a round."""
        return len(self.pool.tests) + sum(len(step.tests) for step in self.growth if step.round <= round)

    def vectors_after(self, round: int) -> tuple[str, ...]:
        """Return `vectors` over the tests that existed after a round."""
        count = self.counted(round)
        return tuple(vector[:count] for vector in self.vectors)


def vector_of(outcomes: str) -> str:
    """Convert outcome letters to a pass vector: 1 for a pass, 0 for anything else."""
    return "".join("1" if letter == PASS else "0" for letter in outcomes)


class Representatives(Struct, frozen=True, kw_only=True):
    """One line of ``workbench code representatives``: the solutions that a model would be shown.

    Attributes:
        selected: Places of the solutions, from 0, ascending; fewer than five where no more are to be had.
        objective: For adversarial ones; None for others.
        solutions: How many there were to choose from.
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
        name: As the file calls it; None where it doesn't.
        vectors: A text a solution, all of the same length: a character a test, ``1`` for a pass.
    """

    vectors: tuple[str, ...]
    name: str | None = None


# -- What an evolution of test suites has come to, round by round; null where undefined (EvolveCoder, section 3).


Shares = dict[str, float | None]
"""pass@k by k; None where no problem has k solutions."""


class RoundRow(Struct, frozen=True, kw_only=True):
    """The set after a round; round 0 is the start.

    Attributes:
        problems: Problems in the set.
        tests: Their kept tests.
        mean_tests: Kept tests a problem (table 2).
        taken: Tests taken up to the round, of all problems, before the filter.
        alike: Share of them that another test of the problem equals in which solutions pass it.
        kept_alike: The same among kept tests.
        pass_at: pass@k over the same problems in every round: those with a kept test in round 0 (figure 4). It never
            rises from round to round.
        pass_at_set: pass@k over the problems in the set, which are others in every round.
        solutions: Solutions of the problems that ``pass_at`` is over.
        perfect: Share of them that pass all kept tests.
        failed: Share of them that pass none.
        mean_score: Mean share of kept tests that a solution passes.
        scores: Solutions by that share, in tenths, the last with its end.
        left_out: Problems that are not in the set, by why.
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
    """One source's share of a round's set (table 2)."""

    round: int
    source: str
    problems: int
    mean_tests: float | None


class StepRow(Struct, frozen=True, kw_only=True):
    """The result of one step of a round, over all problems (figure 5).

    Attributes:
        asked: Problems the model was asked about.
        replied: Replies that came.
        few_shown: Problems of which fewer than five solutions could be shown.
        proposed: Tests in the replies.
        rejected: How many were not taken, by a code of `REJECTIONS`.
        taken: Tests that were.
        retained: Those of them that the filter leaves after this round.
        retained_share: Of the tests proposed.
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
    """How often one model's solutions pass the final suites, over the problems in the set (figure 6).

    Attributes:
        model: Its name; None for solutions of which none is known.
    """

    model: str | None
    problems: int
    solutions: int
    pass_at: Shares


class EvolutionReport(Struct, frozen=True, kw_only=True):
    """``workbench code evolve DB --name NAME --show --json``.

    Attributes:
        problems: Problems that evolve.
        unbegun: Problems that can evolve and have not begun, as where a share of them was taken.
        finished: Those that are through all rounds; figures are over them.
        unverified: Those without a reference solution to check new tests by.
        wrong_from_start: Tests of round 0 that their reference solution fails.
        skipped: Problems of the data set that can't evolve, by why.
        ks: The k of pass@k.
        rounds: One a round, round 0 first.
        sources: One a round and source, where problems have sources.
        steps: Two a round.
        models: One a model.
        provenance: What outcomes depend on besides the texts, as a rule one.
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
    """One problem after a round, as a screen shows it.

    Attributes:
        tests: All tests taken up to the round.
        kept: Places of those that stay.
        vectors: A pass vector a solution over all of them.
        left_out: Why the problem is not in the set; None where it is.
        perfect: Solutions that pass all kept tests.
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
        steps: What each step brought, in order.
        rounds: As far as all rounds are done; else empty.
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

    ``prompt``, ``data_source``, ``ability``, ``reward_model`` and ``extra_info`` are what verl's readers look for;
    trainers that read prompts as chats (TRL) take ``prompt`` and pass the other columns to the reward function.

    Attributes:
        prompt: A chat of one message: the problem, and what the reply is to look like.
        question: The problem's text.
        tests: Assert statements; a program passes if all of them pass.
        setup: Code to run between the program and the tests.
        origins: Where each test is from: ``"0"`` for the suite it began with, or round and step.
        pass_rates: Share of the pool that passes each test.
        solution_rates: Share of the tests that each solution of the pool passes.
        pass_at_1: Share of the pool that passes all tests.
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
