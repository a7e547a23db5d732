"""The final-answer card: question, both final answers, the completion's end; any text opens in full."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input, Static

from workbench.render.document import RenderedText
from workbench.services.labelling.cards import HOW, QUIRKS
from workbench.tui.widgets.card_texts import CardTexts
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.reader import Reader
from workbench.tui.widgets.reader_messages import SearchChanged

WIDE = 100
"""Terminal columns from which the question stands beside the completion."""

_ANSWER_CHARACTERS = 400
_END_LINES, _END_CHARACTERS = 5, 340
_NARROW_QUESTION_ROWS = 5

Opened = Literal["", "question", "reference", "completion", "guidelines"]
"""What fills the card's place: nothing, a text in full, or the guidelines."""


class WholeText(Reader):
    """A reader that has no size while it is hidden; it goes to a place as soon as it has one."""

    _wanted = ""

    def go_to(self, mark: str) -> None:
        """Go to the next place with this mark, now or when the text has been laid out."""
        self._wanted = mark
        if self.wrap_width:
            self._go()

    def on_resize(self) -> None:
        """The text is laid out next."""
        self.call_later(self._go)

    def _go(self) -> None:
        mark, self._wanted = self._wanted, ""
        if mark and not self.jump(mark) and mark == "boxed":
            self.notify("No \\boxed here.", markup=False)


class FinalAnswerCard(Container):
    """Shows one item at a time; it knows no session and stores nothing.

    Attributes:
        raw: Whether texts are shown exactly instead of rendered.
        opened: The text shown in full.
        seen: What has been open since the item came: ``card`` and parts; with ``forms`` the view a label stores.
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
    FinalAnswerCard #card-quirks { height: auto; color: $text-warning; display: none; }
    FinalAnswerCard #card-quirks.odd { display: block; }
    FinalAnswerCard #card-right { height: 1fr; }
    FinalAnswerCard #card-completion { height: 1fr; min-height: 3; }
    FinalAnswerCard.wide #card-body { layout: horizontal; }
    FinalAnswerCard.wide #card-question { width: 2fr; height: 1fr; }
    FinalAnswerCard.wide #card-right { width: 3fr; }
    FinalAnswerCard #card-find { display: none; height: 1; border: none; padding: 0 1; }
    FinalAnswerCard #card-find.open { display: block; }
    """
    AUTO_FOCUS: ClassVar[str] = "#card-completion"

    raw: reactive[bool] = reactive(False)
    opened: reactive[Opened] = reactive("")

    def __init__(self, guidelines: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._guidelines = guidelines
        self._texts: CardTexts | None = None
        self.seen: list[str] = ["card"]
        self.forms: list[str] = ["rendered"]

    def compose(self) -> ComposeResult:
        """Lay out."""
        with Container(id="card-body"):
            yield Reader(title="Question", id="card-question")
            with Vertical(id="card-right"):
                with Vertical(id="card-answers") as answers:
                    answers.border_title = "Final answers"
                    yield Static(id="card-reference-answer", classes="answer", markup=False)
                    yield Static(id="card-completion-answer", classes="answer", markup=False)
                    yield Static(id="card-quirks", markup=False)
                yield Reader(title="Completion", id="card-completion")
        with Vertical(id="card-over"):
            yield WholeText(id="card-full")
            yield Input(placeholder="find: enter goes on, escape ends", id="card-find", compact=True)

    @property
    def view(self) -> str:
        """What a label stores of how the item was looked at, such as ``card+completion rendered``."""
        return f"{'+'.join(self.seen)} {'+'.join(self.forms)}"

    def on_resize(self) -> None:
        """Stack the parts where the terminal is narrow."""
        self.set_class(self.app.size.width >= WIDE, "wide")
        self._fit_question()

    # -- one item ----------------------------------------------------------------------------------

    def show(self, texts: CardTexts | None) -> None:
        """Show an item from its card; None leaves the card empty."""
        self._texts = texts
        self.seen, self.forms = ["card"], ["raw" if self.raw else "rendered"]
        self.opened = ""
        self.end_find()
        self._draw()

    def _draw(self) -> None:
        texts = self._texts
        question = self.query_one("#card-question", Reader)
        completion = self.query_one("#card-completion", Reader)
        question.show(None if texts is None else texts.question.end(self.raw))
        completion.show(None if texts is None else texts.completion.end(self.raw))
        reference_answer = self.query_one("#card-reference-answer", Static)
        completion_answer = self.query_one("#card-completion-answer", Static)
        quirks = self.query_one("#card-quirks", Static)
        if texts is None:
            reference_answer.update("")
            completion_answer.update("")
            quirks.set_class(False, "odd")
            return
        card, item = texts.card, texts.item
        question.set_title(_title("Question", "o", item.question_text, len(card.question), self.raw))
        completion.set_title(_title("Completion", "w", item.completion_text, len(card.completion_tail), self.raw))
        reference_answer.update(_reference_line(texts, self.raw))
        completion_answer.update(_completion_line(texts, self.raw))
        quirks.update("! " + " · ".join(QUIRKS[quirk] for quirk in card.quirks))
        quirks.set_class(bool(card.quirks), "odd")
        self._fit_question()
        self.call_after_refresh(self._go_to_ends)

    def _fit_question(self) -> None:
        """Where the parts are stacked, a short question takes no more rows than it has."""
        question = self.query_one("#card-question", Reader)
        if self.has_class("wide"):
            question.styles.height = None
            return
        most = max(_NARROW_QUESTION_ROWS, self.size.height // 3)
        question.styles.height = 1 + max(1, min(question.row_count, most))

    def _go_to_ends(self) -> None:
        """The ends of both texts in sight; of the completion rather its final answer, when both do not fit."""
        self.query_one("#card-question", Reader).action_bottom()
        completion = self.query_one("#card-completion", Reader)
        if not completion.jump("answer"):
            completion.action_bottom()

    # -- whole texts -------------------------------------------------------------------------------

    @property
    def full(self) -> WholeText:
        """The reader of whole texts."""
        return self.query_one("#card-full", WholeText)

    def open(self, part: Opened) -> None:
        """Open a text in full; the one that is open already closes."""
        if self._texts is None and part != "guidelines":
            return
        self.opened = "" if part == self.opened else part

    def watch_opened(self, opened: Opened) -> None:
        """Put the text in the card's place, or the card back."""
        self.set_class(bool(opened), "opened")
        self.end_find()
        if not opened:
            if self.is_attached:
                self.query_one("#card-completion", Reader).focus()
            return
        if opened != "guidelines":
            self._note(self.seen, opened)
        self._show_full()
        self.full.focus()

    def _show_full(self) -> None:
        document, title = self._full_document()
        self.full.set_title(title)
        self.full.show(document)
        if self.opened in ("reference", "completion"):
            self.full.go_to("answer")

    def _full_document(self) -> tuple[RenderedText | None, str]:
        if self.opened == "guidelines":
            from workbench.render.text import render

            return render(self._guidelines), "Guidelines · escape closes"
        if self._texts is None or not self.opened:
            return None, ""
        text = self._texts.whole(self.opened)
        form = "raw" if self.raw else "rendered"
        return text.of(self.raw), f"{self.opened.capitalize()} · {form} · escape closes"

    def toggle_raw(self) -> None:
        """Change between the rendered and the exact form."""
        self.raw = not self.raw

    def watch_raw(self, raw: bool) -> None:
        """Draw in the other form."""
        if not self.is_attached:
            return
        self._note(self.forms, "raw" if raw else "rendered")
        self._draw()
        if self.opened:
            self._show_full()

    def next_boxed(self) -> None:
        """Open the completion and go to its next box."""
        if self.opened not in ("reference", "completion"):
            self.open("completion")
        if self.opened:
            self.full.go_to("boxed")

    @staticmethod
    def _note(seen: list[str], what: str) -> None:
        if what not in seen:
            seen.append(what)

    # -- finding -----------------------------------------------------------------------------------

    def find(self) -> None:
        """Ask what to look for; the completion opens when nothing is open."""
        if not self.opened:
            self.open("completion")
        if self.opened:
            box = self.query_one("#card-find", Input)
            box.add_class("open")
            box.focus()

    def end_find(self) -> bool:
        """Close the search; False when there was none."""
        box = self.query_one("#card-find", Input)
        if not box.has_class("open"):
            return False
        box.remove_class("open")
        box.clear()
        self.full.find("")
        self.full.focus()
        return True

    @on(Input.Changed, "#card-find")
    def _find_text(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.has_class("open"):
            self.full.find(event.value)

    @on(Input.Submitted, "#card-find")
    def _find_next(self, event: Input.Submitted) -> None:
        event.stop()
        self.full.find_next()

    @on(Reader.SearchChanged, "#card-full")
    def _search_changed(self, event: SearchChanged) -> None:
        event.stop()
        self.full.border_subtitle = f"{event.number} of {event.total}" if event.query else ""


def _title(name: str, key: str, text: str, shown: int, raw: bool) -> str:
    form = " · raw" if raw else ""
    if shown >= len(text):
        return f"{name}{form}"
    return f"{name} · last {shown} of {len(text):,} characters{form} · {key} all"


def _reference_line(texts: CardTexts, raw: bool) -> Content:
    answer = texts.card.reference
    if not answer.found:
        end = [line for line in texts.card.reference_tail.splitlines() if line.strip()][-_END_LINES:]
        return _missing("Reference", "it ends:\n" + "\n".join(map(printable, end))[-_END_CHARACTERS:])
    return _found("Reference", HOW[answer.how], texts.final_answer("reference", raw))


def _completion_line(texts: CardTexts, raw: bool) -> Content:
    answer = texts.card.completion
    if not answer.found:
        return _missing("Completion", "read its last lines below")
    how = HOW[answer.how]
    if texts.card.answer_in_tail is None:
        how += f", {len(texts.item.completion_text) - answer.start:,} characters before the end"
    return _found("Completion", how, texts.final_answer("completion", raw))


def _found(name: str, how: str, answer: str) -> Content:
    shown = answer if len(answer) <= _ANSWER_CHARACTERS else f"{answer[:_ANSWER_CHARACTERS]}…"
    return Content.assemble(
        (f"{name:<10} ", "bold"), ("▶ ", "bold $text-accent"), (shown, "bold"), (f"  ({how})", "$text-muted")
    )


def _missing(name: str, instead: str) -> Content:
    return Content.assemble((f"{name:<10} ", "bold"), (f"∅ {HOW['none']}", "$text-warning"), f" · {instead}")
