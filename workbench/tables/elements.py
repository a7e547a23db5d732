"""HTML elements: what is not an element is text, and every text is escaped, cut if very long, and hides nothing."""

from __future__ import annotations

from markupsafe import Markup, escape

from workbench.core.text.inert import inert, inert_lines
from workbench.tables.passages import limited

Child = str | Markup
"""Markup stands as it is, any other text as text."""


def element(name: str, *children: Child, **attributes: str | float | None) -> Markup:
    """An element with its content.

    Args:
        children: Elements, and texts of any origin.
        attributes: By name, ``_`` for ``-`` and one at the end left off (``class_``); None for no such attribute.
    """
    head = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), text(str(value)))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, head, joined(*children))


def joined(*children: Child) -> Markup:
    """Several elements and texts, one behind the other."""
    return Markup("").join(child if isinstance(child, Markup) else text(child) for child in children)


def text(data: str) -> Markup:
    """A text of any origin, on one line."""
    return escape(inert(limited(data)))


def lines(data: str) -> Markup:
    """A text of any origin with its lines."""
    return escape(inert_lines(limited(data)))
