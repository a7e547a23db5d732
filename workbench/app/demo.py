"""Loads the sample data, and runs every rule verifier on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.core.errors import FormatError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.labels import import_labels
from workbench.runs.run_status import wait
from workbench.runs.verifying import start

VERIFIERS = ("rules", "exact", "normalized-exact", "math-verify", "always-incorrect")
DATASET = "sample"


def sample_folder() -> Path:
    """Return the folder of the sample data, which is in the installed package, or next to it in a checkout.

    Raises:
        FormatError: The folder is missing.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "sample_data", package.parent / "sample_data"):
        if (folder / "tuples.jsonl").is_file():
            return folder
    raise FormatError("The sample data is missing from the installation.", "Install workbench again.")


def load_sample(project: Project) -> None:
    folder = sample_folder()
    import_files(project, plan_import([folder / "tuples.jsonl"]), dataset=DATASET)
    import_labels(project, folder / "labels.jsonl")


def verify_sample(
    project: Project, said: Callable[[RunInfo], None], watch: Callable[[RunInfo], None] | None = None
) -> list[RunInfo]:
    """Run every rule verifier on all items.

    Args:
        said: Called with each finished run.
        watch: Called a few times a second with the active run.
    """
    ended = []
    for verifier in VERIFIERS:
        run = start(project, verifier, {}, None, Selection(), None)
        ended.append(wait(project, run.run, watch))
        said(ended[-1])
    return ended
