"""Completes the name of a file while it is typed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from textual.suggester import Suggester


class PathSuggester(Suggester):
    """Suggests the first file or folder, by name, that begins as the text does; hidden ones once a dot is typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The text with its last name completed; folders with a stroke behind them."""
        return await asyncio.to_thread(completed, value) if value else None


def completed(text: str) -> str | None:
    """See `PathSuggester.get_suggestion`."""
    return next(iter(completions(text)), None)


def begun(text: str) -> list[str]:
    """All that a name can be completed to which nothing is there by."""
    return [] if os.path.exists(os.path.expanduser(text)) else completions(text)


def several_begin(found: Sequence[str]) -> str:
    """What is said of a name that is the beginning of several."""
    first = os.path.basename(found[0].rstrip(os.sep))
    return f"There is no file of this name; {len(found)} begin so. Right takes {first}, or type on."


def completions(text: str) -> list[str]:
    """All that the text can be completed to, by name; folders with a stroke behind them."""
    folder, name = os.path.split(text)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            found = [one for one in entries if one.name.startswith(name or "") and (name or one.name[0] != ".")]
    except OSError:
        return []
    before = text[: len(text) - len(name)]
    return sorted(f"{before}{one.name}{os.sep if one.is_dir() else ''}" for one in found)
