"""Restores the inputs of MBPP+ from EvalPlus' JSON, where tuples and sets are written as lists; they differ by task.

The files don't say which tasks have tuples or sets. Source of the task numbers: EvalPlus, MBPP+ v0.2.0, and the copy of
its table in Scoring Verifiers' released code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workbench.data.formats.lines import RefusedError

Arguments = list[Any]
SETS: Final = (
    *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"),
    *("larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
)
"""Functions whose lists are compared as sets."""
FOUND: Final = ("check_str", "text_match_three", "text_starta_endb")
"""Search functions, of which only success is compared."""


def call_arguments(task_id: str, given: Arguments) -> str:
    """Return the arguments of one call as source text, with the types that the task expects: ``(1, 2), 'a'``.

    Raises:
        RefusedError: The arguments have another structure than the task expects, or are nested too deeply.
    """
    number = task_id.rpartition("/")[2]
    convert = _BY_TASK.get(int(number)) if number.isdecimal() and len(number) < 10 else None
    try:
        return ", ".join(map(_value_source, given if convert is None else convert(given)))
    except (TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        message = f"An input of {task_id} has another shape than MBPP+ v0.2.0 gives it: {error}."
        raise RefusedError("unsupported", "base_input", message) from None


def _value_source(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value_source, value))}]"
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)


def _as_tuples(given: Any) -> list[Any]:
    return [tuple(one) for one in given]


def _as_nested_tuples(given: Any) -> Any:
    return tuple(map(_as_nested_tuples, given)) if isinstance(given, list) else given


def _as_sets(given: Any) -> list[Any]:
    # An empty list becomes a dict, as in EvalPlus.
    return [set(one) if isinstance(one, list) and one else {} for one in given]


_KINDS: Final[tuple[tuple[Callable[[Arguments], Arguments], tuple[int, ...]], ...]] = (
    (_as_tuples, (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424)),
    (_as_tuples, (429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809)),
    (
        lambda given: list(map(_as_tuples, given)),
        (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    ),
    (lambda given: [_as_tuples(given[0]), given[1]], (75, 413, 444, 753)),
    (lambda given: [given[0], tuple(given[1])], (106, 750)),
    (lambda given: [_as_sets(given[0])], (115,)),
    (lambda given: [float(given[0]), complex(given[1])], (124,)),
    (lambda given: [tuple(given[0]), given[1]], (250, 405, 446, 617, 720, 763, 808)),
    (lambda given: [tuple(_as_tuples(one)) for one in given], (259, 401, 445)),
    (lambda given: [tuple(tuple(one) if isinstance(one, list) else one for one in given[0])], (278,)),
    (lambda given: [tuple(given[0]), given[1], given[2]], (307,)),
    (lambda given: [{key: tuple(one) for key, one in given[0].items()}, *given[1:]], (722,)),
    (lambda given: [complex(given[0])], (252,)),
    (lambda given: list(map(_as_nested_tuples, given)), (580, 615, 791)),
)
_BY_TASK: Final = {number: convert for convert, numbers in _KINDS for number in numbers}
