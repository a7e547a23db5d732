"""Settings of a watched training, and the watcher, which is imported on first use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.core.columns import is_number
from workbench.core.errors import UsageError
from workbench.core.installed import require_app

if TYPE_CHECKING:
    from workbench.training.audit import Watcher

SHARE: Final = 0.01
"""The share that is taken unless told otherwise."""
_MOST_SEED: Final = 2**63 - 1


class Audit(Struct, frozen=True, kw_only=True):
    """The settings of a watched training.

    Attributes:
        database: The project; it is made if need be.
        share: Of what is judged that is taken, in the mean.
        seed: What chance follows from.
        training: What the training and its data set are called.

    Raises:
        UsageError: There is no such share or seed.
    """

    database: Path
    share: float = SHARE
    seed: int = 0
    training: str = "training"

    def __post_init__(self) -> None:
        if not (is_number(self.share) and 0 < self.share <= 1):
            raise UsageError(f"The share {self.share!r} is none.", "Give one above 0, at most 1, such as .01.")
        if not isinstance(self.seed, int) or abs(self.seed) > _MOST_SEED:
            raise UsageError(f"The seed {self.seed!r} is none.", "Give a whole number, such as 0.")
        if not self.training.strip():
            raise UsageError("The training has no name.")


def audit_of(database: Path | str | None, share: float, seed: int, training: str) -> Audit | None:
    """Return the requested audit; None without one.

    Raises:
        UsageError: There is no such share or seed.
    """
    return None if database is None else Audit(database=Path(database), share=share, seed=seed, training=training)


def watching(audit: Audit, verifier: str, version: str) -> Watcher:
    """Start to watch; see `workbench.training.audit.Watcher`.

    Raises:
        UsageError: The part that keeps projects is not installed, or something else has the training's name.
        StoreError: The project can't be opened.
    """
    require_app("Audits")
    from workbench.training.audit import Watcher

    return Watcher(audit, verifier, version)
