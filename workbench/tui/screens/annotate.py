"""Annotate: one item at a time on its final-answer card; one key labels and brings the next."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from msgspec import structs
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Footer, Static
from textual.worker import Worker, WorkerState

from workbench.errors import AnnotationError
from workbench.model.label import LabelVerdict
from workbench.services.annotating import FAST_MS, GUIDELINES, Answer, Progress
from workbench.tui.actions import Action
from workbench.tui.desk import Desk
from workbench.tui.judging import JudgingScreen, looking_actions
from workbench.tui.widgets.card import FinalAnswerCard
from workbench.tui.widgets.card_texts import CardTexts
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.label_line import label_line
from workbench.tui.widgets.note_input import NoteInput
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.type_picker import TypePicker

HEARTBEAT_S = 60.0
LOOK_AGAIN_S = 10.0

_NEXT = "annotate-next"

_NOTHING_LEFT = """\
Nothing is left for {name} to label.

New items appear here by themselves. A coordinator opens them with

  workbench assign {database} --annotators {name},OTHER --per-item 2

[ goes back to your own labels, z takes the last one back.
"""
_NOBODY = """\
Nobody is here to label yet. A coordinator opens label slots with

  workbench assign {database} --annotators NAME,OTHER --per-item 2
"""


class AnnotateScreen(JudgingScreen):
    """The labelling screen, blind to everything but the three texts."""

    CSS_PATH = "annotate.tcss"
    TITLE_TEXT = "Annotate"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("annotate.correct", "1", "label('correct')", "Correct", "The final answer is correct."),
        Action("annotate.incorrect", "0", "label('incorrect')", "Incorrect", "The final answer is incorrect."),
        Action("annotate.unsuitable", "x", "unsuitable", "Unsuitable", "Nobody could judge it; asks for the reason."),
        Action("annotate.type", "t", "type", "Type", "The question's answer type: then a letter and a number."),
        Action("annotate.unsure", "u", "unsure", "Unsure", "Mark the label as unsure, or not.", False),
        Action("annotate.undo", "z", "undo", "Undo", "Take the last label back, also after a restart."),
        Action("annotate.skip", "s", "skip", "Skip", "Give the item back; it comes again at the end."),
        Action("annotate.note", "c", "note", "Note", "Write a note; it is kept as a draft.", False),
        Action("annotate.flag", "f", "flag", "Flag", "Mark the item for the coordinator, or not.", False),
        Action("annotate.older", "left_square_bracket", "older", "Older", "Your label before this one.", False),
        Action("annotate.newer", "right_square_bracket", "newer", "Newer", "Your label after it, or on.", False),
        Action("annotate.auto", "A", "auto", "Auto-advance", "Go on by itself after a label, or not.", False),
        *looking_actions("annotate"),
    )

    def __init__(self, completion: int | None = None) -> None:
        """Label the next item, or open one of the person's own first."""
        super().__init__()
        self._wanted = completion
        self._desk: Desk | None = None
        self._current: CardTexts | None = None
        self._waiting: list[CardTexts] = []
        self._revisiting = False
        self._fetching = False
        self._queued_type: str | None = None
        self._auto = True
        self._unsure = False
        self._progress: Progress | None = None

    def compose(self) -> ComposeResult:
        """The frame; the item comes by itself."""
        yield TitleBar("Annotate", "…")
        yield FinalAnswerCard(GUIDELINES)
        yield Static(id="annotate-empty", markup=False)
        yield Static(id="annotate-own", markup=False)
        yield Footer(show_command_palette=False)

    # -- coming and going --------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        """Open the person's session and the first item."""
        self._person = name
        self.store(partial(self._sit_down, name, self._wanted), self._seated, "opening …")
        self.set_interval(HEARTBEAT_S, self._heartbeat)
        self.set_interval(LOOK_AGAIN_S, self._look_again)

    def _sit_down(self, name: str, wanted: int | None) -> tuple[Desk, CardTexts | None]:
        desk = Desk(self.project, name)
        return desk, desk.open(wanted) if wanted is not None else desk.next()

    def _seated(self, result: tuple[Desk, CardTexts | None]) -> None:
        self._desk, texts = result
        if texts is None:
            self._show_empty()
        elif self._wanted is not None:
            self._show(texts, revisiting=True)
        else:
            self._show_next(texts)
        self._count()

    def nobody(self) -> None:
        """Say how people come to be."""
        self._say_empty(_NOBODY.format(database=self.project.path.name))

    def open_item(self, completion: int) -> None:
        """Go back to one of the person's own items."""
        if self._desk is not None and not self._busy:
            self.store(partial(self._desk.open, completion), self._revisit, "opening …")

    def on_unmount(self) -> None:
        """Give back what was claimed and not labelled."""
        if self._desk is not None:
            self._desk.leave()

    def _heartbeat(self) -> None:
        if self._desk is not None:
            self.in_background(self._desk.session.heartbeat, lambda _: self._count(), group="annotate-heartbeat")

    def _count(self) -> None:
        if self._desk is not None:
            self.in_background(self._desk.session.progress, self._counted, group="annotate-progress")

    def _counted(self, progress: Progress) -> None:
        self._progress = progress
        self.draw_line()

    # -- slow work ---------------------------------------------------------------------------------

    @property
    def _free(self) -> bool:
        """Whether an item is on the screen and nothing is being stored."""
        return self._current is not None and not self._busy

    def store_failed(self, error: BaseException | None) -> None:
        """Leave an item whose quota is full."""
        self._queued_type = None
        if self._current is None:
            self._show_empty()
        elif isinstance(error, AnnotationError):
            self._close_picker()
            self._advance()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Allow another look for the next item after one that failed."""
        if event.worker.group == _NEXT and event.state is WorkerState.ERROR:
            self._fetching = False

    # -- which item --------------------------------------------------------------------------------

    def _show(self, texts: CardTexts, *, revisiting: bool = False) -> None:
        self._current, self._revisiting = texts, revisiting
        self._unsure, self._note = texts.item.unsure, texts.item.note
        self.set_class(False, "empty")
        self.card.show(texts)
        self._stopwatch.start()
        self.draw_line()
        self._fetch()

    def _show_next(self, texts: CardTexts) -> None:
        """Show an item to label; one that is labelled lacks its type."""
        self._show(texts)
        if texts.item.verdict is not None:
            self._ask_type()

    def _revisit(self, texts: CardTexts) -> None:
        self._park()
        self._show(texts, revisiting=True)

    def _park(self) -> None:
        """Keep an item that is not done for later; one gone back to needs no keeping."""
        if self._current is not None and not self._revisiting and not self._complete(self._current):
            self._waiting.insert(0, self._current)

    def _advance(self) -> None:
        """Go on to the next item, or wait for it."""
        if self._waiting:
            self._show_next(self._waiting.pop(0))
            return
        self._current, self._revisiting = None, False
        self.card.show(None)
        self._fetch()

    def _fetch(self) -> None:
        """Claim and render one item ahead."""
        if self._desk is None or self._fetching or self._waiting:
            return
        self._fetching = True
        beside = () if self._current is None else (self._current.item.completion,)
        self.in_background(partial(self._desk.next, beside), self._fetched, group=_NEXT, exclusive=False)

    def _fetched(self, texts: CardTexts | None) -> None:
        self._fetching = False
        open_ones = {one.item.completion for one in (self._current, *self._waiting) if one is not None}
        if texts is not None and texts.item.completion not in open_ones:
            self._waiting.append(texts)
        if self._current is None and not self._busy:
            if self._waiting:
                self._advance()
            else:
                self._show_empty()

    def _look_again(self) -> None:
        if self._current is None and not self._busy:
            self._fetch()

    def _show_empty(self) -> None:
        self._say_empty(_NOTHING_LEFT.format(name=printable(self._person), database=self.project.path.name))

    def _say_empty(self, text: str) -> None:
        self._current = None
        self.query_one("#annotate-empty", Static).update(Content(text))
        self.set_class(True, "empty")
        self.draw_line()

    # -- labelling ---------------------------------------------------------------------------------

    def _submit(self, answer: Answer, *, stay: bool = False) -> None:
        """Store an answer to the item on the screen."""
        if self._desk is None or self._current is None:
            return
        elapsed = self._stopwatch.elapsed()
        answer = structs.replace(answer, open_ms=elapsed.open_ms, focused_ms=elapsed.focused_ms, view=self.card.view)
        work = partial(self._desk.submit, self._current.item, answer)
        self.store(work, partial(self._submitted, self._current, answer, stay))

    def _submitted(self, texts: CardTexts, answer: Answer, stay: bool, stored: list[str]) -> None:
        item = texts.item
        if answer.verdict is not None:
            if item.verdict is None and self._progress is not None:
                self._progress = Progress(self._progress.done + 1, max(self._progress.left - 1, 0))
            item = structs.replace(
                item, verdict=answer.verdict, reason=answer.reason, unsure=answer.unsure, note=answer.note
            )
        self._current = texts._replace(item=structs.replace(item, subtype=answer.subtype or item.subtype))
        fast = bool(stored) and answer.open_ms is not None and answer.open_ms < FAST_MS
        self._said = f"saved ✓ · fast: {(answer.open_ms or 0) / 1000:.1f} s" if fast else "saved ✓"
        if self._queued_type is not None:
            subtype, self._queued_type = self._queued_type, None
            self._submit(Answer(subtype=subtype))
        elif self._auto and not stay and self._complete(self._current):
            self._advance()

    @staticmethod
    def _complete(texts: CardTexts) -> bool:
        item = texts.item
        return item.verdict is not None and (item.verdict == "unsuitable" or not item.wants_type)

    def action_label(self, verdict: LabelVerdict) -> None:
        """Label; then ask for the type where people must settle it."""
        if not self._free or self._current is None:
            return
        self._submit(Answer(verdict=verdict, unsure=self._unsure, note=self._note))
        if self._current.item.wants_type:
            self._ask_type()

    def action_unsuitable(self) -> None:
        """Ask why, then label."""
        if self._free and self._current is not None:
            self.ask_reason(partial(self._exclude, self._current))

    def _exclude(self, texts: CardTexts, reason: str) -> None:
        if self._free and self._current is texts:
            self._submit(Answer(verdict="unsuitable", reason=reason, unsure=self._unsure, note=self._note))

    def action_type(self) -> None:
        """Ask for the answer type."""
        if not self._free or self._current is None:
            return
        if not self._current.item.asks_type:
            self.notify("Other people settle the type of this question.", markup=False)
            return
        self._ask_type()

    def _ask_type(self) -> None:
        if self._current is not None and not isinstance(self.app.screen, TypePicker):
            item = self._current.item
            self.app.push_screen(TypePicker(item.subtype), partial(self._type_chosen, item.completion))

    def _type_chosen(self, completion: int, subtype: str | None) -> None:
        if subtype is None or self._current is None or self._current.item.completion != completion:
            return
        if self._busy:
            self._queued_type = subtype
        else:
            self._submit(Answer(subtype=subtype))

    def _close_picker(self) -> None:
        if isinstance(self.app.screen, TypePicker):
            self.app.screen.dismiss(None)

    def action_unsure(self) -> None:
        """Change the mark; on an item that is labelled the label is stored anew."""
        if self._free:
            self._unsure = not self._unsure
            self._restate()

    def action_note(self) -> None:
        """Write a note; before a label it is kept as a draft."""
        if not self._free or self._current is None:
            return
        keep = partial(self._keep_draft, self._current) if self._current.item.verdict is None else None
        self.app.push_screen(NoteInput(self._note, keep=keep), partial(self._noted, self._current))

    def _keep_draft(self, texts: CardTexts, note: str) -> None:
        if self._desk is not None:
            if self._current is texts:
                self._note = note
                self.draw_line()
            work = partial(self._desk.session.keep_draft, texts.item, note)
            self.in_background(work, lambda _: None, group="annotate-draft", exclusive=False)

    def _noted(self, texts: CardTexts, note: str | None) -> None:
        if note is None or self._current is not texts:
            return
        if texts.item.verdict is None:
            self._keep_draft(texts, note)
        elif self._free:
            self._note = note
            self._restate()

    def _restate(self) -> None:
        """Store the label anew with another mark or note; an item without a label takes them with its label."""
        item = self._current.item if self._current is not None else None
        if item is not None and item.verdict is not None:
            again = Answer(verdict=item.verdict, reason=item.reason, unsure=self._unsure, note=self._note)
            self._submit(again, stay=True)
        else:
            self.draw_line()

    def action_flag(self) -> None:
        """Mark the item for the coordinator, or take the mark off."""
        if self._free and self._current is not None and self._desk is not None:
            item, on = self._current.item, not self._current.item.flagged
            flagged = self._current._replace(item=structs.replace(item, flagged=on))
            self.store(partial(self._desk.session.flag, item, on), lambda _: self._set_item(flagged))

    def _set_item(self, texts: CardTexts) -> None:
        self._current = texts

    # -- going back and on -------------------------------------------------------------------------

    def action_undo(self) -> None:
        """Take the newest label back."""
        if self._desk is not None and not self._busy:
            self.store(self._desk.undo, self._undone, "undoing …")

    def _undone(self, texts: CardTexts | None) -> None:
        if texts is None:
            self.notify("There is no label of yours to take back.", markup=False)
            return
        completion = texts.item.completion
        if self._current is not None and self._current.item.completion != completion:
            self._park()
        self._waiting = [one for one in self._waiting if one.item.completion != completion]
        self._show(texts, revisiting=self._complete(texts))
        self._said = "taken back ✓"
        self._count()

    def action_skip(self) -> None:
        """Give the item back; one gone back to is only left."""
        if not self._free or self._current is None or self._desk is None:
            return
        if self._revisiting:
            self._advance()
            return
        self.store(partial(self._desk.session.skip, self._current.item), lambda _: self._skipped(), "skipping …")

    def _skipped(self) -> None:
        self._said = "skipped"
        self._advance()

    def action_older(self) -> None:
        """Go to the own label before this one."""
        self._step(older=True)

    def action_newer(self) -> None:
        """Go to the own label after this one, or to the item at hand."""
        if self._current is not None and not self._revisiting and not self._complete(self._current):
            self.notify("Label it first, or skip it with s.", markup=False)
        else:
            self._step(older=False)

    def _step(self, *, older: bool) -> None:
        if self._desk is None or self._busy:
            return
        at = self._current.item.completion if self._current is not None and self._current.item.verdict else None
        self.store(partial(self._desk.step, at, older), partial(self._stepped, older), "…")

    def _stepped(self, older: bool, texts: CardTexts | None) -> None:
        if texts is not None:
            self._revisit(texts)
        elif older:
            self.notify("There is no older label of yours.", markup=False)
        else:
            self._advance()

    def action_auto(self) -> None:
        """Switch auto-advance."""
        self._auto = not self._auto
        self.draw_line()

    def draw_line(self) -> None:
        """Title and the person's own label."""
        parts = [printable(self._person)]
        if self._progress is not None:
            parts.append(f"{self._progress.done:,} done · {self._progress.left:,} left")
        if self._revisiting:
            parts.append("your earlier label")
        if not self._auto:
            parts.append("auto-advance off")
        parts.append(self._said)
        self.query_one(TitleBar).say(" · ".join(part for part in parts if part))
        if self._current is None:
            return
        item = self._current.item
        line = label_line(
            verdict=item.verdict,
            reason=item.reason,
            subtype=item.subtype,
            unsure=self._unsure,
            note=self._note,
            flagged=item.flagged,
        )
        if item.wants_type and item.verdict not in (None, "unsuitable"):
            line = Content.assemble(line, "  ", ("! type missing: t", "bold $text-warning"))
        self.query_one("#annotate-own", Static).update(line)
