"""Real rows with verdicts, made once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.project import open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.runs.run_status import wait
from workbench.runs.verifying import start


@pytest.fixture(scope="session")
def judged_rows(real_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database of the 108 real rows with complete runs of rules, math-verify, exact and always-incorrect.

    It is read-only: a test that writes uses a copy.
    """
    path = tmp_path_factory.mktemp("judged") / "p.db"
    project = open_project(path, create=True)
    import_files(project, plan_import([real_file]), dataset="items")
    # In the runner's workers, as a person would: libraries keep their state to themselves there.
    for name in ("rules", "math-verify", "exact", "always-incorrect"):
        wait(project, start(project, name).run)
    project.close()
    return path
