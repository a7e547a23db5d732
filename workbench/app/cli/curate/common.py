"""What the commands of ``workbench curate`` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from workbench.core.options import option
from workbench.measuring.records.curation import Scope

ScopeDataset = Annotated[str | None, option("Only questions of this data set.", "--dataset", metavar="NAME")]
ScopeSource = Annotated[str | None, option("Only questions of this source.", "--source", metavar="DOMAIN/NAME")]


def scope_of(dataset: str | None, source: str | None) -> Scope:
    """The scope that ``--dataset`` and ``--source`` spell."""
    return Scope(dataset=dataset, source=source)


def counted(counts: Mapping[str, int]) -> str:
    """Counts by word in one line; "none" where there are none."""
    return ", ".join(f"{word} {count:,}" for word, count in counts.items()) or "none"
