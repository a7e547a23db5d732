"""The commands' entry point, outside the package `workbench`: another distribution may have replaced that package."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Run the command line, unless the installed package `workbench` is another project's."""
    spec = find_spec("workbench")
    origin = Path(spec.origin) if spec is not None and spec.origin else None
    if origin is None or "verifier-workbench" not in origin.read_text(encoding="utf-8", errors="replace"):
        sys.exit(
            f"The package `workbench` in {origin.parent if origin else sys.prefix} is not verifier-workbench: another "
            "distribution named `workbench` has replaced it.\n"
            "  Install verifier-workbench in an environment of its own: pipx install verifier-workbench"
        )
    from workbench.app.cli import main as run

    run()
