"""All types of answers, in the order in which their readers are tried; a new type joins `TYPES`."""

from __future__ import annotations

from workbench.verifiers.rules.algebra import EXPRESSION
from workbench.verifiers.rules.calendar import MOMENT
from workbench.verifiers.rules.changes import CHANGE
from workbench.verifiers.rules.chemistry import CHEMICAL
from workbench.verifiers.rules.figures import ALTERNATIVES, BASED, DECIMAL_COMMA, DIGIT_CODE, MEASURE, QUANTITY, RATIO
from workbench.verifiers.rules.logic import FORMULA
from workbench.verifiers.rules.members import COLLECTION, REGION
from workbench.verifiers.rules.named import NAMED
from workbench.verifiers.rules.parameters import INDEXED, PROGRESSIONS
from workbench.verifiers.rules.piecewise import PIECEWISE
from workbench.verifiers.rules.records import ValueType
from workbench.verifiers.rules.wordings import BRACKETS, HUGE, OPTIONS, STATE, TERM, TEXT

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
READERS = tuple((known.read, known.of_a_name) for known in TYPES if known.read is not None)
COMPARERS = {types: comparer for known in TYPES for types, comparer in known.comparers.items()}
"""The comparer of two types, for either order; ``object`` matches any other type."""
WITH_ANY = tuple(one for one, other in COMPARERS if other is object)
"""The types with a comparer for any other type, in order of precedence."""
