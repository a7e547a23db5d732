"""What ``doctor`` finds."""

from __future__ import annotations

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True):
    """One check: ``ok``, or what is wrong."""

    name: str
    ok: bool
    message: str
