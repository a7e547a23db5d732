"""Annotate: one item at a time on its final-answer card; one key labels it and shows the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from msgspec import structs
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.app.tui.judging import FOLLOW_S, JudgingScreen, Marks, ShownCase, card_actions, step_actions
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card import FinalAnswerCard
from workbench.app.tui.kit.card_texts import card_texts
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar, flag_words, label_line
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.pace import Pace, pace_parts
from workbench.app.tui.screen import LOG
from workbench.core.errors import AnnotationError, AnsweredElsewhereError, StoreError, WorkbenchError
from workbench.core.label import FAST_MS, LabelVerdict
from workbench.core.project import Project
from workbench.core.text.figures import time_to_minute
from workbench.labelling.annotating import GUIDELINES, AnnotationItem, AnnotationSession, Answer, OwnAnswer, Progress
from workbench.labelling.rulings import Role

HISTORY = 500
"""Number of a person's newest labels that the actions ``older`` and ``newer`` step through."""
HEARTBEAT_S = 60.0
_SOON_S = 0.05
_ASK = "What should the coordinator know? Enter alone only flags the item"


_NOTHING_LEFT = """\
Nothing is left for {name} to label.

New items appear here by themselves{assign}.

{leave}

{older} goes back to your own labels, {undo} retracts the last one.
"""
_BUNDLE = "If you work on a bundle, send the file back: the coordinator merges its labels."
_ASSIGN = " once you open label slots with the command Assign ({palette})"
_OPENED = " as soon as the coordinator opens some"
_PAUSED = """\
{sentence}

Your labels are kept. Items appear here by themselves as soon as you can continue.
"""
_NOBODY = """\
There is nothing to label. The command Assign ({palette}) opens label slots for annotators.
"""


class ItemFeed:
    """Prepares items for display; every method may be called in a thread.

    Attributes:
        paused: Message that the annotator's work is paused, from the last request; "" if it isn't.

    Raises (on creation):
        UsageError: There is no such annotator.
    """

    def __init__(self, project: Project, name: str, *, sighted: bool) -> None:
        self.session = AnnotationSession(project, name, sighted=sighted)
        self.guidelines = self.session.guidelines
        self.paused = ""
        self._claimed: set[int] = set()
        self._left = False
        self._lock = threading.Lock()

    def next(self, beside: tuple[int, ...] = ()) -> ShownCase | None:
        """Return the next item to label, other than those in ``beside`` (row ids); None when nothing is left."""
        with self._lock:
            if self._left:
                return None
            item = self.session.next(beside)
            self.paused = self.session.paused()
            if item is None or self.paused:
                return None
            self._claimed.add(item.completion)
        return ShownCase(card_texts(item))

    def first(self, wanted: int | None) -> ShownCase | None:
        return self.next() if wanted is None else self.open(wanted)

    def open(self, completion: int) -> ShownCase:
        return ShownCase(card_texts(self.session.open(completion)))

    def submit(self, case: ShownCase, answer: Answer) -> list[str]:
        with self._update_pause_on_error():
            stored = self.session.submit(case.item, answer)
        if answer.verdict is not None:
            self._claimed.discard(case.item.completion)
        return stored

    @contextmanager
    def _update_pause_on_error(self) -> Iterator[None]:
        try:
            yield
        except AnnotationError:
            self.paused = self.session.paused()
            raise

    def undo(self) -> ShownCase | None:
        """Retract the person's newest label and return its item; None if there is no label."""
        with self._update_pause_on_error():
            item = self.session.undo()
        if item is None:
            return None
        if item.verdict is None:
            self._claimed.add(item.completion)
        return ShownCase(card_texts(item))

    def step(self, case: ShownCase | None, older: bool) -> ShownCase | None:
        """Return the item labelled before or after another one; None beyond either end.

        Before an item without a label comes the one with the newest label.
        """
        trail = [entry.completion for entry in self.session.history(HISTORY)]
        labelled = case is not None and case.item.verdict and case.item.completion in trail
        at = (trail.index(case.item.completion) if case is not None and labelled else -1) + (1 if older else -1)
        return self.open(trail[at]) if 0 <= at < len(trail) else None

    def skip(self, case: ShownCase) -> None:
        self.session.skip(case.item)

    def keep_note(self, case: ShownCase, note: str) -> None:
        self.session.keep_draft(case.item, note)

    def leave(self) -> None:
        """Release reserved items without a label, and close the session."""
        with self._lock:
            self._left = True
            try:
                self.session.release(*self._claimed)
            except StoreError as error:
                LOG.warning("reserved items were not released; their leases will expire: %s", error)
            self._claimed.clear()
            self.session.close()


ANNOTATE_ACTIONS: tuple[Action, ...] = (
    Action("annotate.correct", "1", "label('correct')", "Correct", "Label the final answer as correct."),
    Action("annotate.incorrect", "0", "label('incorrect')", "Incorrect", "Label the final answer as incorrect."),
    Action("annotate.unsuitable", "x", "unsuitable", "Unsuitable", "Label the item as unsuitable; asks why."),
    Action("annotate.type", "t", "type", "Type", "Give the answer type: letter, number. Not asked for accepted types."),
    Action("annotate.unsure", "u", "unsure", "Unsure", "Mark the label as unsure, or not.", False),
    Action("annotate.tag", "m", "tag", "Mark", "Add marks to the verdict, such as wrong reasoning.", False),
    Action("annotate.partial", "%", "partial", "Partial", "Give the share of the answer that is right.", False),
    Action("annotate.undo", "z", "undo", "Undo", "Retract the last label, or undo the last skip."),
    Action("annotate.skip", "l", "skip", "Skip", "Skip the item; it comes again at the end."),
    Action("annotate.note", "c", "note", "Note", "Write a note; it is kept as a draft.", False),
    Action("annotate.flag", "!", "flag", "Flag", "Flag the item for the coordinator, or unflag it.", False),
    Action("annotate.answers", "d", "answers", "Answers", "Read the coordinator's answers to your flags.", False),
    *step_actions("annotate", "labelled"),
    Action("annotate.auto", "&", "auto", "Auto-advance", "Turn auto-advance after a label on or off.", False),
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


class AnnotateScreen(JudgingScreen[ShownCase]):
    """The labelling screen; it shows only question, reference and completion, no gold, labels or verdicts."""

    TITLE_TEXT, PREFIX = "Annotate", "annotate"
    ACTIONS: ClassVar[tuple[Action, ...]] = ANNOTATE_ACTIONS
    ROLE: ClassVar[Role] = "annotator"
    OF_ITEM: ClassVar = JudgingScreen.OF_ITEM | {"unsure", "partial", "flag"}
    AHEAD = True
    NO_UNDO, NO_OLDER = "You have no label to retract.", "You labelled no item before this one."
    _feed: ItemFeed | None

    def __init__(self, completion: int | None = None) -> None:
        super().__init__(completion)
        self._storing = Answer()
        self._queued: tuple[Answer, float | None] | None = None  # and the time of its key press
        self._puts_off = False
        self._typed: int | None = None
        self._auto = True
        self._answers: list[OwnAnswer] = []
        self._progress: Progress | None = None
        self._types: dict[int, str | None] = {}

    def content(self) -> ComposeResult:
        yield FinalAnswerCard(GUIDELINES)
        yield Static(id="annotate-empty", markup=False)
        yield Static(id="annotate-own", markup=False)

    def make_feed(self, sighted: bool) -> ItemFeed:
        return ItemFeed(self.project, self.person, sighted=sighted)

    @property
    def pace(self) -> Pace:
        return self.workbench.paces[self.person]

    # -- which item --------------------------------------------------------------------------------

    def _show_first(self, case: ShownCase | None) -> None:
        super()._show_first(case)
        self._read_progress()
        self._read_answers()
        self.set_interval(HEARTBEAT_S, self._heartbeat)
        self.set_interval(FOLLOW_S, self._read_answers)

    def show_no_work(self) -> None:
        self.show_placeholder(_NOBODY.format(palette=key_of("app.palette")))

    def empty_text(self) -> str:
        if self._feed is not None and self._feed.paused:
            return _PAUSED.format(sentence=self._feed.paused)
        keys = {verb: key_of(f"annotate.{verb}") for verb in ("older", "undo")}
        assign = _ASSIGN.format(palette=key_of("app.palette")) if self.workbench.annotator is None else _OPENED
        return _NOTHING_LEFT.format(name=printable(self.person), assign=assign, leave=_BUNDLE, **keys)

    def show_case(self, case: ShownCase, *, revisiting: bool = False) -> None:
        item = case.item
        self._marks, self._note = Marks(item.unsure, item.tags, item.partial), item.note
        super().show_case(case, revisiting=revisiting)

    def show_next(self, case: ShownCase) -> None:
        self.show_case(case)
        if case.item.verdict is not None:
            self.ask_type()

    def open_item(self, completion: int) -> None:
        if self._feed is None or self._busy:
            self.set_timer(_SOON_S, partial(self.open_item, completion))
        else:
            self.store(partial(self._feed.open, completion), self.revisit, "opening …")

    def revisit(self, case: ShownCase) -> None:
        self._put_back_current()
        super().revisit(case)

    @property
    def _is_unfinished(self) -> bool:
        return self._current is not None and not self._revisiting and not _is_complete(self._current.item)

    def _put_back_current(self) -> None:
        if self._current is not None and self._is_unfinished:
            self._waiting.insert(0, self._current.changed(note=self._note, **structs.asdict(self._marks)))

    def receive(self, case: ShownCase | None) -> None:
        had_none = self._current is None
        super().receive(None if case is None else self._with_known_type(case))
        if had_none and self._current is not None:
            self._read_progress()

    def _set_known_type(self, question: int, subtype: str | None) -> None:
        """Apply an answer type that was just chosen or retracted to the items prepared before."""
        self._types[question] = subtype
        self._waiting = list(map(self._with_known_type, self._waiting))

    def _with_known_type(self, case: ShownCase) -> ShownCase:
        question = case.item.question
        return case.changed(subtype=self._types[question]) if question in self._types else case

    def show_undone(self, case: ShownCase | None) -> None:
        if case is None:
            super().show_undone(case)
            return
        item = case.item
        self._set_known_type(item.question, item.subtype)
        if item.verdict is None:
            self.pace.take_back(item.completion)
        if self._current is not None and self._current.item.completion != item.completion:
            self._put_back_current()
        self._waiting = [one for one in self._waiting if one.item.completion != item.completion]
        self.show_case(case, revisiting=_is_complete(item))
        self._said = "retracted ✓"
        self._read_progress()

    def action_skip(self) -> None:
        if self._revisiting and self.is_ready:
            self.mark_left()
            self.advance()
        else:
            super().action_skip()

    def action_step(self, older: bool) -> None:
        if self._is_unfinished and not older:
            self.notify(f"Label it first, or skip it with {key_of('annotate.skip')}.")
        else:
            super().action_step(older)

    # -- labelling ---------------------------------------------------------------------------------

    def action_label(self, verdict: LabelVerdict) -> None:
        if not self._busy:
            super().action_label(verdict)
        # While its type is being stored, the item stays on the screen: a verdict is for it.
        elif self._storing.subtype is not None and self._current is not None and self._current.item.verdict is None:
            self._queue_answer(self.make_answer(verdict))

    def _queue_answer(self, answer: Answer) -> None:
        self._queued = answer, self.workbench.at_work.acted_at

    def submit(self, answer: Answer, *, stay: bool = False) -> None:
        self._storing = answer
        super().submit(structs.replace(answer, wait_ms=self._wait_ms), stay=stay)
        item = None if self._current is None else self._current.item
        # The type is asked for after each verdict, so that the sequence of keys is the same for every item. A known
        # type can be kept; one chosen for this item just before is not asked for again.
        asks = item is not None and item.types_labelled and item.asks_type and item.completion != self._typed
        if asks and not stay and answer.verdict not in (None, "unsuitable"):
            self.ask_type()

    def finish_submit(self, case: ShownCase, answer: Answer, stay: bool, stored: list[str]) -> None:
        item, self._storing = case.item, Answer()
        if answer.subtype is not None:
            self._set_known_type(item.question, answer.subtype)
        if answer.verdict is not None and item.verdict is None and self._progress is not None:
            self._progress = Progress(self._progress.done + 1, max(self._progress.left - 1, 0), self._progress.away)
        if not self._revisiting and answer.focused_ms is not None:
            self.pace.label(item.completion, answer.focused_ms)
        self._current = case.changed(**_answered_fields(answer))
        took_ms = self._decision_ms(item, answer) if stored and not stay else None
        self._said = _saved_words(answer, took_ms) + _replacement_text(item, answer)
        if self._queued is not None:
            (answer, pressed_at), self._queued = self._queued, None
            self.check_answer(answer)
            self._left_at = pressed_at
        elif self._auto and not stay and not self._is_asking_type and _is_complete(self._current.item):
            self.advance()
        elif self._puts_off:
            self._postpone_type()

    def _decision_ms(self, item: AnnotationItem, answer: Answer) -> int | None:
        corrects = item.subtype if answer.verdict is None else item.verdict
        if corrects is not None or answer.open_ms is None:
            return None
        return max(answer.open_ms, self.pace.longest(item.completion))

    def store_failed(self, error: Exception) -> None:
        self._storing, self._queued, self._puts_off = Answer(), None, False
        if self._is_asking_type:
            self.app.screen.dismiss(None)
        super().store_failed(error)

    def answer_rejected(self, case: ShownCase, error: AnnotationError) -> None:
        if isinstance(error, AnsweredElsewhereError):
            self._current = None
            self.open_item(case.item.completion)
        else:
            self.advance()

    # -- the answer type ---------------------------------------------------------------------------

    def action_type(self) -> None:
        if not self.accepts_key() or self._current is None:
            return
        if not self._current.item.asks_type:
            self.mark_key_unused()
            self.notify("Others decide the type of this question, or have decided it.")
            return
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
            work = partial(_suggest_type, self.project, verifier, item.question, self.person)
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
            self.submit(Answer(subtype=subtype))

    def _postpone_type(self) -> None:
        """Continue without a new type, since the next key is meant for the next item.

        An item that still needs a type is skipped and returns at the end.
        """
        self._puts_off = self._busy
        if self._busy or not self._auto or self._current is None or self._current.item.verdict is None:
            return
        if _is_complete(self._current.item):
            self.advance()
        elif self._feed is not None and not self._revisiting:
            self.store(partial(self._feed.skip, self._current), lambda _: self.advance())

    # -- marks, notes and flags --------------------------------------------------------------------

    def action_unsure(self) -> None:
        if self.accepts_key():
            self.set_marks(unsure=not self._marks.unsure)

    def action_partial(self) -> None:
        if self.accepts_key():
            given = self._marks.partial
            chosen = () if given is None else (given,)
            menu = ChoiceMenu("How much of the answer is right?", PARTIAL_SCORES, first=0, chosen=chosen)
            self.ask_about(menu, lambda score: self.set_marks(partial=None if score == given else score))

    def set_marks(self, **changes: Any) -> None:
        super().set_marks(**changes)
        self._store_again()

    def keep_note(self, case: ShownCase, note: str) -> None:
        if case.item.verdict is None:
            super().keep_note(case, note)

    def set_note(self, case: ShownCase, note: str) -> None:
        super().set_note(case, note)
        if self._current is case and case.item.verdict is not None and self.accepts_key():
            self._note = note
            self._store_again()

    def _store_again(self) -> None:
        item = self._current.item if self._current is not None else None
        if item is not None and item.verdict is not None:
            self.check_answer(self.make_answer(item.verdict, item.reason), stay=True)
        self.draw_line()

    def action_flag(self) -> None:
        if not self.accepts_key() or self._current is None:
            return
        if self._current.item.flagged and self._current.item.answer is None:
            self._store_flag(self._current, on=False)
        else:
            case = self._current

            def send(asked: str) -> None:
                if self.accepts_key() and self._current is case:
                    self._store_flag(case, on=True, asked=asked)

            self.ask_line(_ASK, case.item.completion, send, empty=True)

    def _store_flag(self, case: ShownCase, *, on: bool, asked: str = "") -> None:
        def stored(_: None) -> None:
            self.line_stored(_ASK, case.item.completion)
            self._current = case.changed(flagged=on, asked=asked, answer=None)

        if self._feed is not None:
            self.store(partial(self._feed.session.flag, case.item, on, asked), stored)

    def _read_answers(self) -> None:
        if self._feed is not None:
            self.in_background(self._feed.session.answers, self._show_answers, group="annotate-answers")

    def _show_answers(self, answers: list[OwnAnswer]) -> None:
        told = {answer.uuid for answer in self._answers}
        new = [answer for answer in answers if answer.uuid not in told and not answer.heard]
        self._answers = answers
        newest = {answer.completion: answer for answer in answers if answer.stands}
        if (case := self._current) is not None and case.item.flagged:
            answer = newest.get(case.item.completion, case.item.answer)
            if answer != case.item.answer:
                self._current = case.changed(answer=answer)
        if new:
            words = f"The coordinator answered your flag: {key_of('annotate.answers')} shows it."
            self.notify(words, title="An answer", timeout=8)
        self.draw_line()

    def action_answers(self) -> None:
        if not self._answers or self._feed is None:
            self.mark_key_unused()
            self.notify("The coordinator hasn't answered any of your flags yet.")
            return
        choices = [Choice(one.completion, _answer_text(one)) for one in reversed(self._answers)]
        unread = {one.completion for one in self._answers if not one.heard}
        choose(self, ChoiceMenu("The coordinator's answers", choices, chosen=unread, wide=True), self.open_item)
        work = partial(_mark_read, self._feed.session, self._answers)
        self.in_background(work, self._show_answers, group="annotate-heard", exclusive=False)

    # -- the lines ---------------------------------------------------------------------------------

    def action_auto(self) -> None:
        self._auto = not self._auto
        self.draw_line()

    def _heartbeat(self) -> None:
        if self._feed is not None:
            beat = self._feed.session.heartbeat
            self.in_background(beat, lambda _: self._read_progress(), group="annotate-heartbeat")

    def _read_progress(self) -> None:
        if self._feed is not None:
            self.in_background(self._feed.session.progress, self._show_progress, group="annotate-progress")

    def _show_progress(self, progress: Progress) -> None:
        self._progress = progress
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
        yield RemarkPiece(self.shown_name(self.person))
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


def _is_complete(item: AnnotationItem) -> bool:
    return item.verdict is not None and (item.verdict == "unsuitable" or not item.wants_type)


def _answered_fields(answer: Answer) -> dict[str, Any]:
    said = ("verdict", "reason", "unsure", "note", "tags", "partial") if answer.verdict is not None else ()
    typed = () if answer.subtype is None else ("subtype",)
    return {name: getattr(answer, name) for name in (*said, *typed)}


def _answer_text(answer: OwnAnswer) -> str:
    asked = printable(answer.asked) or "flagged, without a question"
    return f"{time_to_minute(answer.answered_at)}  {asked}\n{' ' * 6}{printable(answer.answer)}"


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
