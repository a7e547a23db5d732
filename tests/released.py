"""Custom rows in the released VerifyBench schema."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from workbench.data.formats.fields import RELEASED_KEYS
from workbench.data.formats.lines import is_no_text

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda text: not is_no_text(text)
)
NAMES = TEXT.filter(lambda name: name not in (*RELEASED_KEYS, "schema_version"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def released_row(number: int, **changes: object) -> dict[str, Any]:
    """Return a row with two completions per question, the first one correct."""
    return {
        "question_id": f"q{number // 2}",
        "completion_id": f"c{number}",
        "question": f"What is {number // 2} + 1?",
        "answer": f"\\boxed{{{number // 2 + 1}}}",
        "completion": f"It is {number}, “so” <think>\n</think> it is.",
        "gold_correct": number % 2 == 0,
        "completion_model": f"model-{number % 3}",
        "source": "math_reasoning/sums",
        "answer_type": "A1 - Integer",
        "answer_subtype": "A - Numeric Values",
        "annotator": ["febd", "cccb"],
        **changes,
    }


@st.composite
def released_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw rows in the released schema: any text, any unknown keys, any order, missing optional fields."""
    rows = []
    for number in range(draw(st.integers(1, 4))):
        known = released_row(
            number,
            question_id=f"q{number}{draw(TEXT)}",
            completion_id=f"c{draw(TEXT)}",
            question=draw(TEXT),
            answer=draw(TEXT),
            completion=draw(TEXT),
            gold_correct=draw(st.booleans() | st.none()),
            completion_model=draw(TEXT | st.none()),
            source=draw(TEXT | st.none()),
        )
        del known["annotator"]
        for name in draw(st.sets(st.sampled_from(["gold_correct", "completion_model", "source"]))):
            del known[name]
        pairs = [*known.items(), *draw(st.dictionaries(NAMES, VALUES, max_size=3)).items()]
        rows.append(dict(draw(st.permutations(pairs)) if draw(st.booleans()) else pairs))
    return rows
