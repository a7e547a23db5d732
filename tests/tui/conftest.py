"""What makes hundreds of apps in one process start faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(scope="session", autouse=True)
def _sheets_are_parsed_once() -> Iterator[None]:
    """Each app parses the same style sheets anew, a tenth of a second each time: here the first one does."""
    parse, parsed = Stylesheet._parse_rules, dict[Any, list[RuleSet]]()

    def remembered(self: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
        key = (frozenset(self._variables.items()), arguments, frozenset(named.items()))
        if key not in parsed:
            parsed[key] = parse(self, *arguments, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", remembered)
        yield
