"""Lines cut to a width lose no character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from workbench.app.tui.kit.wrapping import padded, split_spans
from workbench.core.text.document import Span

SPANS = st.lists(st.text(alphabet="ab 漢é=", max_size=12).map(Span), max_size=4)


@given(SPANS, st.integers(1, 9))
def test_pieces_fit_the_width_and_lose_no_character(spans: list[Span], width: int) -> None:
    pieces = split_spans(spans, width)
    assert "".join(span.text for piece in pieces for span in piece) == "".join(span.text for span in spans)
    for piece in pieces:
        text = "".join(span.text for span in piece)
        assert cell_len(text) <= width or len(text) == 1


def test_blanks_fill_a_line_up() -> None:
    assert padded([Span("ab")], 4, "added") == (Span("ab"), Span("  ", "added"))
    assert padded([Span("abcd")], 4) == (Span("abcd"),)
