"""In CI a property test uses the same examples, whatever other tests were imported."""

from __future__ import annotations

import os
import subprocess
import sys

EXAMPLES = """
import sys
import tests.conftest
from hypothesis import given, settings
from hypothesis import strategies as st

if sys.argv[1:]:
    import workbench.core.text.figures, workbench.measuring.records

drawn = []

@settings(max_examples=200)
@given(st.lists(st.integers()), st.text())
def draw(numbers, text):
    drawn.append((numbers, text))

draw()
print(ascii(drawn))
"""


def test_examples_do_not_hang_on_what_was_imported() -> None:
    first, second = (
        subprocess.run(
            [sys.executable, "-c", EXAMPLES, *more], capture_output=True, text=True, check=True, env=os.environ | env
        ).stdout
        for more, env in (([], {"CI": "1", "PYTHONHASHSEED": "1"}), (["more"], {"CI": "1", "PYTHONHASHSEED": "2"}))
    )
    assert first == second
    assert first.count("(") > 200
