"""Labels that are taken for a random sample of all items, but are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.data.store.columns import ORIGINS
from workbench.labelling.store import batches
from workbench.measuring.columns import Columns
from workbench.statistics.records.ordering import BatchSample, Sample

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray

_HOW: Final[dict[Sample, str]] = {
    "first": "were taken in import order",
    "order": "went first to items that verifiers differ on or are unsure of",
    "quota": "are so many of each answer subtype",
}


def uneven_samples(project: Project, known: Columns, items: IntArray) -> list[BatchSample]:
    """The batches that such labels come from, with how many of them.

    Args:
        items: Row ids of those whose gold is taken for a random sample; gold that people did not give has no batch.
    """
    import numpy as np

    by_people = known.item[known.origin >= ORIGINS.index("agreed")]
    found = []
    for batch, sample, chosen in batches.uneven(project.database.reader()):
        # A batch of all there is leaves nothing out.
        if len(chosen) < len(known.item) and (labelled := np.isin(chosen, np.intersect1d(items, by_people)).sum()):
            found.append(BatchSample(batch=batch, sample=sample, items=int(labelled)))
    return found


def sample_sentences(samples: Sequence[BatchSample], by: str | None) -> Iterator[str]:
    """What is wrong with them, one sentence for each way of choosing.

    Args:
        by: What the figures are broken down by: quotas of subtypes do no harm to figures by subtype.
    """
    for sample, how in _HOW.items():
        of_it = [one for one in samples if one.sample == sample]
        if not of_it or (sample == "quota" and by == "subtype"):
            continue
        names = ", ".join(str(one.batch) for one in of_it)
        batch = "batch" if len(of_it) == 1 else "batches"
        many = counted(sum(one.items for one in of_it), "item")
        advice = " Break figures down: --by subtype." if sample == "quota" else ""
        yield f"The labels of {batch} {names} ({many}) {how}; they are no random sample of all.{advice}"
