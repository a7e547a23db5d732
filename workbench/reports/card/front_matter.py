"""The beginning of a data card that programs read: YAML between two lines of dashes.

Every scalar is written as JSON, which YAML reads as the same scalar: nothing a name holds can be taken for structure,
a number, a date or a word of YAML's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from workbench.render.inert import inert

_NO_YAML = re.compile("[\ufffe\uffff]")
"""What JSON may hold as it is and YAML may not, besides what `inert` shows otherwise."""

Value: TypeAlias = "str | int | bool | Sequence[Value] | Mapping[str, Value]"


def front_matter(values: Mapping[str, Value]) -> str:
    """The block with its dashes.

    Args:
        values: Keys are ours, plain words; texts may hold anything, and have no invisible characters afterwards.
    """
    return "\n".join(["---", *_mapping(values), "---", ""])


def _mapping(values: Mapping[str, Value]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, str | int):
            yield f"{key}: {_scalar(value)}"
        elif not value:
            yield f"{key}: {'{}' if isinstance(value, Mapping) else '[]'}"
        else:
            yield f"{key}:"
            yield from _below(value)


def _below(value: Sequence[Value] | Mapping[str, Value]) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (f"  {line}" for line in _mapping(value))
        return
    for element in value:
        if isinstance(element, str | int):
            yield f"  - {_scalar(element)}"
            continue
        lines = _mapping(element) if isinstance(element, Mapping) else _below(element)
        for number, line in enumerate(lines):
            yield f"  {'  ' if number else '- '}{line}"


def _scalar(value: str | int) -> str:
    text = json.dumps(inert(value) if isinstance(value, str) else value, ensure_ascii=False)
    return _NO_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
