"""What is known of an item besides its texts, as lines to read: gold, labels, verdicts with their evidence."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.browse import ItemDetail, ItemLabel, ItemVerdict
from workbench.model.label import EXCLUSION_REASONS
from workbench.render.document import RenderedLine, RenderedText, Span, StyleName
from workbench.tui.widgets.item_source import OUTCOME_MARKS

_STYLES: dict[str, StyleName] = {"correct": "answer", "incorrect": "error", "error": "error", "none": "dim"}
_ANSWER = 400
"""Characters of a final answer that are shown."""


def evidence(item: ItemDetail) -> RenderedText:
    """Gold, labels and verdicts of an item."""
    lines = [*_gold(item), *_labels(item), *_verdicts(item)]
    return RenderedText(tuple(RenderedLine(line, (0, 0)) for line in lines), {})


Line = tuple[Span, ...]


def _gold(item: ItemDetail) -> Iterator[Line]:
    origin = f" ({item.gold_from})" if item.gold_from else ""
    imported = f"   imported: {item.imported_gold}" if item.gold_from != "imported" else ""
    yield (Span("Gold", "heading"), Span("  "), _word(item.gold), Span(f"{origin}{imported}"))
    if item.reason:
        yield (Span(f"{item.state}: {_reason(item.reason)}"),)


def _labels(item: ItemDetail) -> Iterator[Line]:
    yield ()
    yield (Span("Labels", "heading"),)
    if not item.labels:
        yield (Span("none", "dim"),)
    for label in item.labels:
        yield from _label(label)


def _label(label: ItemLabel) -> Iterator[Line]:
    kind = "" if label.kind == "label" else f" {label.kind}"
    remarks = [label.created_at[:10], "unsure" if label.unsure else "", "unblinded" if label.unblinded else ""]
    words = " · ".join(word for word in remarks if word)
    reason = f" ({_reason(label.reason)})" if label.reason else ""
    yield (_word(label.value), Span(reason), Span(f" {label.annotator}{kind}  ", "bold"), Span(words, "dim"))
    if label.note:
        yield (Span("  note: ", "dim"), Span(label.note))


def _verdicts(item: ItemDetail) -> Iterator[Line]:
    yield ()
    yield (Span("Verdicts", "heading"),)
    if not item.verdicts:
        yield (Span("none yet", "dim"),)
    for verdict in item.verdicts:
        yield from _verdict(verdict)


def _verdict(verdict: ItemVerdict) -> Iterator[Line]:
    score = "" if verdict.score is None else f"score {verdict.score:g}"
    words = " · ".join(word for word in (verdict.reason, score, f"{verdict.ms:.1f} ms", f"run {verdict.run}") if word)
    yield (_word(verdict.verdict), Span(f" {verdict.verifier}  ", "bold"), Span(words, "dim"))
    if verdict.reference_final is not None or verdict.candidate_final is not None:
        yield (
            Span("  reference ", "dim"),
            Span(_answer(verdict.reference_final), "code"),
            Span("  ·  completion ", "dim"),
            Span(_answer(verdict.candidate_final), "code"),
        )
    if verdict.detail:
        yield (Span("  ", "dim"), Span(verdict.detail))


def _answer(text: str | None) -> str:
    if text is None:
        return "(none found)"
    return text if len(text) <= _ANSWER else text[:_ANSWER] + "…"


def _word(word: str) -> Span:
    mark = OUTCOME_MARKS.get(word, ("•", "dim"))[0]
    return Span(f"{mark} {word}", _STYLES.get(word, "bold"))


def _reason(code: str) -> str:
    return EXCLUSION_REASONS.get(code, code)
