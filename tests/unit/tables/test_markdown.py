"""Markdown tables whose data is text for every Markdown renderer."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.hostile_report import TEXTS
from tests.unit.tables.test_html import document
from workbench.tables.document import Cell, Head, Row, Table
from workbench.tables.markdown import escaped, markdown, markdown_table


def tokens(text: str) -> list[Token]:
    """Parse as a renderer with tables, links and raw HTML."""
    found = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return [inner for token in found for inner in [token, *(token.children or [])]]


@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_data_is_never_markup(place: int) -> None:
    found = tokens(markdown(document(TEXTS[place])))
    kinds = {token.type for token in found}
    assert not kinds & {"html_inline", "html_block", "image", "autolink", "code_inline", "s_open"}
    links = [token.attrs["href"] for token in found if token.type == "link_open"]
    assert [link for link in links if not str(link).startswith("#")] == []
    headings = [token for token in found if token.type == "heading_open"]
    assert len(headings) == 4


def test_no_address_is_left_to_be_linked() -> None:
    for address in ("http://evil.example", "HTTPS://evil.example", "www.evil.example", "a@evil.example"):
        assert address not in escaped(f"see {address} there")


def test_a_table_keeps_its_columns() -> None:
    table = Table(
        caption="c", head=((Head("a|b"), Head("n")),), rows=(Row((Cell("x | y\n|z"), Cell("1"))),), notes=("n",)
    )
    rows = [token for token in tokens(markdown_table(table)) if token.type in ("td_open", "th_open")]
    assert len(rows) == 4
