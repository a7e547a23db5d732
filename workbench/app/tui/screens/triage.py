"""Triage: the wrong verdicts of a cell or a queue as cards; one key stores the cause and shows the next card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.widgets import Static

from workbench.app.tui.desk import WHY_ANEW, Desk
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ChoiceMenu, choose
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.kit.triage_view import CardState, card, summary
from workbench.app.tui.sharing import share
from workbench.core.errors import StoreError
from workbench.core.label import coordinator_name
from workbench.core.project import Project
from workbench.core.text.figures import counted, percent
from workbench.measuring import browsing
from workbench.measuring.records.review import ERROR_CATEGORIES, Review
from workbench.measuring.reviewing import deciding, triage
from workbench.measuring.reviewing.triage import KEYED, UNKEYED, Cause, OpenCases, TriageCase, TriageScope, TriageTally
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.files import format_tables

_READ_AHEAD = 12
"""Number of cases that are read ahead at a time."""
_MAX_COMPARED = 400
"""Maximum number of open cases that are searched for similar ones."""
_LOOKS = "triage-looks"
_OF_A_CASE = frozenset(("give", "other", "send_back", "pick", "open_item", "what_if"))
"""Actions that need a case on the screen."""
_CUSTOM = Cause("other")
_MAX_CUSTOM = 8
"""Maximum number of custom causes that are offered again."""
_NAME_IT = "Name of the cause"


class _Finished(NamedTuple):
    """The result of a job that stored decisions.

    Attributes:
        items: Row ids of the items it was about.
        show: Row id of the item to return to; None to stay.
    """

    said: str
    items: tuple[int, ...]
    show: int | None = None


_Work = Callable[[Project, TriageScope], _Finished]


class TriageScreen(Desk):
    """Cards of wrong verdicts; a digit stores the cause and shows the next card, which is already loaded.

    A card counts as decided only when its cause is stored: until then the tally excludes it. If the cause can't be
    stored, the card returns.

    Args:
        scope_of: Returns the wrong verdicts to go through; None for those of the cell where the most accurate verifier
            is weakest.

    Attributes:
        scope: The wrong verdicts to go through; None until it is loaded.
        case: The case on the screen.
        picked: Whether the next cause is stored for all similar open cases.
        elsewhere: Verifiers with open cases among all items; read once no case here is open.
        closing: Whether the summary (a paragraph and a table) is shown in place of the card.
    """

    TITLE_TEXT = "Triage"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        *(
            Action(
                f"triage.cause-{digit}",
                str(digit),
                f"give({digit})",
                cause.name,
                f"Cause {cause.name}: {ERROR_CATEGORIES[cause.category]}",
                False,
            )
            for digit, cause in enumerate(KEYED, 1)
        ),
        Action("triage.other", "0", "other", "Other cause", "Choose another cause, or name a custom one."),
        Action("triage.gold", "g", "send_back", "Gold", "Gold is in doubt: have the item labelled again; asks why."),
        Action("triage.like", "space", "pick", "Alike", "Give the next cause to all similar cases."),
        Action("triage.next", "]", "go(1)", "Skip", "Go to the next case."),
        Action("triage.previous", "[", "go(-1)", "Previous", "Go to the previous case."),
        Action("triage.undo", "z", "take_back", "Undo", "Undo the last cause, on all its cases."),
        Action("triage.open", "enter", "open_item", "Open", "Open the item with all its texts and evidence."),
        Action("triage.elsewhere", "n", "elsewhere", "Open cases", "Go to the verifier with most open cases.", False),
        Action("triage.verifiers", "v", "choose_verifier", "Verifier", "Choose the verifier.", False),
        Action("triage.what-if", "ctrl+t,f3", "what_if", "What if", "Try other options of the verifier.", False),
        Action("triage.summary", "d", "summary", "Summary", "Show the paragraph and the table so far, or the card."),
        Action("triage.export", "e", "export", "Export", "Export or copy the table: CSV, Markdown, LaTeX."),
        Action("triage.back", "escape,q", "back", "Back", "Go back to the card, else to the screen before."),
    )

    def __init__(self, scope_of: Callable[[Project], TriageScope] | None = None) -> None:
        super().__init__()
        self._scope_of = scope_of or triage.weakest_cell
        self.scope: TriageScope | None = None
        self.tally: TriageTally | None = None
        self.case: TriageCase | None = None
        self.picked = self.closing = False
        self.said = ""
        self.elsewhere: Sequence[OpenCases] = ()
        self._place = -1  # of the item that is to be shown
        self._cases: dict[int, TriageCase | None] = {}  # None: no verifier errs on it any more
        self._looked_at: set[int] = set()  # and it is not known yet that this is recorded
        self._pending: set[int] = set()  # their causes are on their way
        self._given: list[tuple[Review, ...]] = []

    def content(self) -> ComposeResult:
        yield Static("", id="triage-card", markup=False)

    def on_mount(self) -> None:
        def begin(found: tuple[TriageScope, TriageTally, dict[int, TriageCase | None]]) -> None:
            self.scope, self.tally, self._cases = found
            self._show_next()

        self.in_background(self._read_first, begin, group="triage")

    # -- reading -----------------------------------------------------------------------------------

    def _read_first(self) -> tuple[TriageScope, TriageTally, dict[int, TriageCase | None]]:
        scope = self._scope_of(self.project)
        tally = triage.tally(self.project, scope)
        first = next((item for item in scope.items if item not in tally.done | tally.sent_back), None)
        return scope, tally, {} if first is None else self._cases_of(scope, (first,))

    def _cases_of(self, scope: TriageScope, items: Sequence[int]) -> dict[int, TriageCase | None]:
        return {item: triage.case(self.project, scope, item) for item in items}

    def _read_ahead(self) -> None:
        items = (self._items[place] for place in islice(self._open_places(), _MAX_COMPARED))
        unknown = (item for item in items if item not in self._cases)
        self._read_cases(tuple(islice(unknown, _READ_AHEAD)), group="triage-ahead")

    def _read_cases(self, items: Sequence[int], *, group: str) -> None:
        if items and (scope := self.scope) is not None:
            self.in_background(partial(self._cases_of, scope, items), self._take_cases, group=group, stops=True)

    def _take_cases(self, cases: dict[int, TriageCase | None]) -> None:
        before, present = len(self.alike), self._items[self._place]
        self._cases.update(cases)
        if self.case is None and not self.closing and present in cases:
            self._show(self._place)
            return
        self.case = cases.get(present) or self.case
        if present in cases or len(self.alike) != before:
            self.redraw()
        self._read_ahead()

    # -- which case --------------------------------------------------------------------------------

    @property
    def _items(self) -> Sequence[int]:
        return () if self.scope is None else self.scope.items

    def _is_open(self, item: int) -> bool:
        decided = self.tally is not None and (item in self.tally.done or item in self.tally.sent_back)
        return not decided and item not in self._pending and self._cases.get(item, self) is not None

    def _open_places(self) -> Iterator[int]:
        present, total = self._place, len(self._items)
        places = chain(range(present + 1, total), range(min(present + 1, total)))
        return (place for place in places if self._is_open(self._items[place]))

    @property
    def alike(self) -> list[TriageCase]:
        """Return the case on the screen and, after it, the open cases read so far that are similar to it."""
        case = self.case
        if case is None or not self._is_open(case.id):
            return []
        others = (one for one in self._cases.values() if one is not None and one.id != case.id)
        return [case, *(one for one in others if one.likeness == case.likeness and self._is_open(one.id))]

    def _show_next(self) -> None:
        place = next(self._open_places(), None)
        if place is None:
            self.action_summary(closing=True)
        else:
            self._show(place)

    def _show(self, place: int) -> None:
        item = self._items[place]
        self._place, self.picked, self.closing = place, False, False
        self.case = self._cases.get(item)
        if self.case is not None:
            self.mark_shown()
            self._looked_at.add(item)
            looked, names = tuple(self._looked_at), self.workbench.names_worked_under
            reveal = partial(browsing.reveal_each, self.project, looked, names)
            recorded = self._looked_at.difference_update
            self.in_background(reveal, lambda _: recorded(looked), group=_LOOKS, exclusive=False)
            self._read_ahead()
        elif item in self._cases:
            self.said = "All verifiers agree with gold on that item now."
            self._show_next()
            return
        else:
            self._read_cases((item,), group="triage-case")
        self.redraw()

    def shows_errors_of(self, group: str) -> bool:
        return group != _LOOKS

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.closing and action in _OF_A_CASE:
            return False
        return super().check_action(action, parameters)

    def action_go(self, step: int) -> None:
        place = self._place if self.closing and step < 0 else self._place + step
        if 0 <= place < len(self._items):
            self.said = ""
            self._show(place)
        else:
            self.notify("This is the last case." if step > 0 else "This is the first case.")

    def action_choose_verifier(self) -> None:
        self.in_background(partial(triage.verifiers, self.project), self._ask_verifier, group="verifiers")

    def _ask_verifier(self, found: Sequence[AccuracyRow]) -> None:
        choices = {
            row.verifier: f"{printable(row.verifier)}: right on {percent(row.accuracy)} % of {row.n:,}" for row in found
        }
        present = () if self.scope is None else self.scope.verifiers
        choose(self, ChoiceMenu("Which verifier's errors?", choices, chosen=present), self._switch_verifier)

    def _switch_verifier(self, verifier: str) -> None:
        self.app.switch_screen(TriageScreen(partial(triage.of_verifier, verifier=verifier)))

    # -- giving a cause ----------------------------------------------------------------------------

    @property
    def _target_cases(self) -> list[TriageCase]:
        if self.case is None or self.closing or not self.is_item_visible or self.case.id in self._pending:
            self.mark_key_unused()
            return []
        return self.alike if self.picked else [self.case]

    def action_pick(self) -> None:
        if len(self.alike) > 1 and not self.closing:
            self.picked = not self.picked
            self.redraw()
        else:
            self.notify("No other open case is similar.")

    def action_give(self, digit: int) -> None:
        if self.is_decision():
            self._give_cause(KEYED[digit - 1], self._target_cases)

    def _give_cause(self, cause: Cause, cases: Sequence[TriageCase]) -> None:
        if cases:
            self._pending.update(one.id for one in cases)
            self.said = f"storing: {cause.name} …"
            self._add_job(tuple(one.id for one in cases), partial(self._give, tuple(cases), cause))
            self._show_next()

    def _give(self, cases: Sequence[TriageCase], cause: Cause, project: Project, scope: TriageScope) -> _Finished:
        self._given.append(triage.give_cause(project, cases, cause, scope, by=coordinator_name()))
        what = f"{len(cases):,} cases alike" if len(cases) > 1 else _case_number(scope, cases[0])
        saved = f"saved: {cause.name} · {what} · {key_of('triage.undo')} undoes it"
        return _Finished(saved, tuple(one.id for one in cases))

    def action_other(self) -> None:
        if cases := self._target_cases:
            self.in_background(
                partial(triage.own_causes, self.project), partial(self._ask_other, cases), group="causes"
            )

    def _ask_other(self, cases: Sequence[TriageCase], own: Sequence[Cause]) -> None:
        counts = Counter(mark.cause for mark in self.tally.marks) if self.tally is not None else Counter[Cause]()

        def words(cause: Cause) -> str:
            meaning = "" if cause.own else f": {ERROR_CATEGORIES[cause.category]}"
            return f"{printable(cause.name)}{meaning}{f' · {counts[cause]:,} so far' if counts[cause] else ''}"

        choices = {cause: words(cause) for cause in (*UNKEYED, *own[:_MAX_CUSTOM])} | {_CUSTOM: "a custom cause …"}

        def chosen(cause: Cause) -> None:
            if cause == _CUSTOM:
                self.ask_line(_NAME_IT, cases[0].id, lambda name: self._give_cause(triage.cause_called(name), cases))
            else:
                self._give_cause(cause, cases)

        choose(self, ChoiceMenu(f"The cause of {counted(len(cases), 'case')}", choices, wide=True), chosen)

    def action_send_back(self) -> None:
        if cases := self._target_cases[:1]:
            self.ask_line(WHY_ANEW, cases[0].id, partial(self._send_back, cases[0]))

    def _send_back(self, case: TriageCase, reason: str) -> None:
        def reopen(project: Project, scope: TriageScope) -> _Finished:
            by = coordinator_name()
            self._given.append((deciding.send_back(project, case.id, reason=reason, by=by, queue=scope.queue),))
            saved = f"saved: sent back · {_case_number(scope, case)} · {key_of('triage.undo')} undoes it"
            return _Finished(saved, (case.id,))

        self._pending.add(case.id)
        self._add_job((case.id,), reopen)
        self._show_next()

    # -- storing -----------------------------------------------------------------------------------

    def _add_job(self, items: tuple[int, ...], work: _Work) -> None:
        if (scope := self.scope) is not None:
            # The project is passed on: a screen that was left has none.
            stored = partial(_store_and_count, work, self.project, scope)
            self.store(stored, self._finish_job, failed=partial(self._fail_job, items))

    def _finish_job(self, done: tuple[_Finished, TriageTally | None]) -> None:
        finished, tally = done
        self.said = finished.said
        if tally is not None:
            self.tally = tally
            self._pending.difference_update(finished.items)
        for item in finished.items:
            self._cases.pop(item, None)
        if self.closing:
            self._read_elsewhere()
        if finished.show is not None:
            self._show(self._items.index(finished.show))
        elif self.case is not None and self.case.id not in self._cases:
            self._cases[self.case.id] = self.case
        self.redraw()

    def _fail_job(self, items: tuple[int, ...], _: Exception) -> None:
        self.said = "That could not be saved."
        self._pending.difference_update(items)
        if items:
            self._show(self._items.index(items[0]))

    def on_unmount(self) -> None:
        if self._looked_at:
            names = self.workbench.names_worked_under
            looks = partial(browsing.reveal_each, self.project, tuple(self._looked_at), names)
            self.workbench.run_worker(looks, thread=True, exit_on_error=False)

    # -- taking back -------------------------------------------------------------------------------

    def action_take_back(self) -> None:
        self._add_job((), self._undo)

    def _undo(self, project: Project, scope: TriageScope) -> _Finished:
        by = coordinator_name()
        marks = self._given[-1] if self._given else triage.last_marks(project, scope, by=by)
        if not marks:
            return _Finished("You have no cause to undo.", ())
        deciding.take_back_each(project, marks, by=by)
        if self._given:
            self._given.pop()
        items = tuple(dict.fromkeys(mark.completion for mark in marks))
        return _Finished(f"undone: {_marks_text(marks)}", items, items[0])

    # -- leaving, and what it has come to ----------------------------------------------------------

    def action_open_item(self) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        if self.case is not None and self.scope is not None and not self.closing:
            self.app.push_screen(ItemScreen(self.case.id, self._items, self.scope.verifiers))

    def action_what_if(self) -> None:
        from workbench.app.tui.screens.what_if import WhatIfScreen

        if self.case is not None and self.case.erring and not self.closing:
            self.app.push_screen(WhatIfScreen(self.case.erring[0].verifier, self.case.id))

    def on_screen_resume(self) -> None:
        if self.case is not None:
            self._cases.pop(self.case.id, None)
            self._read_cases((self.case.id,), group="triage-case")

    def action_summary(self, *, closing: bool | None = None) -> None:
        self.closing = not self.closing if closing is None else closing
        if not self.closing and self.case is None:
            self._show_next()
        if self.closing:
            self._read_elsewhere()
        self.redraw()

    def _read_elsewhere(self) -> None:
        if self.tally is not None and not self.tally.left:
            work = partial(triage.open_cases, self.project)
            self.in_background(work, self._show_elsewhere, group="triage-elsewhere", stops=True)

    def _show_elsewhere(self, found: Sequence[OpenCases]) -> None:
        self.elsewhere = found
        self.redraw()

    def action_elsewhere(self) -> None:
        def found(others: Sequence[OpenCases]) -> None:
            if others:
                self._switch_verifier(others[0].verifier)
            else:
                self.notify("No verifier has an open case.")

        self.in_background(partial(triage.open_cases, self.project), found, group="triage-elsewhere", stops=True)

    def action_export(self) -> None:
        tally = self.tally
        if tally is not None:
            table = partial(triage.triage_table, tally)
            share(self, "triage", lambda form: format_tables([table()], form), partial(triage.triage_lines, tally))

    def action_back(self) -> None:
        if self.closing and self.tally is not None and next(self._open_places(), None) is not None:
            self.action_summary(closing=False)
        else:
            self.workbench.action_go_back()

    # -- showing -----------------------------------------------------------------------------------

    def redraw(self) -> None:
        box, scope, tally = self.query_one("#triage-card", Static), self.scope, self.tally
        if scope is None or tally is None:
            return
        self._update_title(scope, tally)
        self.refresh_bindings()
        box.set_class(self.closing, "closing")
        if self.closing:
            box.update(summary(tally, self.said, self.elsewhere))
        elif self.case is None:
            box.update("reading …")
        else:
            state = CardState(tally, self.alike, self.picked, printable(self.said))
            box.update(card(self.case, state, *box.content_size))

    def _update_title(self, scope: TriageScope, tally: TriageTally) -> None:
        names = printable(", ".join(scope.verifiers))
        place = "" if self.closing or self._place < 0 else f"case {self._place + 1:,} of {len(scope.items):,}"
        parts = [
            RemarkPiece(place),
            RemarkPiece(f"{len(tally.done):,} with a cause", 2),
            RemarkPiece(f"{tally.left:,} left"),
            RemarkPiece(f"{names} × {printable(scope.words)}", 1),
        ]
        self.query_one(TitleBar).say_parts(parts)


def _store_and_count(work: _Work, project: Project, scope: TriageScope) -> tuple[_Finished, TriageTally | None]:
    finished = work(project, scope)
    try:
        return finished, triage.tally(project, scope)
    except StoreError:  # it is stored, only the tally is not read
        return finished, None


def _case_number(scope: TriageScope, case: TriageCase) -> str:
    return f"case {scope.items.index(case.id) + 1:,}"


def _marks_text(marks: Sequence[Review]) -> str:
    if marks[0].kind == "reannotate":
        return "sent back; it will still be labelled again"
    cause = triage.cause_of(marks[0].category or "other", marks[0].note).name
    items = len({mark.completion for mark in marks})
    return f"{cause} · {counted(items, 'case')}" if items > 1 else cause
