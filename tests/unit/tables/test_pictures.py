"""Plots as files for a paper."""

from __future__ import annotations

import sys
from typing import get_args

import pytest

from workbench.core.errors import UsageError
from workbench.tables.document import Dot, Histogram, Intervals, Point, Scatter
from workbench.tables.pictures import Picture, PictureFormat, draw_picture, require_matplotlib

pytest.importorskip("matplotlib")

NAME = "$\\frac{x}$ <b>&\x1b[31m\u202e漢字" + "w" * 90
POINTS = (Point(NAME, 0.5, 0.4, 0.6), Point("rules", 0.9, 0.8, 1.0))
PICTURES: dict[str, Picture] = {
    "intervals": Intervals(caption=NAME, points=POINTS, mark=0.5, mark_label=NAME, axis=(0.0, 1.0)),
    "scatter": Scatter(
        caption="", x_label="x", y_label="y", dots=tuple(Dot(f"judge-{n}", 0.1, 0.1) for n in range(20)), diagonal=True
    ),
    "histogram": Histogram(caption="", edges=(0.0, 0.5, 1.0), first=(1, 2), second=(0, 9), names=("a", NAME), mark=0.4),
}
FORMATS = get_args(PictureFormat)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", PICTURES)
def test_every_plot_has_the_same_bytes_each_time_in_each_format(name: str) -> None:
    first = draw_picture(PICTURES[name], FORMATS)
    assert first == draw_picture(PICTURES[name], FORMATS)
    assert first["svg"].startswith(b"<?xml")
    assert first["pdf"].startswith(b"%PDF")
    assert first["png"].startswith(b"\x89PNG")
    assert b"<script" not in first["svg"]


def test_user_settings_of_matplotlib_change_nothing() -> None:
    import matplotlib as mpl

    before = draw_picture(PICTURES["scatter"], ["svg"])
    with mpl.rc_context({"font.size": 30, "text.parse_math": True, "svg.hashsalt": "mine"}):
        assert draw_picture(PICTURES["scatter"], ["svg"]) == before
        assert mpl.rcParams["font.size"] == 30


def test_no_information_is_in_colour_alone() -> None:
    for drawn in PICTURES.values():
        svg = draw_picture(drawn, ["svg"])["svg"].decode()
        colours = {part[:7] for part in svg.split("#") if len(part) > 6 and part[6] in '";'}
        assert all(colour[:2] == colour[2:4] == colour[4:6] for colour in colours)


@pytest.mark.parametrize("name", ["_hidden", "$x$"])
def test_every_dot_and_line_has_its_name_in_the_legend(name: str) -> None:
    from matplotlib.figure import Figure

    from workbench.tables.pictures import Curve, Curves, _draw

    drawn: list[Picture] = [
        Scatter(
            caption="", x_label="x", y_label="y", dots=(Dot(name, 0.1, 0.1), Dot("rules", 0.1, 0.1)), diagonal=True
        ),
        Curves(
            caption="",
            x_label="x",
            y_label="y",
            lines=(Curve(label=name, points=((0, 1),)), Curve(label="rules", points=())),
        ),
    ]
    for one in drawn:
        _draw(one, figure := Figure())
        (axes,) = figure.axes
        assert (legend := axes.get_legend()) is not None
        assert [text.get_text().strip() for text in legend.get_texts()] == [name, "rules"]


def test_a_missing_matplotlib_is_reported_with_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"not installed.*verifier-workbench\[figures\]"):
        require_matplotlib()
