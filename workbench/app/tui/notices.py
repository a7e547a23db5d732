"""Position of notices: never over the line at which a person works."""

from __future__ import annotations

from textual.screen import Screen

ABOVE = "-notices-above"
"""CSS class of a screen that shows notices at its top."""
_MAX_LINES = 4
"""Maximum height, in lines, of a focused widget of which notices cover no part."""


def place_notices(screen: Screen[object]) -> None:
    """Show notices in the half of the screen where the person isn't working."""
    screen.set_class(_attended_line(screen) * 2 >= screen.size.height, ABOVE)


def _attended_line(screen: Screen[object]) -> int:
    from workbench.app.tui.kit.virtual_table import VirtualTable  # Home starts without importing it

    focused = screen.focused
    if isinstance(focused, VirtualTable):
        return focused.region.y + 1 + (focused.cursor or 0) - focused.scroll_offset.y
    if focused is None or focused.region.height > _MAX_LINES:
        return 0
    return focused.region.bottom
