"""A report of hostile data, opened in a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.background import PATIENCE_S
from tests.hostile_report import hostile_project
from tests.web.test_browser import QUIET
from workbench.measuring.report.gathering import gather, write_report

playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")

ELEMENTS = """() => ({
    forbidden: document.querySelectorAll("script, img, iframe, object, embed, form, link, base, image, use").length,
    handlers: [...document.querySelectorAll("*")].filter(one => [...one.attributes].some(
        attribute => attribute.name.startsWith("on") || attribute.name === "style")).length,
    styles: document.querySelectorAll("style").length,
    away: [...document.querySelectorAll("[href], [src]")].filter(
        one => !one.getAttribute("href").startsWith("#")).length,
    hacked: window.hacked,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    shown: getComputedStyle(document.body).display,
})"""
SCRIPT = """() => {
    const one = document.createElement("script");
    one.textContent = "window.hacked = 2";
    document.body.append(one);
}"""


async def test_hostile_data_is_shown_as_text(tmp_path: Path) -> None:
    project = hostile_project(tmp_path)
    write_report(project, tmp_path / "r.html", lambda: gather(project, generated_at="now", examples=50))
    project.close()
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=1_000 * PATIENCE_S)
        for width, scheme in ((1280, "light"), (420, "dark")):
            page = await browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page.set_default_timeout(1_000 * PATIENCE_S)
            await look(page, (tmp_path / "r.html").as_uri())
        await browser.close()


async def look(page: Any, url: str) -> None:
    """Open a report with all sections unfolded, and check that it contains only text."""
    requests: list[str] = []
    trouble: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    await page.goto(url)
    await page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = await page.evaluate(ELEMENTS)
    words = await page.inner_text("body")
    assert requests == [url]
    assert trouble == []
    assert found == {"forbidden": 0, "handlers": 0, "styles": 1, "away": 0, "wide": 0, "shown": "block", "hacked": None}
    assert "<script>window.hacked = 1</script>" in words
    assert "characters cut" in words
    assert "\u202e" not in words
    await page.evaluate(SCRIPT)
    assert await page.evaluate("window.hacked") is None, "the page's own policy forbids scripts"
