"""Previews of requests."""

from __future__ import annotations

import asyncio

from tests.unit.verifiers.judges.asking import ITEM, SECRET, llm_judge, requests
from workbench.verifiers.judges.verifier import preview


def test_the_first_request_is_exact_and_later_ones_have_placeholders() -> None:
    options = {"strategy": "codejudge", "samples": "3"}
    first, second = asyncio.run(preview(llm_judge(**options), ITEM, SECRET))
    assert (first.step, first.exact) == ("analysis", True)
    assert first.request == requests(**options)[0].request
    assert (second.step, second.role, second.exact) == ("summary", "judge", False)
    assert "⟨what the model replies to “analysis”⟩" in second.request.messages[1].content  # type: ignore[union-attr]


def test_a_single_call_is_exact() -> None:
    (only,) = asyncio.run(preview(llm_judge(), ITEM, SECRET))
    assert only.exact
    assert only.request == requests()[0].request
