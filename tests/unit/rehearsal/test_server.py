"""The simulated provider over real sockets, asked by the transport that live actors use."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from machine import PATIENCE_S
from rehearsing import CODEC, ask, header, policy_file, rehearsal, scenario

from harness.errors import EnvironmentProblem, ProviderError, StoreError
from harness.ports import WireResponse
from harness.providers._http import HttpTransport
from harness.rehearsal import Serving
from harness.rehearsal import server as module
from harness.rehearsal.server import BODY_MAX, Rehearsal
from harness.rehearsal.stage import Stage
from harness.schema.base import JsonValue
from harness.schema.rehearsal import REHEARSAL_HEADER, SIMULATED_HEADER, ServedCall, Visit


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport()
    yield made
    made.close()


def send(transport: HttpTransport, serving: Serving, who: str, body: bytes, deadline_s: float = 20) -> WireResponse:
    headers = {**CODEC.headers("sk-canary"), REHEARSAL_HEADER: who}
    return transport.send(
        serving.url + "/chat/completions", headers=headers, body=body, deadline_s=deadline_s, cancelled=lambda: False
    )


def fault(kind: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"kind": kind, "at_turn": 1, **more}


def test_a_call_is_answered_counted_and_kept_open_for_the_next(transport: HttpTransport, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    log.write_text("earlier\n", encoding="utf-8")
    with rehearsal("wrong:did_nothing").serve(log=log) as serving:
        assert serving.url.startswith("http://127.0.0.1:")
        assert serving.models == ("m", "all")
        for trial in (1, 2, 1):
            response = send(transport, serving, header(trial=trial), ask())
            assert response.status == HTTPStatus.OK
            assert CODEC.decode_reply(response).text == "Nothing to do."
        first, second = (Visit(scenario="toy/ask-then-read", trial=n, turn=1, attempt=1) for n in (1, 2))
        assert [call.visit.trial for call in serving.calls] == [1, 2, 1]
        assert serving.counts == {("m", first): 2, ("m", second): 1}
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "earlier"
    assert tuple(ServedCall.model_validate_json(line) for line in lines[1:]) == serving.calls
    assert "canary" not in log.read_text(encoding="utf-8")


def test_a_refused_request_is_answered_and_not_counted(transport: HttpTransport) -> None:
    with rehearsal().serve() as serving:
        response = send(transport, serving, "", ask())
        assert (response.status, json.loads(response.body)["error"]["code"]) == (400, "rehearsal_header")
        assert serving.calls == ()


def test_a_reset_breaks_the_body_and_the_next_attempt_goes_through(transport: HttpTransport) -> None:
    with rehearsal(fault=[fault("reset")]).serve() as serving:
        with pytest.raises(ProviderError) as caught:
            send(transport, serving, header(), ask())
        assert (caught.value.category, caught.value.delivered) == ("connection_lost", True)
        assert send(transport, serving, header(attempt=2), ask()).status == HTTPStatus.OK
        assert [call.fault for call in serving.calls] == ["reset", None]


@contextmanager
def connected(serving: Serving) -> Iterator[socket.socket]:
    """A bare connection to the server."""
    with socket.create_connection(("127.0.0.1", httpx.URL(serving.url).port or 0), timeout=20) as raw:
        yield raw


def until_reset(raw: socket.socket) -> bytes | None:
    """What arrived before the connection was reset, None where it ended politely."""
    seen = b""
    try:
        while piece := raw.recv(65536):
            seen += piece
    except ConnectionResetError:
        return seen
    return None


def test_a_reset_comes_in_the_middle_of_the_body() -> None:
    body = ask()
    with rehearsal(fault=[fault("reset")]).serve() as serving, connected(serving) as raw:
        head = f"POST /v1/chat/completions HTTP/1.1\r\n{REHEARSAL_HEADER}: {header()}\r\n"
        raw.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        seen = until_reset(raw)
    assert seen is not None
    top, _, part = seen.partition(b"\r\n\r\n")
    announced = re.search(rb"content-length: (\d+)", top)
    # A system may throw away what had arrived when a reset does.
    assert seen == b"" or (announced is not None and len(part) == int(announced[1]) // 2)


def test_a_hang_lasts_until_the_clients_deadline(transport: HttpTransport) -> None:
    with rehearsal(fault=[fault("hang")]).serve() as serving:
        with pytest.raises(ProviderError) as caught:
            send(transport, serving, header(), ask(), deadline_s=0.2)
        assert (caught.value.category, caught.value.retryable) == ("timeout", True)
        assert [call.fault for call in serving.calls] == ["hang"]


def test_a_web_page_and_a_status_arrive_as_they_are(transport: HttpTransport) -> None:
    faults: list[JsonValue] = [fault("html"), {"kind": "status", "status": 429, "retry_after_s": 3, "at_turn": 2}]
    with rehearsal(fault=faults).serve() as serving:
        page = send(transport, serving, header(), ask())
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        busy = send(transport, serving, header(2), ask())
        assert (busy.status, busy.headers["retry-after"]) == (429, "3")


def test_the_end_wakes_those_that_hang_and_those_that_are_late() -> None:
    policies = policy_file({"h": {"script": "reference", "fault": [fault("hang")]}, "l": {"script": "reference"}})
    late = policies.model.copy()
    late["l"] = late["l"].model_copy(update={"latency_ms": 600_000.0})
    served = Rehearsal([scenario()], policies.model_copy(update={"model": late}), 0, CODEC)
    ended: list[str] = []
    arrived = threading.Semaphore(0)

    class Announcing(Serving):
        def note(self, call: ServedCall) -> None:
            super().note(call)
            arrived.release()

    def wait_for_it(serving: Serving, model: str) -> None:
        own = HttpTransport()
        try:
            send(own, serving, header(), ask(model=model), deadline_s=60)
        except ProviderError as error:
            ended.append(error.category)
        finally:
            own.close()

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(module, "Serving", Announcing)
        with served.serve() as serving:
            waiting = [pool.submit(wait_for_it, serving, model) for model in ("h", "l")]
            for _ in waiting:
                assert arrived.acquire(timeout=PATIENCE_S)
        for future in waiting:
            future.result(timeout=PATIENCE_S)
    assert ended == ["connection_lost"] * 2


def test_an_answer_comes_no_sooner_than_its_latency(transport: HttpTransport) -> None:
    with rehearsal(latency_ms=60).serve() as serving:
        start = time.monotonic()
        send(transport, serving, header(), ask())
        assert time.monotonic() - start >= 0.06


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        ("POST /v1/other HTTP/1.1\r\ncontent-length: 0", 404, "not_found"),
        ("GET /v1/chat/completions HTTP/1.1", 405, "method_not_allowed"),
        ("POST /v1/chat/completions HTTP/1.1", 411, "length_required"),
        ("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: -1", 411, "length_required"),
        (f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {BODY_MAX + 1}", 413, "body_too_large"),
        (f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {'9' * 5000}", 413, "body_too_large"),
    ],
    ids=["path", "get", "no length", "negative", "large", "huge"],
)
def test_a_request_that_is_none_is_refused_and_the_connection_closed(head: str, status: int, code: str) -> None:
    with rehearsal().serve() as serving, connected(serving) as raw, raw.makefile("rb") as answer:
        raw.sendall(f"{head}\r\n\r\n".encode())
        whole = answer.read()
    top, _, body = whole.partition(b"\r\n\r\n")
    assert int(top.split()[1]) == status
    assert json.loads(body)["error"]["code"] == code


def read_to_the_end(serving: Serving, *pieces: bytes) -> bytes:
    """All that comes of some bytes, each sent when the server waits for more; the connection is to end by itself."""
    with connected(serving) as raw, raw.makefile("rb") as answer:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            raw.sendall(piece)
        return answer.read()


def post(*, version: str = "HTTP/1.1", path: str = "/v1/chat/completions", **more: str) -> bytes:
    body = ask()
    fields = {REHEARSAL_HEADER: header(), "Content-Length": str(len(body)), **more}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} {version}\r\n{lines}\r\n".encode() + body


def undated(answer: bytes) -> bytes:
    return re.sub(rb"Date: [^\r]+ GMT\r\n", b"Date: -\r\n", answer)


def test_an_answer_has_these_bytes() -> None:
    with rehearsal("wrong:did_nothing").serve() as serving:
        answer = undated(read_to_the_end(serving, post(connection="close")))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.decode() == (
        "HTTP/1.1 200 OK\r\nServer: harness-rehearsal \r\nDate: -\r\ncontent-type: application/json\r\n"
        f"x-harness-simulated: rehearsal\r\ncontent-length: {len(body)}\r\nconnection: close"
    )
    assert CODEC.decode_reply(WireResponse(200, {}, body)).text == "Nothing to do."


@pytest.mark.parametrize(
    "pieces",
    [
        [post(connection="close").replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nX-Folded: a\r\n b\r\n")],
        [post(version="HTTP/1.0")],
        [post(version="HTTP/1.1 ", connection="close")],
        [post(path="//v1/chat/completions", connection="close")],
        [bytes([byte]) for byte in post(connection="close")],
        [post(connection="close", padding="x" * 20_000)],
    ],
    ids=["folded", "HTTP/1.0", "spaces", "two slashes", "in pieces", "long"],
)
def test_a_head_of_any_form_gets_the_same_answer(pieces: list[bytes]) -> None:
    with rehearsal().serve() as serving:
        plain = read_to_the_end(serving, post(connection="close"))
        assert undated(read_to_the_end(serving, *pieces)) == undated(plain)
        assert len(serving.calls) == 2


def test_requests_that_come_at_once_are_answered_one_after_the_other() -> None:
    with rehearsal().serve() as serving:
        answers = read_to_the_end(serving, post() + post() + post(connection="close"))
    assert answers.count(b"HTTP/1.1 200 OK") == 3
    assert answers.count(b"connection: close") == 1


def test_who_expects_to_be_told_to_go_on_is_told() -> None:
    with rehearsal().serve() as serving:
        answer = read_to_the_end(serving, post(expect="100-continue", connection="close"))
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_the_oldest_form_of_a_request_gets_a_body_alone() -> None:
    with rehearsal().serve() as serving:
        answer = read_to_the_end(serving, b"GET /v1/models\r\n\r\n")
    assert json.loads(answer)["object"] == "list"


def test_a_client_that_goes_away_in_the_middle_is_no_call(capfd: pytest.CaptureFixture[str]) -> None:
    with rehearsal().serve() as serving, connected(serving) as raw:
        raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 100\r\n\r\nhalf")
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(1) == b""
    assert serving.calls == ()
    assert capfd.readouterr() == ("", "")


def test_a_bug_is_one_line_without_its_text(
    transport: HttpTransport, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("canary")

    monkeypatch.setattr(Stage, "perform", broken)
    with rehearsal().serve() as serving, pytest.raises(ProviderError):
        send(transport, serving, header(), ask())
    assert capfd.readouterr().err == "harness: a bug of the rehearsal server: ValueError\n"


def test_a_port_that_is_taken_is_one_line() -> None:
    with rehearsal().serve() as serving:
        port = httpx.URL(serving.url).port or 0
        with (
            pytest.raises(
                EnvironmentProblem, match=f"port {port} of 127.0.0.1 cannot be taken: Address already in use"
            ),
            rehearsal().serve(port),
        ):
            pass
    with rehearsal().serve(port) as again:
        assert again.url == serving.url
    with pytest.raises(EnvironmentProblem, match="there is no such port"), rehearsal().serve(70_000):
        pass


def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    served = rehearsal().serve(log=tmp_path / "no" / "log")
    with pytest.raises(StoreError, match="cannot be written: No such file"), served:
        pass


def test_a_connection_that_waits_for_a_next_request_does_not_hold_up_the_end(transport: HttpTransport) -> None:
    before = threading.active_count()
    with rehearsal().serve() as serving:
        send(transport, serving, header(), ask())
    assert threading.active_count() <= before


def test_every_answer_says_that_it_is_simulated_whatever_it_is(transport: HttpTransport) -> None:
    with rehearsal("wrong:did_nothing", fault=[fault("status", status=503)]).serve() as serving:
        failed = send(transport, serving, header(), ask())
        refused = send(transport, serving, "no visit", ask())
        nowhere = transport.send(
            serving.url.removesuffix("/v1") + "/chat/completions",
            headers={},
            body=b"{}",
            deadline_s=20,
            cancelled=lambda: False,
        )
    assert [answer.status for answer in (failed, refused, nowhere)] == [503, 400, 404]
    assert all(SIMULATED_HEADER in answer.headers for answer in (failed, refused, nowhere))
    with pytest.raises(
        ProviderError, match=r"^bad_response: nothing answers there .*the address, which mostly ends in /v1"
    ) as told:
        CODEC.decode_reply(nowhere)
    assert not told.value.retryable
