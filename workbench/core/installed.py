"""The installation: whether the app is installed or only the core, and where the documentation is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from workbench.core.errors import UsageError

CORE_ALONE: Final = "the whole of workbench; only verifier-workbench-core is installed."
GET_APP: Final = "Run: pip install verifier-workbench"


def has_app() -> bool:
    return find_spec("workbench.app") is not None


def require_app(what: str) -> None:
    """Check that the app is installed for a request that needs it.

    Args:
        what: What needs the app, as the plural subject of the message.

    Raises:
        UsageError: Only the core is installed.
    """
    if not has_app():
        raise UsageError(f"{what} take {CORE_ALONE}", GET_APP)


def find_documentation() -> Path | None:
    package = Path(__file__).resolve().parent.parent
    return next((folder for folder in (package / "docs", package.parent / "docs") if folder.is_dir()), None)


def find_page(name: str) -> str:
    folder = find_documentation()
    return f"docs/{name}.md" if folder is None else str(folder / f"{name}.md")
