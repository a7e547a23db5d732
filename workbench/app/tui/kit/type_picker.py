"""The answer type in two keys: a letter, then a number."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.kit.choices import BoxScreen
from workbench.core.taxonomy import SUBTYPES, TYPES, type_display


class TypePicker(BoxScreen[str | None]):
    """All types and subtypes at a glance; returns a subtype's code, or None.

    Args:
        current: The subtype that the annotator gave before; enter keeps it.
        prompt: The question.
    """

    DEFAULT_CSS = """
    TypePicker .box { width: 66; }
    TypePicker #type-suggested { height: auto; margin-top: 1; display: none; }
    TypePicker Grid { grid-size: 2; grid-rows: auto; grid-gutter: 1 0; height: auto; }
    TypePicker Grid Static { link-style: none; link-color: $foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(f"{letter.lower()},{letter}", f"letter('{letter}')", show=False) for letter in TYPES),
        *(Binding(str(number), f"number({number})", show=False) for number in range(10)),
        Binding("enter", "confirm", "As it is"),
        Binding("backspace", "letter('')", "Other letter"),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(self, current: str | None = None, prompt: str = "Answer type of the question") -> None:
        super().__init__()
        self._current = current
        self._suggested: str | None = None
        self._prompt = prompt
        self._letter = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = Content(self._prompt)
            known = f"enter: keep {self._current}" if self._current else "escape: not now"
            box.border_subtitle = Content(f"letter, then number · {known}")
            with Grid():
                yield from (Static(self._group(letter), id=f"type-{letter}", markup=False) for letter in TYPES)
            yield Static(id="type-suggested", markup=False)

    def action_letter(self, letter: str) -> None:
        self._letter = letter
        for one in TYPES if self.is_mounted else ():
            self.query_one(f"#type-{one}", Static).update(self._group(one))

    def action_number(self, number: int) -> None:
        code = f"{self._letter}{number}"
        if code in SUBTYPES:
            self.dismiss(code)

    def suggest(self, suggested: str | None) -> None:
        """Show a model's suggestion, if there is one and the picker is still open.

        Args:
            suggested: A subtype's code, which enter accepts, or why the question has none.
        """
        if suggested is not None and self.is_attached:
            self._suggested = suggested
            show_line(self.query_one("#type-suggested", Static), _suggestion_text(suggested))

    def action_confirm(self) -> None:
        if (code := self._current or self._suggested) in SUBTYPES:
            self.dismiss(code)

    def action_pick(self, code: str) -> None:
        self.dismiss(code)

    def _group(self, letter: str) -> Content:
        chosen = letter == self._letter
        mark = "▶" if chosen else " "
        lines = [f"[@click=screen.letter('{letter}')][bold]{mark} [$text-accent]{letter}[/] {TYPES[letter]}[/][/]"]
        for code, name in SUBTYPES.items():
            if code.startswith(letter):
                mark = "●" if code == self._current else " "
                style = "$text-muted" if self._letter and not chosen else "$foreground"
                key = f"[bold $text-accent]{code[1:]}[/]" if chosen or not self._letter else code[1:]
                lines.append(f"[@click=screen.pick('{code}')][{style}]  {mark} {key} {name}[/][/]")
        return Content.from_markup("\n".join(lines))


def _suggestion_text(suggested: str) -> Content:
    if suggested not in SUBTYPES:
        return Content.assemble(("a model finds none of these: ", "$text-muted"), (printable(suggested), "bold"))
    return Content.assemble(
        ("a model suggests ", "$text-muted"),
        (type_display(suggested), "bold $text-accent"),
        (" · enter takes it", "$text-muted"),
    )
