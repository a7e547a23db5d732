"""The app's screens are among what is frozen."""

from tests.tui.conftest import _sheets_are_parsed_once

__all__ = ["_sheets_are_parsed_once"]
