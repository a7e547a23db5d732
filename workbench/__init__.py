"""Annotate verifier data and measure verifiers, in the terminal.

One folder a job, and each says in its ``__init__`` what lives where. Each imports only those before it:
core; tables, statistics, llm; config; verifiers, data; runs; labelling; measuring; benchmarks, coding; training;
interchange; care; app.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from workbench.app.api import Project
    from workbench.training.reward import Reward

__version__ = "0.1.0"
__all__ = ["open_project", "reward"]


def open_project(path: Path | str) -> Project:
    """Open a database for a notebook or a script; see `workbench.app.api.Project`.

    Raises:
        StoreError: There is none, or it can't be read.
    """
    from workbench.app import api

    return api.open_project(path)


def reward(
    verifier: str = "rules",
    *,
    options: Mapping[str, str] | None = None,
    database: Path | str | None = None,
    undecided: float | None = None,
    own_score: bool = False,
    reference: str | None = None,
    workers: int | None = None,
    timeout: float | None = None,
) -> Reward:
    """A verifier as a reward function for TRL, verl and OpenRLHF; see `workbench.training.reward.Reward`.

    Raises:
        UsageError: There is no such verifier or option, or it asks a model server or runs programs.
        NotTrustedError: The database's settings were not accepted yet.
        VerifierError: It can't be used.
    """
    from workbench.training.reward import Reward

    return Reward(
        verifier,
        options=options,
        database=database,
        undecided=undecided,
        own_score=own_score,
        reference=reference,
        workers=workers,
        timeout=timeout,
    )
