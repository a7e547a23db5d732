"""The pages and their files: a fixed list, with headers that block everything else."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from aiohttp import web

_OWN = Path(__file__).parent / "static"
_THEIRS = Path(str(files("textual_serve"))) / "static"

OPEN_FILES = {f"/static/{name}": _OWN / name for name in ("page.css", "icon.svg", "enter.js")}
"""Files of the login page; anyone may load them."""

FILES = {
    "/static/app.js": _OWN / "app.js",
    "/static/textual.js": _THEIRS / "js" / "textual.js",
    "/static/xterm.css": _THEIRS / "css" / "xterm.css",
    "/static/mono.ttf": _THEIRS / "fonts" / "RobotoMono-VariableFont_wght.ttf",
}
"""Files of the app's page; for logged-in people only."""

HEADERS = {
    # xterm makes style elements for its cursor and selection; no page has a text in it that is not in these files.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), clipboard-read=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Server": "workbench",
}
"""Headers of every response."""


async def protect(_: web.Request, response: web.StreamResponse) -> None:
    """Add the security headers (an aiohttp signal, also sent for refusals)."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = HEADERS["Server"]


def page(name: str, status: int = 200) -> web.Response:
    """Return one of the pages; they are the same for everyone."""
    text = (_OWN / f"{name}.html").read_text(encoding="utf-8")
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8")


def file(path: Path) -> web.FileResponse:
    """Return one of the files; a browser may cache it for an hour."""
    return web.FileResponse(path, headers={"Cache-Control": "private, max-age=3600"})
