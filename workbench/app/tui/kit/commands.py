"""The palette's commands, found by title or description."""

from __future__ import annotations

from textual.command import Hit, Hits
from textual.system_commands import SystemCommandsProvider

_LOWEST_SCORE = 0.01
"""Score of a match in the description alone: it ranks after all matches in titles."""


class DescribedCommands(SystemCommandsProvider):
    """Commands whose titles match come first, then those whose titles and descriptions contain every typed word."""

    async def search(self, query: str) -> Hits:
        matcher, words = self.matcher(query), query.casefold().split()
        for title, about, run, *_ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), run, help=about)
            elif all(word in f"{title} {about}".casefold() for word in words):
                yield Hit(_LOWEST_SCORE, title, run, help=about)
