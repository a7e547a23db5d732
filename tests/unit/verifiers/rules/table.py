"""The table of equal and unequal answers: tests/unit/verifiers/rules/equality*.toml.

An item is a question with its reference answer. Every text of ``equal`` and ``unequal`` is an answer that makes one
pair with the reference; it is judged in a box, then the other way round, with the reference in the box (unless the
item says ``one_way``). An ``undecided`` answer isn't equal, but abstaining is as good as "incorrect". ``equal_texts``,
``unequal_texts`` and ``undecided_texts`` are whole completions. ``math_verify_errs`` names answers that math-verify
0.9.0 misjudges (forced: what it can't parse counts as "incorrect").
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.core.verdict import VerifierInput

FOLDER = Path(__file__).resolve().parent / "equality"
ANSWERS = ("equal", "unequal", "undecided")
TEXTS = ("equal_texts", "unequal_texts", "undecided_texts")
KEYS = {"subtype", "question", "reference", "one_way", "math_verify_errs", *ANSWERS, *TEXTS}


class Pair(Struct, frozen=True, kw_only=True):
    """A reference answer and an answer to it.

    Attributes:
        equal: Whether the answer is right.
        undecided: Whether an abstention is as good as "incorrect".
        is_text: The answer is a whole completion.
        both_ways: Reference and answer may change places; a hedge is no reference.
        math_verify_errs: Whether math-verify is known to misjudge it.
    """

    subtype: str
    question: str
    reference: str
    answer: str
    equal: bool
    undecided: bool
    is_text: bool
    both_ways: bool
    math_verify_errs: bool

    @property
    def forward(self) -> VerifierInput:
        """The answer in the completion."""
        return self._input(self.reference, self.answer if self.is_text else boxed(self.answer))

    @property
    def backward(self) -> VerifierInput:
        """The reference in the completion; one that is a whole solution is the completion."""
        is_solution = any(mark in self.reference for mark in ("\n", "boxed", "####"))
        return self._input(self.answer, self.reference if is_solution else boxed(self.reference))

    def _input(self, reference: str, completion: str) -> VerifierInput:
        return VerifierInput(
            item=0, question=self.question, reference=reference, completion=completion, subtype=self.subtype
        )


def boxed(answer: str) -> str:
    """A completion that ends with the answer in a box."""
    return f"The reasoning is over.\n\nThe final answer is $\\boxed{{{answer}}}$."


def _pairs(item: dict[str, Any]) -> Iterator[Pair]:
    assert set(item) <= KEYS, f"unknown keys: {set(item) - KEYS}"
    errs = set(item.get("math_verify_errs", []))
    for key in (*ANSWERS, *TEXTS):
        for answer in item.get(key, []):
            yield Pair(
                subtype=item["subtype"],
                question=item["question"],
                reference=item["reference"],
                answer=answer,
                equal=key.startswith("equal"),
                undecided=key.startswith("undecided"),
                is_text=key in TEXTS,
                both_ways=key in ("equal", "unequal") and not item.get("one_way", False),
                math_verify_errs=answer in errs,
            )
            errs.discard(answer)
    assert not errs, f"not among the answers: {errs}"


def _items() -> list[dict[str, Any]]:
    files = sorted(FOLDER.glob("*.toml"))
    return [item for file in files for item in tomllib.loads(file.read_text(encoding="utf-8"))["item"]]


TABLE: list[list[Pair]] = [list(_pairs(item)) for item in _items()]
"""The pairs of each item."""

PAIRS: list[Pair] = [pair for item in TABLE for pair in item]
"""All pairs."""
