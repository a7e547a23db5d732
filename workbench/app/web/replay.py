"""A model server that serves recorded replies only, for tests, demonstrations and work without a network.

It listens on this machine alone, takes any key, and marks every response with a header that
says from which recording it comes, percent-encoded.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import threading
from collections.abc import Callable, Sequence
from urllib.parse import quote

from aiohttp import web

from workbench.core.errors import UsageError, opt
from workbench.runs.replaying import NOT_RECORDED, ORIGIN_HEADER, RecordedReplies

HOST = "127.0.0.1"

_MAX_REQUEST = 64 << 20


def serve(
    book: RecordedReplies,
    name: str,
    models: Sequence[str],
    port: int,
    on_ready: Callable[[str], None],
    *,
    until_eof: bool = False,
) -> None:
    """Serve recorded replies until SIGINT or SIGTERM.

    Args:
        book: The replies.
        name: Their origin, for the header.
        models: The models that ``/models`` lists.
        port: Port to listen on; 0 for any free port.
        on_ready: Called with the base URL once connections are accepted.
        until_eof: Also stop at the end of standard input, so that the server ends with its parent.

    Raises:
        UsageError: The port is taken, or not available.
    """
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(_make_application(book, name, models), port, on_ready, until_eof))


async def _serve(application: web.Application, port: int, on_ready: Callable[[str], None], until_eof: bool) -> None:
    runner = web.AppRunner(application, handle_signals=False, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, HOST, port).start()
        except (OSError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                message = f"Port {port} is in use by another program."
                raise UsageError(message, f"Leave {opt.port} out for a free one.") from error
            raise UsageError(
                f"Port {port} is not available: {error}.", f"Leave {opt.port} out for a free one."
            ) from error
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        if until_eof:
            threading.Thread(target=_await_eof, args=(asyncio.get_running_loop(), ended), daemon=True).start()
        on_ready(f"http://{HOST}:{runner.addresses[0][1]}/v1")
        await ended.wait()
    finally:
        await runner.cleanup()


def _await_eof(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    while os.read(0, 1 << 16):
        pass
    # The loop may have ended for another reason.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(ended.set)


def _make_application(book: RecordedReplies, name: str, models: Sequence[str]) -> web.Application:
    mark = {ORIGIN_HEADER: quote(name)}

    async def reply(request: web.Request) -> web.Response:
        try:
            found = book.answer(request.path, await request.read())
        except ValueError as error:
            return _failure(400, f"The request is not JSON: {error}.")
        except ConnectionError:
            # The client has disconnected.
            return _failure(400, "The request is truncated.")
        if found is None:
            return _failure(NOT_RECORDED, f"No recorded reply fits this request: {book.size} are in {name}.")
        return web.Response(body=found, content_type="application/json", headers=mark)

    async def listing(_: web.Request) -> web.Response:
        listed = [{"id": model, "object": "model"} for model in models]
        return web.json_response({"object": "list", "data": listed}, headers=mark)

    def _failure(status: int, message: str) -> web.Response:
        error = {"message": message, "type": "replay", "code": status}
        return web.json_response({"error": error}, status=status, headers=mark)

    application = web.Application(client_max_size=_MAX_REQUEST)
    application.router.add_get("/{any:.*}models", listing)
    application.router.add_post("/{any:.*}", reply)
    return application
