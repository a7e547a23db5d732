"""Items by the ids that people know them by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.core.project import Project
from workbench.data.store import label_lines


def named(
    project: Project, ids: Sequence[str], dataset: str | None = None, question: str | None = None
) -> Iterator[tuple[str, int | str]]:
    """Each completion's id, once, with its row id, or with why it can't be told which item is meant."""
    reader = project.database.reader()
    for key in dict.fromkeys(ids):
        found = label_lines.find_completions(reader, key, question, dataset)
        if len(found) == 1:
            yield key, found[0][0]
        elif not found:
            yield key, "There is no completion of this id here."
        elif found[0][2] != found[1][2]:
            yield key, "Several data sets have a completion of this id: add --dataset NAME."
        else:
            yield key, "Several questions have a completion of this id: add --question ID."
