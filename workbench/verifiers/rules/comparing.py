"""Comparison of two parsed answers: one table of comparers, by the types of both; a new type joins `TYPES`.

Each comparer knows only the types of its row, and its rejection is final. It takes the reference's or the candidate's
answer first, as its row defines, and is symmetric.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.verifiers.rules.calendar import MOMENT
from workbench.verifiers.rules.changes import CHANGE
from workbench.verifiers.rules.chemistry import CHEMICAL
from workbench.verifiers.rules.equations import EXPRESSION
from workbench.verifiers.rules.figures import ALTERNATIVES, BASED, DECIMAL_COMMA, DIGIT_CODE, MEASURE, QUANTITY, RATIO
from workbench.verifiers.rules.logic import FORMULA
from workbench.verifiers.rules.members import COLLECTION, REGION
from workbench.verifiers.rules.named import NAMED
from workbench.verifiers.rules.parameters import INDEXED, PROGRESSIONS
from workbench.verifiers.rules.piecewise import PIECEWISE
from workbench.verifiers.rules.records import DIFFERENT, Doubt, Equality, Part, Symbolic, ValueType, undecided
from workbench.verifiers.rules.sense import PLACE, ROUGH, UNREADABLE, are_opposed, explained_by
from workbench.verifiers.rules.strings import has_other_strings, other_case, same_print, same_text
from workbench.verifiers.rules.wordings import BRACKETS, HUGE, OPTIONS, STATE, TERM, TEXT

if TYPE_CHECKING:
    from workbench.verifiers.rules.reading import AnswerReader

TYPES: tuple[ValueType, ...] = (
    HUGE,
    TERM,
    ALTERNATIVES,
    NAMED,
    CHANGE,
    STATE,
    OPTIONS,
    TEXT,
    BRACKETS,
    PROGRESSIONS,
    INDEXED,
    MEASURE,
    FORMULA,
    CHEMICAL,
    DIGIT_CODE,
    DECIMAL_COMMA,
    MOMENT,
    BASED,
    QUANTITY,
    PIECEWISE,
    REGION,
    COLLECTION,
    RATIO,
    EXPRESSION,
)
"""The types in order of precedence: a type's row for any other type precedes those of later types."""
READERS = tuple(known for known in TYPES if known.read is not None)
COMPARERS = {types: comparer for known in TYPES for types, comparer in known.comparers.items()}
"""The comparer of two types, for either order; ``object`` matches any other type."""
WITH_ANY = tuple(one for one, other in COMPARERS if other is object)
"""The types with a comparer for any other type, in order of precedence."""

_WHOLE = re.compile(r"[-−]?\d{1,3}(?:(?:,|\{,\}|\\,)?\d{3})*")


class Comparison:
    """Compares answers to one question.

    Args:
        reader: Parses answers to the question.
        symbolic: Compares answers that the rules can't parse.
        boxed: Whether the candidate's answer is the whole content of its box, and no sentence.
        outermost: Whether whole answers are compared, not their members; among members ``{a}`` is not ``a``.
    """

    def __init__(
        self, reader: AnswerReader, symbolic: Symbolic = undecided, *, boxed: bool = True, outermost: bool = True
    ) -> None:
        self.outermost = outermost
        self.turned = False
        self.reader = reader
        self.question = reader.question
        self.symbolic = symbolic
        self.boxed = boxed

    @property
    def within(self) -> Comparison:
        return Comparison(self.reader, self.symbolic, boxed=self.boxed, outermost=False)

    def same(self, reference: Part[Any], candidate: Part[Any]) -> bool | None:
        """Return whether two answers are equal; None if undecided."""
        found = self.compare(reference, candidate)
        return None if found is None else found.equal

    def compare(self, reference: Part[Any], candidate: Part[Any]) -> Equality | None:
        """Compare two answers and return the deciding rule, too; None if undecided.

        Raises:
            TooComplex: The comparison would take more work than a rule may spend.
            Doubt: The answers may be equal, but there is a reason against it.
        """
        found: Equality | None
        if reference.given and candidate.given and reference.given != candidate.given:
            found = Equality(False, "expression")
        elif rule := same_text(reference.text, candidate.text):
            if other_case(reference.text, candidate.text, self.question):
                raise Doubt("alike")
            found = Equality(True, rule)
        else:
            found = self._compare_by_table(reference, candidate)
        if found is not None and found.equal:
            self._check_qualifiers(reference, candidate)
            texts = reference.text, candidate.text
            if (
                self.question.of_print
                and found.rule != "text.contained"
                and (not same_print(*texts) or has_other_strings(*texts, self.question))
            ):
                raise Doubt("alike")
        return found

    def _compare_by_table(self, reference: Part[Any], candidate: Part[Any]) -> Equality | None:
        one, other = type(reference.value), type(candidate.value)
        row = next((row for row in ((one, other), *_alternative_rows(one, other)) if row in COMPARERS), None)
        if row is None:
            return DIFFERENT
        self.turned = row[0] is not one
        return COMPARERS[row](*((candidate, reference) if self.turned else (reference, candidate)), self)

    def _check_qualifiers(self, reference: Part[Any], candidate: Part[Any]) -> None:
        if are_opposed(candidate.sense, reference.sense):
            raise Doubt("alike")
        if left := self.unexplained(frozenset(mark for mark in candidate.sense if mark[0] not in "+-"), reference):
            raise Doubt("alike" if left == {PLACE} else "qualified")

    def unexplained(self, marks: frozenset[str], reference: Part[Any]) -> frozenset[str]:
        """Return those of the candidate's qualifiers that make it a different answer from the reference's."""
        left = marks - reference.sense | marks & {UNREADABLE}
        if not left:
            return left
        if ROUGH in left and (not _WHOLE.fullmatch(reference.text) or self.question.asks_roughly):
            left -= {ROUGH}
        if PLACE in left and self.question.asks_place:
            left -= {PLACE}
        left -= (explained_by(reference.text) | self.question.explained) - {UNREADABLE}
        if unknown := {mark for mark in left if mark[0] == "?" and mark != UNREADABLE}:
            left -= unknown & explained_by(self.question.text)
        return left


def _alternative_rows(one: type, other: type) -> Iterator[tuple[type, type]]:
    yield other, one
    for known in WITH_ANY:
        if known in (one, other):
            yield known, object
