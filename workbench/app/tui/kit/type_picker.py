"""The answer type in two keys: a letter, then a number."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import BoxScreen
from workbench.core.taxonomy import SUBTYPES, TYPES, type_display

_ROWS = (("A", "B"), ("C", "D"))


class TypePicker(BoxScreen[str | None]):
    """All types and subtypes at a glance; returns a subtype's code, or None.

    Args:
        current: The subtype that the annotator gave before; enter keeps it.
        prompt: The question.
    """

    DEFAULT_CSS = """
    TypePicker .box { width: 66; }
    TypePicker #type-suggested { height: auto; margin-top: 1; display: none; }
    TypePicker #type-table { height: auto; link-style: none; link-color: $foreground; }
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
            yield Static(self._table(), id="type-table", markup=False)
            yield Static(id="type-suggested", markup=False)

    def action_letter(self, letter: str) -> None:
        self._letter = letter
        if self.is_mounted:
            self.query_one("#type-table", Static).update(self._table())

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
            line = self.query_one("#type-suggested", Static)
            line.update(_suggestion_text(suggested))
            line.display = True

    def action_confirm(self) -> None:
        if (code := self._current or self._suggested) in SUBTYPES:
            self.dismiss(code)

    def action_pick(self, code: str) -> None:
        self.dismiss(code)

    def _table(self) -> Content:
        lines: list[str] = []
        for left, right in _ROWS:
            groups = [self._type_lines(letter) for letter in (left, right)]
            height = max(map(len, groups))
            for number in range(height):
                cells = [group[number] if number < len(group) else ("", 0) for group in groups]
                lines.append(cells[0][0] + " " * (32 - cells[0][1]) + cells[1][0])
            lines.append("")
        return Content.from_markup("\n".join(lines[:-1]))

    def _type_lines(self, letter: str) -> list[tuple[str, int]]:
        chosen = letter == self._letter
        mark = "▶" if chosen else " "
        head = f"[@click=screen.letter('{letter}')][bold]{mark} [$text-accent]{letter}[/] {TYPES[letter]}[/][/]"
        lines = [(head, len(TYPES[letter]) + 4)]
        for code, name in SUBTYPES.items():
            if code.startswith(letter):
                mark = "●" if code == self._current else " "
                style = "$text-muted" if self._letter and not chosen else "$foreground"
                key = f"[bold $text-accent]{code[1:]}[/]" if chosen or not self._letter else code[1:]
                text = f"[@click=screen.pick('{code}')][{style}]  {mark} {key} {name}[/][/]"
                lines.append((text, len(name) + 6))
        return lines


def _suggestion_text(suggested: str) -> Content:
    if suggested not in SUBTYPES:
        return Content.assemble(("a model finds none of these: ", "$text-muted"), (printable(suggested), "bold"))
    return Content.assemble(
        ("a model suggests ", "$text-muted"),
        (type_display(suggested), "bold $text-accent"),
        (" · enter takes it", "$text-muted"),
    )
