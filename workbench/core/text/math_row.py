"""One row of rendered math being written: where it needs spaces and parentheses to keep its meaning."""

from __future__ import annotations

from workbench.core.text.symbols import SCRIPT_CHARACTERS

_OPENING = "([{√∫∑∏∮⌊⌈⟨|"
_CLOSING = ")]}′!°"


class MathRow:
    """What has been written of one group, and what the next piece must know about it."""

    def __init__(self, *, argument: bool = False) -> None:
        self.parts: list[str] = []
        self.argument = argument
        """It holds one macro that is an argument without braces."""
        self.word = False
        """The last visible piece is a function name."""
        self.compound: int | None = None
        """Index of the last visible piece if it needs parentheses when something is attached to it."""
        self.as_typed = False
        """The last piece is an unknown macro: its arguments keep their braces."""

    def text(self) -> str:
        """All that has been written."""
        return "".join(self.parts)

    def last(self) -> str:
        """The last visible character, or an empty string."""
        for part in reversed(self.parts):
            if not part.isspace():
                return part.rstrip()[-1]
        return ""

    def space(self, spaces: str = " ") -> None:
        """Add blanks, unless the row is empty or ends in one."""
        if self.parts and not self.parts[-1][-1:].isspace():
            self.parts.append(spaces)

    def add(self, piece: str, *, word: bool = False) -> None:
        """Add a piece, with a space where a word and a letter would run together."""
        if not piece:
            return
        first = piece[0]
        operand = first.isalnum() or first in _OPENING
        if operand:
            self._attach(scripts=False)
        last = self.parts[-1][-1] if self.parts else ""
        apart = (word and (last.isalnum() or (last != "" and last in _CLOSING))) or (
            self.word and (first.isalnum() or first in "√∫∑∏")
        )
        if apart and not last.isspace():
            self.parts.append(" ")
        self.parts.append(piece)
        self.word, self.compound, self.as_typed = word, None, False

    def add_compound(self, piece: str, *, mixed: bool = False) -> None:
        """Add a fraction or root; parenthesised where it would run into what stands before it."""
        last = self.last()
        if mixed and last.isdecimal():
            self.space()
        elif not piece.startswith("√") and (self.word or last == "/" or last.isalnum() or (last and last in _CLOSING)):
            piece = f"({piece})"
        word, self.word = self.word, False
        self.add(piece)
        if word and piece.startswith("√"):
            self.parts[-1:] = [" ", piece]
        self.compound = None if piece.startswith("(") and encloses(piece) else len(self.parts) - 1

    def script(self, piece: str) -> None:
        """Attach a super- or subscript to what stands last."""
        if not piece:
            return
        self._attach(scripts=True)
        while self.parts and self.parts[-1].isspace():
            self.parts.pop()
        self.parts.append(piece)
        self.as_typed = False

    def _attach(self, *, scripts: bool) -> None:
        if self.compound is None:
            return
        piece = self.parts[self.compound]
        if scripts or not (piece.startswith("√") and piece.endswith(")")):
            self.parts[self.compound] = f"({piece})"
        self.compound = None


def is_atom(text: str) -> bool:
    """True for a number, one letter with its scripts, a differential like ``dx``, or a text in parentheses."""
    core = text.rstrip(SCRIPT_CHARACTERS)
    if len(core) == 1 or encloses(core.removeprefix("√")):
        return True
    if core[:1] in ("d", "∂", "√") and len(core) == 2:
        return core[1].isalnum()
    core = core.removeprefix("√")
    return core.isdecimal() or (core.count(".") == 1 and core.replace(".", "").isdecimal())


def is_product(text: str) -> bool:
    """True for factors side by side: no operator and no blank outside brackets."""
    depth = 0
    for character in text:
        if character in "([{⟨⌊⌈▌":
            depth += 1
        elif character in ")]}⟩⌋⌉▐":
            depth -= 1
        elif not depth and not (character.isalnum() or character in "√!.∞" or character in SCRIPT_CHARACTERS):
            return False
    return bool(text) and depth == 0


def encloses(text: str) -> bool:
    """True when the first parenthesis is closed by the last character."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False
