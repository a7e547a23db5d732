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
    from workbench.core.verdict import Verdict
    from workbench.training.batches import Judge
    from workbench.training.judging import Reference
    from workbench.training.pay import Forgeable, Pay, Timeouts
    from workbench.training.reward import Reward

__version__ = "0.1.0"
__all__ = ["Judge", "judge", "open_project", "reward"]


def __getattr__(name: str) -> type[Judge]:
    if name != "Judge":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from workbench.training.batches import Judge

    return Judge


def open_project(path: Path | str) -> Project:
    """Open a database for a notebook or a script; see `workbench.app.api.Project`.

    Raises:
        StoreError: There is none, or it can't be read.
        UsageError: Only `verifier-workbench-core` is installed.
    """
    from workbench.core.installed import require_app

    require_app("Frames for notebooks")
    from workbench.app import api

    return api.open_project(path)


def judge(reference: Reference, completion: str, question: str = "", type: str | None = None) -> Verdict:
    """What `rules` says of a completion.

    ``verdict.outcome`` equals "correct", "incorrect", "abstain" or "error"; ``reference_final`` and
    ``candidate_final`` are the answers it compared, ``reason`` and ``rule`` what decided. Nothing in a text can make it
    hang or crash: what only algebra can tell is compared in worker processes, which start with the first such call.

    Args:
        reference: The reference answer, or several: any will do. The verdict is of the one that decides: the first
            that is correct, else the first that `rules` abstains on, else the first.
        completion: What is judged, whole.
        question: Says what form the answer must have, and what letters of options stand for.
        type: The answer's subtype, if it is known: ``"B5"``, ``"Matrix"``.

    Raises:
        UsageError: A value is no text, there is no reference, or no such subtype.
        VerifierError: The workers can't start.
    """
    from workbench.training import judging

    return judging.judge(reference, completion, question, type)


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
    audit: Path | str | None = None,
    share: float = 0.01,
    seed: int = 0,
    training: str = "training",
    journal: Path | str | None = None,
    deadline: float | None = None,
    pay: Pay = "all",
    forgeable: Forgeable = "pays",
    timeouts: Timeouts = "wrong",
) -> Reward:
    """A verifier as a reward function for TRL, verl and OpenRLHF; see `workbench.training.reward.Reward`.

    Raises:
        UsageError: There is no such verifier or option, or it asks model servers and there is no place for its calls.
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
        audit=audit,
        share=share,
        seed=seed,
        training=training,
        journal=journal,
        deadline=deadline,
        pay=pay,
        forgeable=forgeable,
        timeouts=timeouts,
    )
