"""The final-answer card: both answers visible, guesses marked as such, boxes in both directions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.stage import ONE_SIZE, until
from workbench.app.tui.kit.card import FinalAnswerCard
from workbench.app.tui.kit.card_texts import Answered, CardTexts, card_texts
from workbench.app.tui.kit.reader import Reader
from workbench.labelling.annotating import AnnotationItem

PLAIN = "".join(f"Line {number} of the reasoning ends like this.\n" for number in range(30))
PARTS: tuple[Answered, Answered] = ("reference", "completion")


def made(question: str, reference: str, completion: str) -> CardTexts:
    return card_texts(
        AnnotationItem(
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
    )


class CardApp(App[None]):
    """A card and rows above and below it, as on a screen."""

    CSS = "Static.edge { height: 1; }"

    def compose(self) -> ComposeResult:
        yield Static("title", classes="edge")
        yield FinalAnswerCard("guidelines")
        yield Static("footer", classes="edge")


class Hand:
    """The card on the screen."""

    def __init__(self, app: CardApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot
        self.card = app.query_one(FinalAnswerCard)

    def reader(self, name: str) -> Reader:
        return self.card.query_one(f"#{name}", Reader)

    def row(self, name: str) -> str:
        """Return the row of a final answer."""
        return str(self.card.query_one(f"#card-{name}-answer", Static).content)

    def text(self, name: str = "") -> str:
        """Return everything on the terminal, or within one widget."""
        region = self.card.query_one(f"#{name}").region if name else self.app.screen.region
        lines = self.app.screen._compositor.render_strips()[region.y : region.bottom]
        return "\n".join("".join(segment.text for segment in line) for line in lines)

    async def sees(self, words: str, name: str = "") -> None:
        await until(self.pilot, lambda: words in " ".join(self.text(name).split()))


@asynccontextmanager
async def showing(texts: CardTexts, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Hand]:
    app = CardApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        hand = Hand(app, pilot)
        hand.card.show(texts)
        await pilot.pause()
        yield hand


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_answer_before_the_end_is_shown_in_its_place(size: tuple[int, int]) -> None:
    async with showing(made("q", "42", PLAIN + "So it is \\boxed{42}.\n" + PLAIN), size) as it:
        assert "characters before the end" in it.row("completion")
        assert "answer and end" in str(it.reader("card-completion").border_title)
        await it.sees("So it is ▌42▐", "card-completion")
        it.reader("card-completion").action_bottom()
        await it.sees("Line 29 of the reasoning", "card-completion")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_guess_is_marked_and_shown_with_its_lines(size: tuple[int, int]) -> None:
    async with showing(made("q", PLAIN + "In all it is 7 boxes.", PLAIN + "It must be **tapi**."), size) as it:
        assert "? 7  (a guess: last number)" in it.row("reference")
        assert "? tapi  (a guess: bold in the last line)" in it.row("completion")
        await it.sees("? In all it is 7 boxes.", "card-passage")
        await it.sees("? It must be tapi.", "card-completion")


async def test_certain_reference_has_no_passage() -> None:
    async with showing(made("q", PLAIN + "In all it is 7 boxes.", "The answer is 7.")) as it:
        await until(it.pilot, lambda: it.reader("card-passage").size.height == 4)
        it.card.show(made("q", "7", "The answer is 7."))
        await until(it.pilot, lambda: it.reader("card-passage").size.height == 0)
        assert it.row("reference") == "Reference  ▶ 7  (whole text)"


async def test_several_boxes_are_listed_with_the_end_of_the_reference() -> None:
    texts = made("q", "(1) \\boxed{1}\n\n(2) \\boxed{2}, as shown.", "(1) \\boxed{3}\n\n(2) \\boxed{2}")
    async with showing(texts) as it:
        assert it.row("reference").split("\n") == ["Reference  ▶ ▌2▐  (last \\boxed)", "           also boxed: 1"]
        assert "also boxed: 3" in it.row("completion")
        await it.sees("as shown.", "card-passage")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (PLAIN + "Then we look at the next of these, which", "no final answer: it breaks off"),
        ("Again the very same line.\n" * 40, "no final answer: it goes round in circles"),
        (PLAIN + "I would rather ask somebody who knows more. " * 9, "no final answer: it states none"),
        ("All of it is thought.\n</think>\n", "no final answer: nothing behind its thoughts"),
    ],
)
async def test_completion_without_an_answer_says_why_and_shows_its_end(completion: str, expected: str) -> None:
    async with showing(made("q", "42", completion)) as it:
        assert expected in it.row("completion")
        last = completion.removesuffix("</think>\n").strip()[-20:].strip()
        await it.sees(last, "card-completion")


@pytest.mark.soak
async def test_boxes_are_visited_in_both_directions() -> None:
    completion = "".join(f"\\boxed{{{number}}}\n" + PLAIN for number in range(3))
    async with showing(made("q", "2", completion)) as it:
        full = it.card.full
        it.card.go_on(-1)
        await until(it.pilot, lambda: full._jump == ("boxed", 3))
        it.card.go_on(-1)
        await until(it.pilot, lambda: full._jump == ("boxed", 2))
        it.card.go_on(1)
        await until(it.pilot, lambda: full._jump == ("boxed", 3))
        it.card.go_on(1)
        await until(it.pilot, lambda: full._jump == ("boxed", 1))


async def test_texts_are_never_markup() -> None:
    hostile = "[bold]x[/] [/] [red"
    async with showing(made(hostile, hostile, PLAIN + f"It must be **{hostile}**.")) as it:
        assert hostile in it.row("reference")
        assert hostile in it.row("completion")


@pytest.mark.real_data
async def test_both_real_answers_are_visible_without_a_key(real_rows: list[dict[str, Any]]) -> None:
    """Every ninth card on the smallest terminal."""
    app = CardApp()
    async with app.run_test(size=(80, 24)) as pilot:
        it = Hand(app, pilot)
        for row in real_rows[::9]:
            texts = made(row["question"], str(row["answer"]), row["completion"])
            it.card.show(texts)
            reference, completion = (bare(texts.final_answer(part, raw=False)) for part in PARTS)
            await until(pilot, partial(within, it, reference, "card-answers"))
            await until(pilot, partial(within, it, completion, "card-answers"))
            await until(pilot, partial(within, it, completion, "card-completion"))


def within(it: Hand, expected: str, name: str) -> bool:
    return expected in bare(it.text(name))


def bare(text: str) -> str:
    """Return a text without blanks and scrollbars."""
    return "".join(one for one in text if one.strip() and one not in "▁▂▃▄▅▆▇█▶?")


async def test_smaller_pane_keeps_the_answer_visible() -> None:
    async with showing(made("q", "42", PLAIN + "So it is \\boxed{42}.")) as it:
        await it.sees("So it is ▌42▐", "card-completion")
        it.reader("card-completion").styles.height = 5
        await until(it.pilot, lambda: it.reader("card-completion").size.height == 4)
        await it.sees("So it is ▌42▐", "card-completion")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("reference", "completion", "expected"),
    [
        ("\\boxed{1}\n\\boxed{2}", r"\boxed{2}", "! the reference has more boxes than the completion: C opens it"),
        (PLAIN + "and so on, " * 60, r"\boxed{2}", "! the answer has to be looked for in the reference: R opens it"),
        ("42", "The answer is 42. " + PLAIN * 3, "! the answer is long before the completion's end: C opens it"),
        ("42", "</think>The answer is 42 and " + "so on " * 9, ""),
    ],
)
async def test_card_warns_exactly_where_it_is_insufficient(reference: str, completion: str, expected: str) -> None:
    async with showing(made("q", reference, completion)) as it:
        assert str(it.card.query_one("#card-warning", Static).content) == expected
        assert it.card.query_one("#card-warning").display is bool(expected)
        if not expected:
            title = str(it.reader("card-completion").border_title)
            assert title.endswith("</think> without <think> · no closing punctuation")
