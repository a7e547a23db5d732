"""The final-answer card: question, both final answers, the completion's end; each text can be opened in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.card_texts import Answered, CardTexts
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.wrapping import Wrapped
from workbench.core.text.document import RenderedText
from workbench.labelling.annotating import ABSENCES, HOW, QUIRKS, SHORTCOMINGS, SHOWN, Card, FinalAnswer, Stretch

_SIGN, _GUESS, _NONE = "▶ ", "? ", "∅ "

_NAME_CELLS = 11


WIDE = 100
"""Minimum terminal width at which question and completion are side by side."""

_PASSAGE_ROWS, _ANSWER_ROWS = 4, 6
_QUESTION_ROWS, _COMPLETION_ROWS = 3, 7
"""Rows that question and completion keep when the parts are stacked."""

Opened = Literal["", "question", "reference", "completion", "guidelines"]
"""What is shown over the card: nothing, a text in full, or the guidelines."""


class WholeText(Reader):
    """The reader of a text in full; while it is hidden it has no size, so a jump to a mark waits for its layout."""

    _wanted = ""
    _step = 1

    def go_to(self, mark: str, step: int = 1) -> None:
        self._wanted, self._step = mark, step
        if self.wrap_width:
            self._jump_to_requested_mark()

    def on_resize(self) -> None:
        self.call_later(self._jump_to_requested_mark)

    def _jump_to_requested_mark(self) -> None:
        mark, self._wanted = self._wanted, ""
        if mark and not self.jump(mark, self._step) and mark == "boxed":
            self.notify("No \\boxed here.")


class Excerpt(Reader):
    """A reader of a part of a text; it keeps the final answer visible, or the text's end if there is none."""

    class RowsChanged(Message):
        """The laid-out text now has a different number of rows."""

    _rows = -1

    def show(self, document: RenderedText | Wrapped | None) -> None:
        self._rows = -1
        super().show(document)

    def show_answer(self) -> None:
        if not self.jump("answer"):
            self.action_bottom()

    def on_resize(self) -> None:
        """Scroll again: the card's parts are laid out one after another, and each new height may hide the answer."""
        self.call_later(self.show_answer)

    def _set_wrapped(self, wrapped: Wrapped | None) -> None:
        super()._set_wrapped(wrapped)
        if wrapped is not None and self.row_count != self._rows:
            self._rows = self.row_count
            self.post_message(self.RowsChanged())


class FinalAnswerCard(Container):
    """Shows one item at a time; it knows no annotation session and stores nothing.

    Attributes:
        raw: Whether texts are shown exactly instead of rendered.
        opened: The part shown in full; "" if none is.
        texts: The shown item; None if there is none.
        seen: ``card`` and the parts opened since the item appeared; together with ``forms`` (rendered, raw) they are
            the `view` that is stored with a label.
    """

    DEFAULT_CSS = """
    FinalAnswerCard { height: 1fr; layout: vertical; }
    FinalAnswerCard #card-body { height: 1fr; layout: vertical; }
    FinalAnswerCard #card-over { height: 1fr; display: none; }
    FinalAnswerCard.opened #card-over { display: block; }
    FinalAnswerCard.opened #card-body { display: none; }
    FinalAnswerCard Reader { border-top: solid $primary-muted; border-title-color: $text-muted; }
    FinalAnswerCard Reader:focus { border-top: solid $primary; border-title-color: $foreground; }
    FinalAnswerCard #card-question { height: 6; }
    FinalAnswerCard #card-answers {
        height: auto;
        padding: 0 1;
        background: $surface;
        border-top: solid $primary-muted;
        border-title-color: $text-muted;
    }
    FinalAnswerCard .answer { height: auto; max-height: 6; }
    FinalAnswerCard #card-passage { border: none; padding-left: 0; height: 0; }
    FinalAnswerCard #card-warning { height: auto; color: $text-warning; display: none; }
    FinalAnswerCard #card-warning.short { display: block; }
    FinalAnswerCard #card-right { height: 1fr; }
    FinalAnswerCard #card-completion { height: 1fr; min-height: 3; }
    FinalAnswerCard.wide #card-body { layout: horizontal; }
    FinalAnswerCard.wide #card-question { width: 2fr; height: 1fr; }
    FinalAnswerCard.wide #card-right { width: 3fr; }
    """
    raw: reactive[bool] = reactive(False)
    opened: reactive[Opened] = reactive("")

    def __init__(self, guidelines: str, *, desk: str = "annotate") -> None:
        super().__init__()
        self._guidelines = guidelines
        self.desk = desk
        self.texts: CardTexts | None = None
        self.seen: list[str] = ["card"]
        self.forms: list[str] = ["rendered"]

    def compose(self) -> ComposeResult:
        with Container(id="card-body"):
            yield Excerpt(title="Question", id="card-question")
            with Vertical(id="card-right"):
                with Vertical(id="card-answers") as answers:
                    answers.border_title = "Final answers"
                    yield Static(id="card-reference-answer", classes="answer", markup=False)
                    passage = Excerpt(id="card-passage")
                    passage.can_focus = False
                    yield passage
                    yield Static(id="card-completion-answer", classes="answer", markup=False)
                    yield Static(id="card-warning", markup=False)
                yield Excerpt(title="Completion", id="card-completion")
        with Vertical(id="card-over"):
            yield WholeText(id="card-full")

    @property
    def view(self) -> str:
        """Return what the annotator has seen of the item, as stored with a label: ``card+completion rendered``."""
        return f"{'+'.join(self.seen)} {'+'.join(self.forms)}"

    def on_resize(self) -> None:
        self.set_class(self.app.size.width >= WIDE, "wide")
        self._fit_heights()

    # -- one item ----------------------------------------------------------------------------------

    def show(self, texts: CardTexts | None) -> None:
        self.texts = texts
        self.seen, self.forms = ["card"], ["raw" if self.raw else "rendered"]
        self.opened = ""
        self.end_find()
        self._draw()

    def set_guidelines(self, guidelines: str) -> None:
        self._guidelines = guidelines
        if self.opened == "guidelines":
            self._show_full()

    def _draw(self) -> None:
        texts = self.texts
        question = self.query_one("#card-question", Reader)
        completion = self.query_one("#card-completion", Reader)
        question.show(None if texts is None else texts.question.excerpt(self.raw))
        completion.show(None if texts is None else texts.completion.excerpt(self.raw))
        if texts is not None:
            item = texts.item
            question.set_title(self._title("Question", item.question_text, texts.question.windows))
            title = self._title("Completion", item.completion_text, texts.completion.windows)
            completion.set_title(" · ".join([title, *(QUIRKS[quirk] for quirk in texts.card.quirks)]))
        self._draw_answers(texts)
        self._fit_heights()
        self.call_after_refresh(self._show_answers)

    def _title(self, name: str, text: str, windows: Sequence[Stretch]) -> str:
        form = " · raw" if self.raw else ""
        shown = sum(end - start for start, end in windows)
        if shown >= len(text):
            return f"{name}{form}"
        which = f"last {shown:,}" if len(windows) == 1 else f"answer and end, {shown:,}"
        return f"{name} · {which} of {len(text):,} characters{form} · {key_of(f'{self.desk}.{name.lower()}')} all"

    def _draw_answers(self, texts: CardTexts | None) -> None:
        raw, missing = self.raw, "" if texts is None else warning(texts.card, self.desk)
        unsure = texts is not None and texts.card.passage is not None
        passage, line = self.query_one("#card-passage", Reader), self.query_one("#card-warning", Static)
        passage.show(texts.reference.excerpt(raw) if texts is not None and unsure else None)
        self.query_one("#card-reference-answer", Static).update("" if texts is None else reference_row(texts, raw))
        self.query_one("#card-completion-answer", Static).update("" if texts is None else completion_row(texts, raw))
        line.update(missing)
        line.set_class(bool(missing), "short")

    def _fit_heights(self) -> None:
        passage, question = (self.query_one(f"#card-{name}", Reader) for name in ("passage", "question"))
        passage_rows = min(passage.row_count, _PASSAGE_ROWS)
        passage.styles.height = passage_rows
        if self.has_class("wide"):
            question.styles.height = None
            return
        width, warned = max(1, self.size.width - 2), self.query_one("#card-warning", Static)
        rows = sum(min(_ANSWER_ROWS, one.visual.get_height({}, width)) for one in self.query(".answer").results(Static))
        rows += passage_rows + (warned.visual.get_height({}, width) if warned.has_class("short") else 0)
        free = self.size.height - rows - _COMPLETION_ROWS - 3  # the titles of three panes
        most = max(_QUESTION_ROWS, min(self.size.height // 3, free))
        question.styles.height = 1 + max(1, min(question.row_count, most))

    @on(Excerpt.RowsChanged)
    def _excerpt_laid_out(self, event: Excerpt.RowsChanged) -> None:
        event.stop()
        if not self.opened:
            self._fit_heights()

    def _show_answers(self) -> None:
        for excerpt in self.query(Excerpt):
            excerpt.show_answer()

    # -- whole texts -------------------------------------------------------------------------------

    @property
    def full(self) -> WholeText:
        return self.query_one("#card-full", WholeText)

    def open(self, part: Opened) -> None:
        if self.texts is None and part != "guidelines":
            return
        self.opened = "" if part == self.opened else part

    def watch_opened(self, opened: Opened) -> None:
        self.set_class(bool(opened), "opened")
        self.end_find()
        if not opened:
            if self.is_attached:
                self.query_one("#card-completion", Reader).focus()
            return
        if opened != "guidelines":
            self.seen = [*dict.fromkeys((*self.seen, opened))]
        self._show_full()
        self.full.focus()

    def _show_full(self) -> None:
        from workbench.core.text.markdown import render

        if self.opened == "guidelines":
            self.full.set_title("Guidelines")
            self.full.show(render(self._guidelines))
        elif self.opened and self.texts is not None:
            self.full.set_title(f"{self.opened.capitalize()} · {'raw' if self.raw else 'rendered'}")
            self.full.show(self.texts.whole(self.opened).of(self.raw))
            if self.opened != "question":
                self.full.go_to("answer")

    def watch_raw(self, raw: bool) -> None:
        if not self.is_attached:
            return
        self.forms = [*dict.fromkeys((*self.forms, "raw" if raw else "rendered"))]
        self._draw()
        if self.opened:
            self._show_full()

    def go_on(self, step: int) -> None:
        if self.full.hits:
            self.full.find_next(step)
            return
        if self.opened not in ("reference", "completion"):
            self.open("completion")
        if self.opened:
            self.full.go_to("boxed", step)

    # -- finding -----------------------------------------------------------------------------------

    def find(self) -> None:
        if not self.opened:
            self.open("completion")
        if self.opened:
            self.full.ask_text()

    def end_find(self) -> bool:
        """End the search in the whole text; return False if there is none."""
        found = self.full.hits
        self.full.find("")
        return bool(found)


def reference_row(texts: CardTexts, raw: bool) -> Content:
    card = texts.card
    if not card.reference.found:
        return _missing_answer_row("Reference", HOW["none"], " · it ends:")
    return _answer_row("Reference", texts, "reference", card.reference, raw, guess=card.reference_guessed)


def completion_row(texts: CardTexts, raw: bool) -> Content:
    """Return the completion's final answer and its distance from the end, or why there is none."""
    card = texts.card
    if card.absence is not None:
        below = "" if card.absence == "empty" else " · its end is below"
        return _missing_answer_row("Completion", f"no final answer: {ABSENCES[card.absence]}", below)
    early = len(texts.item.completion_text) - card.completion.start if len(card.windows) > 1 else 0
    return _answer_row(
        "Completion", texts, "completion", card.completion, raw, guess=card.completion_guessed, early=early
    )


def warning(card: Card, desk: str) -> str:
    """Return which text must be opened because the card is not enough, and why; "" if it is enough."""
    found = (SHORTCOMINGS[shortcoming] for shortcoming in card.shortcomings)
    return "\n".join(f"! {why}: {key_of(f'{desk}.{text}')} opens it" for why, text in found)


def _answer_row(
    name: str, texts: CardTexts, part: Answered, answer: FinalAnswer, raw: bool, *, guess: bool, early: int = 0
) -> Content:
    how = f"a guess: {HOW[answer.how]}" if guess else HOW[answer.how]
    if early:
        how += f", {early:,} characters before the end"
    colour = "$text-warning" if guess else "$text-accent"
    sign, shown = (_GUESS if guess else _SIGN), _shorten(texts.final_answer(part, raw))
    others = _shorten(" · ".join(texts.other_answers(part, raw)))
    return Content.assemble(
        (f"{name:<{_NAME_CELLS}}", "bold"),
        (sign, f"bold {colour}"),
        (shown, colour if guess else "bold"),
        (f"  ({how})", colour if guess else "$text-muted"),
        *(("\n" + " " * _NAME_CELLS, ("also boxed: ", "$text-muted"), others) if others else ()),
    )


def _shorten(shown: str) -> str:
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def _missing_answer_row(name: str, what: str, then: str) -> Content:
    return Content.assemble((f"{name:<{_NAME_CELLS}}", "bold"), (f"{_NONE}{what}", "$text-warning"), then)
