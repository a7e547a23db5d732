"""Code fences: pygments' tokens as spans, a line at a time."""

from __future__ import annotations

from workbench.core.text.document import Span, StyleName
from workbench.core.text.inert import inert

MAX_HIGHLIGHTED = 20_000
"""Longer blocks (characters) are shown in one style."""


def highlight(code: str, language: str) -> list[list[Span]]:
    """Split code into lines of spans; an unknown language gives one style throughout.

    Args:
        code: The code, its line breaks as ``\\n``.
        language: What the fence says, such as ``python``; may be empty.
    """
    lines: list[list[Span]] = [[]]
    for text, style in _tokens(code, language):
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(Span(part, style))
    return lines


def code_lines(code: str, language: str) -> list[tuple[Span, ...]]:
    """Code as lines to show: highlighted, and with nothing in it that could steer a terminal or hide.

    Args:
        code: The code as stored; a carriage return is shown, unless a line feed follows it.
        language: As with `highlight`.
    """
    lines = highlight(code.replace("\r\n", "\n"), language)
    return [tuple(Span(inert(span.text), span.style) for span in line) for line in lines]


def _tokens(code: str, language: str) -> list[tuple[str, StyleName]]:
    plain: list[tuple[str, StyleName]] = [(code, "code")]
    if not language or len(code) > MAX_HIGHLIGHTED:
        return plain
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return plain
    tokens = [(text, _style(str(kind))) for _, kind, text in lexer.get_tokens_unprocessed(code)]
    return tokens if "".join(text for text, _ in tokens) == code else plain


_STYLES: tuple[tuple[str, StyleName], ...] = (
    ("Token.Keyword", "code.keyword"),
    ("Token.Operator.Word", "code.keyword"),
    ("Token.Literal.String", "code.string"),
    ("Token.Literal.Number", "code.number"),
    ("Token.Comment", "code.comment"),
    ("Token.Name.Builtin", "code.name"),
    ("Token.Name.Class", "code.name"),
    ("Token.Name.Decorator", "code.name"),
    ("Token.Name.Function", "code.name"),
)


def _style(kind: str) -> StyleName:
    return next((style for prefix, style in _STYLES if kind.startswith(prefix)), "code")
