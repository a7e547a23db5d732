"""A verb of the command line as a form, and the screen of its output."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.app.tui.form import FindingScreen, FormScreen, finding_actions, option_field
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.sharing import copy_text
from workbench.app.tui.verb_forms import Ran, VerbForm, run_line
from workbench.app.verbs import Verb
from workbench.core.errors import OptionError
from workbench.core.project import Project
from workbench.core.text.document import RenderedLine, RenderedText, Span
from workbench.core.text.figures import counted
from workbench.tables.files import write_next_to

_MAX_OUTPUT: Final = 1_000_000
"""Maximum number of characters of a verb's output on the screen; a saved file has all."""


_COLUMNS: Final = re.compile(r"\S {2,}\S")
"""What a line of a table has: columns with two blanks or more between them."""


class VerbOutputScreen(FindingScreen):
    """The output of a verb.

    Args:
        title: The verb.
        command: The equivalent command line.
        ran: The result.
        files: Files to be written.
        do: Runs the verb; None if ``ran`` was not a dry run.
    """

    TITLE_TEXT = "Result"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("verb-output.run", "f4,ctrl+r", "run", "Run", "Run the command that was only tried.", priority=True),
        Action("verb-output.save", "e", "save", "Save", "Write the whole output to a file next to the database."),
        Action("verb-output.copy", "Y", "copy", "Copy", "Copy the whole output."),
        Action("verb-output.command", "ctrl+y", "command", "As command", "Show and copy this as a command."),
        *finding_actions("verb-output"),
    )

    def __init__(
        self, title: str, command: str, ran: Ran, files: Sequence[Path] = (), do: Callable[[], None] | None = None
    ) -> None:
        super().__init__()
        self.ran = ran
        self._title, self._command = title, command
        self._written = [path.absolute() for path in files if path.is_file()]
        self._do = do
        self._file: Path | None = None

    @property
    def text(self) -> str:
        return f"{self.ran.out}{self.ran.err}"

    def heading(self) -> tuple[str, str]:
        done = "done" if self._do is None else f"only tried · {key_of('verb-output.run')} does it"
        return self.TITLE_TEXT, done if self.ran.code == 0 else _ENDINGS.get(self.ran.code, "not run")

    def content(self) -> ComposeResult:
        yield Reader(id="verb-output")

    def on_mount(self) -> None:
        text = self.text or "Done, without output."
        lines = text[:_MAX_OUTPUT].rstrip("\n").split("\n")
        if len(text) > _MAX_OUTPUT:
            lines.append(f"… and {len(text) - _MAX_OUTPUT:,} more characters: a file has them all.")
        lines += [f"Written: {path}" for path in self._written]
        shown = tuple(RenderedLine((Span(printable(line.expandtabs(4))),), (0, 0)) for line in lines)
        aligned = [number for number, line in enumerate(shown) if _COLUMNS.search(line.text)]
        self.reader.show(RenderedText(shown, {"aligned": aligned}))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._do is not None if action == "run" else super().check_action(action, parameters)

    def action_run(self) -> None:
        if self._do is not None:
            self.app.pop_screen()
            self._do()

    def action_save(self) -> None:
        if self._file is not None:
            self._saved(self._file)
            return
        name = printable(self._title).lower().replace(" ", "-")
        has_lines = self.ran.is_for_tools and all(line[0] == "{" for line in self.ran.out.splitlines() if line)
        ending, text = (".jsonl", self.ran.out) if has_lines else (".txt", self.text)
        work = partial(write_next_to, self.project.path, name, ending, text)
        self.in_background(work, self._saved, group="verb-output")

    def _saved(self, path: Path) -> None:
        self._file = path
        self.notify(str(path.absolute()), title="Written")

    def action_copy(self) -> None:
        copy_text(self, lambda: self.text)

    def action_command(self) -> None:
        show_command(self, self._command)


_ENDINGS: Final = {3: "done, but some were rejected", 130: "stopped", -2: "stopped"}


class VerbFormScreen(FormScreen):
    """The form of a command: one field per option; errors are shown at their field.

    Args:
        verb: The verb.
        begin: Initial values of fields, by option.
        at_once: Whether it is run as soon as the form is ready.
    """

    def __init__(self, verb: Verb, begin: dict[str, str] | None = None, *, at_once: bool = False) -> None:
        begin = begin or {}
        super().__init__((verb.name, frozenset(begin.items())))
        self.verb = verb
        self.form: VerbForm | None = None
        self._start_with, self._at_once = begin, at_once
        self._is_trial = self._more = False

    def heading(self) -> tuple[str, str]:
        return self.workbench.called(self.verb), self.verb.about

    def on_mount(self) -> None:
        self.in_background(self.read_form, self._show_fields, group="verb-form")

    def read_form(self) -> VerbForm:
        return VerbForm(self.verb, self.verb.declared(), self.project.path, partial(_verifiers, self.project))

    def typed(self) -> dict[str, str]:
        """Return the values of the fields of `form`.

        Raises:
            OptionError: A field is missing or wrong.
        """
        return self.values()

    def _show_fields(self, form: VerbForm) -> None:
        self.form = form
        self.call_later(self.begin_with, form)

    async def begin_with(self, form: VerbForm) -> None:
        box = self.query_one(f"#{self.FORM}")
        if not form.fields:
            await box.mount(Static("It takes no options.", markup=False))
        # Fields can be filled and take keys only once they are mounted.
        await box.mount_all(map(option_field, form.fields))
        for field in self.query(OptionField):
            if field.option in self._start_with:
                field.value = self._start_with[field.option]
        self.take_up(self.query(OptionField))
        if form.later:
            await box.mount(Static(id="verb-later", markup=False))
            told = any(self._start_with.get(name) or name in self._as_left for name in form.later)
            self._show_later(shown=told)
        self._select_files()
        if (first := next(iter(self.query(OptionField)), None)) is not None:
            first.line.focus()
        if self._at_once:
            self.action_run()

    def _show_later(self, *, shown: bool) -> None:
        assert self.form is not None
        later = set(self.form.later)
        for field in self.query(OptionField):
            if field.option in later:
                field.display = shown or field.value != self._fresh[field.option]
        line = self.query_one("#verb-later", Static)
        line.update(
            f"{key_of('verb.more')}: {counted(len(later), 'more field')} (rarely used):  {', '.join(self.form.later)}"
        )
        line.display = not shown
        self._more = shown

    def action_more(self) -> None:
        if self.form is not None:
            self._show_later(shown=not self._more)
            first = self.form.later[0] if self._more else self.form.fields[0].name
            self.query_one(f"#option-{first}", OptionField).line.focus()

    def complain_at(self, error: OptionError) -> bool:
        if self.form is not None and error.option in self.form.later:
            self._show_later(shown=True)
        return super().complain_at(error)

    @on(OptionField.Left)
    def _left(self, event: OptionField.Left) -> None:
        if self.form is not None and not event.field.wrong and (text := event.field.value):
            event.field.complain(self.form.wrong(event.field.option, text))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try":
            return self.form is not None and self.form.has_dry_run
        if action == "more":
            return self.form is not None and bool(self.form.later)
        return super().check_action(action, parameters)

    # -- running -----------------------------------------------------------------------------------

    def action_try(self) -> None:
        self._run(dry_run=True)

    def entered(self, field: OptionField) -> None:
        if self.form is not None and field.value and field.option in self.form.read:
            self.complete(field, self.action_run)
        else:
            self.action_run()

    def action_run(self) -> None:
        self._run(dry_run=False)

    def _run(self, *, dry_run: bool) -> None:
        if self.form is None or self.is_at_work:
            return
        self.complain("")
        line = self.attempt(partial(self.form.line, self.values(), dry_run=dry_run))
        if line is None:
            return
        self._is_trial = dry_run
        began = monotonic()

        def tell() -> None:
            self.say(f"running, {monotonic() - began:.0f} s so far · {key_of('verb.back')} stops it")

        self.begin(partial(run_line, line), self._ran, tell)

    def _ran(self, ran: Ran) -> None:
        self.rest()
        assert self.form is not None
        if ran.refused is not None and not ran.out:
            self.show_error(self.form.refusal(ran.refused, self.values()))
            return
        values = self.values()
        files = [Path(values[name]).expanduser() for name in self.form.written if values[name]]
        if not self._is_trial:
            self.forget()
            self._select_files()
        if self.is_current:
            command = self.form.command(values)
            do = self.action_run if self._is_trial else None
            if not ran.is_for_tools:
                ran = ran._replace(out=self.form.output_text(ran.out), err=self.form.output_text(ran.err))
            self.app.push_screen(VerbOutputScreen(self.verb.title, command, ran, files, do))

    def _select_files(self) -> None:
        assert self.form is not None
        for field in self.query(OptionField):
            if field.option in self.form.written:
                field.select()

    def action_command(self) -> None:
        if self.form is not None and (command := self.attempt(partial(self._command, self.form))):
            show_command(self, command)

    def _command(self, form: VerbForm) -> str:
        return form.command(self.typed())


class VerbScreen(VerbFormScreen):
    TITLE_TEXT, FORM = "Command", "verb-form"
    STOPPED = "It was stopped; stored data stays."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("verb.run", "f4,ctrl+r", "run", "Run", "Run the command.", priority=True),
        Action("verb.try", "f3,ctrl+t", "try", "Try", "Show what it would do; nothing is written.", priority=True),
        Action("verb.more", "f9", "more", "More", "Show or hide rarely used fields.", priority=True),
        Action("verb.command", "ctrl+y", "command", "As command", "Show and copy this as a command.", priority=True),
        Action("verb.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
        Action("verb.back", "escape,q", "back", "Back", "Stop the run, or go back."),
    )


def _verifiers(project: Project) -> list[str]:
    from workbench.measuring.judged import BASELINE, everybody

    return [name for name in everybody(project) if name != BASELINE]


def show_command(screen: FormScreen | FindingScreen, command: str) -> None:
    screen.notify(printable(command), title="The same as a command", timeout=20)
    copy_text(screen, lambda: command)
