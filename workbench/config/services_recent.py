"""Databases that were opened in the app lately, for the front ends."""

from __future__ import annotations

from workbench.config.recent import RecentProject, recent, remember

__all__ = ["RecentProject", "recent", "remember"]
