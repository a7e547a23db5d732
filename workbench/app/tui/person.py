"""Screens on which a person works under their own name."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.screen import Screen

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, PeopleMenu
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.app.tui.table_screen import TableScreen

if TYPE_CHECKING:
    from workbench.labelling.rulings import Offer, Role

_QUESTIONS: Final[dict[Role, str]] = {
    "annotator": "Who is labelling?",
    "adjudicator": "Who resolves conflicts?",
    "own": "Whose labels and decisions?",
}
_BLIND: Final = "they open the project under their own name, or in a browser."
_SIGHTED: Final[dict[Role, str]] = {
    "annotator": "Gold and verdicts are a key away here: labels under these names are marked unblinded, and "
    f"agreement leaves it out. So that it counts, {_BLIND}",
    "adjudicator": "Gold and verdicts are a key away here: what is decided under these names is marked unblinded. "
    f"So that it is blind, {_BLIND}",
}
_THIRD: Final = (
    "These conflicts need a third person, who has not labelled the items. Type that person's name; it may be your own."
)


def person_action(screen: str) -> Action:
    """Return the coordinator's action that changes the name to work under."""
    return Action(f"{screen}.person", "P", "switch_person", "Person", "Work under another name.")


class PersonScreen(WorkbenchScreen):
    """Asks the coordinator, once per role, whose name to work under; people who came with ``--as`` are not asked.

    Only people who have work in the role are offered. The name can be changed at any time: the screen then opens again.
    """

    ROLE: ClassVar[Role]
    REMARK = "…"
    _has_nobody = False

    def on_screen_resume(self) -> None:
        if self._has_nobody:
            self._load_candidates(asked=False)

    def on_mount(self) -> None:
        name = self.workbench.who(self.ROLE)
        if name is not None:
            self.begin(name)
        else:
            self._load_candidates(asked=False)

    @abstractmethod
    def begin(self, name: str) -> None:
        """Start to work under a name."""

    @abstractmethod
    def show_no_work(self) -> None:
        """Show that there is no work here for anyone."""

    def own_actions(self) -> tuple[Action, ...]:
        """Return the actions; only the coordinator can switch names."""
        actions = super().own_actions()
        return actions if self.workbench.annotator is None else tuple(a for a in actions if a.run != "switch_person")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "switch_person":
            return self.workbench.annotator is None
        return super().check_action(action, parameters)

    def shown_name(self, name: str) -> str:
        """Return a person's name for the first line of the screen; "" before a name is chosen."""
        if not name or self.workbench.annotator is not None:
            return printable(name)
        return f"as {printable(name)}{', unblinded' if self.ROLE in _SIGHTED else ''}"

    def action_switch_person(self) -> None:
        self._load_candidates(asked=True)

    def _load_candidates(self, *, asked: bool) -> None:
        self.workbench.key_order.wait(self)
        self.in_background(
            self._read_candidates,
            partial(self._ask_name, asked),
            failed=lambda _: self._resume_keys(self, dropped=True),
            group="people-offered",
        )

    def _resume_keys(self, before: Screen[Any], *, dropped: bool = False) -> None:
        before.call_after_refresh(self.workbench.key_order.go_on, self, dropped=dropped)

    def on_unmount(self) -> None:
        self.app.call_later(self.workbench.key_order.go_on, self, dropped=True)

    def _read_candidates(self) -> tuple[list[Offer], bool]:
        from workbench.labelling.rulings import count_conflicts_for_newcomer, offers

        fresh = self.ROLE == "adjudicator" and bool(count_conflicts_for_newcomer(self.project))
        return offers(self.project, self.ROLE), fresh

    def _ask_name(self, asked: bool, candidates: tuple[list[Offer], bool]) -> None:
        found, fresh = candidates
        present = self.workbench.who(self.ROLE)
        self._has_nobody = present is None and not (found or fresh)
        if not (found or fresh):
            if asked:
                self.notify("No one else has work here.")
            else:
                self.show_no_work()
            self._resume_keys(self, dropped=asked)
            return
        about = [_THIRD] if fresh and not found else []
        people = []
        for one in found:
            work = f"{printable(one.name)}  {_work_text(self.ROLE, one)}"
            people.append(Choice(one.name, work, str(one.place) if one.place < 10 else ""))
        menu = PeopleMenu(
            _QUESTIONS[self.ROLE],
            people,
            chosen=None if present is None else (present,),
            about=" ".join([*about, *filter(None, [_SIGHTED.get(self.ROLE)])]),
            fresh=fresh,
        )
        self.app.push_screen(menu, partial(self._use_typed_name, present))
        self._resume_keys(menu)

    def _add_person(self, name: str) -> None:
        from workbench.labelling.people import add_annotators
        from workbench.labelling.rulings import require_third

        if self.ROLE == "adjudicator":
            require_third(self.project, name)
            add_annotators(self.project, [name])

    def _use_typed_name(self, present: str | None, name: str | None) -> None:
        from workbench.labelling.people import is_known

        if name is None:
            self._work_under(present, None)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                go_on = partial(self._work_under, present, name)
                self.in_background(partial(self._add_person, name), lambda _: go_on(), group="people")
            else:
                self._load_candidates(asked=present is not None)

        if is_known(self.project, name):
            answered(True)
        else:
            text = f"{printable(name)} is new here. Yes adds them to the people of this project."
            self.app.push_screen(ConfirmScreen(f"Add {printable(name)}?", text), answered)

    def _work_under(self, present: str | None, name: str | None) -> None:
        if name is None:
            if present is None:
                self.workbench.action_go_back()
        elif present is None:
            self.workbench.working_as[self.ROLE] = name
            self.begin(name)
        elif name != present:
            self.workbench.working_as[self.ROLE] = name
            self.app.switch_screen(self.anew())

    def anew(self) -> PersonScreen:
        return type(self)()


class PersonListScreen(TableScreen, PersonScreen):
    """A list of what a person has done or may do; read again when the screen is back on top."""

    _person = ""

    @abstractmethod
    def action_reload(self) -> None:
        """Read the list and show it."""

    @abstractmethod
    def list_rows(self, rows: list[Any]) -> None:
        """Show the list."""

    def begin(self, name: str) -> None:
        self._person = name
        self.action_reload()

    def show_no_work(self) -> None:
        self.list_rows([])

    def on_screen_resume(self) -> None:
        if self._person:
            self.action_reload()


def _work_text(role: Role, offer: Offer) -> str:
    if role == "own":
        return f"{offer.left:,} said"
    words = ("to label", "done") if role == "annotator" else ("to resolve", "resolved")
    done = f", {offer.done:,} {words[1]}" if offer.done else ""
    return f"{offer.left:,} {words[0]}{done}"
