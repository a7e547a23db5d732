"""What the servers share: a socket to listen on, and a log without traces of what is no HTTP."""

from __future__ import annotations

import logging
import socket

from aiohttp.http_exceptions import HttpProcessingError

from workbench.errors import UsageError
from workbench.web.serve.addresses import Address


def listen(address: Address) -> socket.socket:
    """A socket on the address.

    Raises:
        UsageError: It can't be had.
    """
    try:
        family, *_, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family, backlog=128)
    except (OSError, OverflowError, UnicodeError) as error:
        hint = "Is it served already? Another port: --port N."
        raise UsageError(f"{address.host} port {address.port} can't be had: {error}.", hint) from error


def without_traces(log: logging.Logger) -> None:
    """Have a log say in one line, and as information, what came that is no HTTP."""
    log.addFilter(_shortened)


def _shortened(record: logging.LogRecord) -> bool:
    if record.exc_info and isinstance(record.exc_info[1], HttpProcessingError):
        record.exc_info, record.levelno, record.levelname = None, logging.INFO, "INFO"
    return True
