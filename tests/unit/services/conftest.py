"""Real rows with verdicts, made once for all tests of the services."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.services.measuring.scored_runs import judged_project


@pytest.fixture(scope="session")
def judged_rows(real_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of the 108 real rows with complete runs of rules, math-verify, exact and always-incorrect.

    It is only read: whoever changes something works on a copy.
    """
    from workbench.verifiers.baseline import AlwaysIncorrect
    from workbench.verifiers.math_verify import MathVerify
    from workbench.verifiers.rules.verifier import Rules
    from workbench.verifiers.text import Exact

    path = tmp_path_factory.mktemp("judged") / "p.db"
    judged_project(path, real_file, (Rules(), MathVerify(), Exact(), AlwaysIncorrect())).close()
    return path
