"""Annotate verifier data and measure verifiers, in the terminal.

One folder for each job, described in its ``__init__``. Each imports only those before it: core; tables, statistics,
llm; config; verifiers, data; runs; labelling; measuring; benchmarks, coding; training; interchange; care; app.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.app.api import Project
    from workbench.core.verdict import Verdict
    from workbench.training.batches import Judge
    from workbench.training.judging import Reference
    from workbench.training.reward import Reward as reward

__version__ = "0.1.0"
__all__ = ["Judge", "judge", "open_project", "reward"]


def __getattr__(name: str) -> type[Judge | reward]:
    """Import the classes when they are used."""
    if name == "Judge":
        from workbench.training.batches import Judge

        return Judge
    if name == "reward":
        from workbench.training.reward import Reward

        return Reward
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open_project(path: Path | str) -> Project:
    """Open a database for a notebook or a script; see `workbench.app.api.Project`.

    Raises:
        StoreError: The database doesn't exist, or can't be read.
        UsageError: Only `verifier-workbench-core` is installed.
    """
    from workbench.core.installed import require_app

    require_app("Frames for notebooks")
    from workbench.app import api

    return api.open_project(path)


def judge(reference: Reference, completion: str, question: str = "", type: str | None = None) -> Verdict:
    """Judge a completion with the verifier `rules`.

    ``verdict.outcome`` equals "correct", "incorrect", "abstain" or "error"; ``reference_final`` and ``candidate_final``
    are the compared answers, ``reason`` and ``rule`` say what decided. No text can make it hang or crash: comparisons
    that need algebra run in worker processes, which start with the first such call.

    Args:
        reference: The reference answer, or several alternatives. The verdict is that of the first reference with
            "correct", else of the first with "abstain", else of the first one.
        completion: The whole completion to judge.
        question: The question; it determines the required form of the answer, and the meaning of option letters.
        type: The answer's subtype, if known: ``"B5"``, ``"Matrix"``.

    Raises:
        UsageError: A value is not text, there is no reference, or the subtype is unknown.
        VerifierError: The workers can't start.
    """
    from workbench.training import judging

    return judging.judge(reference, completion, question, type)
