"""Screens on which a person works under their own name."""

from __future__ import annotations

from abc import abstractmethod

from workbench.services.labelling.people import AnnotatorInfo, annotators
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets.choices import Choice, ChoiceMenu


class PersonScreen(WorkbenchScreen):
    """Asks the coordinator once whose name to work under; who came with ``--as`` is not asked."""

    def on_mount(self) -> None:
        """Begin, after asking for a name where none is known."""
        name = self.workbench.working_as
        if name is not None:
            self.begin(name)
        else:
            self.in_background(lambda: annotators(self.project), self._ask, group="people")

    @abstractmethod
    def begin(self, name: str) -> None:
        """Start to work under a name."""

    @abstractmethod
    def nobody(self) -> None:
        """Show that there is nobody to work as."""

    def _ask(self, people: list[AnnotatorInfo]) -> None:
        if not people:
            self.nobody()
            return
        choices = [Choice(person.name, person.name) for person in people]
        self.app.push_screen(ChoiceMenu("Who is working?", choices), self._chosen)

    def _chosen(self, name: str | None) -> None:
        if name is None:
            self.workbench.action_go_back()
            return
        self.workbench.working_as = name
        self.begin(name)
