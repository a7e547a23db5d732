"""Themes of the app's own, beside Textual's: for low vision, and for red-green blindness."""

from __future__ import annotations

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
"""Blue for right and orange for wrong: the palette of Okabe and Ito, told apart with any colour vision."""

OWN_THEMES = (HIGH_CONTRAST, COLOUR_BLIND)
