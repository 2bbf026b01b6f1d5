"""All seams in one file: what can be swapped, and what each must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from harness.errors import ProviderError
from harness.schema.actor import ActorIdentity
from harness.schema.base import Digest, JsonValue
from harness.schema.classifier import ReceivedCall
from harness.schema.judging import Classifier
from harness.schema.message import ModelRequest, Reply, Usage
from harness.schema.metric import CostReading
from harness.schema.process import Completed, OperationAnswer, PlaneIdentity, ProcessCommand
from harness.schema.recording import Drift, PlaneAnswer
from harness.schema.rehearsal import Visit
from harness.schema.run import EpisodeJob, EpisodeResult, RunView
from harness.schema.spending import Entry

__all__ = [
    "Actor",
    "Classifiers",
    "Clock",
    "ControlPlane",
    "Cut",
    "Executor",
    "Hearing",
    "Meter",
    "OperationPlane",
    "Pace",
    "Pacing",
    "Pool",
    "Provider",
    "Quota",
    "Reporter",
    "Scripted",
    "Transport",
    "TurnContext",
    "WireResponse",
    "Witness",
]


class Clock(Protocol):
    """Time, as the loop sees it."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""

    def now(self) -> datetime:
        """The time of day, with zone."""


class Executor(Protocol):
    """Runs one command: own process group, time and output bounded, grandchildren killed."""

    def run(self, command: ProcessCommand) -> Completed:
        """Run to the end or the bound. Raises ControlPlaneError where nothing could be started."""

    def close(self) -> None:
        """End whatever is still alive; idempotent."""


class ControlPlane(Protocol):
    """The real system, opened on one workspace."""

    @property
    def identity(self) -> PlaneIdentity:
        """Which one it is."""

    @property
    def confined_to_fixture(self) -> bool:
        """Whether all that a call does lies in the workspace, so that putting it back undoes the call."""

    def invoke(self, args: Sequence[str], *, timeout_s: float, output_bytes: int) -> Completed:
        """One call; ``args`` come after the program's name. Raises ControlPlaneError where it could not start."""

    def close(self) -> None:
        """Release what was opened; idempotent."""


@runtime_checkable
class OperationPlane(ControlPlane, Protocol):
    """A control plane whose operations can be offered as tools, and that tells what it holds."""

    @property
    def store(self) -> Path:
        """The file it keeps its state in: equal states may be different bytes, so ``snapshot`` stands for them."""

    @property
    def idempotent(self) -> frozenset[str]:
        """Operations that have one effect however often they are called with the same key, and then the same answer."""

    def call(
        self, operation: str, arguments: Mapping[str, JsonValue], *, timeout_s: float, key: str | None = None
    ) -> OperationAnswer:
        """One operation, done whole or not at all. Raises ControlPlaneError, MachineError where nobody can tell.

        ``key`` is the same where a call is made again, and that of no other call (None: this one is made once).
        """

    def snapshot(self) -> dict[str, JsonValue]:
        """All that it holds, in one order. Raises ControlPlaneError where it cannot be read, MachineError."""

    def received(self) -> Sequence[ReceivedCall]:
        """Its own log of what ``call`` was called with; again with the same key is once. Raises as ``snapshot``."""


#: Why an answer broke off: the connection went, or the provider was silent or slow for too long, or nobody wanted it.
Cut = Literal["connection_lost", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True)
class WireResponse:
    """One HTTP answer as it arrived; header names in lower case. With ``cut`` the body is what had come before that.

    ``bound`` says in words of ours which bound on time cut it off, None where none did.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: Cut | None = None
    bound: str | None = None


class Transport(Protocol):
    """Sends bytes to a provider and reads the whole answer; one call at a time."""

    def send(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        """POST ``body`` within ``deadline_s`` seconds. Raises ProviderError where there is no answer.

        ``is_over`` is given for a stream: it is told each piece of a successful answer in order, and nothing more is
        read once it says yes. Such an answer is returned, with its ``cut``, also where it breaks off.
        """

    def close(self) -> None:
        """Release connections; idempotent."""


class Provider(Protocol):
    """One wire dialect: a pure codec both ways, without network, clock or state.

    Whether an answer is streamed is one of the request's settings. A decoder never repairs silently: oddities are the
    reply's quirks. An error that it raises holds in ``partial`` what had been said, and counted, before it.
    """

    @property
    def name(self) -> str:
        """As in ``PROVIDER/MODEL``."""

    def path(self, request: ModelRequest) -> str:
        """Path, and query where there is one, below the base URL that this request goes to."""

    def headers(self, key: str | None) -> dict[str, str]:
        """Request headers, credentials included where ``key`` is given."""

    def encode_request(self, request: ModelRequest) -> bytes:
        """The body to send. The same bytes for the same request."""

    def decode_reply(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in a whole answer; ``now`` is what a ``retry-after`` date counts from. Raises ProviderError."""

    def decode_stream(self, response: WireResponse, *, now: datetime | None = None) -> Reply:
        """The reply in an answer that was asked for as a stream of events. Raises ProviderError."""

    def stream_end(self) -> Callable[[bytes], bool]:
        """A new watcher of one stream: told each piece in order, it says when the last event has come."""

    def coalesce(self, body: bytes) -> bytes:
        """The same stream with each text in one piece: ``decode_stream`` gives the same for it."""

    def encode_reply(self, reply: Reply) -> bytes:
        """The body a provider would send for this reply; ``decode_reply`` gives it back."""

    def encode_stream(self, reply: Reply) -> tuple[bytes, ...]:
        """The events a provider would stream for this reply; ``decode_stream`` of all together gives it back."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What an actor may use besides the request.

    ``turn`` counts from 1. ``deadline_s`` bounds the call, in seconds. ``cancelled`` may be asked from any thread.
    ``substitute`` replaces the scenario's placeholders in a text; raises ScriptExhaustedError where one that is
    declared cannot be resolved yet. ``visit`` names scenario, trial, turn and attempt. With ``streamed`` the
    answer is to come as a stream, whatever the settings say; an actor without a wire need not heed it. ``tries`` counts
    the attempts at this turn that were begun, this one included, whatever became of them.
    """

    turn: int
    deadline_s: float
    cancelled: Callable[[], bool]
    substitute: Callable[[str], str]
    visit: Visit
    streamed: bool = False
    tries: int = 1


class Actor(Protocol):
    """Takes the next turn: scripted, recorded or live. One object serves one episode.

    One that has an attribute ``is_immediate``, and it is true, waits for nobody outside of this process but, within its
    bounds, the control plane: it is asked without a thread of its own.
    """

    @property
    def identity(self) -> ActorIdentity:
        """As receipts name it."""

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """The next reply. Raises ProviderError or ScriptExhaustedError."""

    def close(self) -> None:
        """Release connections; idempotent."""


class Meter(Protocol):
    """Counts what one episode costs its host. Whatever it raises means that the cost cannot be known any more."""

    def read(self) -> CostReading:
        """What the episode cost so far; never less than before."""


class Quota(Protocol):
    """Decides whether one episode may begin, and before each model attempt whether it may be made."""

    def admits(self) -> bool:
        """Whether the episode may begin."""

    def before(self, attempt: str) -> Entry | None:
        """What the host's account says of an attempt that an earlier driver made; None where it knows of none."""

    def reserve(self, attempt: str, request: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        """Set aside what an attempt of at most ``seconds`` can cost; may wait, until ``stopped`` says yes."""

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        """What came of an attempt not settled yet; ``usage`` None is unknown, nobody pays what is not ``billed``."""


class Pace(Protocol):
    """Decides when a live episode may send its next call, so that a provider is not asked faster than it answers."""

    def enter(self, *, patience_s: float, stopped: Callable[[], bool]) -> Literal["may_send", "stopped", "closed"]:
        """Wait until a call may be sent, or until ``stopped`` says yes.

        ``closed``: the provider wants to be left alone for longer than ``patience_s`` seconds.
        """

    def leave(self) -> None:
        """The call is over, or nobody waits for it any more; idempotent."""


class Hearing(Protocol):
    """Is told how the calls of one provider end, from any thread."""

    def begun(self) -> int:
        """A call begins; its end is told with this number."""

    def ended(self, begun: int, headers: Mapping[str, str], failure: ProviderError | None) -> None:
        """A call ended: with an answer that had these headers (names in lower case), or with this failure."""


class Pacing(Protocol):
    """How fast providers may be asked now, by name."""

    def at_most(self, provider: str) -> int:
        """How many episodes of it may run at once, from 1."""

    def closed_s(self, provider: str) -> float:
        """For how many seconds it wants to be left alone, from now; 0: it may be asked."""


@runtime_checkable
class Scripted(Protocol):
    """An actor with a script."""

    @property
    def left(self) -> int:
        """Answers that were not asked for yet."""


class Witness(Protocol):
    """Stands beside an episode: keeps what a recording must hold, or compares with one. Differences are no errors."""

    def opened(self, prompt: Digest, tools: Digest) -> tuple[Drift, ...]:
        """The world stands; digests of the delivered prompt and the declared tools."""

    def answered(self, answer: PlaneAnswer) -> tuple[Drift, ...]:
        """The control plane answered, in order."""

    def closed(self) -> tuple[Drift, ...]:
        """The episode is over."""


class Pool(Protocol):
    """Where the episodes of a run are played, several at a time."""

    def submit(self, place: int, job: EpisodeJob, pause_s: float) -> Future[EpisodeResult | None]:
        """Play a job, which has that place in the plan, after a pause in seconds; None where it was ended in that."""

    def cancel(self) -> None:
        """End what runs; idempotent."""

    def shut_down(self) -> None:
        """End what runs, for the process is to end: what is kept on disk is gone on with by another one; idempotent."""

    def close(self) -> None:
        """Wait for what runs, and release what was opened; idempotent."""


class Classifiers(Protocol):
    """The classifiers that there are."""

    def names(self) -> Sequence[str]:
        """Their names, sorted. Raises EnvironmentProblem where one has a name that is taken."""

    def find(self, name: str) -> type[Classifier]:
        """One of them. Raises CatalogError, EnvironmentProblem where it cannot be used."""


class Reporter(Protocol):
    """Renders a run to one file."""

    @property
    def name(self) -> str:
        """As in ``--report NAME``."""

    @property
    def filename(self) -> str:
        """Name of the file in the run folder."""

    def render(self, view: RunView) -> str:
        """The whole file, UTF-8 text."""
