"""The texts of a card: ends of texts, and both final answers in rendered and raw form."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.app.tui.kit.card_texts import card_texts
from workbench.core.text.document import RenderedText
from workbench.labelling.annotating import AnnotationItem


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
    assert texts.question.excerpt(raw=False).text == "[b]q[/b]"


def numbered(count: int) -> str:
    return "\n".join(f"line {number}" for number in range(count))


def styles(document: RenderedText) -> dict[str, str]:
    """The text of each style of a document."""
    found: dict[str, str] = {}
    for line in document.lines:
        for span in line.spans:
            found[span.style] = found.get(span.style, "") + span.text
    return found


def test_an_excerpt_is_whole_lines_with_their_marks() -> None:
    text = numbered(300) + "\nThe answer is \\boxed{5}."
    views = card_texts(item("q", "5", text)).completion
    for raw in (False, True):
        excerpt = views.excerpt(raw)
        assert excerpt.lines[0].source[0] <= len(text) - 600 < excerpt.lines[1].source[0]
        assert excerpt.marks["answer"] == excerpt.marks["boxed"] == [len(excerpt.lines) - 1]
        assert views.of(raw).marks["answer"] == [300]


def test_an_earlier_answer_is_shown_with_the_end_and_a_gap() -> None:
    text = numbered(100) + "\nSo \\boxed{5}.\n" + numbered(300)
    views = card_texts(item("q", "5", text)).completion
    for raw in (False, True):
        excerpt = views.excerpt(raw)
        shown = [line.text for line in excerpt.lines]
        (gap,) = [number for number, line in enumerate(shown) if line.startswith("⋯")]
        answer = excerpt.lines[excerpt.marks["answer"][0]]
        assert "5" in answer.text
        assert excerpt.marks["answer"][0] < gap
        assert (shown[gap - 1], shown[-1]) != ("line 299", "line 299")
        assert shown[-1] == "line 299"
        before, after = excerpt.lines[gap - 1].source[1], excerpt.lines[gap + 1].source[0]
        assert abs(int(shown[gap].split()[1].replace(",", "")) - (after - before)) <= 2
        assert all(excerpt.lines[at] for places in excerpt.marks.values() for at in places)


def test_a_guess_looks_like_one_in_both_forms() -> None:
    texts = card_texts(item("q", "5", numbered(100) + "\nIt must be **tapi**."))
    for raw in (False, True):
        seen = styles(texts.completion.excerpt(raw))
        assert seen["guess"].endswith("tapi")
        assert "answer" not in seen
        assert texts.final_answer("completion", raw) == "tapi"
        assert texts.completion.excerpt(raw).marks["answer"]
    sure = styles(card_texts(item("q", "5", "The answer is 5.")).completion.excerpt(raw=False))
    assert (sure["answer"], "guess" in sure) == ("5", False)


def test_other_boxes_follow_the_order_of_the_text() -> None:
    texts = card_texts(item("q", "5", "\\boxed{1}\n\\boxed{\\frac{1}{2}}\n\\boxed{5}"))
    assert texts.other_answers("completion", raw=False) == ["1", "1/2"]
    assert texts.other_answers("completion", raw=True) == ["1", "\\frac{1}{2}"]
    assert texts.other_answers("reference", raw=False) == []


def test_thoughts_without_a_reply_are_not_folded_away() -> None:
    thought = card_texts(item("q", "5", "a thought\n</think>\n"))
    assert "a thought" in thought.completion.excerpt(raw=False).text
    reply = card_texts(item("q", "5", "a thought\n</think>\nThe answer is 5."))
    assert "a thought" not in reply.completion.excerpt(raw=False).text


@pytest.mark.real_data
def test_real_items_show_every_answer_that_was_found(real_rows: list[dict[str, Any]]) -> None:
    for row in real_rows:
        texts = card_texts(item(row["question"], str(row["answer"]), row["completion"]))
        for raw in (False, True):
            assert bool(texts.final_answer("reference", raw)) is texts.card.reference.found
            assert bool(texts.final_answer("completion", raw)) is texts.card.completion.found
            for views, found in (
                (texts.reference, texts.card.reference.found),
                (texts.completion, texts.card.completion.found),
            ):
                assert bool(views.excerpt(raw).marks["answer"]) is found


def test_bare_latex_is_rendered_and_exact_on_request() -> None:
    texts = card_texts(item("q", r"120^\circ", "The answer is 120."))
    assert texts.final_answer("reference", raw=False) == "120°"
    assert texts.final_answer("reference", raw=True) == r"120^\circ"
