"""What a card shows: the ends of texts, both final answers in their rendered and exact forms."""

from __future__ import annotations

from typing import Any

from workbench.services.labelling.annotating import AnnotationItem
from workbench.tui.widgets.card_texts import card_texts


def item(question: str, reference: str, completion: str) -> AnnotationItem:
    return AnnotationItem(
        completion=1,
        question=1,
        dataset="d",
        completion_id="c",
        question_id="q",
        question_text=question,
        reference=reference,
        completion_text=completion,
        content_hash=b"",
        asks_type=False,
        types_labelled=False,
    )


def test_final_answers_are_rendered_and_exact() -> None:
    texts = card_texts(item("q", r"It is \boxed{\frac{1}{2}}.", r"So it is \boxed{\frac{2}{4}}."))
    assert "1/2" in texts.final_answer("reference", raw=False)
    assert texts.final_answer("reference", raw=True) == r"\frac{1}{2}"
    assert texts.final_answer("completion", raw=True) == r"\frac{2}{4}"


def test_an_answer_that_looks_like_markup_stays_as_it_is() -> None:
    texts = card_texts(item("[b]q[/b]", "[/red]", "The answer is [bold]7[/]."))
    assert texts.final_answer("reference", raw=False) == "[/red]"
    assert texts.question.end(raw=False).text == "[b]q[/b]"


def test_the_end_of_a_text_is_whole_lines_with_their_marks() -> None:
    text = "\n".join(f"line {number}" for number in range(300)) + "\nThe answer is \\boxed{5}."
    views = card_texts(item("q", "5", text)).completion
    for raw in (False, True):
        end = views.end(raw)
        assert end.lines[0].source[0] <= len(text) - 600 < end.lines[1].source[0]
        assert end.marks["answer"] == [len(end.lines) - 1]
        assert views.of(raw).marks["answer"] == [300]


def test_real_items_show_every_answer_that_was_found(real_rows: list[dict[str, Any]]) -> None:
    for row in real_rows:
        texts = card_texts(item(row["question"], str(row["answer"]), row["completion"]))
        for raw in (False, True):
            assert bool(texts.final_answer("reference", raw)) is texts.card.reference.found
            assert bool(texts.final_answer("completion", raw)) is texts.card.completion.found
        if texts.card.answer_in_tail is not None:
            assert texts.completion.end(raw=False).marks["answer"]
            assert texts.completion.end(raw=True).marks["answer"]


def test_bare_latex_is_rendered_and_exact_on_request() -> None:
    texts = card_texts(item("q", r"120^\circ", "The answer is 120."))
    assert texts.final_answer("reference", raw=False) == "120°"
    assert texts.final_answer("reference", raw=True) == r"120^\circ"
