"""Merges runs: imports verdicts of other machines on the same items, with their evidence.

A verdict is accepted if the verifier is the same here (kind, settings, templates, version), and so is the item (names,
texts, and for code its tests). An item's rows are merged in one transaction, together with those of some hundred other
items; a killed merge can be started again, and nothing is merged twice. Existing verdicts are kept: a differing
verdict is reported.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from workbench.core import project as transactions
from workbench.core.database.changes import note_verdicts
from workbench.core.database.looking import opened_untrusted
from workbench.core.errors import StoreError, WorkbenchError
from workbench.core.project import Project
from workbench.core.run import GENERATION, IMPORTED, RunUsage
from workbench.core.selection import Selection
from workbench.interchange.records import MergedRun, MergedRuns
from workbench.interchange.store import foreign
from workbench.interchange.store.foreign import (
    Connection,
    ForeignItem,
    ForeignRun,
    ForeignVerdict,
    VerdictReader,
)
from workbench.labelling.store import foreign as places
from workbench.llm.records import Usage
from workbench.runs.configuring import settings_difference
from workbench.runs.journal import add_item, add_outcome, add_reply
from workbench.runs.store import calls, verdicts
from workbench.runs.store import runs as stored_runs
from workbench.runs.store.calls import AttemptOutcome, MadeCall
from workbench.runs.verifying import require_idle


def merge_runs(project: Project, others: Sequence[Path]) -> list[MergedRuns]:
    """Merge the verdicts of other databases on the items here; those files are not changed.

    Raises:
        RunError: A run to be extended is active here; verdicts merged so far are kept.
        StoreError: The only file is not a workbench database of this version, is damaged, or is this one.
    """
    reports = []
    for other in others:
        try:
            reports.append(_merge(project, other))
        except StoreError as error:
            if len(others) == 1:
                raise
            reports.append(MergedRuns(file=str(other), not_read=str(error)))
    return reports


def _merge(project: Project, other: Path) -> MergedRuns:
    project.database.require_other(other)
    report = MergedRuns(file=str(other))
    skipped = Counter[str]()
    with opened_untrusted(other, foreign.TABLES) as theirs:
        try:
            found = foreign.runs(theirs)
        except foreign.MalformedRow as error:
            raise StoreError(f"{other}: {error}.", "Ask for another.") from error
        for run in found:
            if run.verifier.kind in (GENERATION, IMPORTED):
                skipped[run.verifier.kind] += 1
            elif not stored_runs.is_trial(run.verifier.name):
                report.runs.append(_RunMerge(project, theirs, run, report).take())
    report.skipped = dict(skipped)
    return report


class _VerdictContent(NamedTuple):
    outcome: int
    score: float | None
    reason: str | None
    outcomes: dict[str, str]


class _RunMerge:
    def __init__(self, project: Project, theirs: Connection, run: ForeignRun, report: MergedRuns) -> None:
        self._project, self._theirs, self._run, self._report = project, theirs, run, report
        suites = run.verifier.config.get("suites")
        self._suites = [suite for suite in suites if isinstance(suite, str)] if isinstance(suites, list) else []
        shard = run.selection.shard
        self._merged = MergedRun(
            verifier=run.verifier.name, version=run.version, shard=None if shard is None else str(shard)
        )

    def take(self) -> MergedRun:
        merged, run = self._merged, self._run
        with self._project.database.write() as connection:
            merged.refused = self._rejection_reason(connection)
            if merged.refused:
                return merged
            merged.run, is_new = self._find_or_add_run(connection)
        ours = self._project.database.reader()
        reader, after, parts = VerdictReader(self._theirs, run.id, ours), 0, transactions.Parts("verdicts")
        while some := foreign.items(self._theirs, run.id, after, transactions.ROWS):
            after = some[-1].id
            found = list(reader.read(some))
            with parts.storing(len(found)), self._project.database.write() as connection:
                self._store_verdicts(connection, merged.run, found)
        with self._project.database.write() as connection:
            self._set_run_state(connection, merged.run, is_new=is_new)
        return merged

    def _rejection_reason(self, connection: Connection) -> str:
        verifier = self._run.verifier
        bound = stored_runs.verifier_named(connection, verifier.name)
        if bound is None:
            return ""
        if bound.kind != verifier.kind:
            return f"{bound.name} is {bound.kind} here, and {verifier.kind} there"
        if bound.config_hash != verifier.config_hash:
            return f"{bound.name} has other settings here: {settings_difference(bound.config, verifier.config)}"
        here = [run.version for run in stored_runs.every(connection) if run.verifier.id == bound.id]
        if here and self._run.version not in here:
            return f"its version is {self._run.version} there, and {', '.join(here)} here"
        return ""

    def _find_or_add_run(self, connection: Connection) -> tuple[int, bool]:
        verifier = self._run.verifier
        bound = stored_runs.verifier_named(connection, verifier.name)
        number = (
            bound.id
            if bound
            else stored_runs.add_verifier(
                connection,
                name=verifier.name,
                kind=verifier.kind,
                options=verifier.options,
                config=verifier.config,
                config_hash=verifier.config_hash,
            )
        )
        found = stored_runs.find(connection, number, self._run.version)
        if found is not None:
            require_idle(self._project.path, found)
        run = found.id if found else stored_runs.add(connection, number, self._run.version)
        for provenance in self._run.provenance:
            stored_runs.note(connection, run, provenance)
        return run, found is None

    def _store_verdicts(
        self, connection: Connection, run: int, found: Sequence[tuple[ForeignItem, ForeignVerdict | str]]
    ) -> None:
        row = stored_runs.get(connection, run)
        if row is None:
            raise StoreError(f"Run {run} has been deleted.", "Merge again.")
        require_idle(self._project.path, row)
        mine = {one.id: self._find_item(connection, one) for one, _ in found}
        here = _verdicts_here(connection, run, [item for item in mine.values() if isinstance(item, int)])
        taken, usage = [], calls.get(connection, run) or RunUsage()
        for one, said in found:
            item = mine[one.id]
            if isinstance(item, str) or isinstance(said, str):
                self._count_left_out(one, item if isinstance(item, str) else str(said))
            elif item not in here:
                try:
                    foreign.put_verdict(connection, run, item, said)
                except foreign.MalformedRow as error:
                    self._count_left_out(one, str(error))
                else:
                    taken.append(item)
                    _add_usage(usage, said)
            elif here[item] == _verdict_content(said):
                self._merged.unchanged += 1
            else:
                self._merged.conflicting += 1
                self._report.add_left_out(self._merged.verifier, one.name, "it has another verdict here, which stays")
        note_verdicts(connection, run, taken)
        if usage != RunUsage():
            calls.put(connection, run, usage)
        self._merged.taken += len(taken)

    def _find_item(self, connection: Connection, one: ForeignItem) -> int | str:
        item = places.find(connection, one.name)
        if item is None:
            return "no such item is here"
        if places.texts(connection, "correctness", item) != places.texts(self._theirs, "correctness", one.id):
            return "the item has other texts here"
        if self._suites:
            ours = foreign.execution_inputs(connection, item, self._suites)
            if ours != foreign.execution_inputs(self._theirs, one.id, self._suites):
                return f"its problem has other tests here (suite {', '.join(self._suites)})"
        return item

    def _count_left_out(self, one: ForeignItem, why: str) -> None:
        self._merged.left_out += 1
        self._report.add_left_out(self._merged.verifier, one.name, why)

    def _set_run_state(self, connection: Connection, number: int, *, is_new: bool) -> None:
        row = stored_runs.get(connection, number)
        assert row is not None
        mine = self._run.selection if is_new else row.selection
        theirs, selection = self._run.selection, mine
        if theirs != mine and theirs.without_shard == mine.without_shard:
            selection = mine.without_shard
        try:
            counts = verdicts.of_selection(connection, number, selection)
        except WorkbenchError:
            # The selection refers to data that is not here.
            selection = Selection() if is_new else row.selection
            counts = verdicts.of_selection(connection, number, selection)
        stored = verdicts.count(connection, number)
        lacking = counts.items - counts.stored
        merged = self._merged
        merged.judged, merged.items, merged.selection = counts.stored, counts.items, str(selection)
        if row.selection == selection and not is_new and (lacking or row.state == "complete"):
            stored_runs.expect(connection, number, stored if row.state == "complete" else stored + lacking)
            return
        workers = (os.cpu_count() or 1) if is_new else row.workers
        stored_runs.queue(connection, number, selection, stored + lacking, workers)
        if lacking:
            words = f"{lacking:,} of {counts.items:,} items have no verdict yet: merge the other shares, or resume it."
            stored_runs.end_run(connection, number, "paused", words)
        else:
            stored_runs.complete(connection, number, stored)


def _verdicts_here(connection: Connection, run: int, items: list[int]) -> dict[int, _VerdictContent]:
    outcomes = verdicts.letters(connection, run, items)
    return {
        item: _VerdictContent(found.outcome.code, found.score, found.reason, outcomes.get(item, {}))
        for item, found in verdicts.verdicts_of(connection, run, items).items()
    }


def _verdict_content(found: ForeignVerdict) -> _VerdictContent:
    verdict = next(row for row in found.rows["verdicts"] if row["sample"] == 0)
    outcomes = {row["suite"]: row["outcomes"] for row in found.rows["test_results"]}
    return _VerdictContent(verdict["outcome"], verdict["score"], verdict["reason"], outcomes)


def _add_usage(usage: RunUsage, found: ForeignVerdict) -> None:
    add_item(usage, [MadeCall(call["key"], call["step"], call["role"], bool(call["reused"])) for call in found.calls])
    for attempt in found.attempts:
        usage.calls += 1
        if attempt["state"] != "sent":
            add_outcome(usage, AttemptOutcome(0, attempt["state"], attempt["status"], attempt["code"]))
        if attempt["reply"] is not None:
            add_reply(usage, msgspec.convert(attempt, Usage))


def report_lines(report: MergedRuns) -> Iterator[str]:
    if report.not_read:
        yield f"{report.file}: nothing was imported: {report.not_read}"
        return
    for run in report.runs:
        name = f"{report.file}: {run.verifier} {run.version}" + (f", shard {run.shard}" if run.shard else "")
        if run.refused:
            yield f"{name}: nothing was imported: {run.refused}"
            continue
        yield (
            f"{name}: {run.taken:,} verdicts imported, {run.unchanged:,} already here, {run.conflicting:,} "
            f"conflicting, "
            f"{run.left_out:,} left out"
        )
        yield f"  run {run.run} now has verdicts on {run.judged:,} of {run.items:,} items ({run.selection})"
    if not report.runs:
        yield f"{report.file}: the file contains no runs"
    for why, number in sorted(report.reasons.items()):
        yield f"  {number:,} × {why}"
    words = {GENERATION: "of texts that models wrote", IMPORTED: "of imported verdicts (import their files here, too)"}
    for kind, number in sorted(report.skipped.items()):
        yield f"  not shared: {number:,} × a run {words[kind]}"
