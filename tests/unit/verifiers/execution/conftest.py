"""Pools of sandboxes, one per level that this machine supports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from workbench.core.code import CodeTest, Execution, Level, Program
from workbench.core.errors import VerifierError
from workbench.verifiers.execution.pool import SandboxPool


@cache
def missing(level: Level) -> str:
    """Why a level can't be used here; empty if it can."""
    try:
        with SandboxPool(level, 1) as pool:
            one(pool, Program(source="", tests=(CodeTest(form="statement", source="pass"),)))
    except VerifierError as error:
        return str(error)
    return ""


def one(pool: SandboxPool, program: Program) -> Execution:
    """Run a single program and return its execution."""
    ((_, execution),) = pool.run([(0, program)])
    return execution


@pytest.fixture(scope="session", params=["L1", pytest.param("L2", marks=pytest.mark.soak), "L3"])
def level(request: pytest.FixtureRequest) -> Level:
    """Each level in turn; what holds at the first and the last holds between them."""
    wanted: Level = request.param
    if why := missing(wanted):
        pytest.skip(f"level {wanted} can't be used here: {why}")
    return wanted


@pytest.fixture(scope="session")
def pool(level: Level) -> Iterator[SandboxPool]:
    """A pool of one worker at a level, for all tests that do it no harm."""
    with SandboxPool(level, 1) as made:
        yield made
