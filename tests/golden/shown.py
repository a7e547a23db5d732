"""All that is frozen, in groups: each is made by the program of today."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.golden import commands, printed, screens, served, walks
from tests.golden.scenes import Scenes
from tests.tui.stage import SIZES
from workbench.app.verbs import GROUPS as ROOMS

Pieces = Iterator[tuple[str, str]]

GROUPS: dict[str, Callable[[Scenes], Pieces]] = {
    "help": lambda _: printed.helps(),
    **{f"commands-{room}": partial(commands.shown, room=room) for room in ROOMS},
    "tuples": printed.tuples,
    "code": printed.code,
    "judged": printed.judged,
    "files": printed.files,
    "published": printed.published,
    "schemas": lambda _: printed.documents(),
    "settings": printed.settings,
    "requests": printed.requests,
    "mistakes": printed.mistakes,
    "reward-server": served.answers,
    "actions": lambda _: screens.actions(),
    **{
        f"screens-{size[0]}-{person or 'coordinator'}": partial(screens.shown, size=size, person=person)
        for size in SIZES
        for person in (None, "dana")
    },
    **{f"walks-{name}": partial(walks.shown, name=name) for name in walks.WALKS},
    "walks-dialogs": walks.dialogs,
    "real-rows": printed.real_rows,
    "real-replies": printed.real_replies,
}
"""Group -> what it shows, by name."""

REAL = {"real-rows": printed.REAL, "real-replies": printed.REPLIES}
"""Groups that need data beside the project, and where; of these only digests are kept."""

SLOW = {
    *(part for part in GROUPS if part.startswith(f"screens-{SIZES[-1][0]}-")),
    *("walks-runs", "walks-figures", "walks-sets", "walks-code", "real-rows"),
}
"""Groups that show in another size or in more steps what others show."""
