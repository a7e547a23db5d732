"""Declared dependencies and imports agree: an installation gets everything it needs, and nothing else."""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.parts import CORE, PROJECTS, ROOT, read_project

NEEDED_BY_OTHERS = {"safetensors": "transformers reads weights with it", "tree-sitter-python": "codebleu needs it"}
"""Required by an imported package that does not declare them."""
HARNESSES = {"inspect-ai", "lighteval", "anyio"}
"""Optional integrations that only users of these packages import; anyio belongs to Inspect."""
SHARED = {"backports": "backports.zstd", "compression": "backports.zstd"}
"""Names shared by several packages, or by a newer standard library."""


def declared() -> set[str]:
    """Return the packages installed with either distribution or with an extra of it."""
    lines: list[str] = []
    for project in map(read_project, PROJECTS):
        optional = project["optional-dependencies"]
        lines += [*project["dependencies"], *(line for name in optional if name != "dev" for line in optional[name])]
    return {str(canonicalize_name(Requirement(line).name)) for line in lines} - {CORE}


@cache
def imported() -> set[str]:
    """Return the packages that some module imports."""
    names: set[str] = set()
    for path in (ROOT / "workbench").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    names -= {"workbench", *sys.stdlib_module_names}
    installed = packages_distributions()
    return {canonicalize_name(SHARED.get(name) or installed.get(name, [name])[0]) for name in names}


def test_every_import_is_declared() -> None:
    assert imported() - declared() == HARNESSES


def test_every_declared_package_is_imported() -> None:
    assert declared() - imported() == set(NEEDED_BY_OTHERS)
