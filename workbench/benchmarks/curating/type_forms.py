"""Answer types told from references, without a model: what form an answer has, as the rules read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from workbench.benchmarks.curating.pool import inside
from workbench.benchmarks.curating.types import type_in_force
from workbench.core.final_answer import reference_answer
from workbench.core.progress import stepping
from workbench.core.project import Project, some_at_a_time
from workbench.measuring.records.curation import PoolQuestion, Scope
from workbench.measuring.store import curation
from workbench.verifiers.rules.figures import Measure
from workbench.verifiers.rules.quantities import Based, Quantity, Ratio
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.reading import AnswerReader
from workbench.verifiers.rules.records import (
    ChosenOptions,
    Collection,
    Expression,
    MatrixValue,
    Region,
    SetBuilder,
    State,
    Term,
    Text,
    Value,
)

_SPECIFIC: Final = 40
"""Characters up to which a phrase is a name rather than a meaning."""
_SHOWN: Final = 200


class ProposedType(Struct, frozen=True, kw_only=True):
    """A question without an answer type, and the one that its reference has the form of.

    Attributes:
        subtype: None where the form tells none.
    """

    of: PoolQuestion
    question: str
    reference: str
    subtype: str | None


def types_by_form(project: Project) -> list[ProposedType]:
    """Every question whose type neither people nor its file say, in the order of import.

    Raises:
        UsageError: There are no questions.
    """
    untyped = [one for one in inside(project, Scope()) if type_in_force(one, confirmed=True) is None]
    return list(stepping(_proposed(project, untyped), "types", "questions", len(untyped)))


def _proposed(project: Project, untyped: list[PoolQuestion]) -> Iterator[ProposedType]:
    reader = project.database.reader()
    for some in some_at_a_time(untyped):
        texts = curation.texts(reader, [one.id for one in some])
        for one in some:
            said = texts[one.id]
            subtype = subtype_by_form(said.question, said.reference)
            shown = (said.question[:_SHOWN], said.reference[:_SHOWN])
            yield ProposedType(of=one, question=shown[0], reference=shown[1], subtype=subtype)


def subtype_by_form(question: str, reference: str) -> str | None:
    """The subtype that a reference answer has the form of; None where it tells none."""
    found = reference_answer(reference)
    if found is None or not found.text.strip():
        return None
    value: Value = AnswerReader(TypedQuestion(question)).reference(found.text).value
    form = _FORMS.get(type(value))
    return None if form is None else form(value, found.text)


def _quantity(value: Quantity, text: str) -> str:
    number = value.number
    if "^\\circ" in text or "°" in text or "degree" in text:
        return "A6"
    if value.pi or (number.value.denominator != 1 and not number.places):
        return "A2"
    return "A3" if number.places else "A1"


def _chosen(value: ChosenOptions, _: str) -> str:
    return "C1" if len(value.labels) == 1 else "C2"


def _collection(value: Collection, _: str) -> str:
    if value.kind == "set":
        return "B4"
    return "B3" if value.kind == "tuple" and len(value.parts) == 2 else "A8"


def _expression(value: Expression, text: str) -> str:
    if "=" in text:
        return "B2"
    if not any(character.isalpha() for character in text.replace("\\sqrt", "")):
        return "A4" if "\\sqrt" in text or "√" in text else "A2"
    return "B1"


def _always(code: str) -> Callable[[Any, str], str]:
    return lambda _value, _text: code


_FORMS: Final[Mapping[type, Callable[[Any, str], str]]] = {
    Quantity: _quantity,
    Measure: _always("A3"),
    Based: _always("A7"),
    Ratio: _always("A2"),
    ChosenOptions: _chosen,
    State: _always("C4"),
    Region: _always("B3"),
    SetBuilder: _always("B4"),
    Collection: _collection,
    MatrixValue: _always("B5"),
    Expression: _expression,
    Term: _always("A2"),
    Text: lambda value, text: "D2" if value.prose or len(text) > _SPECIFIC else "D1",
}
"""What the rules read an answer as -> its subtype."""
