"""Forms of a verifier's options, in sections; its model server can be tested, with the answers below the fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from workbench.app.tui.form import FormScreen
from workbench.app.tui.kit.choices import Choice
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.option_field import DEFAULT, OptionField
from workbench.app.tui.trusting import trusting
from workbench.core.errors import OptionError
from workbench.core.text.figures import counted
from workbench.runs.configuring import FormOption, FormSection
from workbench.runs.previewing import CheckedServer, check_servers

if TYPE_CHECKING:
    from workbench.app.tui.replays import ReplayServer


# -- Options that belong together, under a heading that folds them.


_NOT_GIVEN = Choice(DEFAULT, "default")


class Heading(Static, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "fold", "Fold", show=False, id="section.fold")]

    class Folded(Message):
        """It is to be folded, or unfolded."""

    def __init__(self, title: str) -> None:
        super().__init__(markup=False)
        self._title = title

    def tell(self, folded: bool) -> None:
        self.update(Content(f"{'▶' if folded else '▼'} {self._title}"))

    def action_fold(self) -> None:
        self.post_message(self.Folded())

    def on_click(self) -> None:
        self.action_fold()

    def on_key(self, event: Key) -> None:
        if event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            field = self.screen.focus_next(Input)
            if isinstance(field, Input):
                field.insert_text_at_cursor(event.character)


class OptionSection(Vertical):
    """A heading with one field per option; fields are created when they are first unfolded.

    Attributes:
        folded: Only the heading is shown.
    """

    DEFAULT_CSS = """
    OptionSection { height: auto; }
    OptionSection > Heading { height: 1; color: $text-accent; text-style: bold; }
    OptionSection > Heading:focus { background: $block-cursor-background; color: $block-cursor-foreground; }
    OptionSection > .options { height: auto; }
    """

    folded: reactive[bool] = reactive(True, init=False)

    def __init__(self, section: FormSection, values: Mapping[str, str]) -> None:
        super().__init__()
        self.section = section
        self._values = {option.name: values[option.name] for option in section.options if option.name in values}
        self._made = not section.folded or bool(self._values)
        self.set_reactive(OptionSection.folded, not self._made)

    def compose(self) -> ComposeResult:
        yield Heading(self.section.title)
        with Vertical(classes="options"):
            yield from self._fields() if self._made else ()

    def on_mount(self) -> None:
        self.query_one(Heading).tell(self.folded)

    def _fields(self) -> Iterator[OptionField]:
        for option in self.section.options:
            yield field_of(option, self._values.get(option.name, DEFAULT))

    @property
    def fields(self) -> list[OptionField]:
        return [child for child in self.query_one(".options").children if isinstance(child, OptionField)]

    def values(self) -> dict[str, str]:
        return {field.option: field.value for field in self.fields if field.value}

    def show_used(self, values: Mapping[str, str]) -> None:
        """Hide fields that have no effect with these values of the whole form."""
        used = {option.name for option in self.section.options if option.is_used(values)}
        self.display = bool(used)
        for field in self.fields:
            field.display = field.option in used

    @on(Heading.Folded)
    def _fold(self, event: Heading.Folded) -> None:
        event.stop()
        self.folded = not self.folded

    def watch_folded(self, folded: bool) -> None:
        box = self.query_one(".options")
        if not folded and not self._made:
            self._made = True
            box.mount_all(self._fields())
        box.display = not folded
        self.query_one(Heading).tell(folded)


def field_of(option: FormOption, value: str) -> OptionField:
    choices = [Choice(name, f"{name}: {about}" if about else name) for name, about in option.choices.items()]
    if choices and not option.required:
        choices.insert(0, _NOT_GIVEN)
    return OptionField(option.name, option.about, choices, value)


# -- The form.


_KEY_VARIABLE = "api_key_env"


class ServerTestScreen(FormScreen):
    """Has sections of options, whose values are the form's, and one `Static` of the class ``form-tested``.

    What the latter shows is valid until a field changes.
    """

    DEFAULT_CSS = """
    ServerTestScreen .form-tested {
        display: none;
        height: auto;
        max-height: 6;
        padding: 0 1;
        background: $panel;
    }
    """
    _free_port = ""

    def below(self) -> ComposeResult:
        yield Static(classes="form-tested", markup=False)

    @property
    def sections(self) -> list[OptionSection]:
        return list(self.query(OptionSection))

    def values(self) -> dict[str, str]:
        return {name: value for section in self.sections for name, value in section.values().items()}

    def typed(self, name: str) -> str:
        field = self.field(name)
        return "" if field is None else field.value

    def hide_unused(self) -> None:
        values = self.values()
        for section in self.sections:
            section.show_used(values)

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next()

    def complain_at(self, error: OptionError) -> bool:
        field = self.field_of(error)
        if field is not None and error.option == _KEY_VARIABLE:
            # What was typed may be the key itself: it goes from the screen.
            field.clear()
        for box in () if field is None else field.ancestors:
            if isinstance(box, OptionSection):
                box.folded = False
        return super().complain_at(error)

    # -- testing the server ------------------------------------------------------------------------

    def ask_server(self, kind: str, options: Mapping[str, str]) -> None:
        self._tell_tested(Content("testing the server …"))
        chosen = dict(options)
        trusting(self, lambda yes: check_servers(self.project, kind, chosen, trust=yes), self._tested, group="test")

    def _tested(self, found: Sequence[CheckedServer]) -> None:
        self._free_port = next(filter(None, (_port_here(url) for one in found for url in one.base_urls)), "")
        self._tell_tested(tested_text(found))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.app.is_web if action == "replay" else super().check_action(action, parameters)

    def action_replay(self) -> None:
        """Serve recorded replies in place of the server, at the tested address if it is local."""
        from workbench.app.tui.screens.replay import ReplayScreen

        self.app.push_screen(ReplayScreen(self._ask_replayed, self._free_port))

    def _ask_replayed(self, server: ReplayServer) -> None:
        for name, value in (("base_url", server.url), ("model", server.models[0]), ("name", server.models[0])):
            if (field := self.field(name)) is not None:
                field.value = field.value or value if name == "name" else value
        said = (
            f"{counted(server.replies, 'recording')} of {server.file.name} answer at {server.url} while this app runs."
        )
        self.notify(printable(said), title="Recorded replies", markup=False)

    def _tell_tested(self, text: Content) -> None:
        said = self.query_one(".form-tested", Static)
        said.update(text)
        said.display = bool(text)

    @on(OptionField.Changed)
    def _not_tested(self) -> None:
        self._tell_tested(Content(""))

    def trouble(self, error: BaseException | None) -> None:
        self._tell_tested(Content(""))
        super().trouble(error)


def _port_here(url: str) -> str:
    address = urlsplit(url)
    return str(address.port or "") if address.hostname in ("127.0.0.1", "localhost") else ""


def tested_text(found: Sequence[CheckedServer]) -> Content:
    """Return whether servers answer, and what to do; facts that need no action are left out."""
    return Content("\n").join(line for one in found for line in _lines(one))


def _lines(one: CheckedServer) -> Iterator[Content]:
    name = printable(f"{one.model} at {', '.join(one.base_urls)}: ")
    problems = [f"{finding.text} {finding.advice}" for finding in one.findings if finding.level == "problem"]
    good = [finding.text for finding in one.findings if finding.level == "good"]
    advised = [finding for finding in one.findings if finding.level == "note" and finding.advice and not problems]
    mark, style = ("✓ ", "bold $text-success")
    if problems or advised:
        mark, style = ("✗ ", "bold $text-error") if problems else ("! ", "bold $text-warning")
    said = " ".join(problems or good or ["It answers."])
    yield Content.assemble((mark, style), (name, "bold"), printable(said.strip()))
    yield from (Content(printable(f"  · {finding.text} {finding.advice}")) for finding in advised)
