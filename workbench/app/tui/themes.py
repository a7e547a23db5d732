"""The app's own themes in addition to Textual's: for low vision, and for red-green blindness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.color import BLACK, WHITE, Color
from textual.theme import Theme

HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#ffff00",
    secondary="#00ffff",
    accent="#00ffff",
    success="#00ff00",
    warning="#ffff00",
    error="#ff8080",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#303030",
    text_alpha=1.0,
    variables={
        "block-cursor-background": "#ffff00",
        "block-cursor-foreground": "#000000",
        "block-cursor-blurred-background": "#606060",
        "block-cursor-blurred-foreground": "#ffffff",
        "text-muted": "#e0e0e0",
        "foreground-muted": "#e0e0e0",
        "footer-key-foreground": "#ffff00",
    },
)
"""White on black, full brightness, no dimmed text."""

COLOUR_BLIND = Theme(
    name="colour-blind",
    primary="#56b4e9",
    secondary="#0072b2",
    accent="#cc79a7",
    success="#56b4e9",
    warning="#f0e442",
    error="#e69f00",
    foreground="#e8e8e8",
    background="#101418",
    surface="#181d22",
    panel="#26303a",
)
"""Blue for right and orange for wrong: the palette of Okabe and Ito, distinguishable with any colour vision."""

OWN_THEMES = (HIGH_CONTRAST, COLOUR_BLIND)


# -- Any theme's texts can be read: WCAG's AA.


AA: Final = 4.5
"""Minimum contrast of text (WCAG 2, level AA)."""
_GROUNDS: Final = ("background", "surface", "panel")
_ON_GROUNDS: Final = (
    "foreground",
    "foreground-muted",
    *(f"text-{name}" for name in ("muted", "primary", "secondary", "accent", "success", "warning", "error")),
)
_PAIRS: Final = {
    "block-cursor-foreground": "block-cursor-background",
    "block-cursor-blurred-foreground": "block-cursor-blurred-background",
    "footer-foreground": "footer-background",
    "footer-key-foreground": "footer-background",
    "footer-description-foreground": "footer-background",
}
_STEPS: Final = 20


def contrast(one: Color, other: Color) -> float:
    """Return WCAG's ratio of two colours' relative luminance."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def drawn(spec: str, ground: Color) -> Color:
    """Return a theme's colour as drawn on a background: ``"auto 60%"`` is black or white at 60 %."""
    name, _, share = spec.partition(" ")
    alpha = float(share.removesuffix("%")) / 100 if share else 1.0
    colour = ground.get_contrast_text(alpha) if name == "auto" else Color.parse(name).multiply_alpha(alpha)
    return ground + colour


def legible(variables: dict[str, str]) -> dict[str, str]:
    """Return a theme's variables with text colours moved towards black or white until they are legible.

    A theme in the terminal's own sixteen colours is returned unchanged.
    """
    grounds = {name: Color.parse(variables[name]) for name in (*_GROUNDS, *{*_PAIRS.values()}) if name in variables}
    if any(ground.ansi is not None for ground in grounds.values()):
        return variables
    base = [grounds[name] for name in _GROUNDS]
    # A cursor's background may be translucent.
    pairs = {name: [below + grounds[ground] for below in base] for name, ground in _PAIRS.items() if ground in grounds}
    asked = dict.fromkeys(_ON_GROUNDS, base) | pairs
    found = {name: _legible_colour(variables[name], on) for name, on in asked.items() if name in variables}
    return {**variables, **found}


def _legible_colour(spec: str, grounds: Sequence[Color]) -> str:
    if all(contrast(drawn(spec, ground), ground) >= AA for ground in grounds):
        return spec
    begun, end = drawn(spec, grounds[0]), min((BLACK, WHITE), key=lambda one: -min(contrast(one, on) for on in grounds))
    steps = (begun.blend(end, step / _STEPS) for step in range(_STEPS + 1))
    return next((one.hex for one in steps if all(contrast(one, on) >= AA for on in grounds)), end.hex)
