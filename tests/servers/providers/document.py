"""the site's page of servers, from the records."""

from __future__ import annotations

from collections.abc import Iterator

from tests.servers.providers import CASES, Cell, Provider, providers

INTRODUCTION = """# Servers

What becomes of what a model server answers, for each kind that the tests play by its own bodies and headers
(`tests/servers/providers`). Each cell is run through the client and a judge.

| word | what is done |
|---|---|
| verdict | the reply is read; thoughts are no part of it |
| abstains | the item has no verdict: `refused`, or `truncated` |
| error | the item's own; a verdict `error` with the server's words, and the run goes on |
| waits | no call goes until the time is over that the server asks for, else up to 10 s; then one, then all |
| tries again | at least 8 times |
| pauses | the run ends with the server's words, at once or after 5 calls; no item has a verdict for it |
| – | there is no such case |

How long a server asks to wait is read from `retry-after-ms`, `Retry-After`, Google's `retryDelay`, its words ("try
again in 7m12s") and the times at which used-up limits are whole again, in this order. More than half an hour, a limit
a day or a month and spent credit are quotas: the run pauses. A limit of requests or tokens that a reply's headers tell
is kept from then on if it is a minute's; Groq's `x-ratelimit-limit-requests` is a day's. Where nothing is told, a run
that was refused makes so many calls a minute as were answered.

"""


def document() -> str:
    """The whole page."""
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
        yield from (f"- {said} ({source})" for said, source in provider.others.items())
        yield ""


def _source(provider: Provider, name: str) -> str:
    cell = provider.cell(name)
    if cell.none:
        return f"none: {cell.none}"
    status = f"{cell.status}, " if name != "plain" and (cell.body is not None or cell.status != 200) else ""
    return f"{status}{cell.source}"
