"""Generate texts with models: calls are journalled, replies are kept, costs are limited, and a killed run can resume.

The requests under one name are a run of the kind `GENERATION`: it has calls and costs, but no verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from msgspec import Struct, structs

from workbench.config.models import named_model
from workbench.core.code import Execution, Program
from workbench.core.errors import RunError, UsageError, opt
from workbench.core.project import Project
from workbench.core.run import GENERATION
from workbench.llm.records import CallFailed, Chat, PromptMessage, Sampling, Scoring, as_stored
from workbench.llm.server import Limits, ModelServer, RequestExtras
from workbench.runs.choosing import require_name
from workbench.runs.configuring import bound_run
from workbench.runs.store import runs as stored_runs
from workbench.runs.trust import require_servers
from workbench.verifiers.control_tokens import neutralised
from workbench.verifiers.registry import Registry
from workbench.verifiers.serving import (
    LIMIT_OPTIONS,
    SAMPLING_OPTIONS,
    SERVER_OPTIONS,
    limits_from,
    require_sendable,
    sampling_from,
    server_from,
)

if TYPE_CHECKING:
    from workbench.runs.generating import ReplyRequest, Servers
    from workbench.statistics.confusion import FloatArray


# -- Interfaces for building datasets: a model that writes, and a sandbox that executes.


Key = TypeVar("Key")


class WritingRequest(Struct, frozen=True, kw_only=True):
    """One text to be written by a model.

    Attributes:
        messages: The prompt.
        sample: Index that distinguishes independent replies to the same messages, from 0.
        step: The request's purpose, such as ``"tests"``, shown with the call.
        model: The name of one of the writer's models; "" is the first.
    """

    messages: tuple[PromptMessage, ...]
    sample: int = 0
    step: str = "write"
    model: str = ""


class Writer(Protocol):
    """Models that generate texts; equal requests with equal samples always get the same reply."""

    def ask(self, asked: Sequence[WritingRequest]) -> list[str | None]:
        """Return the replies, in the order of the requests; None for a call that failed for good."""
        ...


class Executor(Protocol):
    def run(self, jobs: Iterable[tuple[Key, Program]]) -> Iterator[tuple[Key, Execution]]: ...


MODEL_OPTIONS: Final[dict[str, str]] = {
    **{name: words for name, words in SERVER_OPTIONS.items() if name != "model"},
    **SAMPLING_OPTIONS,
    **LIMIT_OPTIONS,
}
"""Options of `models_from`, and their descriptions."""
_TEXTS: Final = 16
"""Number of texts in one request for vectors: a reply has some thousand numbers for each text."""
MAX_SHOWN_FAILURES: Final = 20
"""Maximum failed calls whose messages are shown."""
_TABLE_OPTIONS: Final = {*SERVER_OPTIONS, *SAMPLING_OPTIONS}
_USUAL: Final = Sampling()
_VERSION: Final = "1"
_ENDING: Final = "stopping after the calls in flight"
"""The reported step while calls in flight are awaited."""
GO_ON: Final = "Run the command that started it again to continue."
Watch = Callable[[str, int, int], None]
"""Called with the step, its completed part, and its total, a few times a second during calls."""


class Model(Struct, frozen=True, kw_only=True):
    """A model that generates texts.

    Attributes:
        sampling: The user's settings; they override a request's.
    """

    server: ModelServer
    sampling: Sampling


class Models(Struct, frozen=True, kw_only=True):
    """The models of a generation.

    Attributes:
        models: The models by name; the first is the default.
        limits: Limits on all models together.
        own: Whether the caller gave all settings, and none comes from a file.
    """

    models: dict[str, Model]
    limits: Limits
    own: bool

    def config(self) -> dict[str, object]:
        """Return everything that must stay the same under one name.

        The address of a server is excluded: replies are stored by server, and a new server gets all requests again.
        """
        return {
            name: {
                "server": one.server.profile,
                "model": one.server.model,
                "sampling": as_stored(one.sampling),
                **one.server.extras.config(),
            }
            for name, one in self.models.items()
        }


class ServerGeneration:
    """A `Writer` over model servers; created by `generating`.

    Attributes:
        run: The run's number.
        failed: Calls that failed for good, by code.
        details: Messages of the first failed calls, at most `MAX_SHOWN_FAILURES`.
    """

    def __init__(self, run: int, models: Models, servers: Servers, watch: Watch | None) -> None:
        self.run = run
        self.failed: Counter[str] = Counter()
        self.details: list[str] = []
        self._models, self._servers, self._watch = models, servers, watch

    def ask(self, asked: Sequence[WritingRequest]) -> list[str | None]:
        """Return the replies, in the order of the requests; None for a call that failed for good.

        Raises:
            RunError: No call can succeed now (a wrong key, a spent budget); replies received are stored.
            UsageError: No such model exists.
        """
        if not asked:
            return []
        watch = self._progress_callback(asked[0].step, len(asked))
        found = self._servers.ask([self._reply_request(one) for one in asked], watch)
        for reply in found:
            if isinstance(reply, CallFailed):
                self._record_failure(reply)
        return [None if isinstance(reply, CallFailed) else reply.text for reply in found]

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Return one vector for each text, from the server's ``embeddings`` call.

        Raises:
            RunError: The server has no such call, a call failed for good, or no call can succeed now; replies received
                are stored.
        """
        from workbench.runs.generating import ReplyRequest

        name = next(iter(self._models.models))
        batches = [tuple(texts[start : start + _TEXTS]) for start in range(0, len(texts), _TEXTS)]
        wanted = [ReplyRequest(name, Scoring(task="embeddings", texts=batch), 0) for batch in batches]
        found = self._servers.ask(wanted, self._progress_callback("embeddings", len(wanted)))
        vectors: list[tuple[float, ...]] = []
        for reply in found:
            if isinstance(reply, CallFailed):
                raise RunError(f"The server returned no embeddings: {reply}.", GO_ON)
            vectors += reply.vectors or tuple((score,) for score in reply.scores)
        return vectors

    def _reply_request(self, one: WritingRequest) -> ReplyRequest:
        from workbench.runs.generating import ReplyRequest

        name = one.model or next(iter(self._models.models))
        if name not in self._models.models:
            raise UsageError(f"There is no model {name!r} here.", f"There are: {', '.join(self._models.models)}.")
        sampling = self._models.models[name].sampling
        return ReplyRequest(name, Chat(messages=one.messages, sampling=sampling), one.sample)

    def _progress_callback(self, step: str, of: int) -> Callable[[int, bool], None] | None:
        watch = self._watch
        return watch and (lambda done, ending: watch(_ENDING if ending else step, done, of))

    def _record_failure(self, failed: CallFailed) -> None:
        self.failed[failed.code] += 1
        if len(self.details) < MAX_SHOWN_FAILURES:
            self.details.append(str(failed))


def models_from(project: Project, names: Sequence[str], options: Mapping[str, str], usual: Sampling = _USUAL) -> Models:
    """Return the named models: tables ``[models.NAME]`` of ``workbench.toml``, or names at the server.

    Args:
        options: Option values by name, as in `MODEL_OPTIONS`; they override the options of a table.
        usual: Default sampling.

    Raises:
        UsageError: No name is given, an option is unknown, missing or wrong, or a table of the file is wrong.
    """
    if not names:
        raise UsageError("No model is named.", f"Say which: {opt.model:NAME} {opt.option:base_url=http://…/v1}")
    _require_known(str(opt.option), options, MODEL_OPTIONS)
    written = {name: named_model(project.path, name) for name in names}
    for name, table in written.items():
        _require_known(f"[models.{name}]", table or {}, _TABLE_OPTIONS)
    try:
        return Models(
            models={
                name: _model_from({"model": name, **(table or {}), **options}, usual) for name, table in written.items()
            },
            limits=limits_from(options),
            own=not any(written.values()),
        )
    except ValueError as error:
        raise UsageError(f"{error}.", f"Example: {opt.model:NAME} {opt.option:base_url=http://…/v1}") from error


@contextmanager
def generating(
    project: Project,
    name: str,
    models: Models,
    config: Mapping[str, object],
    *,
    trust: bool = False,
    watch: Watch | None = None,
) -> Iterator[ServerGeneration]:
    """Call models under a name; this process is the database's runner during the context.

    Requests made earlier under any name are not sent again. The limits apply to all starts of the name together.

    Args:
        name: The run's name in lists.
        config: Other values that the requests depend on, such as the prompt's version; another configuration needs
            another name.
        trust: Whether the user approves servers that ``workbench.toml`` names; those given by the caller are approved.

    Raises:
        UsageError: The name is a verifier's or has another configuration, or a server's address is wrong.
        NotTrustedError: The servers come from a file, and the user has not approved them.
        RunError: Another process is working on the database.
    """
    # Only callers of servers need the client's libraries.
    from workbench.runs.generating import Servers
    from workbench.runs.lease import claim_runner

    require_generation_name(name)
    servers = {role: model.server for role, model in models.models.items()}
    require_servers(project, servers, accept=trust or models.own)
    database = project.database
    with database.write() as connection:
        run = bound_run(connection, name, Identity({**config, "models": models.config()}), {})
        stored_runs.end_run(connection, run, "paused", GO_ON)
    with claim_runner(database) as lease, Servers(database, lease, run, servers, models.limits) as asked:
        yield ServerGeneration(run, models, asked, watch)
    with database.write() as connection:
        stored_runs.end_run(connection, run, "complete")


class Identity:
    """The identity of a generation that its name is bound to: everything that may change a reply."""

    def __init__(self, config: dict[str, object], version: str = _VERSION) -> None:
        self.name: str = GENERATION
        self.version = version
        self._config = config

    def config(self) -> dict[str, object]:
        return self._config


def require_generation_name(name: str) -> None:
    """Make sure that a generation can have this name.

    Raises:
        UsageError: The name is invalid, or that of a kind of verifier.
    """
    require_name(name)
    if Registry().knows(name):
        raise UsageError(f"{name!r} is a kind of verifier.", "Choose another name.")


def _model_from(options: dict[str, str], usual: Sampling) -> Model:
    chosen = {key: value for key, value in structs.asdict(sampling_from(options)).items() if value is not None}
    chosen |= dict.fromkeys(chosen.pop("left_out"))
    server, sampling = server_from(options), structs.replace(usual, **chosen)
    require_sendable(server, sampling, chosen)
    return Model(server=server, sampling=sampling)


def _require_known(place: str, options: Mapping[str, str], known: Iterable[str]) -> None:
    for name in sorted(options.keys() - set(known)):
        raise UsageError(f"{place}: there is no option {name!r}.", f"There are: {', '.join(sorted(known))}.")


# -- Embeddings of texts, from a model server or a local model.


def embed_by_server(
    project: Project,
    name: str,
    models: Models,
    texts: Sequence[str],
    *,
    trust: bool = False,
    watch: Watch | None = None,
) -> FloatArray:
    """Return one row for each text, from a server's ``embeddings`` call; each text is sent only once.

    Raises:
        NotTrustedError: The servers come from a file, and the user has not approved them.
        RunError: The server returns no vectors.
        UsageError: A setting of chats is given, which the call doesn't accept.
    """
    import numpy as np

    for model in models.models.values():
        _require_no_chat_options(model.server.extras)
    with generating(project, f"embeddings/{name}", models, {}, trust=trust, watch=watch) as writer:
        return np.array(writer.embed([neutralised(text) for text in texts]))


def _require_no_chat_options(extras: RequestExtras) -> None:
    for name in ("reasoning_effort", "max_tokens_field", "fold_system"):
        if getattr(extras, name):
            raise UsageError(f"{name}: this option is for chat, but embeddings are requested.", "Leave it out.")


def embed_locally(model: str, texts: Sequence[str]) -> FloatArray:
    """Return one row for each text, computed by sentence-transformers on this machine.

    Only weights in the safetensors format are read, and no code that comes with a model is executed.

    Raises:
        UsageError: sentence-transformers is not installed.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise UsageError(
            "sentence-transformers is not installed.", "Run: pip install 'verifier-workbench[embeddings]'"
        ) from error
    loaded = SentenceTransformer(model, trust_remote_code=False, model_kwargs={"use_safetensors": True})
    found: FloatArray = loaded.encode(
        [neutralised(text) for text in texts], convert_to_numpy=True, show_progress_bar=False
    )
    return found
