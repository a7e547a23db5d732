"""Full-text search over completions of 1.5 kB: time and size of the index, and time to the first rows of a search.

Usage: python -m bench.searching [--items 200000]

Queries are rare and frequent words, words in all texts and in none, formulas, and a text that occurs nowhere although
all its trigrams are in every text. The database of 1,450,000 items (``--items 1450000``) takes 3.5 GB.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Final

from bench.figures import median, report
from bench.synthetic import cached
from workbench.core.project import Project, open_project
from workbench.data.records import BrowseQuery
from workbench.data.searching import index_texts
from workbench.data.store import text_index
from workbench.measuring.browsing import ItemTable

_PAD, _PAGE, _ROUNDS = 1_500, 128, 5
_FIRST_MS = 300.0
SEARCHES: Final = {
    "rare": "attempt 140000",
    "frequent": "attempt 14",
    "in_all": "fifth term",
    "absent": "zebra",
    "rare_formula": r"\boxed{77}",
    "formula_in_all": r"\frac{a + 1}{b}",
    "absent_formula": r"\frac{7}{b}",
    "absent_in_parts_of_all": "a + 1)^2",
    "short": "18",
    "id": "c-0012345",
}
"""Kind -> query."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200_000)
    options, _ = parser.parse_known_args()
    path = cached(options.items, pad=_PAD)
    project = open_project(path)
    _build(project, path)
    for kind, search in SEARCHES.items():
        first = median([_first(project, search) for _ in range(_ROUNDS)])
        report(f"search_{kind}_first_page_{options.items}", first, "ms", _FIRST_MS)
    project.close()


def _build(project: Project, path: Path) -> None:
    text_index.remove(path)
    began, longest = time.perf_counter(), 0.0
    last = began
    for _ in index_texts(project):
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    report("search_index_build", time.perf_counter() - began, "s")
    report("search_index_longest_step", longest * 1000, "ms")
    size = text_index.path(path).stat().st_size
    report("search_index_size", size / 1e6, "MB")
    report("search_index_share", size / path.stat().st_size, "x")


def _first(project: Project, search: str) -> float:
    """Return the milliseconds to the first page of rows."""
    began = time.perf_counter()
    ItemTable(project, BrowseQuery(search=search)).first(_PAGE)
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
