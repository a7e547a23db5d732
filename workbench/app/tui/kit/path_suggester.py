"""Completes the name of a file while it is typed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from textual.suggester import Suggester


class PathSuggester(Suggester):
    """Suggests the first file or folder that begins with the text; hidden ones once a dot is typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        found = await asyncio.to_thread(completions, value) if value else []
        return next(iter(found), None)


def possible_names(text: str) -> list[str]:
    """Return the completions of a file name; none if a file of this name exists."""
    return [] if os.path.exists(os.path.expanduser(text)) else completions(text)


def ambiguous_name_message(found: Sequence[str]) -> str:
    """Return the message for a name with several completions."""
    first = os.path.basename(found[0].rstrip(os.sep))
    return (
        f"There is no file of this name; {len(found)} names begin like this. The right arrow key accepts {first}; "
        "or continue typing."
    )


def completions(text: str) -> list[str]:
    """Return all completions of the text, by name; folders end in a slash."""
    folder, name = os.path.split(text)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            found = [one for one in entries if one.name.startswith(name or "") and (name or one.name[0] != ".")]
    except OSError:
        return []
    before = text[: len(text) - len(name)]
    return sorted(f"{before}{one.name}{os.sep if one.is_dir() else ''}" for one in found)
