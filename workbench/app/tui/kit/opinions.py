"""The labels of an item in conflict: columns A, B … without names."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.card import WIDE
from workbench.app.tui.kit.card_texts import value_words
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.title_bar import stored_words
from workbench.core.label import TAGS, Task
from workbench.labelling.adjudicating import Conflict, EarlierRuling, Opinion

_QUESTIONS: dict[Task, str] = {"correctness": "Correct or not?", "type": "Which answer type?"}


class OpinionPanel(VerticalScroll, can_focus=True):
    """The labels of one conflict: side by side if there is room, else one above the other.

    Annotators appear as letters only; nothing reveals who they are or who labelled first.
    """

    DEFAULT_CSS = """
    OpinionPanel {
        height: auto;
        max-height: 9;
        background: $surface;
        border-top: solid $primary-muted;
        border-title-color: $text-muted;
        scrollbar-size-vertical: 1;
    }
    OpinionPanel:focus { border-top: solid $primary; border-title-color: $foreground; }
    OpinionPanel #opinions-earlier { height: auto; padding: 0 1; color: $text-warning; display: none; }
    OpinionPanel.again #opinions-earlier { display: block; }
    OpinionPanel #opinions-columns { height: auto; layout: vertical; }
    OpinionPanel .opinion { height: auto; padding: 0 1; }
    OpinionPanel.brief .opinion { max-height: 4; }
    OpinionPanel.brief.many .opinion { max-height: 2; }
    OpinionPanel.wide { max-height: 40%; }
    OpinionPanel.wide #opinions-columns { layout: horizontal; }
    OpinionPanel.wide .opinion { width: 1fr; }
    OpinionPanel.full { height: 1fr; max-height: 100%; }
    """

    _conflict: Conflict | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="opinions-earlier", markup=False)
        with Container(id="opinions-columns"):
            pass

    def on_resize(self) -> None:
        wide = self.app.size.width >= WIDE
        if wide != self.has_class("wide"):
            self.set_class(wide, "wide")
            self._draw()
        self._update_brief()

    @property
    def in_full(self) -> bool:
        return self.has_class("full")

    def show_in_full(self, on: bool) -> None:
        self.set_class(on, "full")
        self._update_brief()

    def _update_brief(self) -> None:
        self.set_class(not self.in_full and not self.has_class("wide"), "brief")

    def show(self, conflict: Conflict) -> None:
        self._conflict = conflict
        self.scroll_home(animate=False)
        self._draw()

    def _draw(self) -> None:
        conflict = self._conflict
        if conflict is None:
            return
        again = f" · round {conflict.round}" if conflict.round > 1 else ""
        self.border_title = Content(f"{_QUESTIONS[conflict.task]}{again} · {key_of('adjudicate.labels')} all")
        earlier = Content()
        if conflict.earlier is not None:
            earlier = _reopened_words(conflict.earlier)
        elif conflict.own is not None:
            earlier = Content.assemble("you decided  ", stored_words(conflict.own))
        self.set_class(bool(earlier), "again")
        self.query_one("#opinions-earlier", Static).update(earlier)
        self.set_class(len(conflict.opinions) > 2, "many")
        columns = self.query_one("#opinions-columns", Container)
        columns.remove_children()
        between = "\n" if self.has_class("wide") else "  "
        said = (_opinion_words(one, between) for one in conflict.opinions)
        columns.mount(*(Static(words, classes="opinion", markup=False) for words in said))


def _opinion_words(opinion: Opinion, between: str = "\n") -> Content:
    head = [Content.assemble((f"{opinion.letter}  ", "bold"), value_words(opinion.value, opinion.reason))]
    if opinion.unsure:
        head.append(Content.styled("? unsure", "bold $text-warning"))
    if opinion.partial is not None:
        head.append(Content(f"◔ {opinion.partial:g} right"))
    if opinion.flagged:
        head.append(Content.styled("⚑ flagged", "bold $text-warning"))
    lines = [Content("  ").join(head)]
    if opinion.tags:
        lines.append(Content("  ").join(Content(f"◆ {printable(TAGS.get(tag, tag))}") for tag in opinion.tags))
    if looked := _viewing_words(opinion):
        lines.append(Content.styled(looked, "$text-muted"))
    if opinion.note:
        lines.append(Content(f"✎ {printable(opinion.note)}"))
    return Content(between).join(lines)


def _viewing_words(opinion: Opinion) -> str:
    """Return what the person looked at, and for how long: "looked 12 s, open 20 s · opened completion · raw"."""
    times = {"looked": opinion.focused_ms, "open": opinion.open_ms}
    said = [f"{name} {ms / 1000:,.0f} s" for name, ms in times.items() if ms is not None]
    words = [", ".join(dict.fromkeys(said))]
    parts, _, forms = opinion.view.partition(" ")
    opened = [part for part in parts.split("+") if part not in ("", "card")]
    if opened:
        words.append(f"opened {', '.join(opened)}")
    elif parts:
        words.append("the card alone")
    if "raw" in forms.split("+"):
        words.append("raw")
    return printable(" · ".join(word for word in words if word))


def _reopened_words(earlier: EarlierRuling) -> Content:
    return Content.assemble(
        "! opened again: a label came after the decision ", value_words(earlier.value, earlier.reason)
    )
