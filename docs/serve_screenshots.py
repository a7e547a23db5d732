"""Take the pictures of two annotators in a browser, on the sample data: ``python docs/serve_screenshots.py``.

Needs chromium and the extra ``dev``.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from workbench.app.demo import load_sample
from workbench.core.project import open_project
from workbench.labelling.people import assign

HERE = Path(__file__).resolve().parent
VIEW: Any = {"width": 1080, "height": 630}
PEOPLE = {"amira": "101", "ben": "1t"}
"""Who is shown, and the keys they press before: a few labels, and the types at hand."""

_SETTLED_MS = 1_500


async def take(page: Page, link: str, name: str, keys: str) -> None:
    """Come in, press keys, and save what is there as ``docs/serve-NAME.png``."""
    await page.goto(link)
    await page.wait_for_selector("body.-first-byte")
    for key in ("", *keys):
        await page.wait_for_timeout(_SETTLED_MS)
        if key:
            await page.keyboard.press(key)
    await page.wait_for_timeout(_SETTLED_MS)
    await page.screenshot(path=HERE / f"serve-{name}.png")


async def main() -> None:
    """Serve the sample, and open it as two people at once."""
    with tempfile.TemporaryDirectory() as folder:
        project = open_project(Path(folder) / "sample.db", create=True)
        load_sample(project)
        assign(project, list(PEOPLE), per_item=2)
        command = [sys.executable, "-m", "workbench", "serve", str(project.path), "--port", "0", "--json"]
        server = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        assert server.stdout is not None
        links = json.loads(await server.stdout.readuntil(b"}\n}\n"))["links"]
        async with async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            pages = {name: await (await browser.new_context(viewport=VIEW)).new_page() for name in PEOPLE}
            await asyncio.gather(*(take(page, links[name], name, PEOPLE[name]) for name, page in pages.items()))
            await browser.close()
        server.terminate()
        await server.wait()
        project.close()


if __name__ == "__main__":
    asyncio.run(main())
