"""How the rules compare two short answers to a question that says nothing of them."""

from __future__ import annotations

from workbench.verifiers.rules.comparing import Comparison
from workbench.verifiers.rules.quantities import RequiredForm
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.reading import AnswerReader
from workbench.verifiers.rules.records import Doubt, Equality


def compared(a: str, b: str, wanted: RequiredForm | None = None) -> Equality | None:
    """The verdict and its rule; None where they can't be compared or something speaks against it.

    Args:
        a: The reference's answer.
        b: The completion's.
        wanted: How the question wants its answer written.
    """
    question = TypedQuestion("")
    if wanted is not None:
        question.__dict__["required"] = wanted
    reader = AnswerReader(question)
    try:
        return Comparison(reader).compare(reader.part(a), reader.part(b))
    except Doubt:
        return None
