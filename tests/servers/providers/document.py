"""Generate the site's page of servers from the records."""

from __future__ import annotations

from collections.abc import Iterator

from tests.servers.providers import CASES, Cell, Provider, providers

INTRODUCTION = """# Servers

How workbench handles the responses of each kind of model server. The tests replay the bodies and headers of the
real servers (`tests/servers/providers`); each cell is run through the client and a judge.

| word | action |
|---|---|
| verdict | the reply is parsed without its thoughts |
| abstains | the item has no verdict: `refused`, or `truncated` |
| error | only this item fails; its verdict is `error` with the server's message, and the run continues |
| waits | no calls for the time that the server requests, otherwise up to 10 s; then one call, then all |
| tries again | retries at least 8 times |
| pauses | the run pauses with the server's message, immediately or after 5 calls; no item gets a verdict |
| – | the server has no such case |

The requested wait is read from `retry-after-ms`, `Retry-After`, Google's `retryDelay`, the message ("try again in
7m12s") and the reset times of used-up limits, in this order. A wait of more than half an hour, a daily or monthly
limit and spent credit are quotas: the run pauses. Limits of requests or tokens per minute in a reply's headers apply
from then on; Groq's `x-ratelimit-limit-requests` is a daily limit. If a server states no limit, a run whose calls
were rejected limits itself to the number of calls per minute that were answered.

"""


def document() -> str:
    """Return the whole page."""
    return INTRODUCTION + "\n".join([*_table(), "", "## Sources", "", *_sources()]) + "\n"


def _table() -> Iterator[str]:
    yield "| server | " + " | ".join(case.title for case in CASES.values()) + " |"
    yield "|---" * (len(CASES) + 1) + "|"
    for provider in providers().values():
        yield f"| {provider.title} | " + " | ".join(_does(provider.cell(name), name) for name in CASES) + " |"


def _does(cell: Cell, name: str) -> str:
    if cell.none:
        return "–"
    does = CASES[name].does
    return f"{does} {cell.seconds:g} s" if cell.seconds else does


def _sources() -> Iterator[str]:
    for provider in providers().values():
        yield f"**{provider.title}** (`server={provider.server}`)"
        yield ""
        for name, case in CASES.items():
            if not (provider.cell(name).none and name == "spent"):
                yield f"- {case.title}: {_source(provider, name)}"
        yield from (f"- {text} ({source})" for text, source in provider.others.items())
        yield ""


def _source(provider: Provider, name: str) -> str:
    cell = provider.cell(name)
    if cell.none:
        return f"none: {cell.none}"
    status = f"{cell.status}, " if name != "plain" and (cell.body is not None or cell.status != 200) else ""
    return f"{status}{cell.source}"
