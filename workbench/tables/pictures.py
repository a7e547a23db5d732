"""Draws plots as SVG, PDF and PNG for papers, with matplotlib (the extra ``figures``): black on white, every
series with its own marker.

The same plot gives the same bytes. Names are data: matplotlib doesn't read math in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.text.inert import inert
from workbench.tables.document import Histogram, Intervals, Scatter, limit_length, percentage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PictureFormat = Literal["svg", "pdf", "png"]
HINT: Final = "Run: pip install 'verifier-workbench[figures]'"
_STYLE: Final[dict[Any, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "svg.hashsalt": "workbench",
    "text.parse_math": False,
}
_NO_DATE: Final[dict[PictureFormat, dict[str, Any]]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}
_MAX_NAME = 48
"""Maximum letters of a name."""
_ROW_INCHES = 0.24
_WIDTH_INCHES = 4.2
"""Height of a row and of an axis, in inches."""
_MARKERS = "os^Dv<>ph*X"
_DASHES: Final[tuple[Any, ...]] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


class Curve(Struct, frozen=True, kw_only=True):
    label: str
    points: tuple[tuple[float, float], ...]


class Curves(Struct, frozen=True, kw_only=True):
    """A plot of several lines with common axes, in arbitrary units."""

    caption: str
    x_label: str
    y_label: str
    lines: tuple[Curve, ...]


Picture: TypeAlias = Intervals | Scatter | Histogram | Curves


def require_matplotlib() -> None:
    """Check that matplotlib is installed, before work whose plots need it.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("Figures need matplotlib, which is not installed.", HINT) from None


def draw_picture(drawn: Picture, formats: Iterable[PictureFormat]) -> dict[PictureFormat, bytes]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        # The user's own matplotlib settings are not applied.
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = Figure()
        _draw(drawn, figure)
        return {format: _figure_bytes(figure, format) for format in formats}


def _figure_bytes(figure: Figure, format: PictureFormat) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format=format, bbox_inches="tight", metadata=_NO_DATE[format])
    return buffer.getvalue()


def _axes(figure: Figure, width: float, height: float) -> Axes:
    figure.set_size_inches(width, height)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


def _short_label(text: str) -> str:
    return _drawable_text(text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…")


def _drawable_text(text: str) -> str:
    from matplotlib.font_manager import findfont, get_font

    there = get_font(findfont("DejaVu Sans")).get_charmap()
    return "".join(letter if ord(letter) in there else f"\\u{ord(letter):04x}" for letter in inert(text))


@singledispatch
def _draw(drawn: Picture, figure: Figure) -> None:
    raise TypeError(f"{type(drawn).__name__} is not a picture")


@_draw.register(Intervals)
def _intervals(drawn: Intervals, figure: Figure) -> None:
    axes = _axes(figure, _WIDTH_INCHES, _ROW_INCHES * len(drawn.points) + 0.1)
    for place, point in enumerate(drawn.points):
        axes.plot([100 * point.low, 100 * point.high], [place, place], color="black", linewidth=1, marker="|")
        axes.plot([100 * point.value], [place], color="black", marker="o", markersize=4)
        label = f"{percentage(point.value)} [{percentage(point.low)}, {percentage(point.high)}]"
        axes.annotate(label, (1.02, place), xycoords=axes.get_yaxis_transform(), va="center")
    axes.set_yticks(range(len(drawn.points)), [_short_label(point.label) for point in drawn.points])
    axes.set_ylim(max(len(drawn.points), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    low, high = drawn.axis or (0.0, 1.0)
    axes.set_xlim(100 * low, 100 * high)
    if drawn.mark is not None:
        axes.axvline(100 * drawn.mark, color="0.35", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        label = f"{_short_label(drawn.mark_label)} {percentage(drawn.mark)}"
        axes.annotate(label, (100 * drawn.mark, 1), xycoords=axes.get_xaxis_transform(), ha="center", va="bottom")
    axes.set_xlabel(_caption(drawn.caption))


def _caption(text: str) -> str:
    return fill(_drawable_text(limit_length(text)), 70)


@_draw.register(Scatter)
def _scatter(drawn: Scatter, figure: Figure) -> None:
    axes = _axes(figure, 3.4, 3.4)
    most = min(1.0, 1.1 * max((share for dot in drawn.dots for share in (dot.x, dot.y)), default=1.0) or 1.0)
    axes.set(xlim=(-2 * most, 100 * most), ylim=(-2 * most, 100 * most))
    if drawn.diagonal:
        axes.plot([0, 100], [0, 100], color="0.35", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{drawn.x_label} (%)")
    axes.set_ylabel(f"{drawn.y_label} (%)")
    for place, dot in enumerate(drawn.dots):
        axes.plot(
            [100 * dot.x],
            [100 * dot.y],
            color="black",
            marker=_MARKERS[place % len(_MARKERS)],
            fillstyle="none" if place // len(_MARKERS) % 2 else "full",
            markersize=4.5,
            linestyle="none",
            clip_on=False,
            label=_legend_label(dot.label),
        )
    _add_legend(axes)


def _legend_label(text: str) -> str:
    # matplotlib leaves out labels that begin with "_".
    return f" {_short_label(text)}"


def _add_legend(axes: Axes) -> None:
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5), borderaxespad=0)


@_draw.register(Histogram)
def _histogram(drawn: Histogram, figure: Figure) -> None:
    axes = _axes(figure, _WIDTH_INCHES, 1.9)
    kinds: tuple[dict[str, Any], ...] = ({"color": "0.25"}, {"facecolor": "white", "hatch": "//////"})
    for shift, (counts, name, kind) in enumerate(zip((drawn.first, drawn.second), drawn.names, kinds, strict=True)):
        halves = [(high - low) / 2 for low, high in zip(drawn.edges, drawn.edges[1:], strict=False)]
        left = [low + shift * half for low, half in zip(drawn.edges, halves, strict=False)]
        axes.bar(left, counts, halves, align="edge", edgecolor="black", linewidth=0.5, label=_short_label(name), **kind)
    if drawn.mark is not None and drawn.edges[0] <= drawn.mark <= drawn.edges[-1]:
        axes.axvline(drawn.mark, color="0.35", linewidth=0.8, linestyle=(0, (4, 2)))
        axes.annotate(
            f"threshold {drawn.mark:.4g}",
            (drawn.mark, 1),
            xycoords=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
        )
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1.06), ncols=2, borderaxespad=0)
    axes.set_xlabel(_caption(drawn.caption))
    axes.set_ylabel("items")


@_draw.register(Curves)
def _curves(drawn: Curves, figure: Figure) -> None:
    axes = _axes(figure, 3.4, 2.2)
    for place, line in enumerate(drawn.lines):
        axes.plot(
            [x for x, _ in line.points],
            [y for _, y in line.points],
            color="black",
            linewidth=0.8,
            linestyle=_DASHES[place % len(_DASHES)],
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=3.5,
            label=_legend_label(line.label),
        )
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    _add_legend(axes)
    axes.set_xlabel(f"{_short_label(drawn.x_label)}\n{_caption(drawn.caption)}")
    axes.set_ylabel(_short_label(drawn.y_label))
