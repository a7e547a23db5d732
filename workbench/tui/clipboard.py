"""Copying a text: through a program that says whether it worked, else through the terminal, which does not say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

_PATIENCE_S = 5.0

_Command = tuple[str, ...]


def copy(text: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Give a text to a program that keeps it; may take a moment.

    Args:
        environment: The process's own by default.

    Returns:
        Where the text is now, for people; None where no program took it.
    """
    for words, command in _programs(os.environ if environment is None else environment):
        if shutil.which(command[0]) and _run(command, text):
            return words
    return None


def _programs(environment: Mapping[str, str]) -> Iterator[tuple[str, _Command]]:
    """What may take it; over ssh only tmux, for any other program's clipboard is the far machine's."""
    if environment.get("TMUX"):
        # tmux hands it on to the terminal outside, which does not say whether it took it.
        yield "tmux's buffer (paste with prefix ])", ("tmux", "load-buffer", "-w", "-")
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return
    if sys.platform == "darwin":
        yield "the clipboard", ("pbcopy",)
    if environment.get("WAYLAND_DISPLAY"):
        yield "the clipboard", ("wl-copy",)
    if environment.get("DISPLAY"):
        yield "the clipboard", ("xclip", "-selection", "clipboard")
        yield "the clipboard", ("xsel", "--clipboard", "--input")
    if sys.platform == "win32" or environment.get("WSL_DISTRO_NAME"):
        yield "the clipboard", ("clip.exe",)


def _run(command: _Command, text: str) -> bool:
    encoding = "utf-16" if command[0] == "clip.exe" else "utf-8"
    try:
        # Some of them stay behind to serve the text: they must not hold on to a pipe that is read to its end.
        done = subprocess.run(
            command,
            input=text.encode(encoding),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
