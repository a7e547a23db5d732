"""All that is stored about an item except its texts, as lines: gold, labels, and verdicts with their evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.queue_view import review_words
from workbench.app.tui.kit.wrapping import padded, wrap_line
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.reasons import explain_verdict
from workbench.core.run import CallShown, WrittenReply
from workbench.core.text.document import ANSWER_SIGN, RenderedLine, RenderedText, Span, StyleName
from workbench.core.text.excerpt import short_answer, shown_answer
from workbench.core.text.figures import NONE, counted, dollars
from workbench.core.text.markdown import render_raw
from workbench.data.records import ItemDetail, ItemVerdict
from workbench.measuring.records.review import Review
from workbench.runs.previewing import PreviewedCall

INDENT: Final = "  "
_HEAD = len(f"{ANSWER_SIGN}completion ")
_MAX_ANSWER = 400
"""Maximum characters of a shown final answer."""
Line = tuple[Span, ...]


CHOSEN = "chosen"
"""The mark of the line where the chosen verdict begins."""
FIRST = "first"
"""The mark of the line where the first verdict begins."""
_SIGN = "› "
_STYLES: dict[str, StyleName] = {"correct": "success", "incorrect": "error", "error": "error", "none": "dim"}


def evidence(
    item: ItemDetail,
    width: int = 0,
    *,
    raw: bool = False,
    chosen: str | None = None,
    reviews: Sequence[Review] = (),
) -> RenderedText:
    """Return gold, labels, reviews and verdicts of an item.

    Args:
        item: The item.
        width: Cells to lay the lines out for; 0 leaves that to the reader.
        raw: Show final answers as stored, not rendered.
        chosen: The verifier whose verdict is chosen; its answers are marked in their texts.
        reviews: The reviewers' current decisions on the item.
    """
    lines = [*_gold_lines(item), *_labels_section(item), *_review_lines(reviews), *_verdicts_heading(item, chosen)]
    marks: dict[str, list[int]] = {}
    for number, verdict in enumerate(item.verdicts):
        if number:
            lines.append(())
        else:
            marks[FIRST] = [len(lines)]
        if verdict.verifier == chosen:
            marks[CHOSEN] = [len(lines)]
        lines.extend(_verdict_lines(verdict, width, raw, verdict.verifier == chosen))
    return RenderedText(tuple(RenderedLine(line, (0, 0)) for line in lines), marks)


def explanation(verdict: ItemVerdict, *, raw: bool = False) -> str:
    """Explain a verdict in a sentence; "" if its reason and rule have no explanation."""
    return explain_verdict(
        verdict.verdict, verdict.reason, verdict.rule, short_answer(verdict.reference_final, raw=raw)
    )


def _gold_lines(item: ItemDetail) -> Iterator[Line]:
    origin = f" ({item.gold_from})" if item.gold_from else ""
    imported = f"   imported: {item.imported_gold}" if item.gold_from != "imported" else ""
    yield (Span("Gold", "heading"), Span("  "), _verdict_span(item.gold), Span(f"{origin}{imported}"))
    if item.reason:
        yield (Span(f"{item.state}: {EXCLUSION_REASONS.get(item.reason, item.reason)}"),)


def _labels_section(item: ItemDetail) -> Iterator[Line]:
    yield ()
    yield (Span("Labels", "heading"),)
    if not item.labels:
        yield (Span("none", "dim"),)
    for label in item.labels:
        kind = "" if label.kind == "label" else f" {label.kind}"
        remarks = [label.created_at[:10], "unsure" if label.unsure else "", "unblinded" if label.unblinded else ""]
        words = Span(" · ".join(word for word in remarks if word), "dim")
        reason = f" ({EXCLUSION_REASONS.get(label.reason, label.reason)})" if label.reason else ""
        yield _verdict_span(label.value), Span(reason), Span(f" {label.annotator}{kind}  ", "bold"), words
        if label.note:
            yield (Span("  note: ", "dim"), Span(label.note))


def _review_lines(reviews: Sequence[Review]) -> Iterator[Line]:
    if not reviews:
        return
    yield ()
    yield (Span("Reviews", "heading"),)
    for review in reviews:
        style: StyleName = "error" if review.kind == "error" else "success"
        by = Span(f"  {review.reviewer}  ", "bold")
        yield Span(printable(review_words(review)), style), by, Span(review.created_at[:10], "dim")
        if review.note:
            yield (Span("  note: ", "dim"), Span(review.note))


def _verdicts_heading(item: ItemDetail, chosen: str | None) -> Iterator[Line]:
    yield ()
    legend = "› chosen: its answers are marked ▶" if chosen else f"{key_of('item.verdict')}: mark the answers of one"
    yield (Span("Verdicts", "heading"), Span(f"  {legend}" if item.verdicts else "", "dim"))
    if not item.verdicts:
        yield (Span("none yet", "dim"),)


def _verdict_lines(verdict: ItemVerdict, width: int, raw: bool, chosen: bool) -> Iterator[Line]:
    sign = Span(_SIGN, "bold") if chosen else Span(" " * len(_SIGN))
    yield sign, _verdict_span(verdict.verdict), Span(f" {verdict.verifier}", "bold")
    yield from _wrapped_lines(explanation(verdict, raw=raw), "", width)
    yield from answers(verdict, width, raw=raw, marked=chosen)
    yield from _wrapped_lines(verdict.detail or "", "", width)
    yield from _wrapped_lines(_verdict_facts(verdict, chosen), "dim", width)


def _verdict_facts(verdict: ItemVerdict, chosen: bool) -> str:
    calls = counted(verdict.calls, "call") + (f" ({key_of('item.transcript')}: transcript)" if chosen else "")
    words = (
        verdict.reason,
        f"rule {verdict.rule}" if verdict.rule and verdict.rule != verdict.reason else "",
        "" if verdict.score is None else f"score {verdict.score:g}",
        f"version {verdict.version}" if verdict.version and chosen else "",
        f"run {verdict.run}",
        calls if verdict.calls else "",
        "recorded replies" if verdict.recorded else "",
        f"{verdict.ms:.1f} ms",
    )
    return " · ".join(word for word in words if word)


def _wrapped_lines(text: str, style: StyleName, width: int) -> Iterator[Line]:
    text, room = printable(text), width - len(INDENT)
    if text:
        for start, end in wrap_line(text, room) if room > 0 else ((0, len(text)),):
            yield Span(INDENT), Span(text[start:end], style)


def _verdict_span(word: str) -> Span:
    mark = OUTCOME_MARKS.get(word, ("•", "dim"))[0]
    return Span(f"{mark} {word}", _STYLES.get(word, "bold"))


def answers(verdict: ItemVerdict, width: int, *, raw: bool, marked: bool) -> Iterator[Line]:
    """Yield the reference's and the completion's final answer as a verifier read them.

    Args:
        verdict: The verdict.
        width: Available cells; 0 if unknown.
        raw: Show the stored text instead of the rendered one.
        marked: Whether the answers are marked in their texts; the titles then show the same sign.
    """
    if verdict.reference_final is None and verdict.candidate_final is None:
        return
    for name, text, place in (
        ("reference", verdict.reference_final, verdict.reference_span),
        ("completion", verdict.candidate_final, verdict.candidate_span),
    ):
        head = f"{ANSWER_SIGN if marked and place is not None else ''}{name}"
        for line in _answer_spans(text, width - len(INDENT) - _HEAD, raw):
            yield Span(INDENT), *padded([Span(head, "dim")], _HEAD), line
            head = ""


def _answer_spans(text: str | None, width: int, raw: bool) -> list[Span]:
    if text is None:
        return [Span("(none found)", "dim")]
    style: StyleName = "code" if raw else "math"
    shown = shown_answer(text, raw=raw)
    shown = shown if len(shown) <= _MAX_ANSWER else shown[:_MAX_ANSWER] + "…"
    return [
        Span(line[start:end], style)
        for line in map(printable, shown.split("\n"))
        for start, end in (wrap_line(line, width) if width > 0 else ((0, len(line)),))
    ]


# -- One call to a model server as a text: request, reasoning, reply.


REPLY: Final = "reply"
"""The mark of the line where the reply begins."""
REQUEST: Final = "request"
"""The mark of the lines where requests begin."""
_MODEL: Final = "model"
_SETTING_LENGTH: Final = 60
"""Characters above which a value of a request is shown as a separate paragraph."""
Part = tuple[str, StyleName, str]
"""A heading, the style of its text, and the text."""


def call_text(call: CallShown, *, raw: bool = False) -> RenderedText:
    """Return a call for reading; the mark `REPLY` is where the model's words begin.

    Args:
        call: A call to a model server.
        raw: Show the request and the response body as they were sent.
    """
    asked: Iterable[Part] = [("Request", "", call.request)] if raw else _request_parts(call.request)
    lines = list(_call_head(call))
    for part in asked:
        lines.extend(_part_lines(part))
    mark = len(lines)
    for part in _response_parts(call, raw):
        lines.extend(_part_lines(part))
    return RenderedText(tuple(lines), {REPLY: [mark]})


def planned_text(calls: Sequence[PreviewedCall], *, raw: bool = False) -> RenderedText:
    """Return planned requests, call by call; the mark `REQUEST` is where each begins."""
    lines: list[RenderedLine] = []
    marks: list[int] = []
    for number, call in enumerate(calls, 1):
        marks.append(len(lines))
        body = bytes(call.body).decode()
        lines.append(line_of(Span(f"{number}. {printable(call.step)}", "heading")))
        lines.append(line_of(Span(f"POST {printable(call.url)} · {len(body.encode()):,} bytes", "dim")))
        if not call.exact:
            lines.append(line_of(Span("⟨…⟩ replaces a reply yet to come", "bold")))
        lines.extend(line_of(Span(f"! {printable(note)}", "error")) for note in call.notes)
        parts: Iterable[Part] = [("Body", "", body)] if raw else _request_parts(body)
        for part in parts:
            lines.extend(_part_lines(part))
        lines.append(line_of())
    return RenderedText(tuple(lines), {REQUEST: marks})


def tokens_text(call: CallShown | WrittenReply) -> str:
    """Return tokens in and out, as far as they are known: ``812→37``."""
    counts = (call.prompt_tokens, call.completion_tokens)
    return "→".join(NONE if count is None else f"{count:,}" for count in counts)


def _call_head(call: CallShown) -> Iterator[RenderedLine]:
    words = (
        call.model,
        call.profile,
        f"finish {call.finish_reason}" if call.finish_reason else "",
        f"{tokens_text(call)} tokens",
        f"{call.reasoning_tokens:,} of them thoughts" if call.reasoning_tokens else "",
        "" if call.cost is None else dollars(call.cost),
        f"{call.ms:,.0f} ms",
        f"sample {call.sample}" if call.sample else "",
        "reused" if call.reused else "",
        call.created_at[:19].replace("T", " "),
    )
    yield line_of(Span(printable(" · ".join(word for word in words if word)), "dim"))
    if call.origin is not None:
        yield line_of(Span(f"recorded reply, not a live model's: {printable(call.origin)}", "bold"))
    if call.broken_tokens:
        broken = counted(call.broken_tokens, "control token")
        yield line_of(Span(f"{broken} of the texts broken by a thin space", "bold"))


def _request_parts(body: str) -> Iterator[Part]:
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
            yield from map(_message_part, value)
        elif isinstance(value, str | list) and name != _MODEL and len(str(value)) > _SETTING_LENGTH:
            yield f"Request · {name}", "", _content_text(value)
        elif name != _MODEL:
            settings.append(f"{name} {json.dumps(value, ensure_ascii=False)}")
    if settings:
        yield "Request · settings", "dim", " · ".join(settings)


def _message_part(message: Any) -> Part:
    if not isinstance(message, dict):
        return "Request", "", _content_text(message)
    return f"Request · {message.get('role', 'message')}", "", _content_text(message.get("content"))


def _content_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (part.get("text", part) if isinstance(part, dict) else part for part in value)
        return "\n".join(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _response_parts(call: CallShown, raw: bool) -> Iterator[Part]:
    if raw:
        yield "Response", "", call.response
        return
    if call.reasoning:
        yield "Reasoning", "think", call.reasoning
    if call.scores:
        yield "Scores", "", "\n".join(f"{score:g}" for score in call.scores)
    if call.text or not call.scores:
        yield "Reply", "", call.text


def _part_lines(part: Part) -> Iterator[RenderedLine]:
    heading, style, text = part
    yield line_of()
    yield line_of(Span(printable(heading), "heading"))
    if not text:
        yield line_of(Span("empty", "dim"))
    for line in render_raw(text).lines:
        yield line_of(*(span._replace(style=style) for span in line.spans)) if style else line


def line_of(*spans: Span) -> RenderedLine:
    return RenderedLine(spans, (0, 0))
