"""A lighteval metric: ``LightevalTaskConfig(..., metrics=[judged])``, or ``metrics=[judged_by("cascade", …)]``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from typing import Any

from lighteval.metrics.metrics_sample import SampleLevelComputation  # type: ignore[import-not-found]
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping  # type: ignore[import-not-found]
from lighteval.models.model_output import ModelResponse  # type: ignore[import-not-found]
from lighteval.tasks.requests import Doc, SamplingMethod  # type: ignore[import-not-found]

from workbench.training.judging import MAX_CONCURRENT, Judging, judging_by


class JudgedMetric(SampleLevelComputation):  # type: ignore[misc]
    """A metric: the mean over completions; a completion may match any of the document's gold choices."""

    def __init__(self, judging: Judging) -> None:
        self._judging = judging

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, float]:
        wanted, texts = doc.get_golds(), model_response.final_text
        with ThreadPoolExecutor(min(len(texts), MAX_CONCURRENT), "workbench-judged") as threads:
            return self._judging.figures(
                list(threads.map(lambda text: self._judging.verdict(wanted, text, doc.query), texts))
            )


def judged_by(verifier: str = "rules", **settings: Any) -> SampleLevelMetricGrouping:
    """Return a metric by any verifier.

    Args:
        verifier: See `workbench.reward`; if it runs solutions, the gold choices are tests, and all must pass.
        **settings: Other arguments of `workbench.reward`, such as ``database`` and ``deadline``.
    """
    return SampleLevelMetricGrouping(
        metric_name=["acc", "undecided"],
        sample_level_fn=JudgedMetric(judging_by(verifier, settings)),
        category=SamplingMethod.GENERATIVE,
        corpus_level_fn={"acc": fmean, "undecided": fmean},
        higher_is_better={"acc": True, "undecided": False},
    )


judged = judged_by()
