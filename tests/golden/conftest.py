"""The app's screens are among what is frozen."""

from tests.tui.conftest import _apps_are_quick

__all__ = ["_apps_are_quick"]
