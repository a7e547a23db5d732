"""A lighteval metric: ``LightevalTaskConfig(..., metrics=[judged])``."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from lighteval.metrics.metrics_sample import SampleLevelComputation  # type: ignore[import-not-found]
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping  # type: ignore[import-not-found]
from lighteval.models.model_output import ModelResponse  # type: ignore[import-not-found]
from lighteval.tasks.requests import Doc, SamplingMethod  # type: ignore[import-not-found]

from workbench.training.judging import figures, judge


class JudgedMetric(SampleLevelComputation):  # type: ignore[misc]
    """Whether completions are correct, by `rules`: their mean; any of the document's gold choices will do."""

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, float]:
        """The figures of one document."""
        return figures([judge(doc.get_golds(), text, doc.query) for text in model_response.final_text])


judged = SampleLevelMetricGrouping(
    metric_name=["acc", "undecided"],
    sample_level_fn=JudgedMetric(),
    category=SamplingMethod.GENERATIVE,
    corpus_level_fn={"acc": fmean, "undecided": fmean},
    higher_is_better={"acc": True, "undecided": False},
)
