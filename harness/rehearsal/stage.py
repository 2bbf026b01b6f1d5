"""One request, one performance: what is answered, how late, and what goes wrong. No sockets here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from harness.errors import ScriptError
from harness.rehearsal.answering import answer, reply_of, whole_body
from harness.rehearsal.casting import Role, cast
from harness.rehearsal.conversation import Conversation, Dialect
from harness.rehearsal.dialects import Endpoint, Endpoints
from harness.rehearsal.draws import Draws
from harness.rehearsal.performance import Performance
from harness.rehearsal.reading import json_bytes, path_of
from harness.rehearsal.spoiling import Answer, instead, spoiled
from harness.scenario import bind
from harness.schema.counting import counted
from harness.schema.rehearsal import REHEARSAL_HEADER, FaultKind, FaultSpec, PolicyFile, ServedCall, Visit
from harness.schema.scenario import Scenario
from harness.schema.script import Action

__all__ = ["Stage"]

_ADVICE = (
    f"the request header {REHEARSAL_HEADER} is missing or malformed; send "
    f"'{REHEARSAL_HEADER}: scenario=PACK/NAME;trial=N;turn=N;attempt=N', each number from 1"
)
#: How many answers are remembered; each is of a few thousand characters at most.
_KNOWN: Final = 1024
#: Faults after which nobody has the token counts of an answer.
_UNCOUNTED: Final[frozenset[FaultKind | None]] = frozenset(
    {"reset", "close", "hang", "unfinished", "error_body", "error_event"}
)


@dataclass(frozen=True, slots=True)
class _Cue:
    """One request that will be answered: who plays which action of which scenario, and what goes wrong."""

    endpoint: Endpoint
    draws: Draws
    shown: Conversation
    visit: Visit
    role: Role
    fault: FaultSpec | None
    latency_ms: float

    @property
    def action(self) -> Action:
        """What is played."""
        return self.role.actions[self.visit.turn - 1]

    @property
    def kind(self) -> FaultKind | None:
        """What goes wrong."""
        return None if self.fault is None else self.fault.kind


class _RefusedError(Exception):
    """Nothing is played for this request; ``code`` and text go to its sender."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code, self.status = code, status
        super().__init__(message)


class Stage:
    """Answers requests from policies alone: the same request and visit give the same bytes, in any order."""

    def __init__(self, scenarios: Sequence[Scenario], policies: PolicyFile, seed: int, endpoints: Endpoints) -> None:
        """Raises ConfigError where a policy names a script that a scenario lacks; ScenarioError where one is broken."""
        self._parts = cast(tuple({one.id: bind(one, {}) for one in scenarios}.values()), policies, seed)
        self._endpoints = endpoints
        self._known_answer = lru_cache(_KNOWN)(self._answer)

    @property
    def models(self) -> tuple[str, ...]:
        """Names that a request may ask for."""
        return tuple(self._parts)

    @property
    def plays(self) -> dict[str, tuple[str, ...]]:
        """The scenarios that each model has a script for, by its name."""
        return {name: tuple(one for one, roles in part.roles.items() if roles) for name, part in self._parts.items()}

    def perform(self, target: str, header: str | None, body: bytes) -> Performance:
        """What a request gets; never raises.

        ``target`` is its path with its query, ``header`` the value of its ``REHEARSAL_HEADER``.
        """
        path = path_of(target)
        endpoint = self._endpoints.at(path)
        if endpoint is None:
            return self.refuse(target, 404, "not_found", f"there is only POST {self._endpoints.places}")
        try:
            return self._play(self._cue(endpoint, target, header, body))
        except _RefusedError as error:
            return _refusal(endpoint.dialect, error.status, error.code, str(error))

    def listing(self, target: str, headers: Mapping[str, str]) -> Performance:
        """The list of models for a client that asks at this path and sends these headers, names in lower case."""
        dialect = self._endpoints.listing(path_of(target), headers)
        if dialect is None:
            return self.refuse(target, 405, "method_not_allowed", f"there is only POST {self._endpoints.places}")
        return Performance(200, (json_bytes(dialect.listed(self.plays)),))

    def refuse(self, target: str, status: int, code: str, message: str) -> Performance:
        """An answer to a request to that path that nothing is played for."""
        path = path_of(target)
        endpoint = self._endpoints.at(path)
        return _refusal(self._endpoints.beside(path) if endpoint is None else endpoint.dialect, status, code, message)

    def _cue(self, endpoint: Endpoint, target: str, header: str | None, body: bytes) -> _Cue:
        shown = endpoint.dialect.read(target, body)
        if shown is None:
            raise _RefusedError("invalid_body", "the body is no request of this dialect")
        part = self._parts.get(shown.model)
        if part is None:
            raise _RefusedError("model_not_found", f"there is no such model; there are: {', '.join(self._parts)}", 404)
        visit = None if header is None else Visit.read(header)
        if visit is None:
            raise _RefusedError("rehearsal_header", _ADVICE)
        role = part.role(visit)
        if role is None:
            known = ", ".join(name for name, roles in part.roles.items() if roles)
            raise _RefusedError("rehearsal_scenario", f"this model does not play that scenario; it plays: {known}")
        if visit.turn > len(role.actions):
            answers = counted(len(role.actions), "answer")
            advice = f"policy {role.policy} has {answers}; the episode should have ended by then"
            raise _RefusedError("rehearsal_script_exhausted", advice)
        return _Cue(
            endpoint=endpoint,
            draws=part.draws,
            shown=shown,
            visit=visit,
            role=role,
            fault=part.draws.fault(role.faults, visit),
            latency_ms=part.draws.latency_ms(role.latency, visit),
        )

    def _play(self, cue: _Cue) -> Performance:
        failed = None if cue.fault is None else instead(cue.endpoint.dialect, cue.fault)
        if failed is not None:
            return _done(cue, failed, None)
        if cue.action.raises is not None:
            kind: FaultKind = "hang" if cue.action.raises == "TimeoutError" else "reset"
            return _done(cue, Performance(200, (), fault=kind, breaks_at=0), None)
        meant = self._meant(cue)
        return _done(cue, spoiled(meant, cue.fault, cue.endpoint, cue.draws, cue.visit), meant)

    def _meant(self, cue: _Cue) -> Answer:
        """What the action of a cue comes to in its dialect, before anything happens to it on its way."""
        turn, shown = cue.visit.turn, cue.shown
        if cue.role.steady[turn - 1]:
            told = Conversation(shown.model, "", (), shown.streamed, shown.words, shown.counted)
            return self._known_answer(cue.endpoint, cue.role, turn, told, cue.kind)
        return self._answer(cue.endpoint, cue.role, turn, shown, cue.kind)

    def _answer(self, endpoint: Endpoint, role: Role, turn: int, shown: Conversation, kind: FaultKind | None) -> Answer:
        """The same, from all that it depends on."""
        codec, chat = endpoint.codec, self._endpoints.chat
        action = role.actions[turn - 1]
        raw = whole_body(action)
        try:
            if raw is None:
                reply = answer(action, role.scenario, shown, turn)
                if action.raw_message is not None and chat is not None and codec is not chat:
                    reply = reply_of(chat, chat.encode_reply(reply)) or reply
            else:
                said = None if chat is None or (codec is chat and not shown.streamed) else reply_of(chat, raw)
                if said is None:
                    return Answer((raw[: len(raw) // 2] if kind == "truncate" else raw,), streamed=False)
                reply = said
        except ScriptError as error:
            place = f"policy {role.policy}, turn {turn}"
            raise _RefusedError("rehearsal_unresolved", f"{place}: {error}") from None
        if kind == "truncate":
            reply = reply.truncated()
        if kind == "no_usage" or not shown.counted:
            reply = reply.model_copy(update={"usage": None})
        if shown.streamed:
            return Answer(codec.encode_stream(reply), streamed=True, reply=reply)
        return Answer((codec.encode_reply(reply),), streamed=False, reply=reply)


def _done(cue: _Cue, play: Performance, answer: Answer | None) -> Performance:
    """The performance with what is known of its call."""
    fault = play.fault or cue.kind
    is_lost = fault in _UNCOUNTED or (fault == "stall" and play.pause_s is None)
    call = ServedCall(
        dialect=cue.endpoint.dialect.name,
        streamed=cue.shown.streamed,
        model=cue.shown.model,
        visit=cue.visit,
        policy=cue.role.policy,
        fault=fault,
        latency_ms=cue.latency_ms,
        usage=None if answer is None or is_lost else answer.usage,
    )
    return replace(play, latency_ms=cue.latency_ms, fault=fault, call=call)


def _refusal(dialect: Dialect, status: int, code: str, message: str) -> Performance:
    return Performance(status, (json_bytes(dialect.failure(status, code, message)),))
