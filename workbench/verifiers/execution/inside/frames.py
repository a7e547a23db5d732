"""A child's reports on its tests: frames of a test's number, an outcome, the time it took and a text."""

from __future__ import annotations

import struct

HEAD = struct.Struct("=IcII")
"""Number of the test, letter, microseconds, and length of the following text in bytes."""

START = 0xFFFFFFFF
"""The number of the program itself, before any test."""

VALUE = b"v"
"""The letter of a frame whose text is a value to be compared; ``p``, ``f``, ``e`` and ``s`` are outcomes."""

REDUCED = b"w"
"""The letter for a value that isn't plain although only a plain one can be compared."""

LONGEST_EVIDENCE = 8192
"""Maximum bytes of the text with an outcome: error, message and line as JSON."""
