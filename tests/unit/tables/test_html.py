"""Page contents are either trusted markup or escaped text."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from tests.hostile_report import TEXTS
from workbench.tables.document import (
    Case,
    Cell,
    Document,
    Dot,
    Facts,
    Group,
    Head,
    Histogram,
    Intervals,
    Paragraph,
    Passage,
    Point,
    Row,
    Scatter,
    Section,
    Table,
)
from workbench.tables.html import element, html, text

OWN_TAGS = """html head meta title style body header main nav a p h1 h2 h3 h4 h5 section div dl dt dd table thead tbody
tr th td small ul li figure figcaption svg line circle rect text details summary article pre"""
OWN_ATTRIBUTES = """lang charset http-equiv content name href id class colspan scope dir viewbox role width height x y
x1 y1 x2 y2 cx cy r text-anchor transform"""


class Reader(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.words += data


def document(data: str) -> Document:
    """A document with the same text in every place there is."""
    table = Table(
        caption=data,
        head=((Head(data), Head(data)),),
        rows=(Row((Cell(data), Cell(data, shade=3, small=data))), Row((Cell(data),), "section")),
        notes=(data,),
    )
    blocks = (
        Paragraph(data),
        Facts(((data, data),)),
        table,
        Intervals(caption=data, points=(Point(data, 0.5, 0.4, 0.6),), mark=0.5, mark_label=data),
        Scatter(caption=data, x_label=data, y_label=data, dots=(Dot(data, 0.1, 0.2),)),
        Histogram(caption=data, edges=(0, 1, 2), first=(1, 2), second=(0, 3), names=(data, data), mark=1),
        Group(title=data, blocks=(Paragraph(data),), folded=True),
        Case(title=data, facts=((data, data),), passages=(Passage(data, data),)),
    )
    section = Section("part", data, blocks)
    return Document(title=data, lead=data, generated_at=data, sections=(section,))


@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_data_is_never_markup(place: int) -> None:
    found = Reader(html(document(TEXTS[place])))
    assert found.tags <= set(OWN_TAGS.split())
    assert found.attributes <= set(OWN_ATTRIBUTES.split())
    assert found.links == ["#part"]
    page = html(document(TEXTS[place]))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]", page)
    page.encode()


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_text(data: str) -> None:
    found = Reader(f"<!DOCTYPE html>{element('p', data, title=data)}")
    assert found.tags == {"p"}
    assert found.attributes == {"title"}


def test_a_long_text_is_truncated_with_a_note() -> None:
    page = html(document("a" * 1_000_000))
    assert "[… 996,000 characters cut …]" in page
    assert len(page) < 200_000


def test_the_page_policy_allows_only_its_own_style() -> None:
    page = html(document("x"))
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert style is not None
    assert policy is not None
    own = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy[1].replace("&#39;", "'").split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{own}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert "style=" not in page
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_markup_is_kept_and_text_escaped() -> None:
    assert element("b", Markup("<i>x</i>"), "<i>") == "<b><i>x</i>&lt;i&gt;</b>"
    assert text("a\x1bb\ud800") == "a␛b⟨U+D800⟩"
