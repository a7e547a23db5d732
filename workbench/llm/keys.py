"""Read API keys from an environment variable, a file or a user's program; they are never stored."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from workbench.llm.profiles import Profile
from workbench.llm.records import RESUME, Halt
from workbench.llm.server import ModelServer
from workbench.llm.waits import Clock

_CACHE_S: Final = 300.0
"""Seconds until a file is read or a program is run again: its key may expire after an hour."""
_COMMAND_TIMEOUT_S: Final = 60.0
_LONGEST: Final = 64 * 1024


class KeySource:
    def __init__(self, server: ModelServer, profile: Profile, clock: Clock) -> None:
        self._server = server
        self._required = profile.key_required
        self.variable = None if server.key_file or server.key_command else server.key_variable or profile.key_variable
        self._clock = clock
        self._held: str | None = None
        self._until = clock.now()
        self._turn = asyncio.Lock()

    @property
    def place(self) -> str | None:
        """Describe where the key is; None for a server without key."""
        if self._server.key_file is not None:
            return f"the file {self._server.key_file}"
        if self._server.key_command:
            return f"the command {shlex.join(self._server.key_command)}"
        return self.variable

    async def key(self, title: str, environment: Mapping[str, str]) -> str | None:
        """Return the key, or None for a server without key.

        Args:
            title: The server's title in messages.

        Raises:
            Halt: The key is missing, or can't be sent.
        """
        if self.variable is None and self.place is not None:
            return await self._command_key(title)
        key = environment.get(self.variable, "").strip() if self.variable else ""
        if not key and (self._server.key_variable or self._required):
            where = f"in the environment variable {self.variable}"
            raise Halt("auth", f"{title} requires a key {where}, which is not set. Set it and {RESUME}.")
        return self._require_sendable(key) if key else None

    async def _command_key(self, title: str) -> str:
        async with self._turn:
            if self._held is None or self._clock.now() >= self._until:
                try:
                    key = await asyncio.to_thread(self._read_key)
                except (OSError, ValueError, subprocess.SubprocessError) as error:
                    why = "it took too long" if isinstance(error, subprocess.TimeoutExpired) else str(error)
                    raise Halt(
                        "auth", f"{title} requires the key from {self.place}, but {why}. Fix this and {RESUME}."
                    ) from None
                self._held = self._require_sendable(key)
                self._until = self._clock.now() + _CACHE_S
            return self._held

    def _read_key(self) -> str:
        """Return the first line of the file, or of the program's output.

        Raises:
            OSError: The file or program doesn't exist, or can't be read or started.
            ValueError: The file or program gives no key.
            SubprocessError: The program took too long.
        """
        if self._server.key_file is not None:
            with Path(self._server.key_file).expanduser().open("rb") as stream:
                data = stream.read(_LONGEST)
        else:
            data = _program_output(self._server.key_command)
        key = data.decode("utf-8", "replace").strip().partition("\n")[0].strip()
        if not key:
            raise ValueError("it holds no key")
        return key

    def _require_sendable(self, key: str) -> str:
        if not (key.isascii() and key.isprintable()):
            raise Halt("auth", f"The key in {self.place} contains characters that can't be sent. Set it again.")
        return key


def _program_output(command: tuple[str, ...]) -> bytes:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_COMMAND_TIMEOUT_S,
        check=False,
        env=dict(os.environ),
    )
    if done.returncode:
        raise ValueError(f"it ended with {done.returncode}")
    return done.stdout[:_LONGEST]
