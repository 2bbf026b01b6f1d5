"""One episode while it runs: the live handles around its journal."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.episode.latch import Bounds
from harness.episode.parts import EpisodeParts
from harness.episode.values import LateValues
from harness.errors import MachineError
from harness.journal import EpisodeState, Journal, MemorySpool
from harness.ports import ControlPlane
from harness.rules import RuleState
from harness.schema.command import GrammarContext
from harness.schema.evidence import StateDigest
from harness.schema.finding import RawFinding
from harness.schema.message import Message, ModelRequest
from harness.schema.process import Completed
from harness.schema.record import Payload
from harness.schema.recording import Drift
from harness.schema.run import AttemptRow
from harness.schema.scenario import CommandTool, Scenario
from harness.schema.tool import ToolSpec
from harness.schema.trace import TraceStep
from harness.workspace import Fingerprinter, Placeholders, Workspace, diff, shortage

__all__ = ["World"]


@dataclass(slots=True)
class World:
    """What the steps of a turn and a call work on.

    The journal is the only state of the episode; everything else here is a live handle, a text that the journal names
    by digest, or a measurement for the run log.
    """

    parts: EpisodeParts
    journal: Journal
    spool: MemorySpool
    bounds: Bounds
    scenario: Scenario
    workspace: Workspace
    placeholders: Placeholders
    fingerprinter: Fingerprinter
    plane: ControlPlane
    values: LateValues
    tools: tuple[ToolSpec, ...]
    contexts: dict[str, GrammarContext]
    baseline: StateDigest
    latest: StateDigest
    messages: list[Message] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    trace: list[TraceStep] = field(default_factory=list)
    findings: list[tuple[int | None, RawFinding]] = field(default_factory=list)
    kinds_of: dict[str, str | None] = field(default_factory=dict)
    drifts: list[Drift] = field(default_factory=list)
    writers: dict[str, str] = field(default_factory=dict)
    attempts: list[AttemptRow] = field(default_factory=list)
    problem: str | None = None
    plane_calls: int = 0
    plane_seconds: float = 0.0

    @property
    def state(self) -> EpisodeState:
        """The fold of the journal so far."""
        return self.journal.state

    @property
    def rule_state(self) -> RuleState:
        """Facts and counts as the rules see them."""
        return RuleState(facts=frozenset(self.state.facts), counts=self.state.counts)

    def record(self, payload: Payload) -> None:
        """Append to the journal."""
        self.journal.append(payload)

    def command_tool(self, name: str) -> CommandTool | None:
        """The scenario's command tool of that name."""
        return self.scenario.tool.get(name)

    def invoke_plane(self, args: tuple[str, ...]) -> Completed:
        """One control-plane call within what is left of the episode's time."""
        limits = self.scenario.limits
        timeout = max(min(limits.tool_call_s, self.bounds.left()), 0.001)
        started = self.parts.clock.monotonic()
        try:
            return self.plane.invoke(args, timeout_s=timeout, output_bytes=limits.tool_result_bytes + 1)
        finally:
            self.plane_calls += 1
            self.plane_seconds += self.parts.clock.monotonic() - started

    def lacking(self) -> str | None:
        """What the machine lacks now for a program to work in this workspace; asked after one failed."""
        return shortage(self.workspace.root)

    def observe_changes(self, by: str) -> None:
        """Measure the workspace again and note who changed what since the last look."""
        now = self.fingerprinter.take(self.workspace.root)
        for change in diff(self.latest, now):
            self.writers[change.path] = by
        self.latest = now

    def file_text(self, path: str) -> str | None:
        """The text of a workspace file (``root/path``), None where it cannot be read. Raises MachineError."""
        root, _, rest = path.partition("/")
        folder = self.workspace.roots.get(root)
        if folder is None:
            return None
        try:
            return (folder / rest).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in MachineError.NUMBERS:
                raise MachineError(f"{path} cannot be read: {error.strerror}") from error
            return None
