"""Try a verifier on a few items: they are judged as in any run, shown, and deleted again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from workbench.core.database.selection import chosen_ids
from workbench.core.files import take_lock
from workbench.core.project import Project
from workbench.core.run import ACTIVE, VerdictEvidence
from workbench.core.selection import Condition, Selection
from workbench.llm.records import RESUME
from workbench.runs.lease import trial_lock_path
from workbench.runs.run_status import delete, run_info_without_counts, wait
from workbench.runs.store import runs as stored_runs
from workbench.runs.transcripts import transcript
from workbench.runs.verdict_files import verdict_evidence
from workbench.runs.verifying import cancel, start, wait_for_request

TRIED: Final = 5
"""Number of items that a verifier is tried on."""

_AGAIN: Final = "try again"


class VerifierTrial(Struct, frozen=True, kw_only=True):
    """The result of a trial.

    Attributes:
        evidence: Verdicts with their evidence.
        replies: A model server's last reply about each item, by the item's row id.
        message: Why the trial stopped early, if it did.
    """

    evidence: tuple[VerdictEvidence, ...]
    replies: dict[int, str]
    message: str | None


def try_out(
    project: Project,
    kind: str,
    options: Mapping[str, str],
    selection: Selection,
    *,
    trust: bool = False,
    allow_unsafe: bool = False,
) -> VerifierTrial:
    """Judge the first items of a selection; if some have a gold label, only those, to check the verdicts.

    The trial is deleted afterwards; only replies of model servers are kept and reused.

    Raises:
        UsageError, NotTrustedError, VerifierError, RunError: As when a run is started.
    """
    name, few = stored_runs.trial_name(), _labelled_if_any(project, selection)
    lock = take_lock(trial_lock_path(project.path, name))
    assert lock is not None
    with lock:
        run = start(project, kind, dict(options), name, few, 1, trust, allow_unsafe).run
        try:
            ended = wait(project, run)
            found = tuple(verdict_evidence(project, name, run))[:TRIED]
            return VerifierTrial(
                evidence=found, replies=_last_replies(project, run, found), message=_trial_message(ended.message)
            )
        finally:
            if run_info_without_counts(project, run).state in ACTIVE:
                cancel(project, run)
                wait_for_request(project, run)
            delete(project, run)


def _trial_message(message: str | None) -> str | None:
    if message is None:
        return None
    return message.replace(RESUME, _AGAIN).replace(RESUME.capitalize(), _AGAIN.capitalize())


def _labelled_if_any(project: Project, selection: Selection) -> Selection:
    known = Selection((*selection.conditions, Condition("gold", "!=", "none")), TRIED)
    return known if chosen_ids(project.database.reader(), known) else Selection(selection.conditions, TRIED)


def _last_replies(project: Project, run: int, found: Iterable[VerdictEvidence]) -> dict[int, str]:
    calls = {one.item: transcript(project, run, one.item).calls for one in found}
    return {item: asked[-1].text for item, asked in calls.items() if asked}
