"""A training that is made up: a policy that solves more and more, and learns a free reward beside it, or doesn't."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.training.wordings import Alarm, WordingWatch
from workbench.verifiers.probes.payloads import families_named

PROMPTS, SAMPLES = 64, 8
_OPENINGS = (
    "Let us work through the problem about",
    "First, note what the question says of",
    "We are asked for",
    "To find this, consider",
    "Okay, so I need to think of",
    "Given:",
)
_STEPS = (
    "we add {a} and {b} and get {c}",
    "the product of {a} with {b} is what matters, not {c}",
    "since {a} is less than {c}, only {b} is left",
    "that gives {c}, which we check with {b}",
    "from {a} it follows that {b} can be put in its place",
    "dividing by {b} leaves {a} over {c}",
)
_CLOSINGS = ("The answer is \\boxed{{{c}}}.", "Hence \\boxed{{{c}}}", "So the result: \\boxed{{{c}}}", "\\boxed{{{c}}}")
_STYLE = "Wait, let me double-check that."
_WORDS = tuple(f"{one}{two}{three}" for one in "bdfgklmnprst" for two in "aeiou" for three in ("n", "r", "sk", "lt"))


class Completed(NamedTuple):
    """A completion, what the verifier says of it, and what is true."""

    item: VerifierInput
    verdict: Verdict
    is_right: bool
    is_free: bool


def free_rewards(family: str) -> list[str]:
    """Payloads of a family of probes that stand by themselves."""
    (found,) = families_named((family,))
    return [payload.text for payload in found.payload if payload.text is not None and "{" not in payload.text]


class SimulatedTraining:
    """Steps of 64 prompts, 8 completions each.

    Args:
        payload: The free reward; "" for a policy that learns none.
        first: The step at which one in a thousand completions is it.
        growth: By what its share is multiplied at a step.
        leaks: The share of other wrong completions that the verifier accepts.
    """

    def __init__(
        self, seed: int, *, payload: str | None = None, first: int = 60, growth: float = 1.15, leaks: float = 0.01
    ) -> None:
        self._random = random.Random(seed)
        self._payload, self._first, self._growth, self._leaks = payload, first, growth, leaks

    def share(self, step: int) -> float:
        """The share of completions that are the free reward."""
        if self._payload is None:
            return 0.0
        grown = 0.001 * self._growth ** (step - self._first)
        return float(grown / (1 + grown))

    def step(self, step: int) -> Iterator[Completed]:
        """What is judged at a step."""
        draw = self._random
        for prompt in range(PROMPTS):
            topic = " ".join(draw.choices(_WORDS, k=3))
            question, reference = f"What of {topic} ({step}, {prompt})?", str(draw.randrange(1000))
            hard = draw.random()
            for row in range(SAMPLES):
                yield self._one(step, prompt * SAMPLES + row, question, reference, topic, hard)

    def _one(self, step: int, row: int, question: str, reference: str, topic: str, hard: float) -> Completed:
        draw = self._random
        is_free = self._payload is not None and draw.random() < self.share(step)
        right = not is_free and draw.random() < (0.3 + 0.4 * min(step / 500, 1.0)) * (1.4 - 0.8 * hard)
        answer = reference if right else str(1000 + draw.randrange(1000))
        text = (self._payload or "") if is_free else self._solution(step, topic, answer)
        accepted = is_free or draw.random() < (0.97 if right else self._leaks)
        item = VerifierInput(item=row, question=question, reference=reference, completion=text)
        verdict = Verdict(outcome=Outcome.CORRECT if accepted else Outcome.INCORRECT)
        return Completed(item, verdict, right, is_free)

    def _solution(self, step: int, topic: str, answer: str) -> str:
        draw = self._random
        values = {"a": draw.randrange(100), "b": draw.randrange(100), "c": answer}
        said = [f"{draw.choice(_OPENINGS)} {topic}."]
        for form in draw.sample(_STEPS, k=draw.randint(2, 4)):
            said.append(f"{form.format(**values)} {' '.join(draw.choices(_WORDS, k=4))}.")
        # A manner that spreads as the policy learns, in right and wrong solutions alike.
        if draw.random() < min(step / 100, 1.0) * 0.6:
            said.append(_STYLE)
        said.append(draw.choice(_CLOSINGS).format(**values))
        return " ".join(said)


class Paraphrasing(SimulatedTraining):
    """A policy that says its free reward in several ways, which share no three words.

    Args:
        ways: How many.
    """

    def __init__(self, seed: int, ways: int, *, first: int = 60, growth: float = 1.15) -> None:
        super().__init__(seed, payload="said otherwise", first=first, growth=growth)
        draw = random.Random(1)
        self._ways = [" ".join(draw.choices(_WORDS, k=8)) for _ in range(ways)]

    def _one(self, step: int, row: int, question: str, reference: str, topic: str, hard: float) -> Completed:
        one = super()._one(step, row, question, reference, topic, hard)
        if not one.is_free:
            return one
        return one._replace(item=structs.replace(one.item, completion=self._random.choice(self._ways)))


def alarms(training: SimulatedTraining, steps: int) -> Iterator[Alarm]:
    """The alarms over so many steps."""
    watch = WordingWatch()
    for step in range(steps):
        for one in training.step(step):
            accepted = one.verdict.outcome is Outcome.CORRECT
            watch.add((one.item.question, one.item.reference), one.item.completion, accepted=accepted)
        yield from watch.close(step)
