"""What the commands of ``workbench curate`` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from workbench.model.curation import Scope

F = TypeVar("F", bound=Callable[..., Any])


def scope_options(function: F) -> F:
    """``--dataset`` and ``--source``."""
    source = click.option("--source", metavar="DOMAIN/NAME", help="Only questions of this source.")
    return click.option("--dataset", metavar="NAME", help="Only questions of this data set.")(source(function))


def scope_of(dataset: str | None, source: str | None) -> Scope:
    """The scope that ``--dataset`` and ``--source`` spell."""
    return Scope(dataset=dataset, source=source)


def counted(counts: Mapping[str, int]) -> str:
    """Counts by word in one line; "none" where there are none."""
    return ", ".join(f"{word} {count:,}" for word, count in counts.items()) or "none"
