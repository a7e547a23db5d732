"""Annotate: one item at a time on its final-answer card; one key labels and brings the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple, TypeVar

from msgspec import structs
from textual import events
from textual.app import ComposeResult
from textual.worker import Worker, WorkerState
from textual.widgets import Footer, Static

from workbench.errors import AnnotationError
from workbench.model.label import EXCLUSION_REASONS, LabelVerdict
from workbench.services.annotating import FAST_MS, GUIDELINES, AnnotationItem, AnnotationSession, Answer, Progress
from workbench.tui.actions import Action
from workbench.tui.person import PersonScreen
from workbench.tui.stopwatch import Stopwatch
from workbench.tui.widgets.card import FinalAnswerCard, Opened
from workbench.tui.widgets.card_texts import CardTexts, card_texts
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.choices import Choice, ChoiceMenu
from workbench.tui.widgets.label_line import label_line
from workbench.tui.widgets.note_input import NoteInput
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.type_picker import TypePicker

HEARTBEAT_S = 60.0
LOOK_AGAIN_S = 10.0
HISTORY = 500
"""How many own labels ``[`` goes back through."""

_STORE, _NEXT = "annotate-store", "annotate-next"
Result = TypeVar("Result")

_NOTHING_LEFT = """\
Nothing is left to label for {name}: {done} labelled.

New items appear here by themselves. A coordinator opens them with

  workbench assign {database} --annotators {name},… --per-item 2

[ goes back to your own labels, z takes the last one back.
"""
_NOBODY = """\
Nobody is here to label yet. A coordinator opens label slots with

  workbench assign {database} --annotators NAME,NAME --per-item 2
"""
