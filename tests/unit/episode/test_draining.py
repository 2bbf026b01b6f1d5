"""A cancelled stream over real connections: closed at once where nobody pays, else read to its counts."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from numbered import case
from peer import Peer, Peers
from toy import Stage

from harness.actors.live import LiveActor, build
from harness.clock import SystemClock
from harness.episode import DurablePlace
from harness.ports import WireResponse
from harness.providers._http import HttpTransport
from harness.providers._wire.events import event_bytes
from harness.providers.openai import build as codec
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings
from harness.schema.price import Price

PRICE = Price(input=Decimal(2), output=Decimal(10), source="test")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def chunk(text: str, word: str | None = None) -> bytes:
    choice: JsonValue = {"index": 0, "delta": {"content": text}, "finish_reason": word}
    return event_bytes({"id": "c", "model": "m", "choices": [choice]})


REST = (
    chunk("c", "stop")
    + event_bytes({"id": "c", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
    + event_bytes("[DONE]")
)


class Streaming:
    """Sends the beginning of an answer, and the rest when it is let go; ``gone`` once its client closed."""

    def __init__(self) -> None:
        self.go_on, self.gone, self.sent_all = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(HEAD + chunk("ab"))
        connection.settimeout(0.02)
        while not self.go_on.is_set() and not peer.stop.is_set():
            try:
                if connection.recv(1) == b"":
                    self.gone.set()
                    return
            except TimeoutError:
                continue
        connection.sendall(REST)
        self.sent_all.set()


class Asking:
    """A live actor over a real connection; ``stopped`` is set as soon as the first piece of a stream was read."""

    def __init__(self, url: str, *, is_metered: bool) -> None:
        self.transport, self.stopped = HttpTransport(), threading.Event()
        identity = ActorIdentity(
            ref="m",
            kind="live",
            provider="openai",
            model="m",
            settings=GenerationSettings(stream=True),
            digest="sha256:0",
        )
        spec = ActorSpec(identity=identity, base_url=url.removesuffix("/chat/completions"))
        meter = SystemClock().monotonic if is_metered else None
        self.actor: LiveActor = build(spec, codec(), self.send, meter=meter)

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
        def looking(piece: bytes) -> bool:
            said = is_over is not None and is_over(piece)
            self.stopped.set()
            return said

        return self.transport.send(
            url, headers=headers, body=body, deadline_s=deadline_s, cancelled=cancelled, is_over=looking
        )


def test_a_cancelled_stream_that_nobody_pays_for_is_closed_at_once(stage: Stage, peer: Peers) -> None:
    server = Streaming()
    asking = Asking(peer(server).url, is_metered=False)
    played = stage.play(actor=asking.actor, cancelled=asking.stopped.is_set)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert server.gone.wait(5)
    assert stage.detached.settle(5)
    assert stage.late.drain(5)
    assert stage.late_rows == []
    asking.transport.close()


@case(28)
def test_a_cancelled_stream_that_is_paid_for_is_read_to_its_counts_and_no_word_of_it_counts(
    stage: Stage, peer: Peers
) -> None:
    server = Streaming()
    asking = Asking(peer(server).url, is_metered=True)
    played = stage.play(actor=asking.actor, cancelled=asking.stopped.is_set, price=PRICE)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert [(row.status, row.usage) for row in played.result.log.attempts] == [("unknown", None)]
    assert len(stage.detached) == 1
    server.go_on.set()
    assert stage.detached.settle(10)
    assert stage.late.drain(5)
    assert server.sent_all.is_set()
    assert not server.gone.is_set()
    (row,) = stage.late_rows
    assert (row.usage.input_tokens, row.usage.output_tokens, row.cost_micro_usd) == (5, 2, Decimal(30))
    assert played.receipt.turns == ()
    asking.transport.close()


def test_an_answer_that_was_read_to_its_end_is_not_paid_for_again(stage: Stage, peer: Peers, tmp_path: Path) -> None:
    """The process is to end in the middle of an answer; who goes on with the episode has it."""
    server = Streaming()
    listening = peer(server)
    asking, folder = Asking(listening.url, is_metered=True), tmp_path / "episode"
    cut = stage.play(
        actor=asking.actor,
        shutdown=asking.stopped.is_set,
        price=PRICE,
        durable=DurablePlace(folder, "first", sync=False),
    )
    assert (cut.receipt.outcome.name, cut.result.log.resumable) == ("cancelled/shutdown", True)
    server.go_on.set()
    assert stage.detached.settle(10)
    assert stage.late.drain(5)
    again = Asking(listening.url, is_metered=True)
    played = stage.play(actor=again.actor, price=PRICE, durable=DurablePlace(folder, "second", sync=False))
    first = played.result.log.attempts[0]
    assert (first.status, first.cost_micro_usd, played.receipt.turns[0].turn) == ("completed", Decimal(30), 1)
    assert "replayed_operations" in played.result.log.recovery
    assert len(listening.requests) == 1
    for one in (asking, again):
        one.transport.close()
