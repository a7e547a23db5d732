"""The parts of a report, in the order they are read; each makes its section of the same contents, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workbench.reports.contents import Contents
from workbench.reports.document import Section
from workbench.reports.sections.breakdown import breakdown_section
from workbench.reports.sections.comparison import comparison_section
from workbench.reports.sections.confusion import confusion_section
from workbench.reports.sections.data import data_section
from workbench.reports.sections.examples import examples_section
from workbench.reports.sections.methods import methods_section
from workbench.reports.sections.people import people_section
from workbench.reports.sections.provenance import provenance_section
from workbench.reports.sections.scores import scores_section
from workbench.reports.sections.summary import summary_section
from workbench.reports.sections.tables import tables_section
from workbench.reports.sections.validity import validity_section

SECTIONS: Final[tuple[Callable[[Contents], Section | None], ...]] = (
    summary_section,
    data_section,
    breakdown_section,
    confusion_section,
    comparison_section,
    scores_section,
    validity_section,
    people_section,
    examples_section,
    methods_section,
    provenance_section,
    tables_section,
)
"""One line a section."""
