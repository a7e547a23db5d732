"""Questions for tests of the selection rules."""

from __future__ import annotations

from workbench.benchmarks.capping import Completion, Question

_SAID = {"+": True, "-": False, "?": None}


def question(
    number: int, said: str, subtype: str = "A1", *, source: str = "s", models: str | None = None, key: str = ""
) -> Question:
    """A question, one sign a completion: + correct, - incorrect, ? neither; ``models`` has a letter for each."""
    return Question(
        id=number,
        dataset="d",
        key=key or f"q{number}",
        type=subtype[0],
        subtype=subtype,
        source=source,
        completions=tuple(
            Completion(
                item=number * 100 + place, key=f"c{place}", model=models[place] if models else "m", correct=_SAID[sign]
            )
            for place, sign in enumerate(said)
        ),
    )
