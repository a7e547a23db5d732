"""Share style sheets between hundreds of apps in one process: parse once, and match once per path of nodes.

Otherwise each app would do both, a fifth of the time of the tests of screens.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from textual.css.model import RuleSet
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode


class _Matches(dict[tuple[Any, ...], Any]):
    """Rules by the features of a node that selectors use: Textual's cache of one update, keyed by path.

    Textual does not cache selectors that depend on siblings.
    """

    def __init__(self) -> None:
        self._rules: dict[Hashable, Any] = {}

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return self._rules.get((_path(key[0]), key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], rules: Any) -> None:
        self._rules[_path(key[0]), key[1:]] = rules


def _path(node: DOMNode | None) -> Hashable:
    if node is None:
        return None
    path = node.css_path_nodes
    state = [(one._css_type_name, one._id, one.classes, one._pseudo_classes_cache_key) for one in path]
    return (*state, path[0].pseudo_classes)


class _Components(dict[str, RenderStyles]):
    """Styles of a widget's components, computed on first use: a table has ten and rarely uses them."""

    def __init__(self, sheet: Stylesheet, node: DOMNode, names: Iterable[str]) -> None:
        self._sheet, self._node, self._names = sheet, node, frozenset(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __missing__(self, name: str) -> RenderStyles:
        component = DOMNode(classes=name)
        component._attach(self._node)
        self._sheet.apply(component)
        self[name] = component.styles
        return component.styles

    def clear(self) -> None:
        super().clear()
        self._names = frozenset()


def _components_when_read(self: Stylesheet, node: DOMNode) -> None:
    names = node._get_component_classes()
    if names:
        before = node._component_styles
        found = node._component_styles = _Components(self, node, names)
        if not isinstance(before, _Components) or any(found[name] != styles for name, styles in before.items()):
            node.refresh()


@contextmanager
def sheets_are_shared() -> Iterator[None]:
    """Let all apps share parsed and matched rules."""
    parse, apply = Stylesheet._parse_rules, Stylesheet.apply
    parsed = dict[Any, list[RuleSet]]()
    matches = dict[tuple[int, ...], _Matches]()
    own = WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], _Matches]]()

    def parsed_once(self: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
        key = (frozenset(self._variables.items()), arguments, frozenset(named.items()))
        if key not in parsed:
            parsed[key] = parse(self, *arguments, **named)
        return parsed[key]

    def matched_once(self: Stylesheet, node: DOMNode, *, animate: bool = False, cache: object = None) -> None:
        found = own.get(self)
        if found is None or found[0] is not self.rules:
            # Rules are never freed, so ids are not reused.
            found = own[self] = (self.rules, matches.setdefault(tuple(map(id, self.rules)), _Matches()))
        apply(self, node, animate=animate, cache=found[1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed_once)
        patch.setattr(Stylesheet, "apply", matched_once)
        patch.setattr(Stylesheet, "_process_component_classes", _components_when_read)
        patch.setattr(RuleSet, "__hash__", object.__hash__)
        yield
