"""A verifier with something to load gets it loaded once a worker, and the time it asks for."""

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


def test_it_is_loaded_in_the_worker_and_has_its_time() -> None:
    found = verdict_on("slow")
    assert (found.outcome, found.detail) == (Outcome.CORRECT, "True")


def test_its_own_deadline_ends_it() -> None:
    assert verdict_on("hang", deadline="0.3").reason == "timeout"


def test_what_can_not_be_loaded_is_said() -> None:
    with pytest.raises(VerifierError, match="The weights aren't there"):
        verdict_on("any", load="no")
