"""Rows of files as others write them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class VerifyBenchRow(Struct, kw_only=True):
    """One line of a released VerifyBench file (arXiv 2505.15801).

    The type fields carry each other's values in the release: ``answer_type`` holds the subtype
    (``"B5 - Matrix"``), ``answer_subtype`` the type (``"B - Expressions"``). Both ways round are read. Keys beyond
    these are kept.
    """

    question_id: Annotated[str, Meta(min_length=1)]
    completion_id: Annotated[str, Meta(min_length=1)]
    question: str
    answer: str
    completion: str
    gold_correct: bool | None = None
    completion_model: str | None = None
    source: str | None = None
    answer_type: str | None = None
    answer_subtype: str | None = None
    annotator: list[str] | None = None
