"""Annotate: one item at a time on its final-answer card; one key labels it and shows the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from msgspec import structs
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.item_flow import ItemFlow, Marks
from workbench.app.tui.judging import card_actions
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card import FinalAnswerCard
from workbench.app.tui.kit.card_texts import CardTexts, contradiction_menu, resolve_contradiction
from workbench.app.tui.kit.choices import BoxScreen, Choice, ChoiceMenu, choose
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.prompt_bar import NoteInput
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar, flag_words, label_line
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.pace import pace_parts
from workbench.app.tui.person import person_action
from workbench.app.tui.screen import LOG
from workbench.core.errors import WorkbenchError
from workbench.core.label import FAST_MS, LabelVerdict
from workbench.core.project import Project
from workbench.core.text.figures import time_to_minute
from workbench.labelling.annotating import GUIDELINES, AnnotationItem, AnnotationSession, Answer, OwnAnswer, Progress
from workbench.labelling.answers import contradictions


class AnswersBox(BoxScreen[int | None]):
    """The coordinator's answers to the person's flags, newest first; returns the row id of the chosen item."""

    DEFAULT_CSS = "AnswersBox OptionList { width: 100; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,d", "dismiss", "Close")]

    def __init__(self, answers: Sequence[OwnAnswer]) -> None:
        super().__init__()
        self._answers = list(reversed(answers))

    def compose(self) -> ComposeResult:
        listing = OptionList(*(Option(_answer_lines(answer)) for answer in self._answers), markup=False)
        listing.border_title = Content("The coordinator's answers")
        listing.border_subtitle = Content("enter: open the item · escape: close")
        yield listing

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].completion)


ANNOTATE_ACTIONS: tuple[Action, ...] = (
    Action("annotate.correct", "1", "label('correct')", "Correct", "Label the final answer as correct."),
    Action("annotate.incorrect", "0", "label('incorrect')", "Incorrect", "Label the final answer as incorrect."),
    Action(
        "annotate.unsuitable", "x", "unsuitable", "Unsuitable", "Label the item as unsuitable; asks for the reason."
    ),
    Action("annotate.type", "t", "type", "Type", "Give the answer type: then a letter and a number."),
    Action("annotate.unsure", "u", "unsure", "Unsure", "Mark the label as unsure, or not.", False),
    Action("annotate.tag", "m", "tag", "Mark", "Add marks to the verdict, such as wrong reasoning.", False),
    Action(
        "annotate.partial", "percent_sign", "partial", "Partial", "Give the share of the answer that is right.", False
    ),
    Action("annotate.undo", "z", "undo", "Undo", "Retract the last label, or undo the last skip."),
    Action("annotate.skip", "l", "skip", "Skip", "Skip the item; it comes again at the end."),
    Action("annotate.note", "c", "note", "Note", "Write a note; it is kept as a draft.", False),
    Action(
        "annotate.flag", "exclamation_mark", "flag", "Flag", "Flag the item for the coordinator, or unflag it.", False
    ),
    Action("annotate.answers", "d", "answers", "Answers", "Read the coordinator's answers to your flags.", False),
    Action(
        "annotate.older",
        "left_square_bracket",
        "older",
        "Older",
        "Go back to the item you labelled before this one.",
        False,
    ),
    Action(
        "annotate.newer",
        "right_square_bracket",
        "newer",
        "Newer",
        "Go to the item you labelled after this one, or the queue.",
        False,
    ),
    Action("annotate.auto", "ampersand", "auto", "Auto-advance", "Turn auto-advance after a label on or off.", False),
    person_action("annotate"),
    *card_actions("annotate"),
)


PARTIAL_SCORES: dict[float, str] = {
    0.0: "nothing (0)",
    0.25: "a quarter (0.25)",
    0.5: "half (0.5)",
    0.75: "three quarters (0.75)",
    1.0: "all (1)",
}
"""Partial score -> its text."""


_ASK = "What should the coordinator know? Enter alone only flags the item"


class Queued(NamedTuple):
    """An answer that waits until the previous one is stored, and the time of its key press."""

    answer: Answer
    pressed_at: float | None


class AnnotateScreen(ItemFlow):
    """The labelling screen; it shows only question, reference and completion, no gold, labels or verdicts."""

    CSS_PATH = "annotate.tcss"
    TITLE_TEXT = "Annotate"
    ACTIONS: ClassVar[tuple[Action, ...]] = ANNOTATE_ACTIONS
    OF_ITEM: ClassVar[frozenset[str]] = ItemFlow.OF_ITEM | {
        *("label", "unsuitable", "type", "unsure", "tag", "partial", "skip", "note", "flag")
    }

    def __init__(self, completion: int | None = None) -> None:
        super().__init__(completion)
        self._storing = Answer()
        self._queued: Queued | None = None
        self._puts_off = False
        self._typed: int | None = None
        self._auto = True

    def content(self) -> ComposeResult:
        yield FinalAnswerCard(GUIDELINES)
        yield Static(id="annotate-empty", markup=False)
        yield Static(id="annotate-own", markup=False)

    # -- labelling ---------------------------------------------------------------------------------

    def _submit(self, answer: Answer, *, stay: bool = False, pressed_at: float | None = None) -> None:
        if self._desk is None or self._current is None:
            return
        self.leave(pressed_at)
        elapsed = self._stopwatch.elapsed()
        answer = structs.replace(answer, wait_ms=self._wait_ms, view=self.card.view, **elapsed._asdict())
        self._storing = answer
        work = partial(self._desk.submit, self._current.item, answer)
        self.store(work, partial(self._finish_submit, self._current, answer, stay))

    def _finish_submit(self, texts: CardTexts, answer: Answer, stay: bool, stored: list[str]) -> None:
        self._storing = Answer()
        if answer.subtype is not None:
            self.set_known_type(texts.item.question, answer.subtype)
        self._record_label(texts.item, answer)
        self._current = texts._replace(item=_resolve_selected(texts.item, answer))
        said = _saved_words(answer, self._decision_ms(texts.item, answer) if stored and not stay else None)
        self._said = said + _replacement_text(texts.item, answer)
        if self._queued is not None:
            queued, self._queued = self._queued, None
            self._check_answer(queued.answer, pressed_at=queued.pressed_at)
        elif self._auto and not stay and not self._is_asking_type and self._complete(self._current):
            self._advance()
        elif self._puts_off:
            self._postpone_type()

    def _record_label(self, item: AnnotationItem, answer: Answer) -> None:
        if answer.verdict is not None and item.verdict is None and self._progress is not None:
            self._progress = Progress(self._progress.done + 1, max(self._progress.left - 1, 0), self._progress.away)
        if not self._revisiting and answer.focused_ms is not None:
            self.pace.label(item.completion, answer.focused_ms)

    def _decision_ms(self, item: AnnotationItem, answer: Answer) -> int | None:
        corrects = item.subtype if answer.verdict is None else item.verdict
        if corrects is not None or answer.open_ms is None:
            return None
        return max(answer.open_ms, self.pace.longest(item.completion))

    def _queue_answer(self, answer: Answer) -> None:
        self._queued = Queued(answer, self.workbench.at_work.acted_at)

    def _make_answer(self, verdict: LabelVerdict, reason: str | None = None) -> Answer:
        return Answer(verdict=verdict, reason=reason, note=self._note, **structs.asdict(self._marks))

    def action_label(self, verdict: LabelVerdict) -> None:
        if self._current is None:
            return
        if self._busy:
            # While its type is being stored, the item stays on the screen: a verdict is for it.
            if self._storing.subtype is not None and self._current.item.verdict is None:
                self._queue_answer(self._make_answer(verdict))
        elif self.is_ready and self.is_decision():
            self._check_answer(self._make_answer(verdict))

    def _check_answer(self, answer: Answer, *, stay: bool = False, pressed_at: float | None = None) -> None:
        if self._current is None:
            return
        if found := contradictions(answer.verdict, answer.tags, answer.partial):
            menu = contradiction_menu(found, answer.verdict, answer.tags, answer.partial)
            self.ask_about(menu, partial(self._resolve_contradiction, answer, stay))
            return
        self._submit(answer, stay=stay, pressed_at=pressed_at)
        if not stay and answer.verdict not in (None, "unsuitable"):
            self._offer_type()

    def _resolve_contradiction(self, answer: Answer, stay: bool, meant: str) -> None:
        if answer.verdict is None:
            return
        said = resolve_contradiction(meant, answer.verdict, answer.tags, answer.partial)
        self._marks = structs.replace(self._marks, tags=said.tags, partial=said.partial)
        answer = structs.replace(answer, **said._asdict())
        self._submit(answer, stay=stay)
        if not stay and answer.verdict != "unsuitable":
            self._offer_type()

    def action_unsuitable(self) -> None:
        if self.accepts_key():
            self.ask_reason(lambda reason: self._check_answer(self._make_answer("unsuitable", reason)))

    def action_type(self) -> None:
        if not self.accepts_key() or self._current is None:
            return
        if not self._current.item.asks_type:
            self.mark_key_unused()
            self.notify("Others decide the type of this question, or have decided it.", markup=False)
            return
        self.ask_type()

    def _offer_type(self) -> None:
        """Ask for the answer type after each verdict, so that the sequence of keys is the same for every item.

        A known type can be kept; a type chosen for this item just before is not asked for again.
        """
        item = None if self._current is None else self._current.item
        if item is not None and item.types_labelled and item.asks_type and item.completion != self._typed:
            self.ask_type()

    @property
    def _is_asking_type(self) -> bool:
        return isinstance(self.app.screen, TypePicker)

    def ask_type(self) -> None:
        if self._current is None or self._is_asking_type:
            return
        item, picker = self._current.item, TypePicker(self._current.item.subtype)
        self.app.push_screen(picker, partial(self._type_chosen, item.completion))
        if item.subtype is None and (verifier := self.workbench.settings.suggest_types) is not None:
            # A suggestion may be slow: the person can choose a type before it arrives.
            work = partial(_suggest_type, self.project, verifier, item.question, self._person)
            self.in_background(work, picker.suggest, group="annotate-suggestion")

    def _type_chosen(self, completion: int, subtype: str | None) -> None:
        if self._current is None or self._current.item.completion != completion:
            return
        self._typed = None if subtype is None else completion
        if subtype in (None, self._current.item.subtype):
            self._postpone_type()
        elif self._busy:
            self._queue_answer(Answer(subtype=subtype))
        else:
            self._submit(Answer(subtype=subtype))

    def _postpone_type(self) -> None:
        """Continue without a new type, since the next key is meant for the next item.

        An item that still needs a type is skipped and returns at the end.
        """
        self._puts_off = self._busy
        if self._busy or not self._auto or self._current is None or self._current.item.verdict is None:
            return
        if self._complete(self._current):
            self._advance()
        elif self._desk is not None and not self._revisiting:
            self.store(partial(self._desk.session.skip, self._current.item), lambda _: self._advance())

    def stop_asking(self) -> None:
        self._storing, self._queued, self._puts_off = Answer(), None, False
        if self._is_asking_type:
            self.app.screen.dismiss(None)

    def action_unsure(self) -> None:
        if self.accepts_key():
            self._set_marks(structs.replace(self._marks, unsure=not self._marks.unsure))

    def action_tag(self) -> None:
        self.ask_tag(self._marks.tags, lambda tags: self._set_marks(structs.replace(self._marks, tags=tags)))

    def action_partial(self) -> None:
        if self.accepts_key():
            given = () if self._marks.partial is None else (str(self._marks.partial),)
            scores = [Choice(str(score), words) for score, words in PARTIAL_SCORES.items()]
            self.ask_about(
                ChoiceMenu("How much of the answer is right?", scores, first=0, chosen=given), self._set_partial
            )

    def _set_partial(self, score: str) -> None:
        chosen = float(score)
        self._set_marks(structs.replace(self._marks, partial=None if chosen == self._marks.partial else chosen))

    def _set_marks(self, marks: Marks) -> None:
        self._marks = marks
        self._store_again()

    def action_note(self) -> None:
        if not self.accepts_key() or self._current is None:
            return
        keep = partial(self._keep_draft, self._current) if self._current.item.verdict is None else None
        choose(self, NoteInput(self._note, keep=keep), partial(self._set_note, self._current))

    def _keep_draft(self, texts: CardTexts, note: str) -> None:
        if self._desk is not None:
            if self._current is texts:
                self._note = note
                self.draw_line()
            work = partial(self._desk.session.keep_draft, texts.item, note)
            self.in_background(work, lambda _: None, group="annotate-draft", exclusive=False)

    def _set_note(self, texts: CardTexts, note: str) -> None:
        if self._current is not texts:
            return
        if texts.item.verdict is None:
            self._keep_draft(texts, note)
        elif self.accepts_key():
            self._note = note
            self._store_again()

    def _store_again(self) -> None:
        item = self._current.item if self._current is not None else None
        if item is not None and item.verdict is not None:
            self._check_answer(self._make_answer(item.verdict, item.reason), stay=True)
        self.draw_line()

    def action_flag(self) -> None:
        if not self.accepts_key() or self._current is None:
            return
        if self._current.item.flagged and self._current.item.answer is None:
            self._store_flag(self._current, on=False)
        else:
            send = partial(self._send_flag, self._current)
            self.ask_line(_ASK, self._current.item.completion, send, empty=True)

    def _send_flag(self, texts: CardTexts, asked: str) -> None:
        if self.accepts_key() and self._current is texts:
            self._store_flag(texts, on=True, asked=asked)

    def _store_flag(self, texts: CardTexts, *, on: bool, asked: str = "") -> None:
        if self._desk is not None:
            flagged = texts._replace(item=structs.replace(texts.item, flagged=on, asked=asked, answer=None))
            self.store(partial(self._desk.session.flag, texts.item, on, asked), lambda _: self._finish_flag(flagged))

    def _finish_flag(self, texts: CardTexts) -> None:
        self.line_stored(_ASK, texts.item.completion)
        self._current = texts

    def action_answers(self) -> None:
        if not self._answers or self._desk is None:
            self.mark_key_unused()
            self.notify("The coordinator hasn't answered any of your flags yet.", markup=False)
            return
        choose(self, AnswersBox(self._answers), self.open_item)
        work = partial(_mark_read, self._desk.session, self._answers)
        self.in_background(work, self._resolve_selected, group="annotate-heard", exclusive=False)

    def action_auto(self) -> None:
        self._auto = not self._auto
        self.draw_line()

    def draw_line(self) -> None:
        moment = ("your earlier label" if self._revisiting else "", self._said)
        self.query_one(TitleBar).say_parts(list(self._title_parts()), " · ".join(filter(None, moment)))
        if self._current is None:
            return
        item = structs.replace(self._current.item, note=self._note, **structs.asdict(self._marks))
        line = label_line(item, wants_type=item.wants_type, flag=flag_words(item))
        self.query_one("#annotate-own", Static).update(line, layout=False)

    def _title_parts(self) -> Iterator[RemarkPiece]:
        yield RemarkPiece(self.shown_name(self._person))
        if any(not answer.heard for answer in self._answers):
            yield RemarkPiece(f"an answer: {key_of('annotate.answers')}")
        if self._progress is not None:
            yield RemarkPiece(f"{self._progress.done:,} done", rank=1)
            yield RemarkPiece(f"{self._progress.left:,} left", rank=1)
            if self._progress.away:
                yield RemarkPiece(f"{self._progress.away:,} in a bundle", rank=4)
            yield from pace_parts(self.pace, self._progress.left)
        if not self._auto:
            yield RemarkPiece("auto-advance off", rank=3)
        # News that yield their space to the counts are added only once the counts are known.
        if self.news.rank == 0 or self._progress is not None:
            yield self.news


def _resolve_selected(item: AnnotationItem, answer: Answer) -> AnnotationItem:
    if answer.subtype is not None:
        item = structs.replace(item, subtype=answer.subtype)
    if answer.verdict is None:
        return item
    said = ("verdict", "reason", "unsure", "note", "tags", "partial")
    return structs.replace(item, **{name: getattr(answer, name) for name in said})


def _mark_read(session: AnnotationSession, answers: list[OwnAnswer]) -> list[OwnAnswer]:
    for answer in answers:
        session.mark_answer_read(answer)
    return session.answers()


def _saved_words(answer: Answer, took_ms: int | None) -> str:
    words = f"saved ✓ {answer.verdict or answer.subtype or ''}".rstrip()
    return words if took_ms is None or took_ms >= FAST_MS else f"{words} · fast: {took_ms / 1000:.1f} s"


def _replacement_text(item: AnnotationItem, answer: Answer) -> str:
    before, after = (item.verdict, answer.verdict) if answer.verdict else (item.subtype, answer.subtype)
    return f", was {before}" if before not in (None, after) else ""


def _suggest_type(project: Project, verifier: str, question: int, person: str) -> str | None:
    from workbench.measuring.suggesting import offered_type

    try:
        found = offered_type(project, verifier, question, person)
    except WorkbenchError:
        LOG.warning("no suggestions of answer types", exc_info=True)
        return None
    return None if found is None else found.suggested


def _answer_lines(answer: OwnAnswer) -> Content:
    when = time_to_minute(answer.answered_at)
    mark = ("  ", "") if answer.heard else ("● ", "bold $text-success")
    asked = printable(answer.asked) or "flagged, without a question"
    return Content.assemble(mark, (f"{when}  {asked}", "$text-muted"), "\n", f"  {printable(answer.answer)}", "\n")
