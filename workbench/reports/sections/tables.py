"""The appendix: every figure of the tables above, as fractions."""

from __future__ import annotations

from workbench.reports.accuracy import accuracy_tables
from workbench.reports.contents import Contents
from workbench.reports.document import Block, Group, Section

_SHOWN = ("type", "subtype", "domain")


def tables_section(contents: Contents) -> Section | None:
    """The accuracy tables in full."""
    groups: list[Block] = [
        Group(title=f"Accuracy by {by}", blocks=accuracy_tables(contents.by[by]), folded=True)
        for by in _SHOWN
        if by in contents.by
    ]
    return Section("appendix", "Appendix: figures in full", tuple(groups)) if groups else None
