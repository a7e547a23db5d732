"""What is installed: the whole of workbench, or its core alone."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from workbench.core.errors import UsageError

CORE_ALONE: Final = "the whole of workbench; only verifier-workbench-core is installed."
GET_APP: Final = "Run: pip install verifier-workbench"


def has_app() -> bool:
    """Whether it is the whole."""
    return find_spec("workbench.app") is not None


def require_app(what: str) -> None:
    """Refuse what takes the whole where there is only the core.

    Args:
        what: Begins the sentence: several of something.

    Raises:
        UsageError: There is only the core.
    """
    if not has_app():
        raise UsageError(f"{what} take {CORE_ALONE}", GET_APP)
