"""Annotate and Adjudicate: a person's items one by one on a card; one key stores the decision and shows the next."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from msgspec import Struct, structs
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from workbench.app.tui.desk import WHY_UNSUITABLE, Desk, reason_menu
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card import FinalAnswerCard, Opened
from workbench.app.tui.kit.card_texts import CardTexts, contradiction_menu, resolve_contradiction
from workbench.app.tui.kit.choices import Answer as Chosen
from workbench.app.tui.kit.choices import ChoiceMenu, choose
from workbench.app.tui.kit.copies import Copyable
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.title_bar import RemarkPiece
from workbench.app.tui.pace import Stopwatch
from workbench.app.tui.person import PersonScreen, person_action
from workbench.core.errors import AnnotationError, StoreError
from workbench.core.label import TAGS, LabelVerdict
from workbench.labelling.annotating import AnnotationItem
from workbench.labelling.answers import Answer, contradictions
from workbench.labelling.guidelines import Guideline
from workbench.labelling.people import GuidelineReadings

FOLLOW_S = 5.0
"""Seconds between two checks for new guidelines and answers."""
LOOK_AGAIN_S = 2.0
AHEAD_S = 0.15
"""Seconds from showing an item to preparing the next one: less than anybody needs to read it."""

_NEXT = "judging-next"
_UNOPENED = "guidelines not opened"


def step_actions(screen: str, done: str) -> tuple[Action, ...]:
    """Return the actions that step through earlier items.

    Args:
        done: What was done with them: "labelled".
    """
    before, after = f"Go back to the item you {done} before this one.", f"Go to the item you {done} after this one"
    return (
        Action(f"{screen}.older", "[", "step(True)", "Older", before, False),
        Action(f"{screen}.newer", "]", "step(False)", "Newer", f"{after}, or the queue.", False),
    )


def card_actions(screen: str) -> tuple[Action, ...]:
    whole = "Open the whole completion; again: go back to the card."
    return (
        person_action(screen),
        Action(f"{screen}.completion", "C", "open('completion')", "Whole", whole, False),
        Action(f"{screen}.question", "Q", "open('question')", "Question", "Open the whole question.", False),
        Action(f"{screen}.reference", "R", "open('reference')", "Reference", "Open the whole reference.", False),
        Action(f"{screen}.raw", "o", "raw", "Raw", "Show the exact texts, or the rendered ones.", False),
        Action(f"{screen}.boxed", "n", "boxed(1)", "Next hit", "Go to the next hit, or \\boxed.", False),
        Action(f"{screen}.find-previous", "N", "boxed(-1)", "Previous hit", "Go to the previous hit or box.", False),
        Action(f"{screen}.find", "/", "find", "Find", "Find a text in the whole text.", False),
        Action(f"{screen}.guidelines", "G", "open('guidelines')", "Guidelines", "Show the guidelines.", False),
        Action(f"{screen}.close", "escape,q", "close", "Close", "Close the whole text or the search.", False),
    )


class Marks(Struct, frozen=True):
    """Marks stored with a verdict; until there is one, the screen keeps them. See `LabelEvent`."""

    unsure: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None


class ShownCase(Struct, frozen=True):
    """An item, ready to be shown."""

    texts: CardTexts

    @property
    def item(self) -> AnnotationItem:
        return self.texts.item

    def changed(self, **changes: Any) -> Self:
        """Return the case with other fields of its item."""
        return structs.replace(self, texts=self.texts._replace(item=structs.replace(self.item, **changes)))


CaseT = TypeVar("CaseT", bound=ShownCase)


class CaseFeed(Protocol[CaseT]):
    """A person's items; every method may be called in a thread.

    Attributes:
        paused: Message that the person's work is paused, from the last request; "" if it isn't.
    """

    paused: str

    @property
    def guidelines(self) -> GuidelineReadings: ...

    def first(self, wanted: Any) -> CaseT | None:
        """Return the wanted item; the next one if none is wanted."""

    def next(self, beside: tuple[int, ...]) -> CaseT | None:
        """Return the next item other than those in ``beside`` (row ids); None when nothing is left."""

    def submit(self, case: CaseT, answer: Answer) -> Any:
        """Store an answer."""

    def undo(self) -> CaseT | None:
        """Retract the person's newest answer and return its item; None if there is none."""

    def step(self, case: CaseT | None, older: bool) -> CaseT | None:
        """Return the item answered before or after another one; None beyond either end."""

    def skip(self, case: CaseT) -> None: ...

    def keep_note(self, case: CaseT, note: str) -> None:
        """Keep a draft of a note."""

    def leave(self) -> None:
        """Release what the session holds."""


class JudgingScreen(Desk, PersonScreen, Generic[CaseT]):
    """Takes one item after another from a feed, shows it on the card, and stores the person's answer.

    The subclass declares what else is shown and which answers there are.

    Attributes:
        PREFIX: First part of the ids of actions and widgets.
        OF_ITEM: Actions that need an item: without one, their keys are hidden.
        AHEAD: Whether the next item is prepared while one is shown.
        NO_UNDO: Message that there is nothing to undo.
        NO_OLDER: Message that there is no older answer.
        person: The name the user works under on this screen; "" until it is known.
    """

    PREFIX: ClassVar[str]
    OF_ITEM: ClassVar = frozenset(("raw", "boxed", "find", "label", "unsuitable", "type", "tag", "skip", "note"))
    AHEAD: ClassVar[bool] = False
    NO_UNDO: ClassVar[str]
    NO_OLDER: ClassVar[str]

    def __init__(self, wanted: Any = None) -> None:
        super().__init__()
        self._wanted = wanted
        self.person = ""
        self._feed: CaseFeed[CaseT] | None = None
        self._is_seated = self._left = False
        self._current: CaseT | None = None
        self._waiting: list[CaseT] = []
        self._fetching = False
        self._revisiting = False
        self._marks, self._note = Marks(), ""
        self._told = ""
        self._news = self._shown_version = ""
        self._stopwatch: Stopwatch

    @abstractmethod
    def make_feed(self, sighted: bool) -> CaseFeed[CaseT]:
        """Open the person's session; called in a thread."""

    @abstractmethod
    def finish_submit(self, case: CaseT, answer: Answer, stay: bool, stored: Any) -> None:
        """Continue after an answer was stored."""

    @abstractmethod
    def empty_text(self) -> str:
        """Return the text shown while nothing is left."""

    def copies(self) -> Iterator[Copyable]:
        from workbench.app.tui.copying import copyable_card_texts

        if self.card.texts is not None:
            yield from copyable_card_texts(self.card.texts.item)

    @property
    def card(self) -> FinalAnswerCard:
        return self.query_one(FinalAnswerCard)

    @property
    def is_ready(self) -> bool:
        """Tell whether nothing is being stored, and the shown item was visible when the last key was pressed."""
        return not self._busy and (self._current is None or self.is_item_visible)

    def accepts_key(self) -> bool:
        """Tell whether the last key can be meant for the shown item; otherwise record that the key had no effect."""
        free = self._current is not None and self.is_ready
        if not free:
            self.mark_key_unused()
        return free

    # -- coming and going --------------------------------------------------------------------------

    def on_mount(self) -> None:
        self._stopwatch = Stopwatch(self.workbench.at_work)
        if not gc.get_freeze_count():
            # The objects built so far stay alive: each collection that visits them would delay a key by 100 ms.
            gc.freeze()

    def begin(self, name: str) -> None:
        self.person = name
        self._start_session()
        self.set_interval(LOOK_AGAIN_S, self._retry_if_empty)

    def _start_session(self) -> None:
        self.store(self._open_feed, self._show_first, "opening …")

    def _open_feed(self) -> CaseT | None:
        feed = self._feed or self.make_feed(self.workbench.annotator is None)
        if self._left:
            feed.leave()
        else:
            self._feed = feed
        return feed.first(self._wanted)

    def _show_first(self, case: CaseT | None) -> None:
        self._is_seated, self._left_at = True, None
        if case is None:
            self.show_empty()
        elif self._wanted is not None:
            self.show_case(case, revisiting=True)
        else:
            self.show_next(case)
        self._look_at_guidelines()
        self.set_interval(FOLLOW_S, self._look_at_guidelines)

    def on_unmount(self) -> None:
        self._left = True
        if self._feed is not None:
            self._feed.leave()

    # -- which item --------------------------------------------------------------------------------

    def show_case(self, case: CaseT, *, revisiting: bool = False) -> None:
        self._current, self._revisiting = case, revisiting
        self.set_empty(False)
        self.card.show(case.texts)
        self._stopwatch.start()
        self.draw_line()
        self.mark_shown(self.card)
        if self.AHEAD:
            # Rendering the next item now would slow the painting of this one.
            self.set_timer(AHEAD_S, self._fetch_next)

    def show_next(self, case: CaseT) -> None:
        self.show_case(case)

    def advance(self) -> None:
        if self._waiting:
            self.show_next(self._waiting.pop(0))
            return
        self._current, self._revisiting = None, False
        self.card.show(None)
        self._fetch_next()

    def _fetch_next(self) -> None:
        if self._feed is None or self._fetching or self._waiting:
            return
        self._fetching = True
        beside = () if self._current is None else (self._current.item.completion,)
        work = partial(self._feed.next, beside)
        self.in_background(work, self.receive, failed=self._fetch_failed, group=_NEXT, exclusive=False)

    def receive(self, case: CaseT | None) -> None:
        self._fetching = False
        open_ones = {one.item.completion for one in (self._current, *self._waiting) if one is not None}
        if case is not None and case.item.completion not in open_ones:
            self._waiting.append(case)
        if self._current is None and not self._busy:
            if self._waiting:
                self.advance()
            else:
                self.show_empty()

    def _retry_if_empty(self) -> None:
        if self._current is not None or self._busy:
            return
        if self._is_seated:
            self._fetch_next()
        elif self.person:
            self._start_session()

    def show_empty(self, error: BaseException | None = None) -> None:
        retried = f"{error}\n\nThis is retried automatically.\n"
        self.show_placeholder(retried if isinstance(error, StoreError) else self.empty_text())

    def show_placeholder(self, text: str) -> None:
        self._current = self._left_at = None
        self.query_one(f"#{self.PREFIX}-empty", Static).update(Content(text))
        self.set_empty(True)
        self.draw_line()

    def set_empty(self, empty: bool) -> None:
        if empty != self.has_class("empty"):
            if empty:
                self.card.show(None)
            self.set_class(empty, "empty")
            # Keys pressed while there was no item are not part of a habitual sequence.
            self.workbench.key_order.is_idle = False
            self.refresh_bindings()

    # -- failures ----------------------------------------------------------------------------------

    def store_failed(self, error: Exception) -> None:
        if not self._is_seated:
            # The session could not be opened: no label was lost.
            self._said = ""
        if self._current is None or (self._feed is not None and self._feed.paused):
            self._waiting.clear()
            self.show_empty(error)
        elif isinstance(error, AnnotationError):
            self.answer_rejected(self._current, error)

    @abstractmethod
    def answer_rejected(self, case: CaseT, error: AnnotationError) -> None:
        """Continue after an answer to the shown item was rejected, because something else was stored since."""

    def shows_errors_of(self, group: str) -> bool:
        return group != _NEXT or self._current is None

    def _fetch_failed(self, error: Exception) -> None:
        self._fetching = False
        if self._current is None and isinstance(error, StoreError):
            self.show_empty(error)

    def show_error(self, error: BaseException | None) -> None:
        """Show the error; while no item is shown, show the same error only once, however often the work is retried."""
        said = str(error) if self.has_class("empty") else ""
        if not said or said != self._told:
            self._told = said
            super().show_error(error)

    # -- answering ---------------------------------------------------------------------------------

    def action_label(self, verdict: LabelVerdict) -> None:
        if self._current is not None and self.is_ready and self.is_decision():
            self.check_answer(self.make_answer(verdict))

    def make_answer(self, verdict: LabelVerdict, reason: str | None = None) -> Answer:
        return Answer(verdict=verdict, reason=reason, note=self._note, **structs.asdict(self._marks))

    def check_answer(self, answer: Answer, *, stay: bool = False) -> None:
        """Store an answer, after a question if its verdict contradicts its marks.

        Args:
            stay: Whether the item stays on the screen.
        """
        if found := contradictions(answer.verdict, answer.tags, answer.partial):
            self.ask_about(contradiction_menu(found, answer), partial(self._resolve_contradiction, answer, stay))
        else:
            self.submit(answer, stay=stay)

    def _resolve_contradiction(self, answer: Answer, stay: bool, meant: str) -> None:
        answer = resolve_contradiction(meant, answer)
        self._marks = structs.replace(self._marks, tags=answer.tags, partial=answer.partial)
        self.submit(answer, stay=stay)

    def submit(self, answer: Answer, *, stay: bool = False) -> None:
        if self._feed is not None and self._current is not None:
            answer = structs.replace(answer, view=self.card.view, **self._stopwatch.elapsed()._asdict())
            work = partial(self._feed.submit, self._current, answer)
            self.store(work, partial(self.finish_submit, self._current, answer, stay))

    def action_unsuitable(self) -> None:
        if self.accepts_key():
            self.ask_about(reason_menu(), self._reason_chosen)

    def _reason_chosen(self, reason: str) -> None:
        def noted(note: str) -> None:
            if note:
                self._note = note
                self.check_answer(self.make_answer("unsuitable", reason))

        if reason == "other" and not self._note.strip():
            self.ask_about(PromptLine(WHY_UNSUITABLE), noted)
        else:
            self.check_answer(self.make_answer("unsuitable", reason))

    def action_tag(self) -> None:
        """Ask which mark to add or remove."""
        if self.accepts_key():
            tags = self._marks.tags
            menu = ChoiceMenu("Marks", TAGS, chosen=tags)
            self.ask_about(menu, lambda tag: self.set_marks(tags=tuple(one for one in TAGS if one in {*tags} ^ {tag})))

    def set_marks(self, **changes: Any) -> None:
        self._marks = structs.replace(self._marks, **changes)
        self.draw_line()

    def action_note(self) -> None:
        if self.accepts_key() and self._current is not None:
            case = self._current
            line = PromptLine("Note", self._note, typed=partial(self.keep_note, case))
            choose(self, line, partial(self.set_note, case))

    def set_note(self, case: CaseT, note: str) -> None:
        self.keep_note(case, note)

    def keep_note(self, case: CaseT, note: str) -> None:
        if self._feed is not None:
            if self._current is case:
                self._note = note
                self.draw_line()
            keep = partial(self._feed.keep_note, case, note)
            self.in_background(keep, lambda _: None, group="judging-note", exclusive=False)

    def ask_about(self, menu: Screen[Chosen | None], then: Callable[[Chosen], object]) -> None:
        """Show a menu about the current item; its answer counts only while that item is shown and keys are free."""
        current = self._current

        def chosen(answer: Chosen) -> None:
            if self.accepts_key() and self._current is current:
                then(answer)

        choose(self, menu, chosen)

    # -- going back and on -------------------------------------------------------------------------

    def action_undo(self) -> None:
        if self._feed is not None and self.is_ready:
            self.store(self._feed.undo, self.show_undone, "undoing …")

    def show_undone(self, case: CaseT | None) -> None:
        if case is None:
            self.notify(self.NO_UNDO)
        else:
            self.show_case(case)

    def action_skip(self) -> None:
        def skipped(_: None) -> None:
            self._said = "skipped"
            self.advance()

        if self._current is not None and self._feed is not None and self.is_ready:
            self.store(partial(self._feed.skip, self._current), skipped, "skipping …")

    def action_step(self, older: bool) -> None:
        if self._feed is not None and self.is_ready:
            self.store(partial(self._feed.step, self._current, older), partial(self._show_step, older), "…")

    def _show_step(self, older: bool, case: CaseT | None) -> None:
        if case is not None:
            self.revisit(case)
        elif older:
            self.notify(self.NO_OLDER)
        else:
            self.advance()

    def revisit(self, case: CaseT) -> None:
        self.show_case(case, revisiting=True)

    # -- looking -----------------------------------------------------------------------------------

    def action_open(self, part: Opened) -> None:
        self._read_guidelines()
        self.card.open(part)
        self._read_guidelines()

    def action_close(self) -> None:
        self._read_guidelines()
        if not self.card.end_find():
            self.card.open(self.card.opened)

    def action_raw(self) -> None:
        self.card.raw = not self.card.raw

    def action_boxed(self, step: int) -> None:
        self.card.go_on(step)

    def action_find(self) -> None:
        self.card.find()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "close":
            return bool(self.card.opened)
        if self.has_class("empty") and (action in self.OF_ITEM or (action == "open" and parameters != ("guidelines",))):
            return False
        return super().check_action(action, parameters)

    # -- the guidelines ----------------------------------------------------------------------------

    def _look_at_guidelines(self) -> None:
        if self._feed is not None:
            known, shown = self._feed.guidelines, self._shown_version

            def changed() -> Guideline | None:
                return None if known.in_force() == shown else known.text()

            self.in_background(changed, self._show_guideline, group="judging-guidelines")

    def _show_guideline(self, found: Guideline | None) -> None:
        if found is None or self._feed is None:
            return
        before, self._shown_version = self._shown_version, found.version
        self.card.set_guidelines(found.text)
        acquainted = self._feed.guidelines
        self._news, key = "", key_of(f"{self.PREFIX}.guidelines")
        if acquainted.news() and not (before or acquainted.version):
            self._news = f"{_UNOPENED}: {key}"
        elif acquainted.news():
            self._news = f"new guidelines: {key}"
            when = "have changed" if before else "have changed since you were here"
            self.notify(f"The guidelines {when}: {key} shows them.", title="New guidelines", timeout=8)
        if not before:
            self._read_guidelines()
        self.draw_line()

    def _read_guidelines(self) -> None:
        if self.card.opened == "guidelines" and self._feed is not None and self._shown_version:

            def clear_news(_: None) -> None:
                self._news = ""
                self.draw_line()

            work = partial(self._feed.guidelines.read, self._shown_version)
            self.in_background(work, clear_news, group="judging-guidelines-read", exclusive=False)

    @property
    def news(self) -> RemarkPiece:
        return RemarkPiece(self._news, rank=6 if self._news.startswith(_UNOPENED) else 0)
