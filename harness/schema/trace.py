"""What one episode really saw, kept in memory only, for checks of the scenario itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from harness.schema.base import JsonValue, Plain, plain
from harness.schema.classifier import Evidence
from harness.schema.finding import Judgement, Proposal
from harness.schema.following import FollowUp
from harness.schema.message import ModelRequest
from harness.schema.name import Code
from harness.schema.observation import Observation
from harness.schema.pointer import Missing
from harness.schema.scenario import Scenario
from harness.schema.source import ValueSource

__all__ = ["EpisodeTrace", "TraceChange", "TraceStep"]


@plain
class TraceStep(Plain):
    """One call: ``command`` as written, the facts and counts before it, what was proposed, observed and judged.

    ``after`` are the calls that the harness made itself then, with what they were answered.
    ``turn`` and ``call`` (from 1) are its place; ``tool`` and ``arguments`` as written, ``operation`` that of the
    control plane where the tool is one; ``error`` is the code of a typed error; ``replayed``: by an earlier driver.
    """

    command: str | None
    facts: tuple[str, ...]
    counts: dict[str, int]
    proposal: Proposal
    observation: Observation | None = None
    judgement: Judgement | None = None
    after: tuple[tuple[FollowUp, Observation], ...] = ()
    turn: int = 0
    call: int = 0
    tool: str = ""
    arguments: dict[str, JsonValue] | None = None
    operation: str | None = None
    reached_plane: bool = False
    error: str | None = None
    replayed: bool = False


def _nothing(_: Evidence) -> frozenset[Code]:
    return frozenset()


@plain
class TraceChange(Plain):
    """One change of the workspace: its path (``root/relative``) as it is, what happened to it, by whom."""

    path: str
    change: str
    by: str
    allowed: bool


@plain
class EpisodeTrace(Plain):
    """``bound`` is the scenario with its values in place; ``files`` are the texts of its content targets.

    ``kinds_of`` holds the kind (None: of no kind) of every command text that an answer check asked about.
    ``sources`` are the values of other places as they were when a check asked for them.
    ``ending`` is what checks of the end look at, None where the scenario has none or the episode did not get there.
    ``changes`` is what it did to the workspace, ``state`` what the control plane held at the end, None where it cannot
    tell. ``evidence`` is what classifiers are shown, None where the scenario names none; ``judged`` gives the codes of
    what they find in any evidence.
    """

    bound: Scenario
    requests: tuple[ModelRequest, ...]
    steps: tuple[TraceStep, ...]
    files: dict[str, str]
    kinds_of: dict[str, str | None] = field(default_factory=dict)
    sources: dict[ValueSource, JsonValue | Missing] = field(default_factory=dict)
    ending: dict[str, JsonValue] | None = None
    changes: tuple[TraceChange, ...] = ()
    state: dict[str, JsonValue] | None = None
    evidence: Evidence | None = None
    judged: Callable[[Evidence], frozenset[Code]] = _nothing
