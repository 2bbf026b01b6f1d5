"""A small scenario, a control plane of a few lines behind the real seam, and episodes made of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import catalog
from harness.clock import FakeClock
from harness.episode import EpisodeParts, run
from harness.episode.detached import DetachedCalls
from harness.episode.durable import DurablePlace
from harness.episode.late import LateReplies
from harness.errors import ControlPlaneError
from harness.journal import Journal, MemorySpool
from harness.ports import Actor, Classifiers, ControlPlane, Executor, Meter, Pace, Quota, TurnContext, Witness
from harness.scenario import NoClassifiers
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.message import FinishReason, ModelRequest, Reply, Usage
from harness.schema.price import Price
from harness.schema.process import Completed, PlaneIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult, LateRow
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Script
from harness.schema.tool import ToolCall, ToolSpec
from harness.schema.trace import EpisodeTrace
from harness.workspace import Left, Workspace

SCRIPTED = ActorIdentity(ref="script:reference", kind="script", digest=digest_json("script"))
IDENTITY = PlaneIdentity(name="toy", version="1", wheel_sha256="0" * 64)

SCENARIO: dict[str, JsonValue] = {
    "schema": 1,
    "id": "toy/ask-then-read",
    "asks": "Ask the plane, then read the file it names.",
    "plane": "toy==1",
    "limits": {"model_turns": 4, "deadline_s": 60.0},
    "outcomes": {"limit_exceeded/model_turns": "ran_out_of_turns"},
    "values": {"file": "notes/a.json"},
    "late": {
        "greeting": {"plane": ["greet"], "at": "/text"},
        "named": {"answer": "ask", "at": "/target"},
    },
    "workspace": {
        "roots": ["project", "runtime"],
        "absent": ["runtime"],
        "file": [{"at": ["project/{file}"], "text": '{"a": 1}'}, {"at": ["project/b.json"], "text": "{}"}],
    },
    "prompt": {"system": "Be brief.", "user": "{greeting}: ask, then read.", "must_contain": ["{greeting}"]},
    "tool": {
        "exec": {
            "about": "Run one command.",
            "argument": "cmd",
            "grammar": "loopx-0.4",
            "content": ["project/{file}"],
            "clock": "2026-08-12T00:00:00+08:00",
        }
    },
    "call": {"program": "toy", "allow": {"ask plane": ["fast", "slow"]}, "flags": ["fast"], "volatile": ["/stamp"]},
    "kind": [
        {"name": "ask", "call": ["ask plane"], "once": "asked_twice", "failed": "ask_failed", "sets": "asked"},
        {"name": "clock", "read": "clock"},
        {
            "name": "read",
            "read": "content",
            "needs": {"asked": "read_before_ask"},
            "failed": "read_failed",
            "sets": "done",
        },
        {"name": "look", "read": "metadata"},
    ],
    "end": {"accept": ["done"], "silence": [{"has": ["asked"], "code": "stopped_early"}, {"code": "did_nothing"}]},
    "check": [
        {"kind": "ask", "answer": {"/target": "notes/a.json"}},
        {"kind": "read", "shows": {"file": "project/{file}", "reads": "all"}},
    ],
    "boundary": {"plane_writes": ["runtime/log/**"]},
    "script": {"reference": ["toy ask plane", "cat {named}"]},
}

FEW_TOKENS = Usage(input_tokens=5, output_tokens=2, cache_read_tokens=0)

Answer = Callable[[Workspace, tuple[str, ...]], Completed]


def completed(text: str, exit_code: int = 0, *, stderr: str = "", timed_out: bool = False) -> Completed:
    """How a process that printed ``text`` ended."""
    out, err = text.encode(), stderr.encode()
    code = None if timed_out else exit_code
    return Completed(
        exit_code=code, timed_out=timed_out, stdout=out, stderr=err, stdout_seen=len(out), stderr_seen=len(err)
    )


def answer(_: Workspace, args: tuple[str, ...]) -> Completed:
    """What the toy plane says."""
    if args == ("greet",):
        return completed('{"text": "Good morning"}')
    return completed('{"target": "notes/a.json", "stamp": 17}')


@dataclass
class ToyPlane:
    """Answers with a function; counts its calls."""

    workspace: Workspace
    says: Answer
    calls: list[tuple[str, ...]] = field(default_factory=list)
    identity: PlaneIdentity = IDENTITY
    confined_to_fixture: bool = True

    def invoke(self, args: Sequence[str], *, timeout_s: float, output_bytes: int) -> Completed:
        """One call."""
        assert timeout_s > 0
        assert output_bytes > 0
        self.calls.append(tuple(args))
        return self.says(self.workspace, tuple(args))

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class ReplyActor:
    """Gives replies from a list; a callable is asked for its reply."""

    replies: list[Reply | Callable[[ModelRequest, TurnContext], Reply]]
    kind: str = "live"
    requests: list[ModelRequest] = field(default_factory=list)

    @property
    def identity(self) -> ActorIdentity:
        """Named by its kind."""
        return ActorIdentity.model_validate({"ref": "toy/model", "kind": self.kind, "digest": digest_json("toy")})

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """The next one."""
        self.requests.append(request)
        made = self.replies.pop(0)
        return made(request, context) if callable(made) else made

    def close(self) -> None:
        """Nothing is open."""


def said(text: str, *calls: ToolCall, usage: Usage | None = FEW_TOKENS, finish: FinishReason | None = "stop") -> Reply:
    """A reply that speaks, and calls where calls are given; a plain finish becomes ``tool_calls`` then."""
    word: FinishReason | None = "tool_calls" if calls and finish == "stop" else finish
    return Reply(text=text, calls=calls, finish=word, usage=usage)


def called(command: str, name: str = "exec", id_: str = "c1") -> ToolCall:
    """A call of the command tool."""
    raw = json.dumps({"cmd": command})
    return ToolCall(id=id_, name=name, arguments_raw=raw, arguments={"cmd": command})


@dataclass
class Played:
    """One finished episode."""

    result: EpisodeResult
    trace: EpisodeTrace | None
    plane: list[ToyPlane]
    clock: FakeClock

    @property
    def receipt(self) -> Receipt:
        """What it proves."""
        return self.result.receipt

    @property
    def ending(self) -> tuple[str, str, str | None]:
        """Outcome, verdict and code."""
        return self.receipt.outcome.name, self.receipt.verdict, self.receipt.failure_code

    @property
    def kinds(self) -> list[str | None]:
        """Kinds of the steps."""
        return [step.kind for step in self.receipt.steps]


def merged(base: JsonValue, change: JsonValue) -> JsonValue:
    """``change`` over ``base``, tables merged."""
    if isinstance(base, dict) and isinstance(change, dict):
        return {**base, **{key: merged(base.get(key), value) for key, value in change.items()}}
    return change


@dataclass
class Stage:
    """Makes episodes; every argument of ``play`` is what differs from the plain one, which is of ``scenario``.

    ``opens`` opens another plane than the toy, whose ``operations`` may be tools. ``classifiers`` are those a
    scenario may name, ``judged_by`` their versions.
    """

    executor: Executor
    temporary: Path
    clock: FakeClock = field(default_factory=FakeClock)
    confined: bool = True
    opens: Callable[[Workspace], ControlPlane] | None = None
    operations: Mapping[str, ToolSpec] = field(default_factory=dict)
    detached: DetachedCalls = field(default_factory=DetachedCalls)
    late: LateReplies = field(default_factory=LateReplies)
    late_rows: list[LateRow] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    remove_later: Callable[[Path, Left], None] | None = None
    classifiers: Classifiers = field(default_factory=NoClassifiers)
    judged_by: dict[str, int] = field(default_factory=dict)
    scenario: dict[str, JsonValue] = field(default_factory=lambda: SCENARIO)

    def pause(self, seconds: float) -> None:
        """Waiting takes no time here."""
        self.pauses.append(seconds)
        self.clock.advance(seconds)

    def play(
        self,
        script: Script | None = None,
        *,
        actor: Actor | None = None,
        says: Answer = answer,
        change: dict[str, JsonValue] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        host_denied: frozenset[str] = frozenset(),
        options: EpisodeOptions = EpisodeOptions(),  # noqa: B008  (frozen)
        broken_plane: bool = False,
        journal: Journal | None = None,
        spool: MemorySpool | None = None,
        witness: Witness | None = None,
        durable: DurablePlace | None = None,
        meter: Meter | None = None,
        quota: Quota | None = None,
        pace: Pace | None = None,
        price: Price | None = None,
        shutdown: Callable[[], bool] = lambda: False,
        keep_output: Callable[[bytes], str | None] | None = None,
        pays_again: bool = False,
    ) -> Played:
        """One episode to its end."""
        scenario = Scenario.model_validate_json(json.dumps(merged(self.scenario, change or {})))
        loaded = LoadedScenario(
            scenario=scenario,
            digest=digest_json(scenario.model_dump(mode="json")),
            path="toy.toml",
            classifiers=self.judged_by,
        )
        spec = ActorSpec(identity=SCRIPTED, script=scenario.script.reference if script is None else script)
        if actor is None:
            provider = catalog.module("providers", "openai").build()
            actor = catalog.module("actors", "scripted").build(spec, provider)
        else:
            spec = ActorSpec(identity=actor.identity, price=price)
        planes: list[ToyPlane] = []
        asked = threading.Event()
        if scenario.fault:
            faulty = catalog.shared("actors", "faulty").FaultyActor
            actor = faulty(actor, scenario.fault, pause=self.pause, cancel=asked.set)

        def open_plane(workspace: Workspace) -> ControlPlane:
            if broken_plane:
                raise ControlPlaneError("the plane cannot be started")
            if self.opens is not None:
                return self.opens(workspace)
            planes.append(ToyPlane(workspace, says, confined_to_fixture=self.confined))
            return planes[-1]

        parts = EpisodeParts(
            job=EpisodeJob(loaded=loaded, actor=spec, plane=IDENTITY, options=options, pays_again=pays_again),
            actor=actor,
            open_plane=open_plane,
            executor=self.executor,
            clock=self.clock,
            cancelled=lambda: cancelled() or asked.is_set(),
            search_path="/usr/local/bin:/usr/bin:/bin",
            host_denied=host_denied,
            temporary=self.temporary,
            witness=witness,
            durable=durable,
            operations=self.operations,
            meter=meter,
            quota=quota,
            pace=pace,
            shutdown=shutdown,
            pause=self.pause,
            detached=self.detached,
            late=self.late,
            late_row=self.late_rows.append,
            keep_output=keep_output,
            remove_later=self.remove_later,
            classifiers=self.classifiers,
        )
        result, trace = run(parts, journal, spool)
        return Played(result, trace, planes, self.clock)
