"""Generates the JSON Schema of every file and report from its record: ``python -m schemas.documents``."""

from __future__ import annotations

import json
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from workbench.benchmarks.records import (
    CompletionsPlanned,
    CompletionsWritten,
    FolderManifest,
    LeaderboardLine,
    Publication,
    SetDetail,
    SetDiff,
    SetLine,
)
from workbench.coding.records.evolution import EvolutionReport, EvolvedLine, Representatives, VectorCase
from workbench.coding.records.figures import (
    HistogramsReport,
    PassReport,
    PoolReport,
    RefinedProblem,
    RefineReport,
    SaturationReport,
    ScaleReport,
)
from workbench.core.code import ProblemLine, SolutionLine, SolutionResult
from workbench.core.label import LabelLine
from workbench.core.run import RunCosts, RunInfo, Transcript, VerdictLine, VerdictRow, VerdictsImported
from workbench.core.sets import SetReport
from workbench.core.status import Status
from workbench.core.taxonomy import TypeSuggestion
from workbench.data.records import DuplicateReport, EmbeddingLine, RemainingProblem
from workbench.interchange.judging_files import JudgedFiles
from workbench.interchange.records import ExportReport, PairLine, Restored, SftLine
from workbench.labelling.checks import CheckInfo, CheckLine, CheckScore
from workbench.measuring.calibrating import CalibrationReport
from workbench.measuring.costs import CostReport
from workbench.measuring.planning import Plan
from workbench.measuring.records.curation import (
    CandidateQuestion,
    DrawReport,
    DuplicatesReport,
    OutQuestion,
    PoolStatus,
    TypesProposed,
    TypesReport,
)
from workbench.measuring.records.documents import PaperTables
from workbench.measuring.records.review import CurrentReview, Disagreement, ErrorCount, ReviewLine
from workbench.measuring.stacking import SimulatedStack
from workbench.measuring.validity import ValidityReport
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.combined import (
    BestOfReport,
    DownstreamLine,
    DownstreamReport,
    EstimateReport,
    TrainedModelLine,
)
from workbench.statistics.records.comparison import CompareReport, FamilyReport, JointErrorReport
from workbench.statistics.records.flips import WhatIfReport
from workbench.statistics.records.probe import (
    AcceptedProbe,
    PairReport,
    PairwiseReport,
    ProbeReport,
    SweepReport,
    ThresholdReport,
)
from workbench.statistics.records.ranking import (
    ProblemCandidates,
    RankingReport,
    RankingSetLine,
    ScoredRow,
    SelectedLine,
)
from workbench.statistics.records.report import AccuracyReport, CorrelationReport
from workbench.training.records import (
    OpenRlhfRequest,
    OpenRlhfRewards,
    RewardAnswer,
    RewardAnswers,
    RewardBatch,
    RewardHealth,
    RewardItem,
    RewardRefusal,
    TrlRequest,
    TrlRewards,
    VerlBatch,
    VerlRequest,
    VerlScore,
    VerlScores,
)

# -- Rows of files from other tools.


class VerifyBenchRow(Struct, kw_only=True):
    """One line of a released VerifyBench file (arXiv 2505.15801).

    In the release the values of the two type fields are swapped: ``answer_type`` has the subtype (``"B5 - Matrix"``),
    ``answer_subtype`` the type (``"B - Expressions"``). Swapped and correct fields are both read. Other keys are kept.
    """

    question_id: Annotated[str, Meta(min_length=1)]
    completion_id: Annotated[str, Meta(min_length=1)]
    question: str
    answer: str
    completion: str
    gold_correct: bool | None = None
    completion_model: str | None = None
    source: str | None = None
    answer_type: str | None = None
    answer_subtype: str | None = None
    annotator: list[str] | None = None


DOCUMENTS: dict[str, tuple[type, str]] = {
    "verifybench-row": (VerifyBenchRow, "One line of a VerifyBench file."),
    "export": (ExportReport, "`workbench export --json`."),
    "sft-line": (SftLine, "One line of `workbench export --format sft`."),
    "pair-line": (PairLine, "One line of `workbench export --format pairs`."),
    "restored": (Restored, "`workbench restore --json`."),
    "label-line": (LabelLine, "One line of a label file."),
    "check-line": (CheckLine, "One line of a file for `workbench checks DB import`."),
    "check": (CheckInfo, "One element of `workbench checks DB list --json`."),
    "check-score": (CheckScore, "One element of `workbench checks DB report --json`."),
    "code-problem-line": (ProblemLine, "One line of a file of code problems."),
    "code-solution-line": (SolutionLine, "One line of a file of solutions of code problems."),
    "verdict-line": (VerdictLine, "One line of `workbench verdicts`."),
    "verdict-row": (VerdictRow, "One line of a file for `workbench verdicts DB import`."),
    "verdicts-imported": (VerdictsImported, "`workbench verdicts DB import --json`."),
    "accuracy": (AccuracyReport, "`workbench accuracy --json`."),
    "compare": (CompareReport, "`workbench compare DB A B --json`."),
    "compare-family": (FamilyReport, "`workbench compare --json` of several verifiers."),
    "compare-errors": (JointErrorReport, "`workbench compare --errors --json`."),
    "what-if": (WhatIfReport, "`workbench what-if --json`."),
    "cost": (CostReport, "`workbench cost --json`."),
    "stack": (SimulatedStack, "`workbench stack --json`."),
    "best-of": (BestOfReport, "`workbench best-of --json`."),
    "downstream-line": (DownstreamLine, "One line of a file for `workbench downstream`."),
    "trained-model-line": (TrainedModelLine, "A line of that file that names a model instead of a score."),
    "downstream": (DownstreamReport, "`workbench downstream --json`."),
    "estimate": (EstimateReport, "`workbench estimate --json`."),
    "disagreement": (Disagreement, "One element of `workbench disagreements --json`."),
    "review": (CurrentReview, "One element of `workbench review DB list --json`."),
    "review-line": (ReviewLine, "One line of a review file, as `workbench review DB export` writes it."),
    "error-count": (ErrorCount, "One element of `workbench review DB errors --json`."),
    "agreement": (AgreementReport, "`workbench agreement --json`."),
    "correlate": (CorrelationReport, "`workbench correlate --json`."),
    "threshold": (ThresholdReport, "`workbench threshold --json`."),
    "validity": (ValidityReport, "`workbench validity --json`."),
    "plan": (Plan, "`workbench plan --json`."),
    "tables": (PaperTables, "`workbench tables --paper --json`."),
    "pairs": (PairReport, "`workbench pairs --json`."),
    "calibrate": (CalibrationReport, "`workbench calibrate --json`."),
    "sweep": (SweepReport, "`workbench sweep --json`."),
    "pairwise": (PairwiseReport, "`workbench pairwise --json`."),
    "probe": (ProbeReport, "`workbench probe --json`."),
    "accepted-probe": (AcceptedProbe, "One line of `workbench probe --accepted --json`."),
    "completions-plan": (CompletionsPlanned, "`workbench complete --dry-run --json`."),
    "completions": (CompletionsWritten, "`workbench complete --json`."),
    "type-suggestion": (TypeSuggestion, "One line of `workbench curate types --list`."),
    "code-result-line": (SolutionResult, "One line of `workbench code results`."),
    "candidates-line": (ProblemCandidates, "One line of a file for `workbench code select --from`."),
    "selected-line": (SelectedLine, "One line of `workbench code select`."),
    "ranking-set-line": (RankingSetLine, "One line of a set that `workbench code select DB --write` writes."),
    "scored-line": (ScoredRow, "One line of a file for `workbench code metrics --from`."),
    "code-metrics": (RankingReport, "`workbench code metrics --json`."),
    "code-scale": (ScaleReport, "`workbench code scale --json`."),
    "code-saturation": (SaturationReport, "`workbench code saturation --json`."),
    "code-passk": (PassReport, "`workbench code passk --json`."),
    "code-histograms": (HistogramsReport, "`workbench code histograms --json`."),
    "vectors-line": (VectorCase, "One line of a file for `workbench code representatives`."),
    "representatives-line": (Representatives, "One line of `workbench code representatives`."),
    "code-evolution": (EvolutionReport, "`workbench code evolve --json`."),
    "evolved-line": (EvolvedLine, "One line of a file that `workbench code evolve --export` writes."),
    "embedding-line": (EmbeddingLine, "One line of a file for `workbench code duplicates --from`."),
    "code-duplicates": (DuplicateReport, "`workbench code duplicates --json`."),
    "kept-line": (RemainingProblem, "One line of a file that `workbench code duplicates --output` writes."),
    "code-pool": (PoolReport, "`workbench code pool --json`."),
    "code-refine": (RefineReport, "`workbench code refine --json`."),
    "refined-line": (RefinedProblem, "One line of a file that `workbench code refine` writes."),
    "publication": (Publication, "`workbench publish --json`."),
    "publication-manifest": (FolderManifest, "`manifest.json` of a published folder."),
    "leaderboard-line": (LeaderboardLine, "One line of a published leaderboard."),
    "set-report": (SetReport, "`workbench build --json`."),
    "set-line": (SetLine, "One element of `workbench sets DB list --json`."),
    "set-detail": (SetDetail, "`workbench sets DB show NAME --json`."),
    "set-diff": (SetDiff, "`workbench sets DB diff A B --json`."),
    "curate-status": (PoolStatus, "`workbench curate DB status --json`."),
    "curate-candidate": (CandidateQuestion, "One element of `workbench curate DB exclude --candidates --json`."),
    "curate-out": (OutQuestion, "One element of `workbench curate DB exclude --list --json`."),
    "curate-duplicates": (DuplicatesReport, "`workbench curate DB duplicates --json`."),
    "curate-proposed": (TypesProposed, "`workbench curate DB types --model NAME --json`."),
    "curate-types": (TypesReport, "`workbench curate DB types --json`."),
    "curate-draw": (DrawReport, "`workbench curate DB draw --json`."),
    "status": (Status, "`workbench status --json`."),
    "transcript": (Transcript, "One element of `workbench verdicts --transcript ID --json`."),
    "run-costs": (RunCosts, "What `workbench runs show N --json` adds to the run."),
    "reward-item": (RewardItem, "A body of `POST /reward`."),
    "reward-batch": (RewardBatch, "A body of `POST /reward`."),
    "reward-answer": (RewardAnswer, "The answer of `POST /reward` on one item."),
    "reward-answers": (RewardAnswers, "The answer of `POST /reward` on a batch."),
    "reward-trl": (TrlRequest, "The body of `POST /trl`."),
    "reward-trl-answer": (TrlRewards, "The answer of `POST /trl`."),
    "reward-verl": (VerlRequest, "A body of `POST /verl`."),
    "reward-verl-batch": (VerlBatch, "A body of `POST /verl`."),
    "reward-verl-answer": (VerlScore, "The answer of `POST /verl` on one completion."),
    "reward-verl-answers": (VerlScores, "The answer of `POST /verl` on a batch."),
    "reward-openrlhf": (OpenRlhfRequest, "The body of `POST /openrlhf`."),
    "reward-openrlhf-answer": (OpenRlhfRewards, "The answer of `POST /openrlhf`."),
    "reward-health": (RewardHealth, "The answer of `GET /health`."),
    "reward-refusal": (RewardRefusal, "The answer of the reward server to a request that is not taken."),
    "judged-files": (JudgedFiles, "`workbench judge-file --json`."),
    "run": (RunInfo, "One element of `workbench runs list --json`."),
}
"""File name in schemas/ -> (record, title)."""


def schema(name: str) -> dict[str, Any]:
    record, title = DOCUMENTS[name]
    generated = _dedent_descriptions(msgspec.json.schema(record))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **generated}


def _dedent_descriptions(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            key: cleandoc(value) if key == "description" and isinstance(value, str) else _dedent_descriptions(value)
            for key, value in node.items()
        }
    return [_dedent_descriptions(element) for element in node] if isinstance(node, list) else node


def text(name: str) -> str:
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    folder = Path(__file__).parent
    for name in DOCUMENTS:
        (folder / f"{name}.schema.json").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
