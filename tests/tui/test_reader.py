"""The reader widget: wrapping, jumps, search and position; text is never markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.wrapping import Extent, prepare, wrap_line
from workbench.core.text.document import RenderedLine, RenderedText, Span, StyleName


def document(*lines: str, **marks: list[int]) -> RenderedText:
    """Return plain lines as a rendered text."""
    return RenderedText(tuple(RenderedLine((Span(line),), (0, 0)) for line in lines), marks)


LONG = document(
    *(f"Step {number}: therefore the sum of the parts is {number * 7}" for number in range(300)),
    r"The answer is [b]42[/b] and \boxed{42}",
    boxed=[20, 150, 300],
    answer=[300],
)


class ReaderApp(App[None]):
    """An app with one reader."""

    def __init__(self, text: RenderedText | None, title: str = "") -> None:
        super().__init__()
        self.reader = Reader(text, title=title)

    def compose(self) -> ComposeResult:
        yield self.reader

    def on_mount(self) -> None:
        self.reader.focus()

    def lines(self) -> list[str]:
        return [self.reader.render_line(y).text for y in range(self.reader.size.height)]


async def settle(pilot: Pilot[None]) -> None:
    for _ in range(2):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


@pytest.mark.parametrize(
    ("text", "width", "pieces"),
    [
        ("", 5, [""]),
        ("hello world again", 11, ["hello world", "again"]),
        ("a" * 12, 5, ["aaaaa", "aaaaa", "aa"]),
        ("  indented words", 10, ["  indented", "words"]),
        ("漢字漢字", 5, ["漢字", "漢字"]),
        ("漢字、漢", 4, ["漢", "字、", "漢"]),
        ("x² plus y²", 7, ["x² plus", "y²"]),
    ],
)
def test_text_wraps_at_words_and_between_wide_characters(text: str, width: int, pieces: list[str]) -> None:
    assert [text[start:end] for start, end in wrap_line(text, width)] == pieces


@given(st.text(st.characters() | st.sampled_from("ab 漢²、( \u0301"), max_size=200), st.integers(1, 30))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    shown = printable(text)
    pieces = [shown[start:end] for start, end in wrap_line(shown, width)]
    assert "".join(pieces).replace(" ", "") == shown.replace(" ", "")
    assert all(cell_len(piece) <= width or len(piece.strip("\u0301")) == 1 or width == 1 for piece in pieces)


@given(st.lists(st.text(st.sampled_from("ab 漢"), max_size=60), max_size=20), st.integers(1, 20), st.integers(1, 30))
def test_visible_part_is_the_beginning_of_the_text(lines: list[str], width: int, limit: int) -> None:
    text = document(*lines)
    whole, part = prepare(text, width), prepare(text, width, limit)
    assert part.rows == whole.rows[: len(part.rows)]
    assert len(part.rows) >= min(limit, len(whole.rows))
    assert part.complete == (len(part.rows) == len(whole.rows))


def test_search_is_case_sensitive_only_with_capitals() -> None:
    wrapped = prepare(document("Sum and sum", "SUM [sum]"), 40)
    assert wrapped.find("sum") == [Extent(0, 0, 3), Extent(0, 8, 11), Extent(1, 0, 3), Extent(1, 5, 8)]
    assert wrapped.find("Sum") == [Extent(0, 0, 3)]
    assert wrapped.find("[s") == [Extent(1, 4, 6)]
    assert wrapped.find("") == []


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_keys_scroll(size: tuple[int, int]) -> None:
    app = ReaderApp(LONG)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert app.lines()[0].startswith("Step 0:")
        assert app.reader.scroll_offset.y == 0
        await pilot.press("j", "down", "k")
        assert app.lines()[0].startswith("Step 1:")
        await pilot.press("pagedown")
        assert app.lines()[0].startswith(f"Step {size[1]}:")
        await pilot.press("end")
        assert app.reader.scroll_offset.y == app.reader.max_scroll_y
        assert app.lines()[-1].rstrip() == r"The answer is [b]42[/b] and \boxed{42}"
        await pilot.press("home")
        assert app.reader.scroll_offset.y == 0


async def test_jumps_cycle_through_the_marks() -> None:
    app = ReaderApp(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        seen = []
        for _ in range(4):
            assert app.reader.jump("boxed")
            seen.append(next(line for line in app.lines() if line.startswith(("Step 20:", "Step 150:", "The an"))))
        assert [line.split(":")[0][:8] for line in seen] == ["Step 20", "Step 150", "The answ", "Step 20"]
        assert not app.reader.jump("think_end")


async def test_search_shows_and_marks_matches() -> None:
    app = ReaderApp(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.reader.find("is 70") == 3  # 70, 700 and 707
        marked = [segment for segment in app.reader.render_line(10) if segment.text == "is 70"]
        assert len(marked) == 1
        assert marked[0].style is not None
        assert marked[0].style.reverse
        subtitles = [app.reader.border_subtitle]
        app.reader.find_next()
        assert any("is 700" in line for line in app.lines())
        subtitles.append(app.reader.border_subtitle)
        app.reader.find_next(-1)
        assert app.reader.scroll_offset.y < 20
        subtitles.append(app.reader.border_subtitle)
        app.reader.find_next(-1)
        assert any("is 707" in line for line in app.lines())
        subtitles.append(app.reader.border_subtitle)
        app.reader.action_bottom()
        assert app.reader.find("is 70") == 3
        assert app.reader.border_subtitle == "hit 1 of 3", "none is below"
        assert app.reader.find("nowhere") == 0
        app.reader.find_next()
        assert subtitles == ["hit 1 of 3", "hit 2 of 3", "hit 1 of 3", "hit 3 of 3"]
        assert app.reader.border_subtitle == ""


async def test_match_across_a_line_break_is_marked_on_both_rows() -> None:
    app = ReaderApp(document("x" * 120))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        width = app.reader.wrap_width
        app.reader.find("x" * 100)
        first, second = (list(app.reader.render_line(y)) for y in range(2))
        assert first[0].text == "x" * width
        assert second[0].text == "x" * (100 - width)


async def test_narrower_window_keeps_the_position() -> None:
    app = ReaderApp(LONG)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.reader.scroll_to(y=100, animate=False, force=True)
        await pilot.resize_terminal(30, 24)
        await settle(pilot)
        assert app.lines()[0].startswith("Step 100:")
        assert app.reader.row_count > 500


async def test_long_text_shows_its_beginning_before_the_rest() -> None:
    app = ReaderApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        text = document(*LONG_LINES, boxed=[len(LONG_LINES) - 1])
        app.reader.show(text)
        assert app.lines()[0].startswith("Line 0 ")
        assert app.reader.row_count < 100
        await settle(pilot)
        assert app.reader.row_count >= len(LONG_LINES)
        app.reader.show(text)
        assert app.reader.jump("boxed")
        assert any(line.startswith("Line 4999 ") for line in app.lines())


LONG_LINES = [f"Line {number} with some words to make it long" for number in range(5_000)]


async def test_prepared_text_is_shown_unchanged() -> None:
    app = ReaderApp(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.reader.action_bottom()
        wrapped = prepare(document("next item"), app.reader.wrap_width)
        app.reader.show(wrapped)
        assert app.lines()[0].rstrip() == "next item"
        app.reader.show(prepare(LONG, 10))
        assert app.reader.row_count == len(LONG.lines)
        app.reader.show(None)
        assert not "".join(app.lines()).strip()


async def test_styles_are_distinguishable_without_colour() -> None:
    styles: tuple[StyleName, ...] = ("heading", "answer", "error", "bold", "italic", "think", "dim")
    lines = tuple(RenderedLine((Span("plain "), Span("styled", style)), (0, 0)) for style in styles)
    app = ReaderApp(RenderedText(lines, {}))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for y, _ in enumerate(styles):
            look = next(part.style for part in app.reader.render_line(y) if part.text == "styled")
            assert look is not None
            assert look.bold or look.italic or look.underline or look.dim


async def test_hostile_text_and_title_stay_text() -> None:
    app = ReaderApp(document("[/] [red]x[/red] \x1b[2J\ud800", "[/closing"), title="[/b] model [7]")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.lines()[0].startswith("[/] [red]x[/red] ␛[2J")
        assert app.lines()[1].rstrip() == "[/closing"
        assert str(app.reader.border_title).replace("\\", "") == "[/b] model [7]"
        "".join(app.lines()).encode()
