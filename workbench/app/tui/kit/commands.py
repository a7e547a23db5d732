"""The palette's commands, found by what they do as well as by what they are called."""

from __future__ import annotations

from textual.command import Hit, Hits
from textual.system_commands import SystemCommandsProvider

_LEAST = 0.01
"""The score of what its sentence alone says: it stands behind all that are called so."""


class SaidCommands(SystemCommandsProvider):
    """Commands whose titles match come first, then those whose titles and sentences have every word typed."""

    async def search(self, query: str) -> Hits:
        """Handle a request to search for commands that match the query."""
        matcher, words = self.matcher(query), query.casefold().split()
        for title, about, run, *_ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), run, help=about)
            elif all(word in f"{title} {about}".casefold() for word in words):
                yield Hit(_LEAST, title, run, help=about)
