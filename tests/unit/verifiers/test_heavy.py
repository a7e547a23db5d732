"""A verifier with a load step is loaded once per worker and gets its own time limit."""

from __future__ import annotations

import pytest

from tests.unit.verifiers.conftest import Install
from tests.workers import verdicts_in
from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool


@pytest.fixture(autouse=True)
def _installed(install: Install) -> None:
    install("heavy-plugin", {"heavy": "tests.unit.verifiers.heavy_plugin:Heavy"})


def verdict_on(completion: str, **options: str) -> Verdict:
    with WorkerPool(("heavy", options), 1) as pool:
        return verdicts_in(pool, [VerifierInput(item=1, question="", reference="", completion=completion)])[0]


def test_loading_happens_in_the_worker_within_its_time() -> None:
    found = verdict_on("slow")
    assert (found.outcome, found.detail) == (Outcome.CORRECT, "True")


def test_the_deadline_of_the_verifier_applies() -> None:
    assert verdict_on("hang", deadline="0.3").reason == "timeout"


def test_a_failed_load_is_reported() -> None:
    with pytest.raises(VerifierError, match="The weights aren't there"):
        verdict_on("any", load="no")
