"""Names of groups for users."""

from __future__ import annotations

import pytest

from workbench.core.selection import group_name


@pytest.mark.parametrize(
    ("group", "by", "name"),
    [
        (None, "type", "all"),
        (None, None, "all"),
        ("A", "type", "A - Numeric Values"),
        ("A1", "subtype", "A1 - Integer"),
        ("untyped", "subtype", "untyped"),
        ("A", "source", "A"),
        ("", "domain", "(none)"),
        ("A · algebra", "type,domain", "A - Numeric Values · algebra"),
        ("algebra · A", "domain, type", "algebra · A - Numeric Values"),
        ("A · ", "type,domain", "A - Numeric Values · (none)"),
        ("A · one · two", "type,source", "A · one · two"),
        ("one · two", "source", "one · two"),
    ],
)
def test_groups_have_readable_names(group: str | None, by: str | None, name: str) -> None:
    assert group_name(group, by) == name
