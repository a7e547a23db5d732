"""Who did what when: every event on an item or of a person."""

from __future__ import annotations

from workbench.core.database import events, people
from workbench.core.errors import UsageError
from workbench.core.label import LabelLine
from workbench.core.project import Project
from workbench.data.store import browsing, label_lines
from workbench.labelling.label_export import history_lines


def history(project: Project, *, item: str | None = None, annotator: str | None = None) -> list[LabelLine]:
    """Events of every kind, by time, as `import_labels` takes them back.

    Args:
        item: Only those on the completions of this id, and on the types of their questions.
        annotator: Only those of this person.

    Raises:
        UsageError: There is no such item or person.
    """
    reader = project.database.reader()
    person = None if annotator is None else people.find(project.database, annotator).id
    if item is None:
        return list(history_lines(label_lines.placed(reader, events.in_time(reader, annotator=person))))
    found = browsing.with_key(reader, item)
    if not found:
        raise UsageError(f"There is no item {item!r}.", "Name a completion by its id.")
    lines: list[LabelLine] = []
    for completion in found:
        chosen = events.in_time(reader, completion=completion, annotator=person)
        lines += history_lines(label_lines.placed(reader, chosen))
    return lines
