"""Port numbers that are known before a server listens on them."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress

_BELOW = range(20_000, 32_000)
"""The system never assigns these to a socket that does not ask for a port: servers on port 0, connections."""


def free_ports(count: int) -> list[int]:
    """Return ports that are free at the moment."""
    chance = random.SystemRandom()
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            with suppress(OSError):
                place = socket.create_server(("127.0.0.1", chance.choice(_BELOW)))
                found.append(held.enter_context(place).getsockname()[1])
        return found
