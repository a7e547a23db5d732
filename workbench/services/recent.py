"""Databases that were opened in the app lately, for the front ends."""

from __future__ import annotations

from workbench.config.recent import Opened, recent, remember

__all__ = ["Opened", "recent", "remember"]
