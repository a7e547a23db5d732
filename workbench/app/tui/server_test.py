"""Forms of a verifier's options, in sections; its model server can be tested, with the answers below the fields."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.form import FormScreen
from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.kit.option_field import OptionField, OptionSection
from workbench.app.tui.trusting import trusting
from workbench.core.errors import OptionError
from workbench.core.text.figures import counted
from workbench.runs.configuring import FormSection
from workbench.runs.previewing import CheckedServer, check_servers

if TYPE_CHECKING:
    from workbench.app.tui.replays import ReplayServer


_KEY_VARIABLE = "api_key_env"


class ServerTestScreen(FormScreen):
    """Has sections of options, whose values are the form's, and one `Static` of the class ``form-tested``.

    What the latter shows is valid until a field changes.

    Attributes:
        SECTIONS: The id of the box of sections.
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
    SECTIONS: ClassVar[str]
    _free_port = ""

    def below(self) -> ComposeResult:
        yield Static(classes="form-tested", markup=False)

    @property
    def sections(self) -> list[OptionSection]:
        return list(self.query(OptionSection))

    def values(self) -> dict[str, str]:
        return {name: value for section in self.sections for name, value in section.values().items()}

    @property
    @abstractmethod
    def kind(self) -> str | None:
        """Return the kind or name of the verifier; None until it is known."""

    def show_sections(self, sections: Iterable[FormSection], typed: Mapping[str, str]) -> None:
        """Replace the sections of options.

        Args:
            typed: Initial values by option.
        """
        self.run_worker(self._build(sections, typed), group="form-sections", exclusive=True)

    async def _build(self, sections: Iterable[FormSection], typed: Mapping[str, str]) -> None:
        box = self.query_one(f"#{self.SECTIONS}")
        async with self.batch():
            await box.remove_children()
            await box.mount_all(OptionSection(section, typed) for section in sections)
        self.hide_unused()

    def filled_in(self) -> dict[str, str]:
        """Return the values of the options that have an effect with each other."""
        values = self.values()
        used = {one.name for section in self.sections for one in section.section.options if one.is_used(values)}
        return {name: value for name, value in values.items() if name in used}

    def typed(self, name: str) -> str:
        field = self.field(name)
        return "" if field is None else field.value

    def hide_unused(self) -> None:
        values = self.values()
        for section in self.sections:
            section.show_used(values)

    def complain_at(self, error: OptionError) -> bool:
        field = self.field_of(error)
        if field is not None and error.option == _KEY_VARIABLE:
            # What was typed may be the key itself: it goes from the screen.
            field.clear()
        for box in () if field is None else field.ancestors:
            if isinstance(box, OptionSection):
                box.collapsed = False
        return super().complain_at(error)

    # -- testing the server ------------------------------------------------------------------------

    def action_test(self) -> None:
        if (kind := self.kind) is None:
            return
        self._tell_tested(Content("testing the server …"))
        chosen = self.filled_in()
        trusting(self, lambda yes: check_servers(self.project, kind, chosen, trust=yes), self._tested, group="test")

    def _tested(self, found: Sequence[CheckedServer]) -> None:
        addresses = (urlsplit(one.base_url) for one in found)
        ports = (str(one.port or "") for one in addresses if one.hostname in ("127.0.0.1", "localhost"))
        self._free_port = next(filter(None, ports), "")
        # Findings that need no action are left out.
        self._tell_tested(Content("\n").join(line for one in found for line in _lines(one)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.app.is_web if action == "replay" else super().check_action(action, parameters)

    def action_replay(self) -> None:
        """Serve recorded replies in place of the server, at the tested address if it is local."""
        from workbench.app.tui.screens.replay import ReplayScreen

        self.app.push_screen(ReplayScreen(self._ask_replayed, self._free_port))

    def _ask_replayed(self, server: ReplayServer) -> None:
        url, model = server.told.base_url, server.told.models[0]
        for name, value in (("base_url", url), ("model", model), ("name", model)):
            if (field := self.field(name)) is not None:
                field.value = field.value or value if name == "name" else value
        replies = counted(server.told.replies, "recording")
        said = f"{replies} of {server.file.name} answer at {url} while this app runs."
        self.notify(printable(said), title="Recorded replies")

    def _tell_tested(self, text: Content) -> None:
        show_line(self.query_one(".form-tested", Static), text)

    @on(OptionField.Changed)
    def _not_tested(self) -> None:
        self._tell_tested(Content(""))

    def show_error(self, error: BaseException | None) -> None:
        self._tell_tested(Content(""))
        super().show_error(error)


def _lines(one: CheckedServer) -> Iterator[Content]:
    name = printable(f"{one.model} at {one.base_url}: ")
    problems = [f"{finding.text} {finding.advice}" for finding in one.findings if finding.level == "problem"]
    good = [finding.text for finding in one.findings if finding.level == "good"]
    advised = [finding for finding in one.findings if finding.level == "note" and finding.advice and not problems]
    mark, tone = ("✗", "error") if problems else ("!", "warning") if advised else ("✓", "success")
    said = " ".join(problems or good or ["It answers."])
    yield Content.assemble((f"{mark} ", f"bold $text-{tone}"), (name, "bold"), printable(said.strip()))
    yield from (Content(printable(f"  · {finding.text} {finding.advice}")) for finding in advised)
