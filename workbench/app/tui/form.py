"""Screens that are filled in: what is wrong stands at its field, or below them all."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.errors import OptionError, WorkbenchError


class FormScreen(WorkbenchScreen):
    """Has `OptionField` lines, and one `Static` of the class ``form-trouble`` below them."""

    DEFAULT_CSS = """
    FormScreen .form-trouble {
        display: none;
        height: auto;
        max-height: 4;
        padding: 0 1;
        color: $text-error;
    }
    """

    def complain(self, text: str) -> None:
        """Say what is wrong below the form; "" takes it back."""
        trouble = self.query_one(".form-trouble", Static)
        trouble.update(Content(f"! {printable(text)}" if text else ""))
        trouble.display = bool(text)

    def trouble(self, error: BaseException | None) -> None:
        """At its field where there is one, else below the form."""
        if isinstance(error, OptionError) and self.complain_at(error):
            return
        if isinstance(error, WorkbenchError):
            self.complain(str(error))
        else:
            super().trouble(error)

    def complain_at(self, error: OptionError) -> bool:
        """Say what is wrong at its field; False where that is not to be seen."""
        field = self.field_of(error)
        if field is None:
            return False
        self.call_after_refresh(self._show_complaint, field, error.wrong)
        return True

    def field_of(self, error: OptionError) -> OptionField | None:
        """The field of an option, if it is shown."""
        found = self.query(f"#option-{error.option}").results(OptionField)
        return next((field for field in found if field.display), None)

    def _show_complaint(self, field: OptionField, text: str) -> None:
        field.complain(text)
        field.line.focus()
        field.scroll_visible(animate=False)

    @on(OptionField.Changed)
    def _something_changed(self) -> None:
        self.complain("")
