"""The licence of a source, where its files don't know it, or are wrong."""

from __future__ import annotations

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.formats.fields import known_licence
from workbench.data.store import licences

_LONGEST = 200


def license_source(project: Project, source: str, licence: str) -> str | None:
    """Give a source a licence; returns it as it is stored, None where ``licence`` says that nobody knows it.

    Raises:
        UsageError: There is no such source, or the licence is none.
    """
    if len(licence) > _LONGEST or not licence.isprintable():
        raise UsageError(f"{licence[:_LONGEST]!r} is no licence.", f"Use up to {_LONGEST} printable characters.")
    known = known_licence(licence)
    with project.database.write("full") as connection:
        if not licences.put(connection, source, known):
            raise UsageError(f"There is no source {source[:_LONGEST]!r}.", "See: workbench curate DB status")
    return known
