"""A session of the annotator Amira on a test project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench.core.project import Project
from workbench.labelling.annotating import AnnotationSession


@pytest.fixture
def amira(project: Project) -> Iterator[AnnotationSession]:
    session = AnnotationSession(project, "amira")
    yield session
    session.close()
