"""Adjudicate: the conflict queue, all labels next to the card, one decision."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.judging import JudgingScreen, Marks, ShownCase, card_actions, step_actions
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card import WIDE, FinalAnswerCard
from workbench.app.tui.kit.card_texts import card_texts, value_words
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar, stored_words, tag_words, verdict_words
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.core.errors import AnnotationError, Command, StoreError
from workbench.core.label import TAGS, Task
from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.labelling import guidelines
from workbench.labelling.adjudicating import AdjudicationSession, Conflict, Opinion, adopt_opinion
from workbench.labelling.annotating import GUIDELINES
from workbench.labelling.answers import Answer
from workbench.labelling.guidelines import Guideline
from workbench.labelling.rulings import Role

_QUESTIONS: dict[Task, str] = {"correctness": "Correct or not?", "type": "Which answer type?"}


class OpinionPanel(VerticalScroll, can_focus=True):
    """The labels of one conflict: side by side if there is room, else one above the other.

    Annotators appear as letters only; nothing reveals who they are or who labelled first.
    """

    DEFAULT_CSS = """
    OpinionPanel {
        height: auto;
        max-height: 9;
        background: $surface;
        border-top: solid $primary-muted;
        border-title-color: $text-muted;
        scrollbar-size-vertical: 1;
    }
    OpinionPanel:focus { border-top: solid $primary; border-title-color: $foreground; }
    OpinionPanel #opinions-earlier { height: auto; padding: 0 1; color: $text-warning; display: none; }
    OpinionPanel.again #opinions-earlier { display: block; }
    OpinionPanel #opinions-columns { height: auto; layout: vertical; }
    OpinionPanel .opinion { height: auto; padding: 0 1; }
    OpinionPanel.brief .opinion { max-height: 4; }
    OpinionPanel.brief.many .opinion { max-height: 2; }
    OpinionPanel.wide { max-height: 40%; }
    OpinionPanel.wide #opinions-columns { layout: horizontal; }
    OpinionPanel.wide .opinion { width: 1fr; }
    OpinionPanel.full { height: 1fr; max-height: 100%; }
    """

    _conflict: Conflict | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="opinions-earlier", markup=False)
        yield Container(id="opinions-columns")

    def on_resize(self) -> None:
        wide = self.app.size.width >= WIDE
        if wide != self.has_class("wide"):
            self.set_class(wide, "wide")
            self._draw()
        self._update_brief()

    @property
    def in_full(self) -> bool:
        return self.has_class("full")

    def show_in_full(self, on: bool) -> None:
        self.set_class(on, "full")
        self._update_brief()

    def _update_brief(self) -> None:
        self.set_class(not self.in_full and not self.has_class("wide"), "brief")

    def show(self, conflict: Conflict) -> None:
        self._conflict = conflict
        self.scroll_home(animate=False)
        self._draw()

    def _draw(self) -> None:
        conflict = self._conflict
        if conflict is None:
            return
        again = f" · round {conflict.round}" if conflict.round > 1 else ""
        self.border_title = Content(f"{_QUESTIONS[conflict.task]}{again} · {key_of('adjudicate.labels')} all")
        earlier = Content()
        if (ruling := conflict.earlier) is not None:
            again = "! opened again: a label came after the decision "
            earlier = Content.assemble(again, value_words(ruling.value, ruling.reason))
        elif conflict.own is not None:
            earlier = Content.assemble("you decided  ", stored_words(conflict.own))
        self.set_class(bool(earlier), "again")
        self.query_one("#opinions-earlier", Static).update(earlier)
        self.set_class(len(conflict.opinions) > 2, "many")
        columns = self.query_one("#opinions-columns", Container)
        columns.remove_children()
        between = "\n" if self.has_class("wide") else "  "
        said = (_opinion_words(one, between) for one in conflict.opinions)
        columns.mount(*(Static(words, classes="opinion", markup=False) for words in said))


def _opinion_words(opinion: Opinion, between: str = "\n") -> Content:
    head = [Content.assemble((f"{opinion.letter}  ", "bold"), value_words(opinion.value, opinion.reason))]
    if opinion.unsure:
        head.append(Content.styled("? unsure", "bold $text-warning"))
    if opinion.partial is not None:
        head.append(Content(f"◔ {opinion.partial:g} right"))
    if opinion.flagged:
        head.append(Content.styled("⚑ flagged", "bold $text-warning"))
    lines = [Content("  ").join(head)]
    if opinion.tags:
        lines.append(Content("  ").join(Content(f"◆ {printable(TAGS.get(tag, tag))}") for tag in opinion.tags))
    if looked := _viewing_words(opinion):
        lines.append(Content.styled(looked, "$text-muted"))
    if opinion.note:
        lines.append(Content(f"✎ {printable(opinion.note)}"))
    return Content(between).join(lines)


def _viewing_words(opinion: Opinion) -> str:
    """Return what the person looked at, and for how long: "looked 12 s, open 20 s · opened completion · raw"."""
    times = {"looked": opinion.focused_ms, "open": opinion.open_ms}
    said = [f"{name} {ms / 1000:,.0f} s" for name, ms in times.items() if ms is not None]
    words = [", ".join(dict.fromkeys(said))]
    parts, _, forms = opinion.view.partition(" ")
    opened = [part for part in parts.split("+") if part not in ("", "card")]
    if opened:
        words.append(f"opened {', '.join(opened)}")
    elif parts:
        words.append("the card alone")
    if "raw" in forms.split("+"):
        words.append("raw")
    return printable(" · ".join(word for word in words if word))


# -- The screen.


def verdicts_menu(decided: Content, said: Sequence[tuple[str, str]]) -> ChoiceMenu[str]:
    """Return a menu that shows the verifiers' verdicts after a decision, and asks what comes next."""
    lines = [("you", decided), *((printable(name), verdict_words(verdict)) for name, verdict in said)]
    wide = max(len(name) for name, _ in lines)
    about = Content("\n").join(Content.assemble((name.ljust(wide), "bold"), "  ", words) for name, words in lines)
    choices = [Choice("on", "go on", " "), Choice("undo", "undo", "z"), Choice("case", "add to guidelines", "a")]
    return ChoiceMenu("Saved ✓ · what the verifiers said", choices, about=about)


ADJUDICATE_ACTIONS: tuple[Action, ...] = (
    Action("adjudicate.correct", "1", "label('correct')", "Correct", "Decide that the completion is correct."),
    Action("adjudicate.incorrect", "0", "label('incorrect')", "Incorrect", "Decide that the completion is incorrect."),
    Action("adjudicate.unsuitable", "x", "unsuitable", "Unsuitable", "Decide that it is unsuitable; asks why."),
    Action("adjudicate.type", "t", "type", "Type", "Decide on the answer type: then a letter and a number."),
    Action("adjudicate.accept-a", "comma", "accept('A')", "As A", "Decide as A does, reason and marks included."),
    Action("adjudicate.accept-b", ".", "accept('B')", "As B", "Decide as B does, reason and marks included."),
    Action("adjudicate.undo", "z", "undo", "Undo", "Retract your last decision."),
    Action("adjudicate.skip", "l", "skip", "Skip", "Leave the conflict for later.", False),
    Action("adjudicate.note", "c", "note", "Note", "Write a note for the decision; it is kept as a draft.", False),
    Action("adjudicate.tag", "m", "tag", "Mark", "Add marks to the verdict, such as wrong reasoning.", False),
    Action("adjudicate.labels", "L", "labels", "Labels", "Show the labels in full; again: go back to the card.", False),
    Action("adjudicate.case", "a", "case", "Case", "Add a sentence on this case to the guidelines.", False),
    Action("adjudicate.kinds", "w", "app.open_screen('conflicts')", "By kind", "Resolve many at once.", False),
    *step_actions("adjudicate", "decided"),
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
    "type": frozenset({"label", "unsuitable", "tag"}),
}
"""Task of a conflict -> actions that don't apply to it."""


_CASE = "The decision in one sentence, for the guidelines"


class ConflictCase(ShownCase, frozen=True):
    """A conflict, ready to be shown.

    Attributes:
        left: Number of unresolved conflicts that this person may resolve.
    """

    conflict: Conflict
    left: int


class ConflictFeed:
    """Prepares conflicts for display; every method may be called in a thread.

    Attributes:
        decided: Number of the person's decisions, counted after each of them.
    """

    paused = ""

    def __init__(self, project: Project, name: str, *, sighted: bool) -> None:
        self.session = AdjudicationSession(project, name, sighted=sighted)
        self.guidelines = self.session.guidelines
        self.decided = 0

    def _prepare(self, conflict: Conflict | None) -> ConflictCase | None:
        if conflict is None:
            return None
        return ConflictCase(card_texts(conflict.item), conflict, self.session.count_open())

    def first(self, wanted: tuple[Task, int] | None) -> ConflictCase | None:
        """Return a conflict, or the person's own decision; the next conflict if they may not resolve it."""
        if wanted is not None and self.session.may_open(*wanted):
            return self._prepare(self.session.open(*wanted))
        return self.next()

    def next(self, beside: tuple[int, ...] = ()) -> ConflictCase | None:
        return self._prepare(self.session.next())

    def submit(self, case: ConflictCase, answer: Answer) -> list[tuple[str, str]]:
        """Store a decision; return the verifiers' verdicts, which may be shown after it."""
        self.session.decide(case.conflict, answer)
        said = []
        with suppress(StoreError):  # the decision is stored
            self.decided = self.session.count_decided()
            said = self.session.verdicts_after(case.conflict) if case.conflict.task == "correctness" else []
        return said

    def undo(self) -> ConflictCase | None:
        return self._prepare(self.session.undo())

    def step(self, case: ConflictCase | None, older: bool) -> ConflictCase | None:
        return self._prepare(self.session.step(None if case is None else case.conflict, older=older))

    def skip(self, case: ConflictCase) -> None:
        self.session.skip(case.conflict)

    def keep_note(self, case: ConflictCase, note: str) -> None:
        self.session.keep_note(case.conflict, note)

    def leave(self) -> None:
        """Do nothing: conflicts are not reserved."""


class AdjudicateScreen(JudgingScreen[ConflictCase]):
    """One conflict at a time; verdicts of verifiers appear only after the decision."""

    TITLE_TEXT, PREFIX = "Adjudicate", "adjudicate"
    ACTIONS: ClassVar[tuple[Action, ...]] = ADJUDICATE_ACTIONS
    ROLE: ClassVar[Role] = "adjudicator"
    OF_ITEM: ClassVar = JudgingScreen.OF_ITEM | {"accept", "labels", "case"}
    NO_UNDO, NO_OLDER = "You have no decision to retract.", "You decided no conflict before this one."
    _feed: ConflictFeed | None
    _last_one = ""

    def content(self) -> ComposeResult:
        yield OpinionPanel(id="opinions")
        yield FinalAnswerCard(GUIDELINES, desk="adjudicate")
        yield Static(id="adjudicate-empty", markup=False)

    @property
    def panel(self) -> OpinionPanel:
        return self.query_one(OpinionPanel)

    def make_feed(self, sighted: bool) -> ConflictFeed:
        return ConflictFeed(self.project, self.person, sighted=sighted)

    # -- which conflict ----------------------------------------------------------------------------

    def show_no_work(self) -> None:
        text = NOBODY.format(add=Command("annotators DB add NAME"), person=key_of("adjudicate.person"))
        self.show_placeholder(text)

    def empty_text(self) -> str:
        left = NOTHING_LEFT.format(name=printable(self.person), undo=key_of("adjudicate.undo"))
        return f"{self._last_one}{left}"

    def show_case(self, case: ConflictCase, *, revisiting: bool = False) -> None:
        own = case.conflict.own
        self._marks = Marks() if own is None else Marks(tags=own.tags)
        self._note = case.conflict.note or ("" if own is None else own.note)
        self._last_one = ""
        self._show_full_labels(False)
        self.panel.show(case.conflict)
        super().show_case(case)
        self.refresh_bindings()

    def show_placeholder(self, text: str) -> None:
        self._show_full_labels(False)
        super().show_placeholder(text)

    # -- deciding ----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._current is not None and action in HIDDEN[self._current.conflict.task]:
            return False
        if action == "close" and self.panel.in_full:
            return True
        return super().check_action(action, parameters)

    def action_accept(self, letter: str) -> None:
        if self._current is not None and self.is_ready and self.is_decision():
            conflict = self._current.conflict
            for opinion in conflict.opinions:
                if opinion.letter == letter:
                    self.check_answer(adopt_opinion(conflict.task, opinion, self._note))

    def action_type(self) -> None:
        if self.accepts_key() and self._current is not None:
            said = ", ".join(f"{one.letter}: {one.value}" for one in self._current.conflict.opinions)
            picker = TypePicker(prompt=f"Which answer type? {printable(said)}")
            self.ask_about(picker, lambda subtype: self.check_answer(Answer(subtype=subtype)))

    def check_answer(self, answer: Answer, *, stay: bool = False) -> None:
        own, check = None if self._current is None else self._current.conflict.own, super().check_answer
        if own is None or _ruling_value(own) == _ruling_value(answer):
            check(answer)
            return
        text = f"Your decision {_ruling_value(own)} is in force; {_ruling_value(answer)} replaces it."
        self.ask_about(ConfirmScreen("Replace your decision?", text), lambda yes: check(answer) if yes else None)

    def submit(self, answer: Answer, *, stay: bool = False) -> None:
        super().submit(replace(answer, note=answer.note or self._note))

    def finish_submit(self, case: ConflictCase, answer: Answer, stay: bool, stored: list[tuple[str, str]]) -> None:
        self._said = f"saved ✓ {_ruling_value(answer)}"
        if stored:
            self.app.push_screen(verdicts_menu(stored_words(answer), stored), self._decided)
        else:
            self._decided("on")

    def _decided(self, chosen: str | None) -> None:
        if chosen == "undo":
            self._current = None
            self.action_undo()
            return
        if self._feed is not None:
            self._last_one = f"Saved ✓ That was the last one: {self._feed.decided:,} resolved by you in total.\n\n"
        self.advance()
        if chosen == "case":
            self.ask_line(_CASE, None, self._add_case)

    def answer_rejected(self, case: ConflictCase, error: AnnotationError) -> None:
        if self._feed is not None:
            reopen = partial(self._feed.first, (case.conflict.task, case.conflict.subject))
            self.store(reopen, partial(self._show_step, False), "reading again …")

    # -- the guidelines ----------------------------------------------------------------------------

    def action_case(self) -> None:
        if self.accepts_key() and self._current is not None:
            self.ask_line(_CASE, None, self._add_case)

    def _add_case(self, said: str) -> None:
        add = partial(guidelines.add_case, self.project, said, by=self.person)
        self.in_background(add, self._show_added_case, group="adjudicate-case")

    def _show_added_case(self, guideline: Guideline) -> None:
        self.line_stored(_CASE, None)
        self._shown_version = guideline.version
        self.card.set_guidelines(guideline.text)
        self.notify(f"Guidelines version {guideline.version}: {key_of('adjudicate.guidelines')} shows it.")

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
        parts = [RemarkPiece(self.shown_name(self.person)), self.news]
        if self._current is not None:
            if self._current.conflict.own is not None:
                parts.append(RemarkPiece("your decision"))
            parts.append(RemarkPiece(f"{counted(self._current.left, 'conflict')} left", 1))
        parts += [RemarkPiece(f"◆ {tag_words(tag)}", 2) for tag in self._marks.tags]
        if self._note:
            parts.append(RemarkPiece(f"✎ {printable(self._note)}"))
        parts.append(RemarkPiece(self._said))
        self.query_one(TitleBar).say_parts(parts)


def _ruling_value(ruling: Answer) -> str:
    return ruling.verdict or ruling.subtype or ""
