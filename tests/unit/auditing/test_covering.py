"""Every command and metric is audited or documented as not audited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, get_args, get_type_hints

import msgspec
import pytest

from schemas.documents import DOCUMENTS
from tests.auditing import shown
from tests.auditing.covering import COVERED, UNCOVERED
from tests.auditing.records import Family
from workbench.app.verbs import every_verb, verb_of
from workbench.coding.records.figures import PassReport
from workbench.measuring.calibrating import CalibrationReport
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.combined import EstimateReport
from workbench.statistics.records.comparison import CompareReport, JointErrorReport
from workbench.statistics.records.ranking import RankingReport
from workbench.statistics.records.report import AccuracyReport

VERBS: Final = tuple(verb.name for verb in every_verb())
_WORDS: Final = """
    open import export exclude selected-by serve reopen guidelines bundle verifiers models transcripts preview replay
    preset backup restore doctor rescue help
"""
_INNER: Final = ("curate licence", "curate exclude", "template check", "template show", "code exclude")
NO_FIGURES: Final = frozenset((*_WORDS.split(), *_INNER))
"""Commands that do something or show texts."""
TOLD: Final = " ".join(one.words for one in UNCOVERED)


def test_every_command_is_audited_or_listed_or_has_no_metrics() -> None:
    audited = {command for commands in COVERED.values() for command in commands}
    named = [command for one in UNCOVERED for command in one.commands]
    assert tuple(COVERED) == get_args(Family)
    assert sorted(named) == sorted(set(named))
    assert sorted([*audited, *named, *NO_FIGURES]) == sorted(VERBS)


def numbers(record: type, *kinds: type, seen: set[type] | None = None) -> Iterator[str]:
    """Fields of a record and all within it that may be such numbers, as ``Record.field``."""
    seen = set() if seen is None else seen
    if record in seen:
        return
    seen.add(record)
    for field, hint in get_type_hints(record).items():
        for kind in _parts(hint):
            if kind in kinds:
                yield f"{record.__name__}.{field}"
            elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                yield from numbers(kind, *kinds, seen=seen)


def _parts(hint: Any) -> Iterator[Any]:
    if arguments := get_args(hint):
        for argument in arguments:
            yield from _parts(argument)
    else:
        yield hint


@pytest.mark.parametrize(("record", "title"), [one for one in DOCUMENTS.values() if one[1].startswith("`workbench ")])
def test_commands_without_metrics_print_no_shares(record: type, title: str) -> None:
    """A share or a mean in what a command prints is a figure."""
    command = verb_of(title.split("`")[1].replace("--", "DB --"))
    if command in NO_FIGURES:
        assert list(numbers(record, float)) == []


AUDITED: Final[dict[type, tuple[str, ...]]] = {
    AccuracyReport: (*shown._ROW, *shown._COUNTS, "delta", "micro", "macro"),
    CompareReport: (*shown._PAIRED, "a", "b"),
    JointErrorReport: ("n", "agreement", "kappa", "both_wrong", "phi", "yules_q"),
    AgreementReport: (*shown._AGREED, "agreement", "kappa", "n"),
    CalibrationReport: ("auroc", "ece", "brier", "accuracy"),
    EstimateReport: shown._ESTIMATED,
    RankingReport: shown._RANKED,
    PassReport: ("value",),
}
"""Report of an audited command -> its figures that are counted again."""

SAID: Final[dict[str, str]] = {
    "ci p q mcnemar_p permutation_p approximate exact hypotheses families": "intervals, p- and q-values",
    "accuracy_ci highest_ci ac1_ci alpha_ci fleiss_ci percent_ci kappa_ci phi_ci classical_ci ece_ci": "intervals",
    "balanced_accuracy_ci mcc_ci top1_ci bottom1_ci spearman_ci kendall_ci mae_ci r2_ci": "intervals",
    "deff effective_questions detectable": "design effects, effective questions, detectable differences",
    "measured measured_ci wrong": "--label-noise",
    "prevalence true_rate low high accept_rate": "--prevalence or --accept-rate",
    "expected expected_given_gold either_right wrong_a wrong_b": "joint errors by gold or that chance would give",
    "gwet_ac2 differing rarer": "AC2",
    "sensitivity specificity median_ms share annotator_accuracy": "people's sensitivity, specificity",
    "highest_accuracy conflicts_per_1000": "ceilings",
    "saved": "labels are saved",
    "pairwise rate mean": "bins of reliability, pairs",
    "r2 mae": "MAE and R² of rankings",
    "values average delta gain": "by model",
    "difference": "best single verifiers",
    "unfinished": "runs other than the newest complete ones",
    "coverage": "filled in or left out",
}
"""Unaudited metrics of audited commands -> the words that document them."""


@pytest.mark.parametrize("record", AUDITED, ids=lambda record: record.__name__)
def test_every_metric_of_an_audited_command_is_recounted_or_listed(record: type) -> None:
    said = {field: words for fields, words in SAID.items() for field in fields.split()}
    for figure in numbers(record, float):
        field = figure.partition(".")[2]
        assert field in AUDITED[record] or said.get(field, "named nowhere") in TOLD, figure
