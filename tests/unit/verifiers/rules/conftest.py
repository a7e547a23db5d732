"""Workers for the second stage of `rules`, started once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench.verifiers.pool import WorkerPool


@pytest.fixture(scope="package")
def rules_pool() -> Iterator[WorkerPool]:
    """Two workers for `rules`, as a run has them: killed and replaced at the deadline of one second."""
    with WorkerPool(("rules", {}), 2) as pool:
        yield pool
