"""One request, one performance: what is answered, how late, and what goes wrong. No sockets here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import ScriptError
from harness.ports import Provider
from harness.rehearsal.answering import answer, body_of
from harness.rehearsal.casting import Role, cast
from harness.rehearsal.conversation import Conversation, Dialect
from harness.scenario import bind
from harness.schema.base import JsonValue, canonical_json
from harness.schema.counting import counted
from harness.schema.message import Usage
from harness.schema.rehearsal import REHEARSAL_HEADER, FaultKind, FaultSpec, PolicyFile, ServedCall, Visit
from harness.schema.scenario import Scenario
from harness.schema.script import Action

__all__ = ["Performance", "Stage"]

_HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n"
_ADVICE = (
    f"the request header {REHEARSAL_HEADER} is missing or malformed; send "
    f"'{REHEARSAL_HEADER}: scenario=PACK/NAME;trial=N;turn=N;attempt=N', each number from 1"
)
#: How servers name what their statuses mean.
_CODES = {429: "rate_limit_exceeded", 503: "overloaded"}


@dataclass(frozen=True, slots=True)
class Performance:
    """What to do with the connection.

    ``call`` is None where the request was refused: nothing was played. ``fault`` ``reset`` breaks the connection in
    the middle of ``body``, ``hang`` never answers.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    latency_ms: float = 0.0
    fault: FaultKind | None = None
    call: ServedCall | None = None


@dataclass(frozen=True, slots=True)
class _Cue:
    """One request that will be answered: who plays which action of which scenario, and what goes wrong."""

    shown: Conversation
    visit: Visit
    scenario: Scenario
    role: Role
    action: Action
    fault: FaultSpec | None
    latency_ms: float


class _RefusedError(Exception):
    """Nothing is played for this request; ``code`` and text go to its sender."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code, self.status = code, status
        super().__init__(message)


class Stage:
    """Answers requests from policies alone: the same request and visit give the same bytes, in any order."""

    def __init__(
        self, scenarios: Sequence[Scenario], policies: PolicyFile, seed: int, *, codec: Provider, dialect: Dialect
    ) -> None:
        """Raises ConfigError where a policy names a script that a scenario lacks; ScenarioError where one is broken."""
        self._scenarios = {one.id: bind(one, {}) for one in scenarios}
        self._parts = cast(tuple(self._scenarios.values()), policies, seed)
        self._codec, self._dialect = codec, dialect

    @property
    def models(self) -> tuple[str, ...]:
        """Names that a request may ask for."""
        return tuple(self._parts)

    @property
    def plays(self) -> dict[str, tuple[str, ...]]:
        """The scenarios that each model has a script for, by its name."""
        return {name: tuple(one for one, roles in part.roles.items() if roles) for name, part in self._parts.items()}

    def perform(self, header: str | None, body: bytes) -> Performance:
        """What a request with this value of ``REHEARSAL_HEADER`` and this body gets; never raises."""
        try:
            return self._play(self._cue(header, body))
        except _RefusedError as error:
            return self.refuse(error.status, error.code, str(error))

    def _cue(self, header: str | None, body: bytes) -> _Cue:
        shown = self._dialect.read(body)
        if shown is None:
            raise _RefusedError("invalid_body", "the body is no request of this dialect")
        part = self._parts.get(shown.model)
        if part is None:
            raise _RefusedError("model_not_found", f"there is no such model; there are: {', '.join(self._parts)}", 404)
        visit = None if header is None else Visit.read(header)
        if visit is None:
            raise _RefusedError("rehearsal_header", _ADVICE)
        if shown.streamed:
            raise _RefusedError("stream_unsupported", "answers are not streamed here; send stream = false")
        role = part.role(visit)
        if role is None:
            known = ", ".join(name for name, roles in part.roles.items() if roles)
            raise _RefusedError("rehearsal_scenario", f"this model does not play that scenario; it plays: {known}")
        if visit.turn > len(role.actions):
            answers = counted(len(role.actions), "answer")
            advice = f"policy {role.policy} has {answers}; the episode should have ended by then"
            raise _RefusedError("rehearsal_script_exhausted", advice)
        return _Cue(
            shown=shown,
            visit=visit,
            scenario=self._scenarios[visit.scenario],
            role=role,
            action=role.actions[visit.turn - 1],
            fault=part.draws.fault(role.faults, visit),
            latency_ms=part.draws.latency_ms(role.latency, visit),
        )

    def refuse(self, status: int, code: str, message: str) -> Performance:
        """An answer to a request that nothing is played for."""
        return Performance(status, _json(self._dialect.failure(status, code, message)))

    def _play(self, cue: _Cue) -> Performance:
        if cue.fault is not None and cue.fault.kind in {"status", "html", "hang"}:
            return self._failed(cue, cue.fault)
        if cue.action.raises is not None:
            return self._done(cue, b"", None, "hang" if cue.action.raises == "TimeoutError" else "reset")
        kind = None if cue.fault is None else cue.fault.kind
        whole = body_of(cue.action)
        if whole is not None:
            return self._done(cue, whole[: len(whole) // 2] if kind == "truncate" else whole, None, kind)
        try:
            reply = answer(cue.action, cue.scenario, cue.shown, cue.visit.turn)
        except ScriptError as error:
            place = f"policy {cue.role.policy}, turn {cue.visit.turn}"
            raise _RefusedError("rehearsal_unresolved", f"{place}: {error}") from None
        if kind == "truncate":
            reply = reply.truncated()
        elif kind == "no_usage":
            reply = reply.model_copy(update={"usage": None})
        return self._done(cue, self._codec.encode_reply(reply), reply.usage, kind)

    def _failed(self, cue: _Cue, fault: FaultSpec) -> Performance:
        """What needs no answer to spoil: an HTTP error, a page that no API sends, nothing at all."""
        if fault.kind == "hang":
            return self._done(cue, b"", None, "hang")
        if fault.status is None:
            return self._done(cue, _HTML, None, "html", headers={"content-type": "text/html; charset=utf-8"})
        code = _CODES.get(fault.status, "server_error" if fault.status >= 500 else "invalid_request_error")  # noqa: PLR2004  (server errors)
        told = _json(self._dialect.failure(fault.status, code, "the rehearsal's policy says so"))
        wait = {} if fault.retry_after_s is None else {"retry-after": f"{fault.retry_after_s:g}"}
        return self._done(cue, told, None, "status", status=fault.status, headers=wait)

    def _done(
        self,
        cue: _Cue,
        body: bytes,
        usage: Usage | None,
        fault: FaultKind | None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Performance:
        call = ServedCall(
            model=cue.shown.model,
            visit=cue.visit,
            policy=cue.role.policy,
            fault=fault,
            latency_ms=cue.latency_ms,
            usage=None if fault in {"reset", "hang"} else usage,
        )
        return Performance(status, body, headers or {}, cue.latency_ms, fault, call)


def _json(value: JsonValue) -> bytes:
    return canonical_json(value).encode("utf-8", "backslashreplace")
