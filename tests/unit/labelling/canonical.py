"""A canonical form of a database, for comparing databases with the same items."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import structs

from workbench.core.database import events, people
from workbench.core.database.journal import event_line, place_events
from workbench.core.project import Project
from workbench.labelling.store import flags

_TASKS = """SELECT t.task, d.name, q.key, c.key, t.state, t.verdict, t.subtype, t.reason, t.decided_by, t.round
    FROM task_states AS t LEFT JOIN completions AS c ON t.task = 'correctness' AND c.id = t.subject
    JOIN questions AS q ON q.id = coalesce(c.question_id, t.subject) JOIN datasets AS d ON d.id = q.dataset_id
    ORDER BY 1, 2, 3, 4"""
_ITEMS = """SELECT 'item', d.name, q.key, c.key, i.state, i.gold, i.gold_from, i.subtype, i.reason
    FROM item_states AS i JOIN completions AS c ON c.id = i.completion_id
    JOIN questions AS q ON q.id = c.question_id JOIN datasets AS d ON d.id = q.dataset_id ORDER BY 2, 3, 4"""


def canonical(project: Project) -> bytes:
    """Return all events by (created_at, uuid), then all flags and states, with names and file ids instead of row ids.

    Databases with the same items and events give the same bytes, whatever the order of arrival.
    """
    return b"".join(_lines(project))


def _lines(project: Project) -> Iterator[bytes]:
    reader = project.database.reader()
    for line in map(event_line, place_events(reader, events.events_by_time(reader))):
        if line.role == people.COORDINATOR:
            # A person's role is their database's own.
            line.role = "adjudicator" if line.kind == "adjudication" else "annotator"
        yield msgspec.json.encode(line) + b"\n"
    for flag in flags.open_flags(reader):
        yield msgspec.json.encode(structs.replace(flag, completion=0)) + b"\n"
    for query in (_TASKS, _ITEMS):
        for state in reader.execute(query):
            yield msgspec.json.encode(state) + b"\n"
