"""A place in a list of tokens that only moves forward."""

from __future__ import annotations

from workbench.verifiers.rules.danger import TooComplex
from workbench.verifiers.rules.tokens import NotUnderstood

MAX_DEPTH = 30
"""Groups, exponents and arguments inside one another."""


class Cursor:
    """Steps through tokens; the end reads as an empty token."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0
        self._depth = 0

    def _take(self) -> str:
        """The next token.

        Raises:
            NotUnderstood: there is none.
        """
        token = self._tokens[self._at]
        if not token:
            raise NotUnderstood("the text ends too early")
        self._at += 1
        return token

    def _accept(self, *tokens: str) -> bool:
        """Step over these tokens if they are next."""
        after = self._at + len(tokens)
        if self._tokens[self._at : after] != list(tokens):
            return False
        self._at = after
        return True

    def _expect(self, token: str) -> None:
        if self._tokens[self._at] != token:
            raise NotUnderstood(self._tokens[self._at])
        self._at += 1

    def _accept_signs(self) -> bool:
        """Step over plus and minus signs; whether they make a minus."""
        minus = False
        while (token := self._tokens[self._at]) in ("+", "-"):
            minus ^= token == "-"
            self._at += 1
        return minus

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooComplex("nested too deep")

    def _leave(self) -> None:
        self._depth -= 1
