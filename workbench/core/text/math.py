"""Renders LaTeX math as one line of Unicode text, which reads like the formula and never silently changes its meaning.

workbench has its own parser, for speed (that of pylatexenc takes 180 µs per fragment) and to limit nesting; the
characters are those of pylatexenc. Unsupported input is shown unchanged, and so is a fragment whose rendering would
have other digits.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from workbench.core.text import symbols as table
from workbench.core.text.symbols import SCRIPT_CHARACTERS, SUBSCRIPTS, SUPERSCRIPTS

# -- The output of one row of rendered math: spaces and parentheses that preserve its meaning.


_OPENING = "([{√∫∑∏∮⌊⌈⟨|"
_CLOSING = ")]}′!°"


class MathRow:
    """The rendered text of one group, and the state on which the next piece depends."""

    def __init__(self, *, argument: bool = False) -> None:
        self.parts: list[str] = []
        self.argument = argument
        """Whether it holds one macro that is an argument without braces."""
        self.word = False
        """Whether the last visible piece is a function name."""
        self.compound: int | None = None
        """Index of the last visible piece if it needs parentheses when something is attached to it."""
        self.as_typed = False
        """Whether the last piece is an unknown macro, whose arguments keep their braces."""

    def text(self) -> str:
        return "".join(self.parts)

    def last(self) -> str:
        for part in reversed(self.parts):
            if not part.isspace():
                return part.rstrip()[-1]
        return ""

    def space(self, spaces: str = " ") -> None:
        if self.parts and not self.parts[-1][-1:].isspace():
            self.parts.append(spaces)

    def add(self, piece: str, *, word: bool = False) -> None:
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
        """Add a fraction or root; it gets parentheses if it would otherwise merge with the text before it."""
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
    """Return whether a text needs no parentheses: a number, one letter with sub- or superscripts, a differential like
    ``dx``, or a text in parentheses."""
    core = text.rstrip(SCRIPT_CHARACTERS)
    if len(core) == 1 or encloses(core.removeprefix("√")):
        return True
    if core[:1] in ("d", "∂", "√") and len(core) == 2:
        return core[1].isalnum()
    core = core.removeprefix("√")
    return core.isdecimal() or (core.count(".") == 1 and core.replace(".", "").isdecimal())


def is_product(text: str) -> bool:
    """Return whether a text is a product of adjacent factors: it has no operator and no space outside brackets."""
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
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


# -- Chemical formulas in mhchem's ``\ce``: counts below, charges above, arrows as arrows.


_ARROWS = (("<=>>", "⇌"), ("<<=>", "⇌"), ("<=>", "⇌"), ("<-->", "⇄"), ("<->", "↔"), ("->", "→"), ("<-", "←"))
_COUNT = re.compile(r"(?<=[A-Za-z)\]])([0-9]+)(?![0-9.])")
_CHARGE = re.compile(r"\^(?:\{([0-9+\-−]+)\}|([0-9]*[+\-−]|[0-9]+))")
_BELOW = re.compile(r"_(?:\{([0-9+\-−a-z]+)\}|([0-9]+))")
_ION = re.compile(r"(?<=[A-Za-z0-9)\]])([+\-−])(?=[\s)\]},;.]|$)")


def render_chemistry(typed: str) -> str:
    """Render a chemical formula or reaction equation; unsupported input is shown unchanged."""
    for mark, arrow in _ARROWS:
        typed = typed.replace(mark, f" {arrow} ")
    typed = _CHARGE.sub(lambda found: (found[1] or found[2]).translate(SUPERSCRIPTS), typed)
    typed = _ION.sub(lambda found: found[1].translate(SUPERSCRIPTS), typed)
    typed = _BELOW.sub(lambda found: _subscript(found[1] or found[2], found[0]), typed)
    return " ".join(_COUNT.sub(lambda found: found[1].translate(SUBSCRIPTS), typed).split())


def _subscript(text: str, typed: str) -> str:
    return text.translate(SUBSCRIPTS) if all(ord(character) in SUBSCRIPTS for character in text) else typed


MAX_LENGTH = 20_000
"""Maximum characters of a fragment that is rendered; longer ones are shown unchanged."""
MAX_DEPTH = 40
"""Maximum nesting of a fragment that is rendered; deeper ones are shown unchanged."""
FRAME = ("▌", "▐")
"""The frame of a ``\\boxed``: different from all brackets, so that ``[0, 1)`` inside is unambiguous."""
_TOKEN = re.compile(r"\\(?:operatorname|tag)\*|\\[A-Za-z]+|\\.|[{}\[\]^_&~\\]|\s+|[^\\{}\[\]^_&~\s]+", re.DOTALL)
_ASCII_DIGITS = re.compile(r"[0-9]+")
_ROW_GAP = re.compile(
    r"(\\\\)\*?\s*\[\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*(?:pt|em|ex|mm|cm|in|pc|mu|bp|dd|cc|sp|jot)\s*\]|\\.", re.DOTALL
)
"""The length after a row's ``\\\\``, which is not part of the formula; also other macros, so that they aren't split."""
_GRID = re.compile(r"\\begin\{(array|matrix|smallmatrix)\}(?:(?!\\end\{\1\}).)*\\end\{\1\}", re.DOTALL)
_SPACE_RUNS = re.compile(r"[^\S\n]+")


class _UnsupportedMath(Exception):
    """The fragment can't be rendered; it is shown unchanged."""


@lru_cache(maxsize=4096)
def render_math(latex: str, *, display: bool = False) -> str:
    """Render one math fragment (without its delimiters) as Unicode text.

    Rows of an ``aligned`` become separate lines, matrices ``(a, b; c, d)``; an ``array`` that is the whole of a display
    formula becomes a grid. Unknown macros stay visible; a fragment that is malformed, too long, too deep, or would lose
    a digit is returned as it is.
    """
    if len(latex) > MAX_LENGTH:
        return latex
    formula = _ROW_GAP.sub(lambda found: found[1] or found[0], latex) if "\\\\" in latex else latex
    try:
        text = _MathParser(formula).whole(grid=display and _GRID.fullmatch(formula.strip()) is not None)
    except _UnsupportedMath:
        return latex
    return text if digits(text) == digits(formula) else latex


def digits(text: str) -> str:
    """Return all digits of a text in order; super- and subscript digits become plain digits."""
    if text.isascii():
        return "".join(_ASCII_DIGITS.findall(text))
    return "".join(str(unicodedata.digit(character)) for character in text if character.isdigit())


class _MathParser:
    def __init__(self, latex: str) -> None:
        self.tokens = _TOKEN.findall(latex)
        self.at = 0
        self.depth = 0
        self.symbols = table.symbols()

    def whole(self, *, grid: bool = False) -> str:
        if grid:
            while self.tokens[self.at] != "\\begin":
                self.at += 1
            self.at += 1
            return _align_columns(self.cells(self.opened()))
        text, _ = self.sequence(frozenset())
        return "\n".join(line for line in map(_tidy, text.split("\n")) if line)

    def sequence(self, stops: frozenset[str]) -> tuple[str, str]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _UnsupportedMath
        row = MathRow()
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token in stops:
                self.depth -= 1
                return row.text(), token
            if token == "\\over":
                below, stop = self.sequence(stops)
                self.depth -= 1
                return f"({_numerator(row.text().strip())}/{_denominator(below.strip())})", stop
            self.one(row, token)
        if stops:
            raise _UnsupportedMath
        self.depth -= 1
        return row.text(), ""

    def one(self, row: MathRow, token: str) -> None:
        first = token[0]
        if first == "\\":
            self.macro(row, token[1:])
        elif first == "{":
            self.group(row)
        elif first == "^" or first == "_":
            row.script(_script(first, self.argument()))
        elif first == "}":
            raise _UnsupportedMath
        elif first.isspace():
            row.space()
        elif first == "~":
            self.tie(row)
        else:
            row.add(token)

    def tie(self, row: MathRow) -> None:
        before, after = (self.tokens[at : at + 1] for at in (self.at - 2, self.at))
        ends = (*before, "")[0][-1:] if self.at > 1 else ""
        begins = (*after, "")[0][:1]
        blank = (ends.isalnum() or ends in _TIED_TO) and (begins.isalpha() or begins == "\\")
        if blank or (ends != "" and ends in ",;:.") or begins == "":
            row.space()
        else:
            row.add("~")

    def group(self, row: MathRow) -> None:
        first = self.at
        inner, _ = self.sequence(_BRACE)
        if row.as_typed:
            row.parts.append(f"{{{inner}}}")
        elif inner.isspace():
            row.space()
        elif self.is_set(first):
            row.add(f"{{{inner}}}")
        else:
            row.add(inner)

    def is_set(self, first: int) -> bool:
        """Return whether a group that is not an argument is a set, whose braces are shown: it has top-level commas,
        ``{1, 2}``.
        """
        depth, commas, others = 0, False, False
        for token in self.tokens[first : self.at - 1]:
            depth += (token == "{") - (token == "}")
            commas = commas or (depth == 0 and "," in token)
            others = others or token.strip(", ") != ""
        return commas and others

    def macro(self, row: MathRow, name: str) -> None:
        if name in self.symbols and name not in table.WORDS:
            self.symbol(row, self.symbols[name])
        elif name in table.WORDS:
            row.add(table.SPELLED.get(name, name), word=True)
        elif name in ("operatorname", "operatorname*"):
            row.add(self.argument(), word=True)
        elif name in table.SPACES:
            row.space(table.SPACES[name])
        elif name in table.DELIMITER_SIZES:
            self.delimiter()
        elif name == "\\":
            row.parts.append("\n")
        elif name not in table.INVISIBLE:
            self.structure(row, name)

    def structure(self, row: MathRow, name: str) -> None:
        if name in table.FRACTIONS:
            self.fraction(row)
        elif name == "sqrt":
            self.root(row)
        elif name in table.TEXTS:
            # Rendering a group drops its leading spaces, which here separate words from the text before.
            opening, first = (*self.tokens[self.at : self.at + 2], "", "")[:2]
            if opening == "{" and first.isspace():
                row.space()
            row.add(self.argument())
        elif name in table.BOXES:
            row.add(f"{FRAME[0]}{self.argument(flat=False).strip()}{FRAME[1]}")
        elif name in table.BLACKBOARD:
            row.add(self.argument().translate(table.DOUBLE_STRUCK))
        elif name in table.ACCENTS:
            self.accent(row, name)
        elif name in table.BINOMIALS:
            row.add(f"binom({self.argument().strip()}, {self.argument().strip()})", word=True)
        elif name in ("pmod", "pod"):
            row.space()
            row.add(f"(mod {self.argument().strip()})" if name == "pmod" else f"({self.argument().strip()})")
        elif name in ("tag", "tag*"):
            row.space()
            row.add(f"({self.argument().strip()})")
        elif name == "not":
            self.negation(row)
        elif name == "ce":
            row.add(render_chemistry(self.verbatim()))
        elif name == "begin":
            row.add(self.environment())
        elif name == "end":
            raise _UnsupportedMath
        else:
            row.add(f"\\{name}")
            row.as_typed = True

    def accent(self, row: MathRow, name: str) -> None:
        text = self.argument().strip()
        if len(text) == 1 and text.isalnum():
            composed = unicodedata.normalize("NFC", text + table.ACCENTS[name])
            if len(composed) == 1:
                row.add(composed)
                return
        if name in table.LINES and text.isdecimal() and _DECIMAL.search(row.text()) is not None:
            row.parts.append(f"({text} repeating)")
        else:
            row.add(f"{name}({text})", word=True)

    def negation(self, row: MathRow) -> None:
        """Return the operand of ``
        ot``: one character if there is one, else the word.
        """
        negated = self.argument().lstrip()
        struck = unicodedata.normalize("NFC", negated[:1] + "\u0338")
        if len(struck) == 1:
            row.add(struck + negated[1:])
        else:
            row.add("not", word=True)
            row.space()
            row.add(negated)

    def verbatim(self) -> str:
        if self.tokens[self.at : self.at + 1] != ["{"]:
            raise _UnsupportedMath
        first, depth = self.at + 1, 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += (token == "{") - (token == "}")
            self.at += 1
            if not depth:
                return "".join(self.tokens[first : self.at - 1])
        raise _UnsupportedMath

    def symbol(self, row: MathRow, shown: str) -> None:
        spaced = row.parts[-1][-1:].isspace() if row.parts else shown in table.RELATIONS
        row.add(shown)
        if spaced or row.argument or shown[-1].isascii() or self.at + 1 >= len(self.tokens):
            return
        following = self.tokens[self.at + 1][0]
        if self.tokens[self.at].isspace() and (following.isalnum() or following in "\\({"):
            self.at += 1

    def delimiter(self) -> None:
        if self.at < len(self.tokens) and self.tokens[self.at].startswith("."):
            self.tokens[self.at] = self.tokens[self.at][1:]
            self.at += not self.tokens[self.at]

    def argument(self, *, flat: bool = True) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        if self.at >= len(self.tokens):
            raise _UnsupportedMath
        token = self.tokens[self.at]
        self.at += 1
        if token == "{":
            text, _ = self.sequence(_BRACE)
        elif token[0] in "}^_&":
            raise _UnsupportedMath
        elif token[0] == "\\":
            text = self.nested(token)
        else:
            text = token[0]
            if len(token) > 1:
                self.at -= 1
                self.tokens[self.at] = token[1:]
        return text.strip("\n").replace("\n", "; ") if flat else text

    def nested(self, token: str) -> str:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _UnsupportedMath
        row = MathRow(argument=True)
        self.macro(row, token[1:])
        self.depth -= 1
        return row.text()

    def fraction(self, row: MathRow) -> None:
        above, below = self.argument().strip(), self.argument().strip()
        piece = f"{_numerator(above)}/{_denominator(below)}"
        row.add_compound(piece, mixed=above.isdecimal() and below.isdecimal())

    def root(self, row: MathRow) -> None:
        index = ""
        if self.at < len(self.tokens) and self.tokens[self.at] == "[":
            self.at += 1
            index = self.sequence(_BRACKET)[0].strip()
        inner = self.argument().strip()
        sign = "√" + (inner if is_atom(inner) else f"({inner})")
        raised = _translate_script(index, table.SUPERSCRIPTS) if index else ""
        if raised is None:
            row.add(f"root({index}, {inner})", word=True)
        elif raised:
            row.add_compound(raised + sign)
        else:
            row.add_compound(sign)

    def opened(self) -> str:
        name = self.argument()
        if name in table.WITH_COLUMNS:
            self.argument()
        return name

    def environment(self) -> str:
        name = self.opened()
        if name in table.MATRICES:
            opening, closing = table.MATRICES[name]
            return opening + "; ".join(", ".join(cells) for cells in self.cells(name)) + closing
        if name in table.STACKS:
            return "\n".join(" ".join(cells) for cells in self.cells(name))
        raise _UnsupportedMath

    def cells(self, name: str) -> list[list[str]]:
        rows: list[list[str]] = [[]]
        while True:
            cell, stop = self.sequence(_CELL)
            rows[-1].append(_tidy(cell.replace("\n", "; ")))
            if stop == "\\\\":
                rows.append([])
            elif stop == "\\end":
                if self.argument() != name:
                    raise _UnsupportedMath
                return [row for row in rows if any(row)]


_BRACE = frozenset({"}"})
_BRACKET = frozenset({"]"})
_CELL = frozenset({"&", "\\\\", "\\end"})
_TIED_TO = frozenset(")}]\\")
_WORDS = re.compile(r"[^\W\d_] +[^\W\d_]")
_DECIMAL = re.compile(r"[0-9]\.[0-9]*\Z")


def _tidy(line: str) -> str:
    return _SPACE_RUNS.sub(" ", line).strip()


def _translate_script(text: str, characters: dict[int, int]) -> str | None:
    if _WORDS.search(text) is not None:
        return None
    text = text.replace(" ", "")
    if all(ord(character) in characters for character in text):
        return text.translate(characters)
    return None


def _script(mark: str, text: str) -> str:
    text = text.strip()
    if mark == "^" and text in ("∘", "°", "′", "'"):
        return "°" if text in "∘°" else "′"
    raised = _translate_script(text, table.SUPERSCRIPTS if mark == "^" else table.SUBSCRIPTS)
    if raised is not None:
        return raised
    return mark + text if len(text) == 1 else f"{mark}({text})"


def _align_columns(rows: list[list[str]]) -> str:
    columns = max(map(len, rows), default=0)
    padded = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = [max(map(len, column)) for column in zip(*padded, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in padded
    )


def _numerator(text: str) -> str:
    return text if is_product(text.lstrip("-−±")) else f"({text})"


def _denominator(text: str) -> str:
    return text if is_atom(text) else f"({text})"
