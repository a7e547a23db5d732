"""Line plots, as drawings and as text: data is never markup, and every value is present."""

from __future__ import annotations

from workbench.tables.document import Lines, Series
from workbench.tables.html import drawing
from workbench.tables.table_text import text_plot

PLOT = Lines(
    caption="What <b>changes</b>",
    x_label="round",
    ticks=("0", "1", "2"),
    series=(Series("a & b", (1.0, 0.5, None)), Series("\x1b[31mred", (0.25, 0.25, 0.0))),
)


def test_a_drawing_has_a_line_a_series_and_a_dot_a_value() -> None:
    drawn = str(drawing(PLOT))
    assert drawn.count("<polyline") == 2
    assert drawn.count("<circle") == 5
    assert "a &amp; b" in drawn
    assert "<b>" not in drawn
    assert "\x1b" not in drawn
    assert ">100<" in drawn


def test_counts_have_a_separate_axis() -> None:
    counts = Lines(caption="c", x_label="x", ticks=("1",), series=(Series("n", (2_000.0,)),), shares=False)
    assert ">2,000<" in str(drawing(counts))
    assert text_plot(counts) == "n\n  1    2,000  " + "█" * 40
    nothing = Lines(caption="c", x_label="x", ticks=(), series=(), shares=False)
    assert "<svg" in str(drawing(nothing))
    assert text_plot(nothing) == ""


def test_text_has_every_value_and_no_control_characters() -> None:
    text = text_plot(PLOT)
    assert text.splitlines()[:4] == ["a & b", f"  0    100.0  {'█' * 40}", f"  1     50.0  {'█' * 20}", "  2        –"]
    assert "\x1b" not in text
