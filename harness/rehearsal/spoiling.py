"""How an answer goes wrong on its way: pure functions from what would be sent to what is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from harness.errors import ProviderError
from harness.ports import Provider, WireResponse
from harness.rehearsal.conversation import Dialect
from harness.rehearsal.dialects import Endpoint
from harness.rehearsal.draws import Draws
from harness.rehearsal.performance import Performance
from harness.rehearsal.reading import SERVER_ERRORS, json_bytes
from harness.schema.message import Reply, Usage
from harness.schema.rehearsal import FaultSpec, Visit

__all__ = ["Answer", "begun", "instead", "spoiled"]

_EVENTS: Final = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_HTML: Final = b"<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n"
_HTML_TYPE: Final = {"content-type": "text/html; charset=utf-8"}
#: How servers name what their statuses mean, and the one that is meant where none is told.
_CODES: Final = {
    401: "invalid_api_key",
    402: "insufficient_quota",
    403: "permission_denied",
    404: "model_not_found",
    429: "rate_limit_exceeded",
    503: "overloaded",
    529: "overloaded",
}
_OVERLOADED: Final = 503


@dataclass(frozen=True, slots=True)
class Answer:
    """What would be sent if nothing went wrong: a body in one piece, or the events of a stream.

    ``reply`` is what they mean, None for bytes that a script gives.
    """

    pieces: tuple[bytes, ...]
    streamed: bool
    reply: Reply | None = None

    @property
    def usage(self) -> Usage | None:
        """What it tells of its tokens."""
        return None if self.reply is None else self.reply.usage

    def sent(self, *pieces: bytes) -> Performance:
        """These pieces instead of its own, as it would be sent."""
        return Performance(200, pieces, _EVENTS if self.streamed else {}, streamed=self.streamed)


def instead(dialect: Dialect, fault: FaultSpec) -> Performance | None:
    """What comes instead of any answer; None for a fault that needs one to spoil."""
    match fault.kind:
        case "hang":
            return Performance(200, ())
        case "html":
            return Performance(200, (_HTML,), _HTML_TYPE)
        case "error_body":
            return Performance(200, (_failure(dialect, fault),))
        case "status":
            return Performance(
                fault.status or _OVERLOADED,
                (_failure(dialect, fault),),
                _wait_headers(fault),
                retry_in_s=fault.retry_after_s if fault.retry_after_as == "date" else None,
            )
        case _:
            return None


def spoiled(answer: Answer, fault: FaultSpec | None, endpoint: Endpoint, draws: Draws, visit: Visit) -> Performance:
    """The answer as it goes down the line."""
    codec, dialect = endpoint.codec, endpoint.dialect
    play = answer.sent(*answer.pieces)
    if fault is None:
        return play
    match fault.kind:
        case "reset" | "close":
            play = replace(answer.sent(*_halves(answer, codec)), breaks_at=1)
        case "stall":
            play = replace(answer.sent(*_halves(answer, codec)), pauses_at=1, pause_s=fault.seconds)
        case "chunks":
            play = answer.sent(*draws.pieces(play.body, visit))
        case "unfinished":
            play = _unfinished(answer, codec)
        case "error_event" if answer.streamed:
            told = answer.pieces[: begun(codec, answer.pieces)]
            play = answer.sent(*told, dialect.failure_event(*_told(fault)))
        case "error_event":
            play = Performance(200, (_failure(dialect, fault),))
        case _:
            pass
    return play


def begun(codec: Provider, events: tuple[bytes, ...]) -> int:
    """How many events of a stream, at most and from its start, are no answer yet."""
    for count in range(len(events) - 1, 0, -1):
        try:
            codec.decode_stream(WireResponse(200, _EVENTS, b"".join(events[:count])))
        except ProviderError:
            return count
    return 0


def _unfinished(answer: Answer, codec: Provider) -> Performance:
    """An orderly body without its end: half of one, or a stream without the events that would make it whole."""
    if not answer.streamed:
        return answer.sent(_halves(answer, codec)[0])
    events, reply = answer.pieces, answer.reply
    count = begun(codec, events)
    if count == 0 and reply is not None:
        # a dialect may say the last word in the event that says that it is the last
        events = codec.encode_stream(reply.model_copy(update={"finish": None, "finish_word": None, "usage": None}))
        count = begun(codec, events)
    return answer.sent(*events[:count])


def _halves(answer: Answer, codec: Provider) -> tuple[bytes, bytes]:
    """Cut in the middle: of a body, or of the event that would make a stream whole, so that a part has arrived."""
    whole = b"".join(answer.pieces)
    if not answer.streamed:
        return whole[: len(whole) // 2], whole[len(whole) // 2 :]
    count = begun(codec, answer.pieces)
    at = sum(map(len, answer.pieces[:count])) + len(answer.pieces[count]) // 2
    return whole[:at], whole[at:]


def _told(fault: FaultSpec) -> tuple[int, str, str]:
    status = fault.status or _OVERLOADED
    code = _CODES.get(status, "server_error" if status >= SERVER_ERRORS else "invalid_request_error")
    return status, code, "a model of this rehearsal has a policy that says so"


def _failure(dialect: Dialect, fault: FaultSpec) -> bytes:
    body = dialect.failure(*_told(fault))
    told = body["error"]
    if fault.retry_after_as == "details" and isinstance(told, dict):
        delay = f"{fault.retry_after_s or 0:g}s"
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return json_bytes(body)


def _wait_headers(fault: FaultSpec) -> dict[str, str]:
    """The headers of a time to wait that need no clock."""
    wait = fault.retry_after_s
    if wait is None:
        return {}
    match fault.retry_after_as:
        case "seconds":
            return {"retry-after": f"{wait:g}"}
        case "milliseconds":
            return {"retry-after-ms": f"{wait * 1000:.0f}"}
        case "reset":
            used_up = {"x-ratelimit-limit-requests": "1", "x-ratelimit-remaining-requests": "0"}
            return {**used_up, "x-ratelimit-reset-requests": f"{wait * 1000:.0f}ms"}
        case _:
            return {}
