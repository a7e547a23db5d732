"""The sandbox, for services that execute code in the process that calls them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.core.project import Project
from workbench.runs.trust import require_level

if TYPE_CHECKING:
    from workbench.verifiers.execution.pool import SandboxPool


@contextmanager
def opened_sandbox(
    project: Project, *, workers: int | None = None, allow_unsafe: bool = False
) -> Iterator[SandboxPool]:
    """A sandbox at the highest level that holds on this machine; nothing of it lives afterwards.

    Args:
        workers: How many solutions run at a time; one a core by default.
        allow_unsafe: The user agrees to limits alone.

    Raises:
        UnsafeError: There would be limits alone, and the user has not agreed to that.
    """
    # The sandbox is for those alone that need one.
    from workbench.verifiers.execution.pool import SandboxPool

    level = require_level(project, "best", allow_unsafe=allow_unsafe)
    with SandboxPool(level, workers or os.cpu_count() or 1) as pool:
        yield pool
