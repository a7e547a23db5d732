"""Options of all verifiers with a model server: the server, and limits on its use.

Values arrive as text. A wrong one is a ValueError with the message ``option: what is wrong``, which never repeats a
possible key.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar, get_args

import msgspec

from workbench.core.errors import Command
from workbench.llm.dialects import sendable, unsent
from workbench.llm.profiles import DEFAULT, PROFILES, Api, guess_profile, profile_for_model, profile_named
from workbench.llm.records import Sampling
from workbench.llm.server import (
    DEFAULT_CONCURRENCY,
    DEFAULT_TIMEOUT_S,
    FROM_ENVIRONMENT,
    Limits,
    ModelServer,
    RequestExtras,
    Route,
    normalised_url,
    server_identity,
)
from workbench.verifiers.base import SERVER_AT, Isolation

SERVER_OPTIONS: Final[dict[str, str]] = {
    "base_url": "base URL of the model server, such as http://localhost:8000/v1",
    "model": "name of the model on the server",
    "server": f"kind of server: {', '.join(PROFILES)} (default: guessed from base_url)",
    "server_name": "common name of equivalent servers; servers with the same name share stored replies (default: "
    "base_url)",
    "api_key_env": "environment variable with the API key; only the variable's name is stored",
    "api_key_file": "file with the API key, instead of api_key_env; only the path is stored",
    "api_key_command": "program that prints the API key, such as gcloud auth print-access-token; it runs "
    "without a shell",
    "api": "OpenAI API to call: chat or responses (default: chat, or responses for models that support only that)",
    "reasoning_effort": "reasoning effort of the model, in the provider's words: low, medium, high …",
    "extra_body": 'JSON fields added to each request, such as {"chat_template_kwargs": {"enable_thinking": false}}',
    "extra_headers": 'HTTP headers added to each request, as JSON, such as {"X-Team": "$TEAM_KEY"}; $NAME is '
    "an environment variable",
    "max_tokens_field": "request field that limits the length of a reply (default: max_tokens, or the field "
    "of the provider's API)",
    "fold_system": "whether the system message is put in front of the user message, for models without a "
    "system role: true or false (default)",
    "stream": "whether replies are streamed, with timeout as the maximum pause: true or false (default)",
    "ca_file": "file with the CA certificates to trust instead of the default ones",
    "proxy": "URL of a proxy, or environment to use HTTPS_PROXY and similar variables (default: no proxy)",
    "timeout": f"maximum time to wait for a reply, in seconds (default {DEFAULT_TIMEOUT_S:g})",
}
"""Options of `server_from`, and their descriptions."""
LIMIT_OPTIONS: Final[dict[str, str]] = {
    "concurrency": f"maximum number of calls in flight (default {DEFAULT_CONCURRENCY})",
    "rpm": "maximum number of requests per minute",
    "tpm": "maximum number of tokens per minute",
    "max_calls": "maximum number of calls, over all starts of the run",
    "max_tokens_total": "maximum number of tokens, over all starts of the run",
    "max_cost": "maximum cost in US dollars, over all starts of the run",
}
"""Options of `limits_from`, and their descriptions."""
SAMPLING_OPTIONS: Final[dict[str, str]] = {
    "temperature": "sampling temperature; 0 is greedy, none omits it from requests (default: the template's)",
    "top_p": "nucleus sampling: total probability of the most likely tokens to sample from",
    "top_k": "number of most likely tokens to sample from, if the server supports it",
    "max_tokens": "maximum length of a reply, in tokens; none leaves it to the server",
    "seed": "seed of random choices: those of a search, and of sampling if the server supports a seed",
}
"""Options of `sampling_from`, and their descriptions."""
NOT_SENT: Final = "none"
"""The value that leaves a setting to the server."""
Word = TypeVar("Word", bound=str)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_MAX_CONCURRENCY = 10_000
_MAX_TIMEOUT_S = 86_400.0
_MAX_WHOLE_NUMBER = 2**63 - 1
_MAX_MODEL_CHARACTERS = 300
_MAX_QUOTED_CHARACTERS = 40
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def server_from(options: Mapping[str, str]) -> ModelServer:
    """Return the server that `SERVER_OPTIONS` describe; other options are ignored.

    Raises:
        ValueError: An option is missing or wrong.
    """
    url = required(options, "base_url")
    if "," in url:
        raise ValueError("base_url: a server has one address; put a load balancer or proxy before several")
    variable = options.get("api_key_env")
    if variable is not None and not _VARIABLE.fullmatch(variable):
        raise ValueError(
            "api_key_env: give the name of an environment variable, such as OPENAI_API_KEY, not the key itself"
        )
    timeout = number(options, "timeout", above=0, most=_MAX_TIMEOUT_S)
    if len(_KEYS & options.keys()) > 1:
        raise ValueError(f"{min(_KEYS & options.keys())}: the key has two sources; give only one of {', '.join(_KEYS)}")
    profile = choice(options, "server", tuple(PROFILES), default=guess_profile(url))
    return ModelServer(
        profile=profile,
        base_url=normalised_url(url),
        model=model_name(options, "model"),
        key_variable=variable,
        timeout_s=DEFAULT_TIMEOUT_S if timeout is None else timeout,
        name=_server_name(options),
        key_file=line(options, "api_key_file"),
        key_command=_key_command(options),
        extras=extras_from(options, profile),
        route=Route(ca_file=line(options, "ca_file"), proxy=_parse_proxy(options)),
    )


_KEYS: Final = {"api_key_env", "api_key_file", "api_key_command"}
_OWN_FIELDS: Final = {"model", "messages", "system", "input", "instructions", "stream", "n"}
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)
_FIELD = re.compile(r"[a-z][A-Za-z0-9_]{0,60}")
_EFFORT = re.compile(r"[a-z0-9_-]{1,40}")


def _parse_proxy(options: Mapping[str, str]) -> str | None:
    url = line(options, "proxy")
    if url is None or url == FROM_ENVIRONMENT:
        return url
    try:
        return normalised_url(url)
    except ValueError:
        raise ValueError("proxy: use an address such as http://localhost:3128 without a name or password") from None


def _key_command(options: Mapping[str, str]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line(options, "api_key_command") or ""))
    except ValueError as error:
        raise ValueError(f"api_key_command: {error}") from None
    if "api_key_command" in options and not words:
        raise ValueError("api_key_command: it is empty")
    return words


def extras_from(options: Mapping[str, str], profile: str = DEFAULT) -> RequestExtras:
    """Return additions to requests to a server of this kind, from `SERVER_OPTIONS`; raises as `server_from` does."""
    effort, field = options.get("reasoning_effort"), options.get("max_tokens_field")
    if effort is not None and not _EFFORT.fullmatch(effort):
        raise ValueError("reasoning_effort: must be one word, such as low, medium or high")
    if field is not None and (not _FIELD.fullmatch(field) or profile_named(profile).dialect == "anthropic-messages"):
        raise ValueError("max_tokens_field: must be the name of a field in OpenAI's API, such as max_tokens")
    body = _parse_json_object(options, "extra_body")
    if own := sorted(body.keys() & _OWN_FIELDS):
        raise ValueError(f"extra_body: {own[0]!r} is a field that the judge sets itself; remove it")
    return RequestExtras(
        body=body,
        headers=_check_headers(_parse_json_object(options, "extra_headers")),
        reasoning_effort=effort,
        max_tokens_field=field,
        fold_system=switch(options, "fold_system", False),
        stream=switch(options, "stream", False),
        api=_parse_api(options, profile),
    )


def _parse_api(options: Mapping[str, str], profile: str) -> Api | None:
    api: Api | None = choice(options, "api", get_args(Api), "chat") if "api" in options else None
    profile_for_model(profile, "", api)
    return api


def _parse_json_object(options: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(options.get(name, "{}").encode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: it is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f'{name}: must be a JSON object, such as {{"name": "value"}}')
    return found


def _check_headers(given: Mapping[str, object]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in given.items():
        if not _HEADER.fullmatch(name) or not isinstance(value, str) or not (value.isascii() and value.isprintable()):
            raise ValueError("extra_headers: names are letters, digits and -, values lines of plain text")
        if value.startswith("$") and not _VARIABLE.fullmatch(value[1:]):
            raise ValueError(f"extra_headers: {name}: write the name of an environment variable after $")
        if _SECRET_HEADER.search(name) and not value.startswith("$"):
            raise ValueError(f"extra_headers: {name}: put the value into an environment variable and write $ITS_NAME")
        headers[name.lower()] = value
    return headers


def line(options: Mapping[str, str], name: str) -> str | None:
    """Return a line of text; None if the option isn't given.

    Raises:
        ValueError: The value is empty or has several lines.
    """
    value = options.get(name)
    if value is not None and (not value.strip() or not value.isprintable()):
        raise ValueError(f"{name}: must be one line of visible characters")
    return value


def _server_name(options: Mapping[str, str]) -> str | None:
    if "server_name" not in options:
        return None
    name = model_name(options, "server_name")
    return server_identity(name) if "://" in name else name


def require_sendable(server: ModelServer, sampling: Sampling, chosen: Collection[str]) -> None:
    """Check that the user's settings reach the server: a setting that is dropped would be displayed as if it applied.

    Args:
        sampling: All settings of a call.
        chosen: Names of the user's settings; for others there is only a warning.

    Raises:
        ValueError: A setting can't be sent.
    """
    profile = profile_for_model(server.profile, server.model, server.extras.api)
    for name in unsent(profile, server.model, sampling):
        if name in chosen:
            takes = ", ".join(one for one in sendable(profile, server.model) if one != name)
            kind = f" or say what kind of server it is (server=…; {Command('models DB')} finds out)"
            raise ValueError(
                f"{name}: it can't be sent to {profile.title} for the model {server.model!r}, which takes {takes}; "
                f"leave it out{kind if server.profile == DEFAULT else ''}"
            )


class OneServer:
    """Shared members of verifiers that call one server.

    Attributes:
        calls: Maximum number of calls for an item.
    """

    calls: ClassVar[float] = 1.0
    preload: ClassVar[tuple[str, ...]] = ()
    isolation: Isolation = "served"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._server = server_from(options)
        self._limits = limits_from(options)

    def server_config(self) -> dict[str, object]:
        server = self._server
        asked = {"server": server.profile, "model": server.model, SERVER_AT: list(server.identities)}
        return asked | server.extras.config()

    def servers(self) -> dict[str, ModelServer]:
        return {"judge": self._server}

    def limits(self) -> Limits:
        return self._limits

    def calls_per_item(self) -> float:
        return self.calls


def limits_from(options: Mapping[str, str]) -> Limits:
    """Return the limits that `LIMIT_OPTIONS` set; other options are ignored.

    Raises:
        ValueError: An option is wrong.
    """
    return Limits(
        concurrency=whole_number(options, "concurrency", least=1, most=_MAX_CONCURRENCY) or DEFAULT_CONCURRENCY,
        rpm=number(options, "rpm", above=0),
        tpm=number(options, "tpm", above=0),
        max_calls=whole_number(options, "max_calls"),
        max_tokens=whole_number(options, "max_tokens_total"),
        max_cost=number(options, "max_cost", least=0),
    )


def sampling_from(options: Mapping[str, str]) -> Sampling:
    """Parse `SAMPLING_OPTIONS`; other options are ignored.

    Raises:
        ValueError: An option is wrong.
    """
    left_out = tuple(name for name in ("temperature", "top_p", "top_k", "max_tokens") if options.get(name) == NOT_SENT)
    given = {name: value for name, value in options.items() if name not in left_out}
    return Sampling(
        temperature=number(given, "temperature", least=0),
        top_p=number(given, "top_p", above=0, most=1),
        top_k=whole_number(given, "top_k", least=1),
        max_tokens=whole_number(given, "max_tokens", least=1),
        seed=whole_number(given, "seed"),
        left_out=left_out,
    )


def required(options: Mapping[str, str], name: str) -> str:
    """Return a required option.

    Raises:
        ValueError: The option is missing or empty.
    """
    value = options.get(name, "").strip()
    if not value:
        raise ValueError(f"{name}: it is missing")
    return value


def model_name(options: Mapping[str, str], name: str) -> str:
    """Return the name of a model on its server.

    Raises:
        ValueError: The option is missing, empty, or not a valid name.
    """
    value = required(options, name)
    if len(value) > _MAX_MODEL_CHARACTERS or not value.isprintable():
        raise ValueError(f"{name}: must be one line of up to {_MAX_MODEL_CHARACTERS} visible characters")
    return value


def choice(options: Mapping[str, str], name: str, allowed: Sequence[Word], default: Word) -> Word:
    """Return an option's value, which must be one of the allowed ones.

    Raises:
        ValueError: The value is not in the set.
    """
    value = options.get(name, default)
    for word in allowed:
        if word == value:
            return word
    raise ValueError(f"{name}: it is {' or '.join(allowed)}, not {_quoted(value)}")


def switch(options: Mapping[str, str], name: str, default: bool) -> bool:
    """Parse ``true`` or ``false``, also written ``on`` or ``off``.

    Raises:
        ValueError: The value is another one.
    """
    words = {"true": True, "on": True, "false": False, "off": False}
    return words[choice(options, name, tuple(words), "true" if default else "false")]


def whole_number(options: Mapping[str, str], name: str, *, least: int = 0, most: int = _MAX_WHOLE_NUMBER) -> int | None:
    """Parse a whole number; None if the option isn't given.

    Raises:
        ValueError: The value is not a whole number, or out of range.
    """
    text = options.get(name)
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{name}: {_quoted(text)} is not a whole number")
    value = int(text)
    if not least <= value <= most:
        bounds = f"at least {least}" if most == _MAX_WHOLE_NUMBER else f"from {least} to {most}"
        raise ValueError(f"{name}: it is a whole number {bounds}, not {value}")
    return value


def number(
    options: Mapping[str, str], name: str, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
) -> float | None:
    """Parse a finite number; None if the option isn't given.

    Args:
        above: Exclusive lower bound.
        least: Inclusive lower bound.
        most: Inclusive upper bound.

    Raises:
        ValueError: The value is not a finite number, or out of range.
    """
    text = options.get(name)
    if text is None:
        return None
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{name}: {_quoted(text)} is not a number")
    if not (above < value and least <= value <= most):
        bounds = {"above": above, "at least": least, "at most": most}
        words = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if math.isfinite(bound))
        raise ValueError(f"{name}: it is a number {words}, not {value:g}")
    return value


def _quoted(text: str) -> str:
    return ascii(text if len(text) <= _MAX_QUOTED_CHARACTERS else f"{text[:_MAX_QUOTED_CHARACTERS]}...")
