"""One call to a model server as a text to read: what was asked, what was thought, what was said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from workbench.app.tui.kit.cells import printable
from workbench.core.calls import CallShown
from workbench.core.text.document import RenderedLine, RenderedText, Span, StyleName
from workbench.core.text.figures import NONE
from workbench.core.text.text import render_raw
from workbench.runs.previewing import PreviewedCall

REPLY: Final = "reply"
"""The mark of the line where the reply begins."""

REQUEST: Final = "request"
"""The mark of the lines where requests begin."""

_MODEL: Final = "model"
_SETTING_LENGTH: Final = 60
"""Longer values of a request stand in a paragraph of their own."""

Part = tuple[str, StyleName, str]
"""A heading, the style of its text, and the text."""


def call_text(call: CallShown, *, raw: bool = False) -> RenderedText:
    """A call for reading; the mark `REPLY` is where the model's words begin.

    Args:
        call: The call.
        raw: Both bodies as they went over the wire.
    """
    asked: Iterable[Part] = [("Request", "", call.request)] if raw else _request(call.request)
    lines: list[RenderedLine] = [_facts(call), *_recorded(call)]
    for part in asked:
        lines.extend(_part(part))
    mark = len(lines)
    for part in _answered(call, raw):
        lines.extend(_part(part))
    return RenderedText(tuple(lines), {REPLY: [mark]})


def planned_text(calls: Sequence[PreviewedCall], *, raw: bool = False) -> RenderedText:
    """What would be asked, call by call; the mark `REQUEST` is where each begins."""
    lines: list[RenderedLine] = []
    marks: list[int] = []
    for number, call in enumerate(calls, 1):
        marks.append(len(lines))
        body = bytes(call.body).decode()
        lines.append(_line(Span(f"{number}. {printable(call.step)}", "heading")))
        lines.append(_line(Span(f"POST {printable(call.url)} · {len(body.encode()):,} bytes", "dim")))
        if not call.exact:
            lines.append(_line(Span("⟨…⟩ stands for what a model has yet to say", "bold")))
        lines.extend(_line(Span(f"! {printable(note)}", "error")) for note in call.notes)
        parts: Iterable[Part] = [("Body", "", body)] if raw else _request(body)
        for part in parts:
            lines.extend(_part(part))
        lines.append(_line())
    return RenderedText(tuple(lines), {REQUEST: marks})


def tokens_text(call: CallShown) -> str:
    """Tokens in and out, as far as they are known: ``812→37``."""
    counts = (call.prompt_tokens, call.completion_tokens)
    return "→".join(NONE if count is None else f"{count:,}" for count in counts)


def cost_text(cost: float | None) -> str:
    """US dollars; "" where nobody knows."""
    return "" if cost is None else f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"


def _facts(call: CallShown) -> RenderedLine:
    words = (
        call.model,
        call.profile,
        f"finish {call.finish_reason}" if call.finish_reason else "",
        f"{tokens_text(call)} tokens",
        f"{call.reasoning_tokens:,} of them thought" if call.reasoning_tokens else "",
        cost_text(call.cost),
        f"{call.ms:,.0f} ms",
        f"sample {call.sample}" if call.sample else "",
        "reused" if call.reused else "",
        call.created_at[:19],
    )
    return _line(Span(printable(" · ".join(word for word in words if word)), "dim"))


def _recorded(call: CallShown) -> Iterator[RenderedLine]:
    if call.origin is not None:
        yield _line(Span(f"recorded reply, not a live model's: {printable(call.origin)}", "bold"))


def _request(body: str) -> Iterator[Part]:
    """A request's messages or texts, then its settings; one that is no JSON object as it is."""
    try:
        fields = json.loads(body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        yield "Request", "", body
        return
    settings = []
    for name, value in fields.items():
        if name == "messages" and isinstance(value, list):
            yield from map(_message, value)
        elif isinstance(value, str | list) and name != _MODEL and len(str(value)) > _SETTING_LENGTH:
            yield f"Request · {name}", "", _plain(value)
        elif name != _MODEL:
            settings.append(f"{name} {json.dumps(value, ensure_ascii=False)}")
    if settings:
        yield "Request · settings", "dim", " · ".join(settings)


def _message(message: Any) -> Part:
    if not isinstance(message, dict):
        return "Request", "", _plain(message)
    return f"Request · {message.get('role', 'message')}", "", _plain(message.get("content"))


def _plain(value: Any) -> str:
    """A message's text: as it is, or that of its parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (part.get("text", part) if isinstance(part, dict) else part for part in value)
        return "\n".join(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _answered(call: CallShown, raw: bool) -> Iterator[Part]:
    if raw:
        yield "Response", "", call.response
        return
    if call.reasoning:
        yield "Reasoning", "think", call.reasoning
    if call.scores:
        yield "Scores", "", "\n".join(f"{score:g}" for score in call.scores)
    if call.text or not call.scores:
        yield "Reply", "", call.text


def _part(part: Part) -> Iterator[RenderedLine]:
    heading, style, text = part
    yield _line()
    yield _line(Span(printable(heading), "heading"))
    if not text:
        yield _line(Span("empty", "dim"))
    for line in render_raw(text).lines:
        yield _line(*(span._replace(style=style) for span in line.spans)) if style else line


def _line(*spans: Span) -> RenderedLine:
    return RenderedLine(spans, (0, 0))
