"""How a project's people work: checks, repeats, breaks. ``[annotation]`` in workbench.toml."""

from __future__ import annotations

from msgspec import Struct


class AnnotationPolicy(Struct, frozen=True, kw_only=True):
    """Shares and limits of annotation.

    Attributes:
        check_rate: Share of served items that are checks (items with a known answer), as long as there are any.
        check_threshold: Below this accuracy on checks a person is paused.
        check_minimum: Checks a person has answered before they can be paused.
        repeat_share: Share of served items that are the person's own earlier ones.
        repeat_after_hours: How old a label must be before its item is served again.
        break_after_minutes: After how long at work a break is suggested; 0: never.
    """

    check_rate: float = 0.05
    check_threshold: float = 0.7
    check_minimum: int = 10
    repeat_share: float = 0.03
    repeat_after_hours: float = 24.0
    break_after_minutes: int = 0
