"""The paper's tables as text in the format asked for."""

from __future__ import annotations

from workbench.model.paper import PaperTables
from workbench.reports.paper import paper_table
from workbench.services.measuring.table_files import WRITERS, TableFormat


def tables_text(found: PaperTables, format: TableFormat) -> str:
    """All tables, one below the other."""
    write = WRITERS[format]
    return "\n".join(write(table) for one in found.tables for table in paper_table(one))
