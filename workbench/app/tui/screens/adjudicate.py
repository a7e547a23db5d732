"""Adjudicate: the conflict queue, all labels next to the card, one decision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.app.tui.judging import JudgingScreen, card_actions
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card import FinalAnswerCard
from workbench.app.tui.kit.card_texts import CardTexts, card_texts, contradiction_menu, resolve_contradiction
from workbench.app.tui.kit.choices import choose
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.opinions import OpinionPanel
from workbench.app.tui.kit.prompt_bar import NoteInput
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar, stored_words, tag_words, verdict_words
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.person import person_action
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.core.errors import AnnotationError, Command, StoreError
from workbench.core.label import LabelVerdict, Task
from workbench.core.text.figures import counted
from workbench.labelling import guidelines
from workbench.labelling.adjudicating import AdjudicationSession, Conflict, adopt_opinion
from workbench.labelling.annotating import GUIDELINES
from workbench.labelling.answers import Answer, contradictions
from workbench.labelling.guidelines import Guideline
from workbench.labelling.people import GuidelineReadings
from workbench.labelling.rulings import Role


class VerdictsAfter(ModalScreen[str]):
    """Shows the verifiers' verdicts after a decision.

    Returns "on" to continue, "undo" to retract the decision, or "case" to add a case to the guidelines.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,escape,q", "leave('on')", "Go on"),
        Binding("z", "leave('undo')", "Undo"),
        Binding("a", "leave('case')", "Case"),
    ]

    def __init__(self, decided: Content, said: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._decided = decided
        self._said = said

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="verdicts-box") as box:
            box.border_title = Content("Saved ✓ · what the verifiers said")
            box.border_subtitle = Content("enter or space: go on · z: undo · a: guidelines")
            yield Static(self._verdict_lines(), markup=False)

    def _verdict_lines(self) -> Content:
        wide = max(len(printable(name)) for name, _ in self._said)
        lines = [Content.assemble(("you".ljust(wide), "bold"), "  ", self._decided)]
        for name, verdict in self._said:
            lines.append(Content.assemble(printable(name).ljust(wide), "  ", verdict_words(verdict)))
        return Content("\n").join(lines)

    def on_click(self) -> None:
        self.dismiss("on")

    def action_leave(self, answer: str) -> None:
        self.dismiss(answer)


ADJUDICATE_ACTIONS: tuple[Action, ...] = (
    Action("adjudicate.correct", "1", "decide('correct')", "Correct", "Decide that the completion is correct."),
    Action("adjudicate.incorrect", "0", "decide('incorrect')", "Incorrect", "Decide that the completion is incorrect."),
    Action(
        "adjudicate.unsuitable",
        "x",
        "unsuitable",
        "Unsuitable",
        "Decide that the item is unsuitable; asks for the reason.",
    ),
    Action("adjudicate.type", "t", "type", "Type", "Decide on the answer type: then a letter and a number."),
    Action("adjudicate.accept-a", "comma", "accept('A')", "As A", "Decide as A does, reason and marks included."),
    Action("adjudicate.accept-b", "full_stop", "accept('B')", "As B", "Decide as B does, reason and marks included."),
    Action("adjudicate.undo", "z", "undo", "Undo", "Retract your last decision."),
    Action("adjudicate.skip", "l", "skip", "Skip", "Leave the conflict for later.", False),
    Action("adjudicate.note", "c", "note", "Note", "Write a note for the decision; it is kept as a draft.", False),
    Action("adjudicate.tag", "m", "tag", "Mark", "Add marks to the verdict, such as wrong reasoning.", False),
    Action("adjudicate.labels", "L", "labels", "Labels", "Show the labels in full; again: go back to the card.", False),
    Action("adjudicate.case", "a", "case", "Case", "Add a sentence on this case to the guidelines.", False),
    Action(
        "adjudicate.kinds", "w", "app.open_screen('conflicts')", "By kind", "Resolve many conflicts at once.", False
    ),
    Action(
        "adjudicate.older",
        "left_square_bracket",
        "older",
        "Older",
        "Go back to the item you decided before this one.",
        False,
    ),
    Action(
        "adjudicate.newer",
        "right_square_bracket",
        "newer",
        "Newer",
        "Go to the item you decided after this one, or the queue.",
        False,
    ),
    person_action("adjudicate"),
    *card_actions("adjudicate"),
)

NOTHING_LEFT = """\
There is no conflict for {name} to resolve.

Conflicts appear here by themselves when two people differ. No one resolves a conflict on an item they have labelled,
and a batch that names an adjudicator leaves its conflicts to that person.

{undo} takes your last decision back, if you have made one.
"""

NOBODY = """\
There is no conflict to resolve. Conflicts arise when two people differ; anyone who has not labelled the item may
resolve them, or the adjudicator that the batch names. A coordinator adds people with {add}.

{person} looks again.
"""

HIDDEN: dict[Task, frozenset[str]] = {
    "correctness": frozenset({"type"}),
    "type": frozenset({"decide", "unsuitable", "tag"}),
}
"""Task of a conflict -> actions that don't apply to it."""


LOOK_AGAIN_S = 10.0
WIDE = 100
"""Terminal columns from which the labels are side by side."""

_CASE = "The decision in one sentence, for the guidelines"


class OpenedConflict(NamedTuple):
    """A conflict, ready to be shown.

    Attributes:
        left: Number of unresolved conflicts that this person may resolve.
    """

    conflict: Conflict
    texts: CardTexts
    left: int


class AdjudicateScreen(JudgingScreen):
    """One conflict at a time; verdicts of verifiers appear only after the decision."""

    CSS_PATH = "adjudicate.tcss"
    TITLE_TEXT = "Adjudicate"
    ACTIONS: ClassVar[tuple[Action, ...]] = ADJUDICATE_ACTIONS
    ROLE: ClassVar[Role] = "adjudicator"
    OF_ITEM: ClassVar[frozenset[str]] = JudgingScreen.OF_ITEM | {
        *("decide", "unsuitable", "type", "accept", "skip", "note", "tag", "labels", "case")
    }

    def __init__(self, first: tuple[Task, int] | None = None) -> None:
        super().__init__()
        self._first = first
        self._session: AdjudicationSession | None = None
        self._current: OpenedConflict | None = None
        self._tags: tuple[str, ...] = ()
        self._saved: Answer | None = None
        self._end = ""

    def content(self) -> ComposeResult:
        yield OpinionPanel(WIDE, id="opinions")
        yield FinalAnswerCard(GUIDELINES, desk="adjudicate")
        yield Static(id="adjudicate-empty", markup=False)

    @property
    def panel(self) -> OpinionPanel:
        return self.query_one(OpinionPanel)

    # -- coming ------------------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        self._person = name
        self.store(self._next_conflict, self._show, "opening …")
        self.set_interval(LOOK_AGAIN_S, self._retry_if_empty)
        self.follow_guidelines()

    @property
    def acquainted(self) -> GuidelineReadings | None:
        return None if self._session is None else self._session.guidelines

    def show_no_work(self) -> None:
        self._show_placeholder(NOBODY.format(add=Command("annotators DB add NAME"), person=key_of("adjudicate.person")))

    def _retry_if_empty(self) -> None:
        if self._current is None and not self._busy:
            self.store(self._next_conflict, self._show_retried, self._said)

    def _show_retried(self, opened: OpenedConflict | None) -> None:
        self._show(opened)
        if self._end:
            self._set_saved_message()

    def _next_conflict(self) -> OpenedConflict | None:
        if self._session is None:
            sighted = self.workbench.annotator is None
            self._session = AdjudicationSession(self.project, self._person, sighted=sighted)
            if self._first is not None and self._session.may_open(*self._first):
                return self._prepare_conflict(self._session.open(*self._first))
        return self._prepare_conflict(self._session.next())

    def _prepare_conflict(self, conflict: Conflict | None) -> OpenedConflict | None:
        if conflict is None or self._session is None:
            return None
        return OpenedConflict(conflict, card_texts(conflict.item), self._session.count_open())

    def _show(self, opened: OpenedConflict | None) -> None:
        self._current, self._note, self._tags = opened, "", ()
        if opened is not None and opened.conflict.own is not None:
            self._tags, self._note = opened.conflict.own.tags, opened.conflict.own.note
        self._show_full_labels(False)
        self.refresh_bindings()
        if not self._shown_version:
            self._look_at_guidelines()
        if opened is None:
            text = NOTHING_LEFT.format(name=printable(self._person), undo=key_of("adjudicate.undo"))
            self._show_placeholder(self._end + text)
            return
        self._end = ""
        self.set_empty(False)
        self._note = opened.conflict.note or self._note
        self.panel.show(opened.conflict)
        self.card.show(opened.texts)
        self._stopwatch.start()
        self.mark_shown(self.card)

    def _show_placeholder(self, text: str) -> None:
        self.query_one("#adjudicate-empty", Static).update(Content(text))
        self.set_empty(True)

    # -- deciding ----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._current is not None and action in HIDDEN[self._current.conflict.task]:
            return False
        if action == "close" and self.panel.in_full:
            return True
        return super().check_action(action, parameters)

    @property
    def has_item(self) -> bool:
        return self._current is not None

    def action_decide(self, verdict: LabelVerdict) -> None:
        if self.has_item and self.is_ready and self.is_decision():
            self._confirm_ruling(Answer(verdict=verdict, tags=self._tags))

    def action_unsuitable(self) -> None:
        if self.accepts_key():
            self.ask_reason(self._exclude)

    def _exclude(self, reason: str) -> None:
        self._confirm_ruling(Answer(verdict="unsuitable", reason=reason, tags=self._tags))

    def action_accept(self, letter: str) -> None:
        if self._current is not None and self.is_ready and self.is_decision():
            conflict = self._current.conflict
            for opinion in conflict.opinions:
                if opinion.letter == letter:
                    self._confirm_ruling(adopt_opinion(conflict.task, opinion, self._note))

    def action_type(self) -> None:
        if self.accepts_key() and self._current is not None:
            said = ", ".join(f"{one.letter}: {one.value}" for one in self._current.conflict.opinions)
            picker = TypePicker(prompt=f"Which answer type? {printable(said)}")
            self.ask_about(picker, lambda subtype: self._confirm_ruling(Answer(subtype=subtype)))

    def _confirm_ruling(self, ruling: Answer) -> None:
        own = None if self._current is None else self._current.conflict.own
        if own is None or _ruling_value(own) == _ruling_value(ruling):
            self._check_ruling(ruling)
            return
        text = f"Your decision {_ruling_value(own)} is in force; {_ruling_value(ruling)} replaces it."
        self.ask_about(
            ConfirmScreen("Replace your decision?", text), lambda yes: self._check_ruling(ruling) if yes else None
        )

    def _check_ruling(self, ruling: Answer) -> None:
        if found := contradictions(ruling.verdict, ruling.tags, ruling.partial):
            menu = contradiction_menu(found, ruling.verdict, ruling.tags, ruling.partial)
            self.ask_about(menu, partial(self._resolve_contradiction, ruling))
        else:
            self._store_ruling(ruling)

    def _resolve_contradiction(self, ruling: Answer, meant: str) -> None:
        if ruling.verdict is not None:
            said = resolve_contradiction(meant, ruling.verdict, ruling.tags, ruling.partial)
            self._store_ruling(replace(ruling, **said._asdict()))

    def _store_ruling(self, ruling: Answer) -> None:
        if self._session is None or self._current is None:
            return
        elapsed = self._stopwatch.elapsed()._asdict()
        full = replace(ruling, note=ruling.note or self._note, view=self.card.view, **elapsed)
        session, conflict = self._session, self._current.conflict
        self.store(lambda: session.decide(conflict, full), lambda _: self._decided(session, conflict, full))

    def _decided(self, session: AdjudicationSession, conflict: Conflict, ruling: Answer) -> None:
        if conflict.task == "correctness":
            then = partial(self._show_verdicts, conflict, ruling)
            self.store(lambda: session.verdicts_after(conflict), then, f"saved ✓ {_ruling_value(ruling)}")
        else:
            self._open_next(ruling, "on")

    def _show_verdicts(self, conflict: Conflict, ruling: Answer, said: list[tuple[str, str]]) -> None:
        if not said:
            self._open_next(ruling, "on")
            return
        self.app.push_screen(VerdictsAfter(stored_words(ruling), said), partial(self._open_next, ruling))

    def _open_next(self, ruling: Answer, answer: str | None) -> None:
        self._current = None
        if answer == "undo":
            self.action_undo()
            return
        self._saved = ruling
        self.store(
            lambda: (self._next_conflict(), self._count_resolved()), self._show_next, f"saved ✓ {_ruling_value(ruling)}"
        )
        if answer == "case":
            self.ask_line(_CASE, None, self._add_case)

    def _count_resolved(self) -> int:
        return 0 if self._session is None else self._session.count_decided()

    def _show_next(self, found: tuple[OpenedConflict | None, int]) -> None:
        opened, settled_so_far = found
        if opened is None:
            self._end = f"Saved ✓ That was the last one: {settled_so_far:,} resolved by you in total.\n\n"
        self._show(opened)
        self._set_saved_message()

    def _set_saved_message(self) -> None:
        if self._saved is not None:
            self._said = f"saved ✓ {_ruling_value(self._saved)}"

    def store_failed(self, error: BaseException | None) -> None:
        if isinstance(error, StoreError) and self._current is None:
            self._show_placeholder(self.no_item_text(error))
        elif isinstance(error, AnnotationError) and self._session is not None:
            self.store(partial(self._reopen_conflict, self._current), self._show, "reading again …")

    def _reopen_conflict(self, opened: OpenedConflict | None) -> OpenedConflict | None:
        case = None if opened is None else opened.conflict
        if self._session is not None and case is not None and self._session.may_open(case.task, case.subject):
            return self._prepare_conflict(self._session.open(case.task, case.subject))
        return self._next_conflict()

    def action_skip(self) -> None:
        if self._current is not None and self._session is not None and self.is_ready:
            self._session.skip(self._current.conflict)
            self.store(self._next_conflict, self._show, "skipped")

    def action_undo(self) -> None:
        if self._session is not None and self.is_ready:
            self.store(self._undo, self._show_undone, "undoing …")

    def _undo(self) -> OpenedConflict | None:
        return self._prepare_conflict(self._session.undo()) if self._session is not None else None

    def _show_undone(self, opened: OpenedConflict | None) -> None:
        if opened is None:
            self.notify("You have no decision to retract.", markup=False)
        else:
            self._show(opened)

    # -- going back and on -------------------------------------------------------------------------

    def action_older(self) -> None:
        self._step(older=True)

    def action_newer(self) -> None:
        self._step(older=False)

    def _step(self, *, older: bool) -> None:
        if self._session is not None and self.is_ready:
            at = self._current.conflict if self._current is not None else None
            self.store(partial(self._open_step, at, older), partial(self._show_step, older), "…")

    def _open_step(self, at: Conflict | None, older: bool) -> OpenedConflict | None:
        return self._prepare_conflict(self._session.step(at, older=older)) if self._session is not None else None

    def _show_step(self, older: bool, opened: OpenedConflict | None) -> None:
        if opened is not None:
            self._show(opened)
        elif older:
            self.notify("You decided no conflict before this one.", markup=False)
        else:
            self.store(self._next_conflict, self._show, "…")

    # -- marks -------------------------------------------------------------------------------------

    def action_note(self) -> None:
        if self.accepts_key() and self._current is not None:
            opened = self._current
            keep = partial(self._keep_note, opened)
            choose(self, NoteInput(self._note, keep=keep), partial(self._set_note, opened))

    def _set_note(self, opened: OpenedConflict, note: str) -> None:
        if self._current is opened:
            self._note = note
            self._keep_note(opened, note)
            self.draw_line()

    def _keep_note(self, opened: OpenedConflict, note: str) -> None:
        if self._session is not None:
            keep = partial(self._session.keep_note, opened.conflict, note)
            self.in_background(keep, lambda _: None, group="adjudicate-note", exclusive=False)

    def action_tag(self) -> None:
        self.ask_tag(self._tags, self._toggle_tag)

    def _toggle_tag(self, tags: tuple[str, ...]) -> None:
        self._tags = tags
        self.draw_line()

    def action_case(self) -> None:
        if self.accepts_key() and self._current is not None:
            self.ask_line(_CASE, None, self._add_case)

    def _add_case(self, said: str) -> None:
        add = partial(guidelines.add_case, self.project, said, by=self._person)
        self.in_background(add, self._show_added_case, group="adjudicate-case")

    def _show_added_case(self, guideline: Guideline) -> None:
        self.line_stored(_CASE, None)
        self._shown_version = guideline.version
        self.card.set_guidelines(guideline.text)
        self.notify(
            f"Guidelines version {guideline.version}: {key_of('adjudicate.guidelines')} shows it.", markup=False
        )

    # -- looking -----------------------------------------------------------------------------------

    def action_labels(self) -> None:
        if self._current is not None:
            self._show_full_labels(not self.panel.in_full)

    def action_close(self) -> None:
        if self.panel.in_full:
            self._show_full_labels(False)
        else:
            super().action_close()

    def _show_full_labels(self, on: bool) -> None:
        if on == self.panel.in_full:
            return
        self.panel.show_in_full(on)
        self.set_class(on, "labels")
        (self.panel if on else self.query_one("#card-completion")).focus()
        self.refresh_bindings()

    def draw_line(self) -> None:
        parts = [RemarkPiece(self.shown_name(self._person)), self.news]
        if self._current is not None:
            if self._current.conflict.own is not None:
                parts.append(RemarkPiece("your decision"))
            parts.append(RemarkPiece(f"{counted(self._current.left, 'conflict')} left", 1))
        parts += [RemarkPiece(f"◆ {tag_words(tag)}", 2) for tag in self._tags]
        if self._note:
            parts.append(RemarkPiece(f"✎ {printable(self._note)}"))
        parts.append(RemarkPiece(self._said))
        self.query_one(TitleBar).say_parts(parts)


def _ruling_value(ruling: Answer) -> str:
    return ruling.verdict or ruling.subtype or ""
