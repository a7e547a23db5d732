"""What an evolution of test suites has come to, round by round; null where undefined (EvolveCoder, section 3)."""

from __future__ import annotations

from msgspec import Struct

from workbench.coding.records.evolution import EvolutionSettings, Mode
from workbench.core.code import CodeTest, Provenance

Shares = dict[str, float | None]
"""pass@k by k; None where no problem has k solutions."""


class RoundRow(Struct, frozen=True, kw_only=True):
    """The set as it stands after a round; round 0 is what it began with.

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
    """What one step of a round brought, over all problems (figure 5).

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


class RewardModel(Struct, frozen=True, kw_only=True):
    """How a reply is rewarded, as verl's readers look for it.

    Attributes:
        ground_truth: JSON of an object with ``entry_point``, ``setup`` and ``tests``.
    """

    style: str
    ground_truth: str


class ExtraInfo(Struct, frozen=True, kw_only=True):
    """What verl hands on to the reward function."""

    split: str
    index: int
    task_id: str
    suite: str


class EvolvedFrom(Struct, frozen=True, kw_only=True):
    """Where a line's tests come from.

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
    reward_model: RewardModel
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
