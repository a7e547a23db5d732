"""Provenance lines of an execution run."""

from __future__ import annotations

from msgspec import structs

from workbench.core.code import Provenance
from workbench.core.run import RunInfo
from workbench.core.text.run_words import isolation_lines

RUN = RunInfo(
    run=1,
    verifier="execution",
    kind="execution",
    version="1",
    selection="all items",
    state="complete",
    request=None,
    items=3,
    done=3,
    workers=1,
    created_at="",
)
FOUND = Provenance(
    interpreter="CPython 3.11.0",
    flags=("-S",),
    packages="0123456789abcdef",
    hash_seed=7,
    level="L3",
    limits={"memory_bytes": 2.0**30},
    extractor="fence-1",
)


def test_an_execution_run_lists_its_provenance() -> None:
    run = structs.replace(RUN, isolations={"L3": 1200, "L1": 3}, provenance=[FOUND])
    assert list(isolation_lines(run)) == [
        "isolation: L3 1,200 (namespaces, Landlock and seccomp), L1 3 (limits alone)",
        "interpreter: CPython 3.11.0 -S",
        "PYTHONHASHSEED=7, packages 0123456789ab, code of replies by fence-1",
        "limits: memory_bytes 1,073,741,824",
    ]


def test_any_other_run_has_no_such_lines() -> None:
    assert list(isolation_lines(RUN)) == []
