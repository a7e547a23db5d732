"""Proposes answer types without a model: by an additional column of the file, else by the form of the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.benchmarks.curating.pool import inside
from workbench.benchmarks.curating.types import current_type
from workbench.core.final_answer import reference_answer
from workbench.core.progress import stepping
from workbench.core.project import Project, batches
from workbench.core.taxonomy import known_type, type_values
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

_MAX_NAME: Final = 40
"""Characters of the longest phrase that counts as a name."""
_MAX_SHOWN: Final = 200
_SAMPLE_SIZE: Final = 1_000
"""Questions sampled to find an extra column that holds types."""


class ProposedType(Struct, frozen=True, kw_only=True):
    """A question without an answer type, and the type proposed by an additional column or the form of its reference.

    Attributes:
        subtype: The proposed subtype; None if neither proposes one.
        column: The column that proposes it; None if the form does.
    """

    of: PoolQuestion
    question: str
    reference: str
    subtype: str | None
    column: str | None = None


def proposed_types(project: Project) -> list[ProposedType]:
    """Return every question that has no type from annotators or its file, in the order of import, with a proposed type.

    Raises:
        UsageError: There are no questions.
    """
    untyped = [one for one in inside(project, Scope()) if current_type(one, confirmed=True) is None]
    return list(stepping(_propose(project, untyped), "types", "questions", len(untyped)))


def _propose(project: Project, untyped: list[PoolQuestion]) -> Iterator[ProposedType]:
    reader = project.database.reader()
    column = _column_of_types(
        map(_decode_columns, curation.extra_columns(reader, [one.id for one in untyped[:_SAMPLE_SIZE]]).values())
    )
    for some in batches(untyped):
        texts = curation.texts(reader, [one.id for one in some])
        kept = curation.extra_columns(reader, [one.id for one in some]) if column is not None else {}
        for one in some:
            content = texts[one.id]
            own = _subtype_in(kept.get(one.id), column)
            yield ProposedType(
                of=one,
                question=content.question[:_MAX_SHOWN],
                reference=content.reference[:_MAX_SHOWN],
                subtype=own or subtype_by_form(content.question, content.reference),
                column=column if own else None,
            )


def _column_of_types(rows: Iterable[dict[str, Any]]) -> str | None:
    values: dict[str, list[str]] = {}
    for cells in rows:
        for name, cell in cells.items():
            if isinstance(cell, str):
                values.setdefault(name, []).append(cell)
    codes = {name: sum(len(code) > 1 for code in type_values(value)) for name, value in values.items()}
    return max((name for name in codes if codes[name]), key=lambda name: codes[name], default=None)


def _subtype_in(kept: str | None, column: str | None) -> str | None:
    cell = None if kept is None or column is None else _decode_columns(kept).get(column)
    code = known_type(cell) if isinstance(cell, str) else None
    return code if code is not None and len(code) > 1 else None


def _decode_columns(kept: str) -> dict[str, Any]:
    return msgspec.json.decode(kept, type=dict[str, Any])


def subtype_by_form(question: str, reference: str) -> str | None:
    """Return the subtype that matches the form of a reference answer; None if none does."""
    found = reference_answer(reference)
    if found is None or not found.text.strip():
        return None
    value: Value = AnswerReader(TypedQuestion(question)).reference(found.text).value
    form = _FORMS.get(type(value))
    return form(value, found.text) if callable(form) else form


def _subtype_of_quantity(value: Quantity, text: str) -> str:
    number = value.number
    if "^\\circ" in text or "°" in text or "degree" in text:
        return "A6"
    if value.pi or (number.value.denominator != 1 and not number.places):
        return "A2"
    return "A3" if number.places else "A1"


def _subtype_of_collection(value: Collection, _: str) -> str:
    if value.kind == "set":
        return "B4"
    return "B3" if value.kind == "tuple" and len(value.parts) == 2 else "A8"


def _subtype_of_expression(value: Expression, text: str) -> str:
    if "=" in text:
        return "B2"
    if not any(character.isalpha() for character in text.replace("\\sqrt", "")):
        return "A4" if "\\sqrt" in text or "√" in text else "A2"
    return "B1"


_FORMS: Final[Mapping[type, str | Callable[[Any, str], str]]] = {
    Quantity: _subtype_of_quantity,
    Measure: "A3",
    Based: "A7",
    Ratio: "A2",
    ChosenOptions: lambda value, _: "C1" if len(value.labels) == 1 else "C2",
    State: "C4",
    Region: "B3",
    SetBuilder: "B4",
    Collection: _subtype_of_collection,
    MatrixValue: "B5",
    Expression: _subtype_of_expression,
    Term: "A2",
    Text: lambda value, text: "D2" if value.prose or len(text) > _MAX_NAME else "D1",
}
"""Class of a parsed answer -> its subtype."""
