"""Settings of an audited training; the audit's code is imported on first use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.core.columns import is_number
from workbench.core.errors import UsageError
from workbench.core.installed import require_app

if TYPE_CHECKING:
    from workbench.training.audit import Watcher

DEFAULT_SHARE: Final = 0.01
"""The default share of judged completions to store."""
_MOST_SEED: Final = 2**63 - 1


class Audit(Struct, frozen=True, kw_only=True):
    """The settings of an audited training.

    Attributes:
        database: The project; it is created if missing.
        share: The mean share of judged completions to store.
        seed: The seed of the sample.
        training: The name of the training and of its data set.

    Raises:
        UsageError: The share or seed is out of range.
    """

    database: Path
    share: float = DEFAULT_SHARE
    seed: int = 0
    training: str = "training"

    def __post_init__(self) -> None:
        if not (is_number(self.share) and 0 < self.share <= 1):
            raise UsageError(f"The share {self.share!r} is not valid.", "Give one above 0, at most 1, such as .01.")
        if not isinstance(self.seed, int) or abs(self.seed) > _MOST_SEED:
            raise UsageError(f"The seed {self.seed!r} is not valid.", "Give a whole number, such as 0.")
        if not self.training.strip():
            raise UsageError("The training has no name.")


def audit_of(database: Path | str | None, share: float, seed: int, training: str) -> Audit | None:
    """Return the settings of an audit; None if no database is given.

    Raises:
        UsageError: The share or seed is out of range.
    """
    return None if database is None else Audit(database=Path(database), share=share, seed=seed, training=training)


def start_watcher(audit: Audit, verifier: str, version: str) -> Watcher:
    """Start the audit and return its watcher; see `workbench.training.audit.Watcher`.

    Raises:
        UsageError: The package for projects is not installed, or the project uses the training's name for something
            else.
        StoreError: The project can't be opened.
    """
    require_app("Audits")
    from workbench.training.audit import Watcher

    return Watcher(audit, verifier, version)
