"""Ports that a test names before somebody listens there."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress

_BELOW = range(20_000, 32_000)
"""Of these no system gives one to whoever doesn't ask for it by number: servers on port 0, connections."""


def free_ports(count: int) -> list[int]:
    """Ports that nobody has at the moment."""
    chance = random.SystemRandom()
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            with suppress(OSError):
                place = socket.create_server(("127.0.0.1", chance.choice(_BELOW)))
                found.append(held.enter_context(place).getsockname()[1])
        return found
