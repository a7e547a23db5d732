"""Everything a report says, counted by what every other table is counted by."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

from workbench.core.errors import UsageError
from workbench.core.progress import step, stepping
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.data.formats.writing import new_file
from workbench.labelling.agreement.measuring import agreement
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import columns
from workbench.measuring.family import family
from workbench.measuring.judged import BASELINE, JudgedSelection, VerifierRun, judged, judges_of
from workbench.measuring.report.card import GoldItems, data_card
from workbench.measuring.report.contents import ConfusionCounts, Contents, RunFacts, Software
from workbench.measuring.report.page import report_document
from workbench.measuring.report.scoring import errors_of, scores_of
from workbench.measuring.store import overview
from workbench.measuring.validity import validity
from workbench.runs.store import runs
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.comparison import FamilyReport
from workbench.statistics.records.report import AccuracyReport
from workbench.tables.document import Document
from workbench.tables.html import html
from workbench.tables.markdown import markdown

BREAKDOWNS = ("type", "subtype", "domain", "source", "model", "length", "dataset")
"""What accuracy is broken down by, where there is more than one group of it."""
_DISTRIBUTION = "verifier-workbench"
_IDENTITY = ("strategy", "template", "template_sha256", "parser", "model", "samples", "reference", "threshold", "of")


def gather(
    project: Project,
    *,
    verifiers: Sequence[str] = (),
    selection: Selection | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    examples: int = 3,
    generated_at: str,
) -> Contents:
    """Count everything.

    Args:
        verifiers: Names; empty for all that have a complete run and judge completions.
        examples: Examples at most of each kind of error of each verifier.
        generated_at: When, for the reader.

    Raises:
        UsageError: An unknown verifier, or the selection names something unknown.
    """
    wanted = selection or Selection()
    asked = _ReportQuery(project, wanted, protocol, gold)
    everything = columns(project)
    judges = judges_of(project, tuple(verifiers))
    everyone = asked.accuracy(tuple(judge.name for judge in judges) or (BASELINE,))
    names = deciding(judges, everyone)
    found = judged(project, names, gold=gold, selection=wanted) if names else None
    configured = {known.name: known for known in runs.verifiers(project.database.reader())}
    part = GoldItems.of(everything, gold, everything.chosen(wanted))
    texts = overview.text_hashes(project.database.reader())
    scores = [scores_of(everything, part, judge, configured.get(judge.name), everyone) for judge in judges]
    breakdowns = stepping(BREAKDOWNS, "breaking down", "ways")
    return Contents(
        database=project.path.name,
        selection=str(wanted),
        protocol=protocol,
        gold_choice=gold,
        generated_at=generated_at,
        card=data_card(project, wanted, gold, texts=texts),
        overall=asked.accuracy(names or (BASELINE,)),
        by={by: report for by in breakdowns if _varies(report := asked.accuracy(names, by))} if names else {},
        confusions=asked.confusions(names),
        family=asked.family(names),
        scores=[one for one in scores if one is not None],
        validity=validity(project, names, gold=gold, selection=wanted) if names else None,
        agreement=_agreement(project),
        errors=errors_of(project, found, examples) if found is not None and examples else [],
        examples=examples,
        runs=[run_facts(project, judge.run) for judge in judges if judge.run is not None],
        software=software(project, found, texts),
    )


class _ReportQuery:
    """The items and the conventions of all figures."""

    def __init__(self, project: Project, selection: Selection, protocol: Protocol3, gold: GoldChoice) -> None:
        self._project, self._selection = project, selection
        self._protocol, self._gold = protocol, gold

    def accuracy(
        self, names: tuple[str, ...], by: str | None = None, protocol: Protocol3 | None = None
    ) -> AccuracyReport:
        """The accuracy table of these verifiers and the baselines."""
        return accuracy(
            self._project,
            verifiers=names,
            by=by,
            protocol=protocol or self._protocol,
            gold=self._gold,
            selection=self._selection,
        )

    def confusions(self, names: tuple[str, ...]) -> list[ConfusionCounts]:
        """What each verifier said of either class: its decided verdicts, and the rest of the class."""
        if not names:
            return []
        decided = {row.verifier: row for row in self.accuracy(names, protocol="decided").rows}
        forced = {row.verifier: row for row in self.accuracy(names, protocol="forced").rows}
        found = []
        for name in names:
            row, whole = decided[name], forced[name]
            correct, incorrect = whole.tp + whole.fn, whole.fp + whole.tn
            found.append(
                ConfusionCounts(
                    verifier=name,
                    of_correct=(row.tp, row.fn, correct - row.tp - row.fn),
                    of_incorrect=(row.fp, row.tn, incorrect - row.fp - row.tn),
                )
            )
        return found

    def family(self, names: tuple[str, ...]) -> FamilyReport | None:
        """The verifiers against each other."""
        try:
            return family(self._project, names, protocol=self._protocol, gold=self._gold, selection=self._selection)
        except UsageError:
            return None


def deciding(judges: Sequence[VerifierRun], everyone: AccuracyReport) -> tuple[str, ...]:
    """The verifiers that decide at least one item; baselines are in every table anyhow."""
    decided = {row.verifier for row in everyone.rows if row.coverage}
    return tuple(judge.name for judge in judges if judge.name in decided and judge.name != BASELINE)


def _varies(report: AccuracyReport) -> bool:
    return len({row.group for row in report.rows if row.group not in (None, "")}) > 1


def _agreement(project: Project) -> AgreementReport | None:
    found = agreement(project, by="type")
    return found.with_intervals() if found.report.paired else None


def run_facts(project: Project, run: int) -> RunFacts:
    """A run and what identifies its verifier.

    Raises:
        UsageError: It is not there any more.
    """
    row = runs.get(project.database.reader(), run)
    if row is None:
        raise UsageError(f"Run {run} is gone.", "Make the report again.")
    config = row.verifier.config
    return RunFacts(
        verifier=row.verifier.name,
        kind=row.verifier.kind,
        run=row.id,
        version=row.version,
        config_hash=row.verifier.config_hash,
        items=row.items,
        completed_at=row.completed_at or "",
        identity={key: str(config[key]) for key in _IDENTITY if config.get(key) not in (None, "")},
    )


def software(project: Project, found: JudgedSelection | None, texts: overview.TextHashes | None = None) -> Software:
    """What figures are made with, and a hash of what they are counted from."""
    reader = project.database.reader()
    return Software(
        workbench=version(_DISTRIBUTION),
        python=platform.python_version(),
        numpy=version("numpy"),
        scipy=version("scipy"),
        schema=overview.schema_version(reader),
        content_hash=_content_hash(overview.texts_digest(reader, texts or overview.text_hashes(reader)), found),
    )


def _content_hash(texts: bytes, found: JudgedSelection | None) -> str:
    digest = blake2b(texts, digest_size=16)
    if found is not None:
        digest.update(found.item.tobytes() + found.gold.tobytes())
        for judge, outcome in zip(found.judges, found.outcomes, strict=True):
            digest.update(judge.name.encode() + b"\0" + outcome.tobytes())
    return digest.hexdigest()


# -- The report as a file.


ReportFormat = Literal["html", "markdown"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
_WRITERS: dict[ReportFormat, Callable[[Document], str]] = {"html": html, "markdown": markdown}


def write_report(
    project: Project,
    path: Path,
    *,
    format: ReportFormat = "html",
    verifiers: Sequence[str] = (),
    selection: Selection | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    examples: int = 3,
    generated_at: str,
    force: bool = False,
) -> int:
    """Write the report to a file, which appears whole or not at all; its size in bytes.

    Two reports of the same database differ in nothing but ``generated_at``.

    Args:
        verifiers: Names; empty for all that have a complete run and judge completions.
        examples: Examples at most of each kind of error of each verifier.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: An unknown verifier, or the selection names something unknown.
    """
    project.database.require_other(path)
    with new_file(path, force=force) as file, step("counting"):
        contents = gather(
            project,
            verifiers=verifiers,
            selection=selection,
            protocol=protocol,
            gold=gold,
            examples=examples,
            generated_at=generated_at,
        )
        return file.write(_WRITERS[format](report_document(contents)).encode())
