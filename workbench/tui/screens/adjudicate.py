"""Adjudicate: the conflict queue, both labels beside the card, one decision."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Footer, Static

from workbench.errors import AnnotationError
from workbench.model.label import LabelVerdict, Task
from workbench.model.taxonomy import type_display
from workbench.services.labelling.adjudicating import AdjudicationSession, Conflict, Opinion, Ruling
from workbench.services.labelling.annotating import GUIDELINES
from workbench.tui.actions import Action
from workbench.tui.judging import JudgingScreen, looking_actions
from workbench.tui.screen import BREAKPOINTS
from workbench.tui.widgets.card import FinalAnswerCard
from workbench.tui.widgets.card_texts import CardTexts, card_texts
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.label_line import verdict_words
from workbench.tui.widgets.note_input import NoteInput
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.type_picker import TypePicker
from workbench.tui.widgets.verdicts_after import VerdictsAfter

LOOK_AGAIN_S = 10.0

_QUESTIONS: dict[Task, str] = {"correctness": "Correct or not?", "type": "Which answer type?"}
_NOTHING_LEFT = """\
There is no conflict for {name} to settle.

Conflicts appear here by themselves when two people differ. Nobody settles an item they have labelled, and a batch
that names an adjudicator leaves its conflicts to that person:

  workbench assign {database} --annotators NAME,OTHER --per-item 2 --adjudicator {name}

z takes your last decision back.
"""
_NOBODY = """\
Nobody is here to adjudicate yet. A coordinator adds people with

  workbench annotators {database} add NAME
"""


class Opened(NamedTuple):
    """A conflict, ready to be shown.

    Attributes:
        left: Conflicts this person may settle, this one among them.
    """

    conflict: Conflict
    texts: CardTexts
    left: int


class AdjudicateScreen(JudgingScreen):
    """One conflict at a time; what verifiers said appears only after the decision."""

    CSS_PATH = "adjudicate.tcss"
    TITLE_TEXT = "Adjudicate"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("adjudicate.correct", "1", "decide('correct')", "Correct", "Decide: correct."),
        Action("adjudicate.incorrect", "0", "decide('incorrect')", "Incorrect", "Decide: incorrect."),
        Action("adjudicate.unsuitable", "x", "unsuitable", "Unsuitable", "Decide: unsuitable; asks for the reason."),
        Action("adjudicate.type", "t", "type", "Type", "Decide on the answer type: then a letter and a number."),
        Action("adjudicate.undo", "z", "undo", "Undo", "Take your last decision back."),
        Action("adjudicate.skip", "s", "skip", "Skip", "Leave the conflict for later."),
        Action("adjudicate.note", "c", "note", "Note", "Write a note to the decision.", False),
        *looking_actions("adjudicate"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._session: AdjudicationSession | None = None
        self._current: Opened | None = None

    def compose(self) -> ComposeResult:
        """The frame; the conflict comes by itself."""
        yield TitleBar("Adjudicate", "…")
        with Container(id="opinions"):
            pass
        yield FinalAnswerCard(GUIDELINES)
        yield Static(id="adjudicate-empty", markup=False)
        yield Footer(show_command_palette=False)

    # -- coming ------------------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        """Open the person's session and the first conflict."""
        self._person = name
        self.store(partial(self._sit_down, name), self._show, "opening …")
        self.set_interval(LOOK_AGAIN_S, self._look_again)

    def _sit_down(self, name: str) -> Opened | None:
        self._session = AdjudicationSession(self.project, name, sighted=self.workbench.annotator is None)
        return self._next()

    def nobody(self) -> None:
        """Say how people come to be."""
        self._say_empty(_NOBODY.format(database=printable(self.project.path.name)))

    def _look_again(self) -> None:
        if self._current is None and not self._busy and self._session is not None:
            self.store(self._next, self._show, "")

    def _next(self) -> Opened | None:
        conflict = self._session.next() if self._session is not None else None
        return None if conflict is None else self._made_ready(conflict)

    def _made_ready(self, conflict: Conflict) -> Opened:
        assert self._session is not None
        return Opened(conflict, card_texts(conflict.item), self._session.left())

    def _show(self, opened: Opened | None) -> None:
        self._current, self._note = opened, ""
        if opened is None:
            self._say_empty(
                _NOTHING_LEFT.format(name=printable(self._person), database=printable(self.project.path.name))
            )
            return
        self.set_class(False, "empty")
        panel = self.query_one("#opinions", Container)
        panel.border_title = _QUESTIONS[opened.conflict.task]
        panel.remove_children()
        panel.mount(*(Static(_opinion(one), classes="opinion", markup=False) for one in opened.conflict.opinions))
        self.card.show(opened.texts)
        self._stopwatch.start()
        if opened.conflict.task == "type":
            self._ask_type()

    def _say_empty(self, text: str) -> None:
        self.query_one("#adjudicate-empty", Static).update(Content(text))
        self.set_class(True, "empty")

    # -- deciding ----------------------------------------------------------------------------------

    def _ready(self, task: Task) -> bool:
        """Whether a decision on this task can be taken now."""
        if self._current is None or self._busy:
            return False
        if self._current.conflict.task != task:
            wanted = "t, then a letter and a number" if task == "correctness" else "1, 0 or x"
            self.notify(f"This conflict is settled with {wanted}.", markup=False)
            return False
        return True

    def action_decide(self, verdict: LabelVerdict) -> None:
        """Settle a conflict on correctness."""
        if self._ready("correctness"):
            self._rule(Ruling(verdict=verdict))

    def action_unsuitable(self) -> None:
        """Ask why, then settle."""
        if self._ready("correctness") and self._current is not None:
            self.ask_reason(partial(self._exclude, self._current))

    def _exclude(self, opened: Opened, reason: str) -> None:
        if self._current is opened and not self._busy:
            self._rule(Ruling(verdict="unsuitable", reason=reason))

    def action_type(self) -> None:
        """Settle a conflict on the type."""
        if self._ready("type"):
            self._ask_type()

    def _ask_type(self) -> None:
        if self._current is not None and not isinstance(self.app.screen, TypePicker):
            said = " or ".join(opinion.value for opinion in self._current.conflict.opinions)
            picker = TypePicker(prompt=f"Which answer type? {printable(said)}")
            self.app.push_screen(picker, partial(self._type_chosen, self._current))

    def _type_chosen(self, opened: Opened, subtype: str | None) -> None:
        if subtype is not None and self._current is opened and not self._busy:
            self._rule(Ruling(subtype=subtype))

    def _rule(self, ruling: Ruling) -> None:
        if self._session is None or self._current is None:
            return
        elapsed = self._stopwatch.elapsed()
        full = Ruling(
            verdict=ruling.verdict,
            reason=ruling.reason,
            subtype=ruling.subtype,
            note=self._note,
            open_ms=elapsed.open_ms,
            focused_ms=elapsed.focused_ms,
            view=self.card.view,
        )
        session, conflict = self._session, self._current.conflict
        self.store(lambda: session.decide(conflict, full), lambda _: self._decided(session, conflict, full))

    def _decided(self, session: AdjudicationSession, conflict: Conflict, ruling: Ruling) -> None:
        """The decision is stored; then what the verifiers said is read. Those of a question's type say nothing."""
        if conflict.task == "correctness":
            self.store(lambda: session.verdicts_after(conflict), partial(self._show_verdicts, ruling), "saved ✓")
        else:
            self._go_on("on")

    def _show_verdicts(self, ruling: Ruling, said: list[tuple[str, str]]) -> None:
        if not said:
            self._go_on("on")
            return
        words = verdict_words(ruling.verdict or "", ruling.reason)
        self.app.push_screen(VerdictsAfter(words, said), self._go_on)

    def _go_on(self, answer: str | None) -> None:
        self._current = None
        if answer == "undo":
            self.action_undo()
        else:
            self.store(self._next, self._show, "saved ✓")

    def store_failed(self, error: BaseException | None) -> None:
        """A conflict that changed meanwhile is read again."""
        if isinstance(error, AnnotationError) and self._session is not None:
            self.store(self._next, self._show, "reading again …")

    def action_note(self) -> None:
        """Write a note that goes with the decision."""
        if self._current is not None and not self._busy:
            self.app.push_screen(NoteInput(self._note), partial(self._noted, self._current))

    def _noted(self, opened: Opened, note: str | None) -> None:
        if note is not None and self._current is opened:
            self._note = note
            self.draw_line()

    def action_skip(self) -> None:
        """Leave the conflict for later."""
        if self._current is not None and not self._busy and self._session is not None:
            self._session.skip(self._current.conflict)
            self.store(self._next, self._show, "skipped")

    def action_undo(self) -> None:
        """Take the last decision back and open its conflict."""
        if self._session is not None and not self._busy:
            self.store(self._undo, self._undone, "undoing …")

    def _undo(self) -> Opened | None:
        conflict = self._session.undo() if self._session is not None else None
        return None if conflict is None else self._made_ready(conflict)

    def _undone(self, opened: Opened | None) -> None:
        if opened is None:
            self.notify("There is no decision of yours to take back.", markup=False)
        else:
            self._show(opened)

    def draw_line(self) -> None:
        """Who is working, how many conflicts are left, what was said last."""
        parts = [printable(self._person)]
        if self._current is not None:
            left = self._current.left
            parts.append(f"{left:,} {'conflict' if left == 1 else 'conflicts'}")
        if self._note:
            parts.append(f"✎ {printable(self._note)}")
        parts.append(self._said)
        self.query_one(TitleBar).say(" · ".join(part for part in parts if part))


def _opinion(opinion: Opinion) -> Content:
    """One label without its maker: symbol, word, mark, time, note."""
    is_verdict = opinion.value in ("correct", "incorrect", "unsuitable")
    value = (
        verdict_words(opinion.value, opinion.reason) if is_verdict else Content(printable(type_display(opinion.value)))
    )
    parts = [Content.assemble((f"{opinion.letter}  ", "bold"), value)]
    if opinion.unsure:
        parts.append(Content.styled("? unsure", "$text-warning"))
    if opinion.focused_ms is not None:
        parts.append(Content.styled(f"{opinion.focused_ms / 1000:,.0f} s", "$text-muted"))
    if opinion.note:
        parts.append(Content(f"✎ {printable(opinion.note)}"))
    return Content("  ").join(parts)
