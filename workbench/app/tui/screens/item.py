"""One item: its texts, labels and verdicts; opening it is recorded as a reveal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.form import FindingScreen
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ChoiceMenu, choose, index_of
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.evidence import CHOSEN, FIRST, evidence
from workbench.app.tui.kit.item_panes import (
    PANES,
    TEXTS,
    ReadyItem,
    View,
    answer_card,
    prepare_panes,
    put_verifiers_first,
    solution_card,
)
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.review_desk import COORDINATING_ACTIONS, REVIEWING_ACTIONS, Reviewing
from workbench.app.tui.screen import BREAKPOINTS
from workbench.coding.problems import problem_of
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.taxonomy import UNTYPED, type_display
from workbench.core.text.excerpt import snippet
from workbench.data.records import ItemDetail
from workbench.measuring import browsing
from workbench.measuring.reviewing.deciding import reviews_of

ITEM_ACTIONS: Final[tuple[Action, ...]] = (
    *REVIEWING_ACTIONS,
    Action("item.next", "]", "go(1)", "Next", "Open the next item of the list."),
    Action("item.previous", "[", "go(-1)", "Previous", "Open the previous item.", False),
    Action("item.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
    Action("item.answer", "d", "answer", "Answer", "Show the final answers.", False),
    Action("item.reference-answer", "R", "answer_of('reference')", "Reference", "Go to its final answer.", False),
    Action("item.completion-answer", "C", "answer_of('completion')", "Completion", "Go to its final answer.", False),
    Action("item.verdict", "v", "choose(1)", "Verdict", "Choose the next verdict: its answers are marked.", False),
    Action("item.verdict-before", "V", "choose(-1)", "Previous verdict", "Choose the previous verdict.", False),
    Action("item.transcript", "T", "transcript", "Transcript", "Show the calls behind the chosen verdict.", False),
    Action("item.what-if", "ctrl+t,f3", "what_if", "What if", "See which verdicts other options change.", False),
    Action("item.find", "/", "find", "Find", "Find a text in the pane in focus.", False),
    Action("item.find-next", "n", "find_next(1)", "Next hit", "Go to the next hit.", False),
    Action("item.find-previous", "N", "find_next(-1)", "Previous hit", "Go to the previous hit.", False),
    Action("item.raw", "o", "raw", "Raw", "Show the stored text itself, or the rendered one.", False),
    Action("item.think", "h", "think", "Think", "Open or fold <think> blocks.", False),
    Action("item.code", "i", "code", "Tests", "Open the code problem: solutions against tests.", False),
    Action("item.write", "e", "write", "Write", "Write the item to a JSON file next to the database.", False),
    *COORDINATING_ACTIONS,
    Action("item.adjudicate", "L", "adjudicate", "Adjudicate", "Resolve a conflict between annotators."),
    Action("item.back", "escape,q", "back", "Back", "Go back to the previous screen."),
)


class ItemScreen(Reviewing, FindingScreen):
    """Question, reference, completion and evidence in four panes.

    On a narrow terminal they are stacked and the focused one is tall.

    Args:
        completion: Row id of the item.
        neighbours: Row ids of the items ``[`` and ``]`` go to, in order.
        first: Names of the verifiers whose verdicts come first; the first one is chosen, so that its final answers are
            marked in the texts. If it has no verdict, the answers that workbench extracts are marked.
        search: The text by which the items were found: each item opens at its first hit.

    Attributes:
        completion: Row id of the item now shown.
    """

    TITLE_TEXT = "Item"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = ITEM_ACTIONS

    def __init__(
        self, completion: int, neighbours: Sequence[int] = (), first: tuple[str, ...] = (), search: str = ""
    ) -> None:
        super().__init__()
        self._search = search
        self._searched: int | None = None
        self.completion = completion
        self._neighbours = neighbours
        self._index: int | None = None
        self._first = first
        self._view = View(verifier=first[0] if first else None)
        self._ahead: ReadyItem | None = None
        self._resolving = False

    def content(self) -> ComposeResult:
        yield Static(markup=False, id="item-facts")
        yield Static(markup=False, id="item-card")
        yield Static(markup=False, id="item-review")
        with Container(id="item-panes"):
            for name in PANES:
                yield Reader(title=name.capitalize(), id=f"item-{name}")

    def on_mount(self) -> None:
        self._pane("completion").focus()
        self.call_after_refresh(self._open_first)

    def _pane(self, name: str) -> Reader:
        return self.query_one(f"#item-{name}", Reader)

    @property
    def item_here(self) -> int:
        return self.completion

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if not isinstance(event.widget, Reader) or event.widget.has_class("tall"):
            return
        for pane in self.query(Reader):
            was_tall = pane.has_class("tall")
            pane.set_class(pane is event.widget, "tall")
            if was_tall and self.has_class("-narrow"):
                # One refresh applies the class, the next the height: only then is it known what is in sight.
                mark = CHOSEN if pane.id == "item-evidence" else "answer"
                self.call_after_refresh(self.call_after_refresh, pane.jump, mark)

    # -- which item --------------------------------------------------------------------------------

    def _open_first(self) -> None:
        read = self._item_reader(self.completion, revealing=True)
        place = partial(index_of, self._neighbours, self.completion)
        self.in_background(lambda: (place(), read()), self._show_first, group="item-open")

    def _show_first(self, found: tuple[int | None, ReadyItem]) -> None:
        self._index, item = found
        self._show(item)

    def _open_item(self, completion: int) -> None:
        ahead, self.completion = self._ahead, completion
        if ahead is not None and ahead.item.id == completion and ahead.view == self.viewed(ahead.item, self._view):
            reveal = partial(browsing.reveal, self.project, completion, self.workbench.names_worked_under)
            self.in_background(reveal, lambda _: None, group="reveal", exclusive=False)
            self._show(ahead)
            return
        self.in_background(self._item_reader(completion, revealing=True), self._show, group="item-open")

    @property
    def _widths(self) -> dict[str, int]:
        return {name: self._pane(name).wrap_width for name in TEXTS}

    def _item_reader(self, completion: int, *, revealing: bool) -> partial[ReadyItem]:
        return partial(self._read_item, completion, self._view, self._widths, revealing)

    def _read_item(self, completion: int, view: View, widths: dict[str, int], revealing: bool) -> ReadyItem:
        if revealing:
            item = browsing.detail(self.project, completion, self.workbench.names_worked_under)
        else:
            item = browsing.read(self.project, completion)
        from workbench.coding.matrix import summarize_solution

        item, view = put_verifiers_first(item, self.first_of(item)), self.viewed(item, view)
        solution = summarize_solution(self.project, completion)
        panes = prepare_panes(item, view, widths, is_code=solution is not None)
        reviews = tuple(reviews_of(self.project, completion))
        return ReadyItem(item, view, panes, solution, reviews, self.why(completion))

    def first_of(self, item: ItemDetail) -> Sequence[str]:
        """Return the verifiers whose verdicts come first; called in a thread."""
        return self._first

    def viewed(self, item: ItemDetail, view: View) -> View:
        return view

    def why(self, completion: int) -> str:
        return ""

    def _show(self, found: ReadyItem) -> None:
        if found.item.id != self.completion:
            return
        if self.ready is None or self.ready.item.id != found.item.id:
            self.note = ""
            self.mark_shown()
        self.ready = found
        self.refresh_bindings()
        self._update_title(found.item)
        self.show_review()
        for name, pane in found.panes.items():
            reader = self._pane(name)
            reader.set_title(pane.title)
            reader.show(pane.text)
        self.redraw()
        self.action_answer()
        self.call_after_refresh(self.action_answer)  # once more: other lines above the panes make them shorter
        if self._search and (found.view.raw or self._searched != found.item.id):
            self._searched = found.item.id
            self.call_after_refresh(self._find_search_text, found)
        self._read_ahead(1)

    def _find_search_text(self, found: ReadyItem) -> None:
        small = self._search.lower()  # a reader treats a text with capitals as case-sensitive
        holding = [pane for pane in map(self._pane, reversed(TEXTS)) if pane.find(small)]
        if holding:
            holding[0].focus()
            self.call_after_refresh(self.call_after_refresh, holding[0].find, small)
        elif not found.view.raw and any(snippet(getattr(found.item, name), self._search) for name in TEXTS):
            self._change_view(found.view._replace(raw=True))

    def redraw(self) -> None:
        if self.ready is None:
            return
        reader, view, chosen = self._pane("evidence"), self.ready.view, self.chosen
        text = evidence(
            self.ready.item,
            reader.wrap_width,
            raw=view.raw,
            chosen=None if chosen is None else chosen.verifier,
            reviews=self.ready.reviews,
        )
        reader.set_title("Labels and verdicts")
        reader.show(text)
        if not reader.jump(CHOSEN) and self.ready.why and self.has_class("-narrow"):
            reader.jump(FIRST)

    def _read_ahead(self, step: int) -> None:
        beside = self._neighbour_id(step)
        if beside is not None and (self._ahead is None or self._ahead.item.id != beside):
            keep = partial(setattr, self, "_ahead")
            self.in_background(self._item_reader(beside, revealing=False), keep, group="item-ahead")

    def _neighbour_id(self, step: int) -> int | None:
        if self._index is None or not 0 <= self._index + step < len(self._neighbours):
            return None
        return self._neighbours[self._index + step]

    def action_go(self, step: int) -> None:
        beside = self._neighbour_id(step)
        if beside is None:
            self.notify("This is the last item." if step > 0 else "This is the first item.")
            return
        self._index, self.said = (self._index or 0) + step, ""
        self._open_item(beside)

    def title_parts(self, item: ItemDetail) -> list[RemarkPiece]:
        place = "" if self._index is None else f"{self._index + 1:,} of {len(self._neighbours):,}"
        names = (item.completion_id, item.dataset, f"question {item.question_id}")
        named = (RemarkPiece(printable(name), rank) for name, rank in zip(names, (0, 5, 4), strict=True))
        return [RemarkPiece(place, 1), *named]

    def _update_title(self, item: ItemDetail) -> None:
        self.query_one(TitleBar).say_parts(self.title_parts(item))
        gold = f"gold {OUTCOME_MARKS[item.gold][0]} {item.gold}" + (f" ({item.gold_from})" if item.gold_from else "")
        kind = item.subtype if item.subtype == UNTYPED else type_display(item.subtype)
        facts = [kind, item.state, EXCLUSION_REASONS.get(item.reason, item.reason), gold, item.model, item.source]
        solution = None if self.ready is None else self.ready.solution
        card = answer_card(item, self.size.width - 2) if solution is None else solution_card(item, solution)
        self.query_one("#item-card", Static).update(card)
        self.query_one("#item-facts", Static).update(Content(printable(" · ".join(filter(None, facts)))))

    # -- deciding ----------------------------------------------------------------------------------

    def after_decision(self, completion: int) -> None:
        if completion == self.completion:
            self.in_background(self._item_reader(completion, revealing=False), self._show, group="item-open")

    def show_item(self, completion: int) -> None:
        if completion == self.completion:
            self.after_decision(completion)
        else:
            self._index = index_of(self._neighbours, completion)
            self._open_item(completion)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "adjudicate":
            return self.ready is not None and self.ready.item.state == "conflict"
        return super().check_action(action, parameters)

    def action_adjudicate(self) -> None:
        self._resolving = True
        self.workbench.open_screen("adjudicate", ("correctness", self.completion))

    def on_screen_resume(self) -> None:
        if self._resolving:
            self._resolving = False
            self.after_decision(self.completion)

    # -- how it is shown ---------------------------------------------------------------------------

    def _change_view(self, view: View) -> None:
        self._view = view
        if (ready := self.ready) is not None:
            work = partial(prepare_panes, ready.item, view, self._widths, is_code=ready.solution is not None)
            self.in_background(
                work, lambda panes: self._show(ready._replace(view=view, panes=panes)), group="item-open"
            )

    def action_raw(self) -> None:
        self._change_view(self._view._replace(raw=not self._view.raw))

    def action_think(self) -> None:
        self._change_view(self._view._replace(fold=not self._view.fold))

    def action_choose(self, step: int) -> None:
        if self.ready is None:
            return
        names = [None, *(verdict.verifier for verdict in self.ready.item.verdicts)]
        if len(names) < 2:
            self.notify("No verifier has judged this item yet.")
            return
        present = names.index(self.ready.view.verifier) if self.ready.view.verifier in names else 0
        self._change_view(self._view._replace(verifier=names[(present + step) % len(names)]))

    def action_transcript(self) -> None:
        from workbench.app.tui.screens.transcript import TranscriptScreen

        verdicts = () if self.ready is None else self.ready.item.verdicts
        asked = [verdict for verdict in verdicts if verdict.calls and self.chosen in (None, verdict)]
        if len(asked) == 1:
            self.app.push_screen(TranscriptScreen(asked[0].run, self.completion))
        elif asked:
            self.notify(f"Choose one of the judges' verdicts with {key_of('item.verdict')}.")
        else:
            self.notify("This verdict needed no model server.")

    def action_what_if(self) -> None:
        verdicts = () if self.ready is None else self.ready.item.verdicts
        if self.chosen is not None or len(verdicts) == 1:
            self._open_what_if((self.chosen or verdicts[0]).verifier)
        elif verdicts:
            choices = {one.verifier: f"{one.verifier}: {one.verdict}" for one in verdicts}
            choose(self, ChoiceMenu("Which verifier's options?", choices), self._open_what_if)
        else:
            self.notify("No verifier has judged this item yet.")

    def _open_what_if(self, verifier: str) -> None:
        from workbench.app.tui.screens.what_if import WhatIfScreen

        self.app.push_screen(WhatIfScreen(verifier, self.completion))

    def action_answer(self) -> None:
        for name in ("reference", "completion"):
            if not self._pane(name).jump("answer"):
                self._pane(name).action_bottom()

    def action_answer_of(self, name: str) -> None:
        pane = self._pane(name)
        pane.focus()

        def jump() -> None:
            if not pane.jump("answer"):
                self.notify("No final answer is marked here.")

        self.call_after_refresh(jump)

    def action_code(self) -> None:
        """Open the pass matrix at the solution."""
        from workbench.app.tui.screens.code_problem import CodeProblemScreen

        solution = self.completion

        def found(question: int | None) -> None:
            if question is None:
                self.notify("This item is not a solution of a code problem.")
            else:
                self.app.push_screen(CodeProblemScreen(question, solution=solution))

        self.in_background(partial(problem_of, self.project, solution), found, group="code")

    def action_write(self) -> None:
        if self.ready is not None:
            work = partial(browsing.write_item, self.project, self.ready.item)
            tell = partial(self.notify, title="Written")
            self.in_background(work, lambda path: tell(str(path)), group="item-write")
