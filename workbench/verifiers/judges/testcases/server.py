"""Which server writes test cases: the judge's own, unless another one is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from workbench.llm.server import ModelServer
from workbench.verifiers.base import TEST_SERVER_AT
from workbench.verifiers.serving import model_name, server_from

TEST_SERVER_OPTIONS: Final[dict[str, str]] = {
    "test_model": "mcts, test-cases: the model that writes and validates tests (default: the judge)",
    "test_base_url": "mcts, test-cases: where that model is (default: the judge's server)",
    "test_api_key_env": "mcts, test-cases: environment variable with the key for test_base_url",
}
"""Options of `TestServer`, and what they do."""

_AS = {"test_base_url": "base_url", "test_model": "model", "test_api_key_env": "api_key_env"}


class TestServer:
    """The server that writes tests.

    Args:
        options: As in `TEST_SERVER_OPTIONS`; others are let alone.

    Raises:
        ValueError: An option is missing or wrong.
    """

    __test__ = False

    def __init__(self, options: Mapping[str, str]) -> None:
        self._model = model_name(options, "test_model") if "test_model" in options else None
        self._server: ModelServer | None = None
        if "test_base_url" in options:
            # The judge's key is not for another host.
            try:
                self._server = server_from({_AS[name]: value for name, value in options.items() if name in _AS})
            except ValueError as error:
                raise ValueError(f"test_{error}") from error
        elif "test_api_key_env" in options:
            raise ValueError("test_api_key_env: it goes with test_base_url; the judge's server takes api_key_env")

    @property
    def role(self) -> str:
        """Under which role it is asked."""
        return "tests" if self._model or self._server else "judge"

    def config(self) -> dict[str, object]:
        """What of it may change a verdict."""
        said = {"test_model": self._model, "test_server": self._server.profile if self._server else None}
        return said | ({TEST_SERVER_AT: list(self._server.places)} if self._server else {})

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        """The judge's server and, if it is another one, the tests'."""
        if self.role == "judge":
            return {"judge": judge}
        return {"judge": judge, "tests": self._server or structs.replace(judge, model=self._model or judge.model)}
