"""Options of all verifiers with a model server: the server, and limits on its use.

Values arrive as text. A wrong one is a ValueError with the message ``option: what is wrong``, which never repeats a
possible key.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Final

import msgspec

from workbench.core.errors import Command
from workbench.core.options import NONE_GIVEN, Options, option, record_from
from workbench.llm.dialects import sendable, unsent
from workbench.llm.profiles import DEFAULT, PROFILES, Api, guess_profile, profile_for_model, profile_named
from workbench.llm.records import Sampling
from workbench.llm.server import (
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
from workbench.verifiers.option_record import meanings, parse_record

_MAX_MODEL_CHARACTERS = 300
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")


def one_line(text: str) -> str:
    """Return a line of text unchanged.

    Raises:
        ValueError: It is empty or has several lines.
    """
    if not text.strip() or not text.isprintable():
        raise ValueError("must be one line of visible characters")
    return text


def model_name(text: str) -> str:
    if not (name := text.strip()):
        raise ValueError("it is missing")
    if len(name) > _MAX_MODEL_CHARACTERS or not name.isprintable():
        raise ValueError(f"must be one line of up to {_MAX_MODEL_CHARACTERS} visible characters")
    return name


def _server_name(text: str) -> str:
    name = model_name(text)
    return server_identity(name) if "://" in name else name


def _key_variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise ValueError("give the name of an environment variable, such as OPENAI_API_KEY, not the key itself")
    return text


def _command_words(text: str) -> tuple[str, ...]:
    if not (found := tuple(shlex.split(one_line(text)))):
        raise ValueError("it is empty")
    return found


def _proxy_url(text: str) -> str:
    if one_line(text) == FROM_ENVIRONMENT:
        return text
    try:
        return normalised_url(text)
    except ValueError:
        raise ValueError("use an address such as http://localhost:3128 without a name or password") from None


def _effort(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9_-]{1,40}", text):
        raise ValueError("must be one word, such as low, medium or high")
    return text


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text.encode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError('must be a JSON object, such as {"name": "value"}')
    return found


def _body_fields(text: str) -> dict[str, Any]:
    body = _json_object(text)
    if own := sorted(body.keys() & _OWN_FIELDS):
        raise ValueError(f"{own[0]!r} is a field that the judge sets itself; remove it")
    return body


def _headers(text: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in _json_object(text).items():
        if not _HEADER.fullmatch(name) or not isinstance(value, str) or not (value.isascii() and value.isprintable()):
            raise ValueError("names are letters, digits and -, values lines of plain text")
        if value.startswith("$") and not _VARIABLE.fullmatch(value[1:]):
            raise ValueError(f"{name}: write the name of an environment variable after $")
        if _SECRET_HEADER.search(name) and not value.startswith("$"):
            raise ValueError(f"{name}: put the value into an environment variable and write $ITS_NAME")
        headers[name.lower()] = value
    return headers


class ServerOptions(Options, frozen=True, kw_only=True):
    """A model on a server, and how to call it."""

    base_url: Annotated[str, option("base URL of the model server, such as http://localhost:8000/v1")]
    model: Annotated[str, option("name of the model on the server", read=model_name)]
    server: Annotated[
        str | None,
        option(f"kind of server: {', '.join(PROFILES)} (default: guessed from base_url)", choices=tuple(PROFILES)),
    ] = None
    server_name: Annotated[
        str | None,
        option("common name of equivalent servers, which share stored replies (default: base_url)", read=_server_name),
    ] = None
    api_key_env: Annotated[
        str | None,
        option("environment variable with the API key; only the variable's name is stored", read=_key_variable),
    ] = None
    api_key_file: Annotated[
        str | None, option("file with the API key, instead of api_key_env; only the path is stored", read=one_line)
    ] = None
    api_key_command: Annotated[
        tuple[str, ...], option("program that prints the API key, run without a shell", read=_command_words)
    ] = ()
    api: Annotated[
        Api | None, option("OpenAI API to call (default: chat, or responses for models that support only that)")
    ] = None
    reasoning_effort: Annotated[
        str | None, option("reasoning effort of the model, in the provider's words: low, medium, high …", read=_effort)
    ] = None
    extra_body: Annotated[
        dict[str, Any], option('JSON fields added to each request, such as {"top_k": 20}', read=_body_fields)
    ] = NONE_GIVEN
    extra_headers: Annotated[
        dict[str, str],
        option("HTTP headers added to each request, as JSON; $NAME is an environment variable", read=_headers),
    ] = NONE_GIVEN
    max_tokens_field: Annotated[
        str | None, option("request field that limits the length of a reply, instead of the server's usual one")
    ] = None
    fold_system: Annotated[
        bool, option("whether the system message is put in front of the user message, for models without a system role")
    ] = False
    ca_file: Annotated[
        str | None, option("file with the CA certificates to trust instead of the default ones", read=one_line)
    ] = None
    proxy: Annotated[
        str | None, option("URL of a proxy, or environment to use HTTPS_PROXY and similar variables", read=_proxy_url)
    ] = None
    timeout: Annotated[
        float,
        option("maximum time to wait for a reply, in seconds", gt=0, le=86_400),
    ] = DEFAULT_TIMEOUT_S


class SamplingOptions(Options, frozen=True, kw_only=True):
    """Options for sampling a model's replies."""

    temperature: Annotated[
        float | None, option("sampling temperature; 0 is greedy, none omits it from requests", ge=0)
    ] = None
    top_p: Annotated[
        float | None, option("nucleus sampling: total probability of the most likely tokens to sample from", gt=0, le=1)
    ] = None
    top_k: Annotated[
        int | None, option("number of most likely tokens to sample from, if the server supports it", ge=1)
    ] = None
    max_tokens: Annotated[int | None, option("maximum tokens of a reply; none leaves it to the server", ge=1)] = None
    seed: Annotated[
        int | None, option("seed of random choices: those of a search, and of sampling if the server supports a seed")
    ] = None


class InsertionOptions(Options, frozen=True, kw_only=True):
    """Options for inserting texts of an item into a prompt; None is the prompt's own default."""

    fence: Annotated[
        bool | None,
        option(
            "whether texts are delimited by random lines that their author can't guess (default: on)",
            choices=("on", "off"),
        ),
    ] = None
    neutralise: Annotated[
        bool | None,
        option("whether control tokens in inserted texts are made harmless (default: on)", choices=("on", "off")),
    ] = None


SERVER_OPTIONS: Final = meanings(ServerOptions)
"""Options of `server_from`, and their descriptions."""
LIMIT_OPTIONS: Final = meanings(Limits)
"""Options of `limits_from`, and their descriptions."""
SAMPLING_OPTIONS: Final = meanings(SamplingOptions)
"""Options of `sampling_from`, and their descriptions."""
_OWN_FIELDS: Final = {"model", "messages", "system", "input", "instructions", "stream", "n"}
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)
_FIELD = re.compile(r"[a-z][A-Za-z0-9_]{0,60}")
_KEYS: Final = {"api_key_env", "api_key_file", "api_key_command"}


def required(options: Mapping[str, str], name: str) -> str:
    """Return an option that may not be blank.

    Raises:
        ValueError: It is missing.
    """
    if not (value := options.get(name, "").strip()):
        raise ValueError(f"{name}: it is missing")
    return value


def server_from(options: Mapping[str, str]) -> ModelServer:
    """Return the server that `SERVER_OPTIONS` describe; other options are ignored.

    Raises:
        ValueError: An option is missing or wrong.
    """
    own = parse_record(ServerOptions, options)
    if "," in own.base_url:
        raise ValueError("base_url: a server has one address; put a load balancer or proxy before several")
    if len(_KEYS & options.keys()) > 1:
        raise ValueError(f"{min(_KEYS & options.keys())}: the key has two sources; give only one of {', '.join(_KEYS)}")
    profile = own.server or guess_profile(own.base_url)
    return ModelServer(
        profile=profile,
        base_url=normalised_url(own.base_url),
        model=own.model,
        key_variable=own.api_key_env,
        timeout_s=own.timeout,
        name=own.server_name,
        key_file=own.api_key_file,
        key_command=own.api_key_command,
        extras=_extras(own, profile),
        route=record_from(Route, own),
    )


def extras_from(options: Mapping[str, str]) -> RequestExtras:
    """Return additions to requests, from `SERVER_OPTIONS`; raises as `server_from` does."""
    return _extras(parse_record(ServerOptions, {"base_url": "-", "model": "-", **options}), DEFAULT)


def _extras(own: ServerOptions, profile: str) -> RequestExtras:
    field = own.max_tokens_field
    if field is not None and (not _FIELD.fullmatch(field) or profile_named(profile).dialect == "anthropic-messages"):
        raise ValueError("max_tokens_field: must be the name of a field in OpenAI's API, such as max_tokens")
    profile_for_model(profile, "", own.api)
    return record_from(RequestExtras, own, body=own.extra_body, headers=own.extra_headers)


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
    return parse_record(Limits, options)


def sampling_from(options: Mapping[str, str]) -> Sampling:
    """Parse `SAMPLING_OPTIONS`; other options are ignored.

    Raises:
        ValueError: An option is wrong.
    """
    left_out = tuple(name for name in ("temperature", "top_p", "top_k", "max_tokens") if options.get(name) == "none")
    given = {name: value for name, value in options.items() if name not in left_out}
    return record_from(Sampling, parse_record(SamplingOptions, given), left_out=left_out)
