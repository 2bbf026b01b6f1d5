"""One episode while it runs: the live handles around its journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from harness import meter
from harness.detectors import Streaks
from harness.episode.durable import DurableEpisode
from harness.episode.encoding import EncodedMessages, kept_json
from harness.episode.erring import in_our_words
from harness.episode.latch import Bounds
from harness.episode.late import LateBook
from harness.episode.operations import with_operations
from harness.episode.parts import EpisodeParts
from harness.episode.stopwatch import Stopwatch
from harness.episode.values import LateValues
from harness.errors import ControlPlaneError, MachineError, OpeningRefusedError
from harness.journal import EpisodeState, Journal, Spool, as_kept
from harness.observation import FOLDER
from harness.ports import ControlPlane
from harness.receipt import ObservedChange
from harness.rules import RuleState
from harness.schema.base import Digest, Frozen, JsonValue
from harness.schema.classifier import ReceivedCall
from harness.schema.command import GrammarContext
from harness.schema.evidence import StateDigest, Writer
from harness.schema.finding import RawFinding
from harness.schema.limits import Limits
from harness.schema.message import Message, ModelRequest
from harness.schema.observation import Channel, ChannelName, Observation
from harness.schema.pointer import Missing
from harness.schema.process import Completed, OperationAnswer
from harness.schema.record import OpReceipt, OpUnknown, Payload
from harness.schema.recording import Drift
from harness.schema.run import AttemptRow, OutputRow
from harness.schema.scenario import CommandTool, Scenario, Tool
from harness.schema.source import ValueSource
from harness.schema.tool import READ_MORE, ToolSpec
from harness.schema.trace import TraceStep
from harness.workspace import Fingerprinter, Placeholders, Workspace, diff, shortage

__all__ = ["World"]

_Answer = TypeVar("_Answer")


class _Kept(Frozen):
    """A result as it is kept, and the state of the workspace after it; the empty state is none."""

    state: str
    value: JsonValue


@dataclass(slots=True)
class World:
    """What the steps of a turn and a call work on.

    The journal is the only state of the episode; everything else here is a live handle, a text that the journal names
    by digest, or a measurement for the run log. ``streaks`` are those of the first
    ``watched`` records; ``key`` is the job's, ``limits`` are the scenario's, and
    ``is_measured`` says whether any of these asks for time at work, tokens or cost.
    """

    parts: EpisodeParts
    key: str
    journal: Journal
    spool: Spool
    bounds: Bounds
    stopwatch: Stopwatch
    scenario: Scenario
    limits: Limits
    workspace: Workspace
    placeholders: Placeholders
    fingerprinter: Fingerprinter
    plane: ControlPlane
    values: LateValues
    tools: tuple[ToolSpec, ...]
    contexts: dict[str, GrammarContext]
    baseline: StateDigest
    latest: StateDigest
    encoded: EncodedMessages
    messages: list[Message] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    trace: list[TraceStep] = field(default_factory=list)
    findings: list[tuple[int | None, RawFinding]] = field(default_factory=list)
    kinds_of: dict[str, str | None] = field(default_factory=dict)
    sources: dict[ValueSource, JsonValue | Missing] = field(default_factory=dict)
    drifts: list[Drift] = field(default_factory=list)
    writers: dict[str, Writer] = field(default_factory=dict)
    attempts: list[AttemptRow] = field(default_factory=list)
    durable: DurableEpisode | None = None
    late: LateBook = field(default_factory=LateBook)
    flags: list[str] = field(default_factory=list)
    channels: dict[ChannelName, Channel] = field(default_factory=dict)
    problem: str | None = None
    streaks: Streaks = field(default_factory=Streaks)
    watched: int = 0
    final_text: str | None = None
    packet: JsonValue = None
    plane_state: dict[str, JsonValue] | None = None
    changes: tuple[ObservedChange, ...] = ()
    plane_before: dict[str, JsonValue] | None = None
    received: tuple[ReceivedCall, ...] | None = None
    output: OutputRow | None = None
    value_calls: int = 0
    plane_calls: int = 0
    plane_seconds: float = 0.0
    queued_s: float = 0.0
    is_measured: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_measured = meter.is_measured(self.limits)

    @property
    def state(self) -> EpisodeState:
        """The fold of the journal so far."""
        return self.journal.state

    @property
    def rule_state(self) -> RuleState:
        """Facts and counts as the rules see them."""
        return RuleState(facts=frozenset(self.state.facts), counts=self.state.counts)

    def record(self, payload: Payload) -> None:
        """Append to the journal; where an episode on disk is being cancelled it stays as it is, to be gone on with."""
        if self.durable is None or not self.bounds.latched:
            self.journal.append(payload)

    def declared(self, name: str) -> Tool | None:
        """The scenario's tool of that name."""
        return self.scenario.tool.get(name)

    def command_tool(self, name: str) -> CommandTool | None:
        """The scenario's command tool of that name."""
        return self.scenario.command_tools.get(name)

    def declares(self, name: str) -> bool:
        """Whether the actor is offered a tool of that name."""
        return any(tool.name == name for tool in self.tools)

    def reads_more(self, name: str) -> bool:
        """Whether a call of that name reads on in a kept result."""
        return name == READ_MORE and self.scenario.observe.spill

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Paths of the workspace that are no part of its state: what the harness itself keeps there."""
        return (FOLDER,) if self.scenario.observe.spill else ()

    def report(self, name: ChannelName, channel: Channel) -> None:
        """Add what went through a bounded channel, for the run log."""
        before = self.channels.get(name)
        self.channels[name] = channel if before is None else before.joined(channel)

    def invoke_plane(self, args: tuple[str, ...]) -> Completed:
        """One control-plane call within what is left of the episode's time.

        Raises ControlPlaneError where it could not be made, in words of ours whatever the plane raised.
        """
        most = self.limits.tool_result_bytes + 1
        return self._measured(lambda: self.plane.invoke(args, timeout_s=self._call_s(), output_bytes=most))

    def call_plane(self, operation: str, arguments: dict[str, JsonValue], key: str) -> OperationAnswer:
        """One operation of the control plane, bounded and told as ``invoke_plane``; one that has a key is told it."""
        plane = with_operations(self.plane)
        if plane is None:  # pragma: no cover  (E8 refuses such a tool)
            raise ControlPlaneError("the control plane has no operations")
        told = key if operation in plane.idempotent else None
        return self._measured(lambda: plane.call(operation, arguments, timeout_s=self._call_s(), key=told))

    def _call_s(self) -> float:
        return max(min(self.limits.tool_call_s, self.bounds.left()), 0.001)

    def _measured(self, call: Callable[[], _Answer]) -> _Answer:
        started = self.parts.clock.monotonic()
        try:
            with in_our_words():
                return call()
        finally:
            seconds = self.parts.clock.monotonic() - started
            self.plane_calls += 1
            self.plane_seconds += seconds
            if self.durable is not None:
                self.durable.times.keep("plane", seconds)

    def measured_before(self, row: str) -> float:
        """Seconds that an attempt took whose end an earlier driver saw; 0 where nobody measured it."""
        return 0.0 if self.durable is None else self.durable.times.attempts.get(row, 0.0)

    def lacking(self) -> str | None:
        """What the machine lacks now for a program to work in this workspace; asked after one failed."""
        return shortage(self.workspace.root)

    def observe_changes(self, by: Writer) -> None:
        """Measure the workspace again and note who changed what since the last look."""
        now = self.fingerprinter.take(self.workspace.root, exclude=self.unmeasured)
        if self.durable is not None and now.digest != self.latest.digest:
            self.durable.keep_state(self.workspace.root, now.digest)
        for change in diff(self.latest, now):
            self.writers[change.path] = by
        self.latest = now

    def past(self, operation: str) -> JsonValue:
        """What an operation came to before this driver, the workspace as it was then; None where it is not known.

        Raises OpeningRefusedError where the journal tells of it and its result is not kept.
        """
        ahead = self.journal.ahead
        if not isinstance(ahead, OpReceipt | OpUnknown) or ahead.operation != operation or ahead.spool is None:
            return None
        kept = self._kept(ahead.spool)
        self.take_state(kept.state)
        return kept.value

    def kept_result(self, spool: Digest | None) -> JsonValue:
        """A result that was kept, without the state beside it. Raises OpeningRefusedError where it is not."""
        return self._kept(spool or "").value

    def take_state(self, state: Digest | None) -> None:
        """Make the workspace what it was in a kept state. Raises OpeningRefusedError where that is not kept."""
        if self.durable is not None and state is not None and state != self.latest.digest:
            self.durable.put_back(self.workspace.root, state)

    def _kept(self, spool: Digest) -> _Kept:
        try:
            data = self.spool.get(spool)
        except KeyError as error:
            problem = "a result that it tells of is not kept"
            raise OpeningRefusedError("journal_integrity_mismatch", problem) from error
        return as_kept(_Kept, data, "a result")

    def keep_result(self, value: JsonValue | Observation) -> Digest:
        """Keep an operation's result with the state of the workspace after it; ``past`` gives it back."""
        return self.spool.put(kept_json({"state": self.latest.digest, "value": value}))

    def flag(self, name: str) -> None:
        """Note once for the run log what a resumed driver did."""
        if name not in self.flags:
            self.flags.append(name)

    def was_cut_off(self) -> bool:
        """Whether an operation that was just recorded as started was started by a driver that was killed in it."""
        return self.journal.took_last and self.journal.ahead is None

    def file_text(self, path: str) -> str | None:
        """The text of a workspace file (``root/path``), None where it cannot be read, or lies elsewhere by a link.

        Raises MachineError.
        """
        root, _, rest = path.partition("/")
        folder = self.workspace.roots.get(root)
        if folder is None:
            return None
        try:
            # what is run may make links, but is kept to the workspace: it must not be read for it outside either
            place = (folder / rest).resolve()
            if not place.is_relative_to(self.workspace.root) or not place.is_file():  # a pipe would be waited for
                return None
            return place.read_text(encoding="utf-8")
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, OSError) and error.errno in MachineError.NUMBERS:
                raise MachineError(f"{path} cannot be read: {error.strerror}") from error
            return None
