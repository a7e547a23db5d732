"""Suggestions while a line of conditions is typed: fields first, then their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from textual.suggester import Suggester

from workbench.model.label import FLAG_STATES
from workbench.model.selection import FIELDS
from workbench.model.taxonomy import SUBTYPES, TYPES, UNTYPED

_FIXED: dict[str, tuple[str, ...]] = {
    "state": ("unlabelled", "labelled", "conflict", "final", "excluded"),
    "gold": ("correct", "incorrect", "none"),
    "flagged": FLAG_STATES,
    "type": (*TYPES, UNTYPED),
    "subtype": (*SUBTYPES, UNTYPED),
}
_VERDICTS = ("correct", "incorrect", "abstain", "error", "none")


class ConditionSuggester(Suggester):
    """Completes the last word of a line.

    Args:
        names: Field -> values there are; the verifiers stand under ``verdict:``.
    """

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values: dict[str, Sequence[str]] = {**names, **_FIXED}
        verifiers = [f"verdict:{name}" for name in names.get("verdict:", ())]
        self._values.update(dict.fromkeys([*verifiers, "verdict"], _VERDICTS))
        self._fields = [*verifiers, *FIELDS]

    async def get_suggestion(self, value: str) -> str | None:
        """The line with its last word completed."""
        start = value.rfind(" ") + 1
        word = value[start:]
        field, sign, typed = word.partition("=")
        if sign:
            name = field.removesuffix("!")
            found = _first(typed, (_quoted(known) for known in self._values.get(name, ()) if known))
            return None if found is None else f"{value[:start]}{field}={found}"
        found = _first(word, self._fields) if word else None
        return None if found is None else f"{value[:start]}{found}="


def _first(typed: str, known: Iterable[str]) -> str | None:
    return next((name for name in known if name.startswith(typed)), None)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
