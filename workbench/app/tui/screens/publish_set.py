"""A form that publishes finished sets: where to, under which licence; and what was written."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from workbench.app.tui.actions import Action
from workbench.app.tui.form import FormScreen
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.benchmarks.publication import Publication
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.core.text.figures import counted

_ABOUT: Final = "what stood when a set was frozen: items, labels, data card, leaderboard, checksums"
_YES: Final = "yes"


class PublishSetScreen(FormScreen):
    """One field an option; enter writes the folder.

    Args:
        name: The set to publish.
        finished: All sets that can be published.
    """

    CSS_PATH = "publish_set.tcss"
    TITLE_TEXT = "Publish"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("publish.write", "f4,ctrl+r", "write", "Write (enter)", "Write the folder.", priority=True),
        Action("publish.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: the one before)."),
        Action("publish.back", "escape", "back", "Back", "Go back to the sets, once nothing is being written."),
    )

    def __init__(self, name: str, finished: tuple[str, ...]) -> None:
        super().__init__()
        self._begin_with, self._finished = name, finished
        self._writing = False

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar(self.TITLE_TEXT, _ABOUT)
        folder = self.project.path.parent / SetName.parse(self._begin_with).name.replace("/", "-")
        names = [Choice("no", "no: pseudonyms"), Choice(_YES, "yes")]
        replace = [Choice("no", "no"), Choice(_YES, "yes: one that was published, and that nobody has touched since")]
        with VerticalScroll(id="publish-form", can_focus=False):
            yield OptionField("folder", "where to; it appears whole or not at all", value=str(folder))
            yield OptionField("licence", "of labels, selection and card, such as cc-by-4.0; sources keep their own")
            sets = [Choice(name, name) for name in self._finished]
            yield OptionField("sets", "those in the folder", sets, self._begin_with, several=True)
            yield OptionField("title", "what the card calls it; the sets' names")
            yield OptionField("languages", "ISO 639 codes with blanks between them, such as en")
            yield OptionField("names", "annotators' names in the labels", names)
            yield OptionField("replace", "a folder that is there", replace)
        yield Static(id="publish-written", markup=False)
        yield Static(classes="form-trouble", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin at the first field."""
        self.query(OptionField).first().line.focus()

    def values(self) -> dict[str, str]:
        """What stands in each field."""
        return {field.option: field.value for field in self.query(OptionField)}

    @on(Input.Submitted)
    def action_write(self) -> None:
        """Write the folder."""
        typed = self.values()
        if self._writing:
            return
        if not typed["folder"] or not typed["sets"]:
            self.complain("Say which sets, and where to.")
            return
        self._tell(writing=True)
        self.complain("")
        self.in_background(partial(_published, self.project, typed), self._written, group="publish")

    def _written(self, found: Publication) -> None:
        self._tell(writing=False)
        written = self.query_one("#publish-written", Static)
        written.update(_words(found))
        written.display = True

    def trouble(self, error: BaseException | None) -> None:
        """Nothing is written any more."""
        self._tell(writing=False)
        super().trouble(error)

    def _tell(self, *, writing: bool) -> None:
        self._writing = writing
        self.say("writing …" if writing else _ABOUT)

    def action_back(self) -> None:
        """Leave; who leaves while a folder is being written would not hear what became of it."""
        if self._writing:
            self.notify("The folder is being written.", markup=False)
        else:
            self.workbench.action_go_back()


def _published(project: Project, typed: dict[str, str]) -> Publication:
    """Runs in a thread."""
    from workbench.benchmarks.publishing.gathering import PublishingOptions
    from workbench.benchmarks.publishing.publishing import PublisherCard, publish

    return publish(
        project,
        list(map(SetName.parse, typed["sets"].split())),
        Path(typed["folder"]).expanduser(),
        card=PublisherCard(
            title=typed["title"] or None,
            licence=typed["licence"] or None,
            languages=tuple(typed["languages"].replace(",", " ").split()),
        ),
        asked=PublishingOptions(names=typed["names"] == _YES),
        force=typed["replace"] == _YES,
    )


def _words(found: Publication) -> Content:
    """What was written, and what its publisher should know."""
    lines = [Content.styled(printable(f"✓ {len(found.files)} files, {found.bytes:,} bytes in {found.folder}"), "bold")]
    for one in found.sets:
        size = f"{counted(one.tuples, 'completion')} of {counted(one.questions, 'question')}"
        people = f"{counted(one.labels, 'label')}, {counted(one.verifiers, 'verifier')}"
        lines.append(Content(printable(f"{one.name}@{one.version}: {size}, {people}")))
    lines += [Content.styled(f"! {printable(note)}", "$text-warning") for note in found.notes]
    return Content("\n").join(lines)
