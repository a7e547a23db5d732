"""Solutions that models wrote join a data set, as an import of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from workbench.coding.targets import Dataset
from workbench.core.code_record import SolutionRecord
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.store import importing


def join(project: Project, dataset: Dataset, place: str, records: Sequence[SolutionRecord]) -> int:
    """Add solutions to a data set; returns how many are new.

    Args:
        place: What stands for the file they came in, such as ``pools/NAME``.

    Raises:
        UsageError: There is another solution of the same id.
        StoreError: An import is running.
    """
    if not records:
        return 0
    content = hashlib.blake2b(msgspec.json.encode(records), digest_size=32)
    file = importing.ImportKey(path=place, format="generated", mapping="{}")
    with importing.import_session(project.database, dataset.name) as session, session.file(file) as target:
        for refused in target.add(records, []):
            raise UsageError(refused.message, "Give these solutions another --name.")
        target.complete(content.digest())
        return target.counts.imported
