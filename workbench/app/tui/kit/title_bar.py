"""The first line of a screen: the path of open screens, and remarks such as the user's name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.events import Paste
from textual.widgets import Input, Static

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.taxonomy import type_display

if TYPE_CHECKING:
    from workbench.labelling.annotating import AnnotationItem, OwnEntry
    from workbench.labelling.answers import Answer


class RemarkPiece(NamedTuple):
    """A piece of the remark in the title bar.

    Attributes:
        rank: If room is short, pieces of the highest rank are dropped first; a piece of rank 0 is never dropped.
    """

    text: str
    rank: int = 0


class TitleBar(Static):
    """One line: the path of open screens, the current title, and a remark (status information). All texts are data, not
    markup.

    If room is short, the path is shortened before the remark, from its beginning.

    Attributes:
        title: The screen's title.
        remark: The remark next to it, as shown.
    """

    DEFAULT_CSS = """
    TitleBar {
        dock: top;
        height: 1;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, title: str, remark: str = "") -> None:
        super().__init__(markup=False)
        self.title = title
        self._parts: Sequence[RemarkPiece] = (RemarkPiece(remark),)
        self._moment: str | None = None
        self._way_room: int | None = None
        self.remark = remark

    def on_mount(self) -> None:
        self.say(self.remark)

    def on_resize(self) -> None:
        self._way_room = None
        self.say_parts(self._parts, self._moment)

    def say(self, remark: str) -> None:
        self.say_parts((RemarkPiece(remark),))

    def say_parts(self, parts: Sequence[RemarkPiece], moment: str | None = None) -> None:
        """Replace the remark by as many pieces as there is room for.

        Args:
            moment: The latest message, shown after the pieces; "" if there is none yet, None if there never is one.
                Room for a message is always reserved, so that pieces and path don't move when it appears.
        """
        self._parts, self._moment = parts, moment
        room = self.size.width - cell_len(self.title) - 4 if self.size.width else None
        self.remark = fit_pieces(parts, room) if moment is None else _with_message(parts, moment, room)
        way_room = 0 if room is None else room - cell_len(self.remark)
        if moment is not None and room is not None:
            way_room = min(way_room, room - cell_len(_with_message(parts, _LONGER, room)), self._way_room or way_room)
            self._way_room = max(way_room, 1)
        way = path_text(self._path_titles(), way_room)
        line = Content.assemble(
            (way, "$foreground-muted"), (self.title, "bold"), "  ", (self.remark, "$foreground-muted")
        )
        self.update(line, layout=False)

    def _path_titles(self) -> list[str]:
        """Return the titles of the screens below this one, Home's first, without consecutive repetitions.

        After a jump the path begins with the screen from which the user jumped, to which escape returns.
        """
        stack = self.app.screen_stack
        here = stack.index(self.screen) if self.screen in stack else 0
        jumped = max((place for place in range(here + 1) if getattr(stack[place], "is_jump", False)), default=0)
        first = max(jumped - 1, 0)
        titles = [bar.title for screen in stack[first:here] for bar in screen.query(TitleBar)]
        passed = [title for title, above in pairwise((*titles, self.title)) if title != above]
        return ["…", *passed] if any(screen.query(TitleBar) for screen in stack[:first]) else passed


def path_text(titles: Sequence[str], room: int) -> str:
    """Return as many titles of the screens below as fit, the last ones, each followed by ``›``.

    Args:
        room: Available cells.
    """
    for first in range(len(titles)):
        way = "".join(f"{title} › " for title in ("…" if first else "", *titles[first:]) if title)
        if cell_len(way) <= room:
            return way
    return ""


def fit_pieces(parts: Sequence[RemarkPiece], room: int | None) -> str:
    """Return the pieces in order, without the least important ones if they exceed the room.

    Args:
        room: Available cells; None for no limit.
    """
    kept = [part for part in parts if part.text]
    while True:
        remark = " · ".join(part.text for part in kept)
        last = max(kept, key=lambda part: part.rank, default=None)
        if room is None or cell_len(remark) <= room or last is None or last.rank == 0:
            return remark
        kept.remove(last)


_USUAL: Final = "saved ✓ unsuitable"
"""A typical message; room for its width is always reserved."""
_LONGER: Final = f"{_USUAL} · fast: 0.1 s"
"""A longer message that appears at times; the path leaves room for its width."""


def _with_message(parts: Sequence[RemarkPiece], moment: str, room: int | None) -> str:
    left = None if room is None else room - max(cell_len(_USUAL), cell_len(moment)) - 3
    return " · ".join(filter(None, (fit_pieces(parts, left), moment)))


# -- A label in one line: everything has a symbol or a word, so that colour alone carries no meaning.


SYMBOLS = {"correct": "✓", "incorrect": "✗", "unsuitable": "⊘", "abstain": "?", "error": "!"}
"""Symbols of verdicts."""
_STYLES = {"correct": "bold $text-success", "incorrect": "bold $text-error", "unsuitable": "bold $text-warning"}


def verdict_words(verdict: str, reason: str | None = None) -> Content:
    words = f"{SYMBOLS.get(verdict, '·')} {verdict}"
    if reason:
        words += f" ({EXCLUSION_REASONS.get(reason, printable(reason))})"
    return Content.styled(words, _STYLES.get(verdict, ""))


def stored_words(said: Answer | OwnEntry | AnnotationItem, remarks: Iterable[Content] = (), flag: str = "") -> Content:
    """Return a stored label or decision: verdict or type, marks, partial score, note.

    Args:
        remarks: What follows the verdict.
        flag: What precedes the note.
    """
    parts = [verdict_words(said.verdict, said.reason)] if said.verdict else []
    parts.extend(remarks)
    parts.extend(Content.styled(f"◆ {tag_words(tag)}", "bold $text-accent") for tag in said.tags)
    if said.partial is not None:
        parts.append(Content.styled(f"◔ {said.partial:g} right", "bold $text-accent"))
    if said.subtype:
        parts.append(Content(f"type {printable(type_display(said.subtype))}"))
    if flag:
        parts.append(Content.styled(flag, "bold $text-warning" if flag == _FLAGGED else "bold $text-success"))
    if said.note:
        parts.append(Content(f"✎ {printable(said.note)}"))
    return Content("  ").join(parts)


def label_line(said: OwnEntry | AnnotationItem, *, wants_type: bool = False, flag: str = "") -> Content:
    """Return a person's label of an item in one line, or that there is none yet.

    Args:
        wants_type: Whether the label must also give the question's answer type.
        flag: The state of the person's flag on the item.
    """
    remarks = [] if said.verdict else [Content.styled("· not labelled", "$text-muted")]
    if wants_type and said.verdict not in (None, "unsuitable"):
        remarks.append(Content.styled(f"! type missing: {key_of('annotate.type')}", "bold $text-warning"))
    if said.unsure:
        remarks.append(Content.styled("? unsure", "bold $text-warning"))
    return stored_words(said, remarks, flag)


_FLAGGED: Final = "⚑ flagged"


def flag_words(item: AnnotationItem) -> str:
    if not item.flagged:
        return ""
    return _FLAGGED if item.answer is None else f"⚑ answered: {key_of('annotate.answers')}"


def tag_words(tag: str) -> str:
    """Return a tag's name for reading; the menu of tags explains it."""
    return printable(tag.replace("_", " "))


# -- A line to type into; a pasted text that is too long is cut, and a notice says how much was dropped.


LONGEST: Final = 2_000
"""Maximum characters of a line."""


class Line(Input):
    """An input that joins the lines of a pasted text, and cuts a text that is too long.

    A suggested completion is in italics, unlike typed text.
    """

    DEFAULT_CSS = "Line>.input--suggestion { text-style: italic; }"

    def __init__(self, *arguments: Any, max_length: int = LONGEST, **options: Any) -> None:
        super().__init__(*arguments, max_length=max_length, **options)

    def _on_paste(self, event: Paste) -> None:
        event.stop()
        # Textual would paste too, and drop all but the first line, or everything where that is too long.
        event.prevent_default()
        start, end = sorted(self.selection)
        longest = self.max_length or LONGEST
        room = max(longest - len(self.value) + end - start, 0)
        # No more is looked at than could go in: a pasted text may have any length.
        looked_at = event.text[: 2 * room + 2]
        text = " ".join(looked_at.splitlines())
        self.replace(text[:room], start, end)
        if len(text) > room or len(looked_at) < len(event.text):
            said = f"The line may have {longest:,} characters: the rest of the pasted text was dropped."
            self.notify(said, title="Cut", severity="warning")
