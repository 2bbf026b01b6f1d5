from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping

import httpx
import pytest
import recorded as rec

from harness.errors import ReplayMismatchError, StoreError, UsageError
from harness.ports import WireResponse
from harness.providers._http import HttpTransport
from harness.providers.openai import build
from harness.recording import Dress
from harness.recording.transport import RecordingTransport, ReplayTransport, Streams
from harness.schema.message import Reply
from harness.schema.recording import Exchange

THREE = rec.recording([rec.exchange(n, {"turn": n, "text": "hello"}, {"a": n}) for n in (1, 2, 3)])


class Broken(httpx.SyncByteStream):
    """A body that breaks off."""

    def __iter__(self) -> Iterator[bytes]:
        yield b'{"a":'
        raise httpx.ReadError("gone")


class Inner(httpx.BaseTransport):
    """Answers with one stream; remembers what it was asked and that it was closed."""

    def __init__(self, stream: httpx.SyncByteStream) -> None:
        self.stream, self.asked, self.closed = stream, list[httpx.Request](), False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return httpx.Response(200, headers={"x-own": "1", "content-type": "text/plain"}, stream=self.stream)

    def close(self) -> None:
        self.closed = True


def test_what_passes_is_passed_on_whole_and_kept() -> None:
    kept: list[Exchange] = []
    inner = Inner(httpx.ByteStream(b"[1]"))
    with httpx.Client(transport=RecordingTransport(inner, kept.append, Dress(), first=4)) as client:
        answers = [client.post(f"{rec.URL}?key=secret", json={"n": n}) for n in (1, 2)]
    assert [(answer.text, answer.headers["x-own"]) for answer in answers] == [("[1]", "1")] * 2
    assert [exchange.number for exchange in kept] == [4, 5]
    assert (kept[0].request.method, kept[0].request.path) == ("POST", rec.PATH)
    assert (kept[0].request.body, kept[0].response.body) == ({"n": 1}, [1])
    assert inner.closed


def test_no_encoding_is_offered_whatever_the_client_offers() -> None:
    inner = Inner(httpx.ByteStream(b"[1]"))
    with httpx.Client(transport=RecordingTransport(inner, lambda _: None, Dress())) as client:
        client.post(rec.URL, headers={"accept-encoding": "gzip, br, zstd"})
    assert inner.asked[0].headers["accept-encoding"] == "identity"


def test_an_answer_that_breaks_off_or_is_given_up_is_no_exchange() -> None:
    kept: list[Exchange] = []
    with httpx.Client(transport=RecordingTransport(Inner(Broken()), kept.append, Dress())) as client:
        with pytest.raises(httpx.ReadError):
            client.post(rec.URL)
        with client.stream("POST", rec.URL) as answer:
            next(answer.iter_raw())
    assert kept == []


class Events(httpx.BaseTransport):
    """Answers with a stream of events that stays open after its last one."""

    def __init__(self, *pieces: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.pieces = pieces
        self.headers = headers or {"content-type": "text/event-stream; charset=utf-8"}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        del request

        def stay() -> Iterator[bytes]:
            yield from self.pieces
            raise httpx.ReadTimeout("nothing more")

        return httpx.Response(200, headers=self.headers, content=stay())


CODEC = build()
STREAMS = Streams(CODEC.coalesce, lambda body: b"[DONE]" in body)
SPREAD = CODEC.encode_stream(Reply(text="see /home/ab", finish="stop"))
HALVES = tuple(SPREAD[0].replace(b"see /home/ab", text) for text in (b"see /ho", b"me/ab"))


def zipped(*pieces: bytes) -> Iterator[bytes]:
    """Each as soon as it is there, as a server does that compresses a stream."""
    deflater = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    return (deflater.compress(piece) + deflater.flush(zlib.Z_SYNC_FLUSH) for piece in pieces)


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/event-stream; charset=utf-8"},
        {"content-type": "Text/Event-Stream"},
        {"content-type": "application/json"},
        {"content-type": "text/event-stream", "content-encoding": "gzip"},
        {},
    ],
    ids=["events", "Events", "json", "gzip", "nothing"],
)
@pytest.mark.parametrize("first", [b"", b": hello\n\n"], ids=["", "comment"])
def test_a_path_that_is_spread_over_events_of_a_stream_is_hidden_and_the_reply_is_the_same(
    headers: dict[str, str], first: bytes
) -> None:
    kept: list[Exchange] = []
    pieces = (first, *HALVES, *SPREAD[1:])
    events = Events(*(zipped(*pieces) if "content-encoding" in headers else pieces), headers=headers or {"x": "y"})
    dress = Dress(hide=lambda text: text.replace("/home/ab", "{root}"), show=lambda text: text.replace("{root}", "/x"))
    recording = RecordingTransport(events, kept.append, dress, streams=STREAMS)
    http = HttpTransport(transport=recording)
    answer = http.send(
        rec.URL, headers={}, body=b"{}", deadline_s=5, cancelled=lambda: False, is_over=CODEC.stream_end()
    )
    http.close()

    assert CODEC.decode_stream(answer).text == "see /home/ab"
    (exchange,) = kept
    assert "{root}" in str(exchange.response.body)
    shown = WireResponse(200, {}, dress.answer(exchange.response))
    assert CODEC.decode_stream(shown) == CODEC.decode_stream(answer).model_copy(update={"text": "see /x"})


def test_a_stream_without_its_last_event_is_no_exchange() -> None:
    kept: list[Exchange] = []
    recording = RecordingTransport(Events(*HALVES), kept.append, Dress(), streams=STREAMS)
    http = HttpTransport(transport=recording)
    answer = http.send(
        rec.URL, headers={}, body=b"{}", deadline_s=5, cancelled=lambda: False, is_over=CODEC.stream_end()
    )
    http.close()

    assert (answer.cut, kept) == ("timeout", [])


def test_what_keeping_raises_reaches_the_caller() -> None:
    def full(_: Exchange) -> None:
        raise StoreError("full")

    with (
        httpx.Client(transport=RecordingTransport(Inner(httpx.ByteStream(b"")), full, Dress())) as client,
        pytest.raises(StoreError, match="full"),
    ):
        client.post(rec.URL)


def test_each_request_gets_what_was_recorded_for_it() -> None:
    transport, ask = rec.replayed(THREE)
    answers = [json.loads(ask({"text": "hello", "turn": n})) for n in (1, 2)]
    assert answers == [{"a": 1}, {"a": 2}]
    assert transport.replayer.drifts == ()
    assert [drift.exchange for drift in transport.replayer.unplayed] == [3]
    assert {drift.stale for drift in transport.replayer.unplayed} == {"not_asked"}


def test_a_request_that_was_not_recorded_names_the_nearest_and_the_places() -> None:
    transport, ask = rec.replayed(THREE)
    with pytest.raises(
        ReplayMismatchError, match=r"^this request was not recorded; the nearest is exchange 2$"
    ) as error:
        ask({"turn": 2, "text": "hallo"})
    assert error.value.exchange == 2
    assert [(drift.exchange, drift.pointer) for drift in transport.replayer.drifts] == [(2, "/text")]
    assert len(transport.replayer.unplayed) == 3


def test_a_request_that_comes_too_early_names_the_one_that_is_due() -> None:
    transport, ask = rec.replayed(THREE)
    with pytest.raises(ReplayMismatchError, match="recorded, but not at this point; the nearest is exchange 1"):
        ask({"turn": 3, "text": "hello"})
    assert [(drift.exchange, drift.pointer, drift.now) for drift in transport.replayer.drifts] == [(1, "/turn", "3")]


def test_recorded_exchanges_in_another_order_are_refused_with_a_place() -> None:
    turned = rec.resealed(THREE, [THREE.exchanges[1], THREE.exchanges[0], THREE.exchanges[2]])
    transport, ask = rec.replayed(turned)
    with pytest.raises(ReplayMismatchError):
        ask({"turn": 1, "text": "hello"})
    assert [(drift.exchange, drift.pointer) for drift in transport.replayer.drifts] == [(1, "/turn")]


def test_a_request_asked_once_too_often_says_so() -> None:
    transport, ask = rec.replayed(rec.recording(THREE.exchanges[:1]))
    ask({"turn": 1, "text": "hello"})
    with pytest.raises(ReplayMismatchError, match=r"more often than it was recorded$") as error:
        ask({"turn": 1, "text": "hello"})
    assert error.value.exchange is None
    (drift,) = transport.replayer.drifts
    assert (drift.stale, drift.recorded, drift.now) == ("extra_request", "1", "2")


def test_a_recording_tells_whether_a_request_was_sent_again_at_once() -> None:
    asked = [b'{"turn": 1}'] * 2 + [b'{"turn": 2}', b'{"turn": 1}']
    answers: list[rec.Answer] = [(status, {}, b"{}") for status in (429, 200, 503, 200)]
    transport, ask = rec.replayed(rec.recording(rec.recorded(answers, asked)))
    told = [transport.replayer.goes_on_with_the_same]
    for turn in (1, 1, 2, 1):
        ask({"turn": turn})
        told.append(transport.replayer.goes_on_with_the_same)
    assert told == [False, True, False, False, False]


def test_an_empty_recording_answers_nothing() -> None:
    _, ask = rec.replayed(rec.recording([]))
    with pytest.raises(ReplayMismatchError, match=r"^this request was not recorded$"):
        ask({})


def test_another_method_path_or_header_is_a_mismatch_and_told_as_such() -> None:
    body = {"turn": 1, "text": "hello"}
    transport = ReplayTransport(THREE, Dress())
    with httpx.Client(transport=transport) as client:
        for method, path, headers in (
            ("POST", "/v2/chat", {}),
            ("PUT", rec.PATH, {}),
            ("POST", rec.PATH, {"content-type": "text/plain"}),
        ):
            with pytest.raises(ReplayMismatchError, match="nearest is exchange 1"):
                client.request(method, f"https://elsewhere.test{path}", json=body, headers=headers)
        with pytest.raises(ReplayMismatchError):
            client.post(rec.URL, content=json.dumps(body, separators=(",", ":")))
        assert client.post(rec.URL, json=body).json() == {"a": 1}
    assert [(one.exchange, one.pointer, one.recorded, one.now) for one in transport.replayer.drifts] == [
        (1, "/entry/request/path", f'"{rec.PATH}"', '"/v2/chat"'),
        (1, "/entry/request/method", '"POST"', '"PUT"'),
        (1, "/entry/request/headers/content-type", '"application/json"', '"text/plain"'),
        (1, "/entry/request/headers/content-type", '"application/json"', "nothing"),
    ]


def test_the_host_may_be_another_one() -> None:
    with httpx.Client(transport=ReplayTransport(THREE, Dress())) as client:
        assert client.post(f"http://localhost:1{rec.PATH}", json={"turn": 1, "text": "hello"}).json() == {"a": 1}


def test_record_and_replay_stand_behind_the_transport_of_live_actors() -> None:
    kept: list[Exchange] = []
    recording = RecordingTransport(Inner(httpx.ByteStream(b'{"a":1}')), kept.append, Dress())
    answers = []
    for transport in (recording, ReplayTransport(rec.recording([rec.exchange(1, {"q": 1}, {"a": 1})]), Dress())):
        http = HttpTransport(transport=transport)
        headers = {"content-type": "application/json", "x-harness-rehearsal": "turn=1"}
        answer = http.send(rec.URL, headers=headers, body=b'{"q":1}', deadline_s=5, cancelled=lambda: False)
        answers.append((answer.status, answer.body))
        http.close()
    assert answers == [(200, b'{"a":1}')] * 2
    assert [exchange.request.headers for exchange in kept] == [{"content-type": "application/json"}]


def test_a_mismatch_reaches_whoever_sent_the_request_as_itself() -> None:
    http = HttpTransport(transport=ReplayTransport(THREE, Dress()))
    with pytest.raises(ReplayMismatchError):
        http.send(rec.URL, headers={}, body=b"{}", deadline_s=5, cancelled=lambda: False)
    http.close()


def test_the_headers_of_an_answer_are_looked_at_before_it_is_kept_and_may_end_the_call() -> None:
    kept: list[Exchange] = []
    closed = []

    class Watched(httpx.ByteStream):
        def close(self) -> None:
            closed.append(True)

    def refuse(headers: Mapping[str, str]) -> None:
        assert headers["x-own"] == "1"
        raise UsageError("no")

    transport = RecordingTransport(Inner(Watched(b"[1]")), kept.append, Dress(), on_headers=refuse)
    with httpx.Client(transport=transport) as client, pytest.raises(UsageError):
        client.post(rec.URL)
    assert (kept, closed) == ([], [True])
