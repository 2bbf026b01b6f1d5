"""What comes of a reply that nobody waits for any more: its usage, once, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from queue import Full

import pytest
from numbered import case
from toy import ReplyActor, Stage, said

from harness import catalog
from harness.episode.detached import DetachedCalls
from harness.episode.late import LateBook, LateReplies
from harness.episode.model_call import ModelCall
from harness.errors import ProviderError
from harness.journal import Journal
from harness.ports import Provider, TurnContext, WireResponse
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.message import GenerationSettings, ModelRequest, Reply, Usage
from harness.schema.price import Price
from harness.schema.record import LateUsage, Record, UsageRow
from harness.schema.run import LateRow

SEVEN = Usage(input_tokens=5, output_tokens=2)


class Slow:
    """A live model whose answer comes when it is let go."""

    def __init__(self, made: Callable[[], Reply], flag: threading.Event | None = None) -> None:
        self._made, self._flag = made, flag
        self.asked, self.go = threading.Event(), threading.Event()

    def reply(self, _: ModelRequest, __: TurnContext) -> Reply:
        self.asked.set()
        if self._flag is not None:
            self._flag.set()
        self.go.wait()
        return self._made()

    def finish(self, stage: Stage) -> None:
        """Let it answer, and wait until that is accounted for."""
        self.go.set()
        assert stage.detached.settle(30.0)
        assert stage.late.drain(30.0)


@case(28)
def test_a_reply_after_the_cancellation_leaves_its_usage_and_no_word(stage: Stage) -> None:
    flag, journal = threading.Event(), Journal()
    slow = Slow(lambda: said("abc", usage=SEVEN), flag)
    played = stage.play(actor=ReplyActor([slow.reply]), cancelled=flag.is_set, journal=journal)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert (len(stage.detached), stage.late_rows) == (1, [])
    before = journal.records
    slow.finish(stage)
    key = played.receipt.key
    assert stage.late_rows == [LateRow(key=key, operation="turn-1/main", attempt=1, usage=SEVEN)]
    assert (len(stage.detached), journal.records) == (0, before)
    assert played.trace is not None
    assert [message.role for message in played.trace.requests[-1].messages] == ["system", "user"]
    assert played.receipt.turns == ()


def test_usage_that_comes_late_is_told_with_what_it_cost(stage: Stage) -> None:
    flag = threading.Event()
    slow = Slow(lambda: said("abc", usage=SEVEN), flag)
    price = Price(input=Decimal(2), output=Decimal(10), source="test")
    stage.play(actor=ReplyActor([slow.reply]), cancelled=flag.is_set, price=price)
    slow.finish(stage)
    (row,) = stage.late_rows
    assert (row.usage, row.cost_micro_usd, row.inconsistent) == (SEVEN, Decimal(30), False)


def test_a_call_that_failed_late_leaves_what_it_was_billed(stage: Stage) -> None:
    flag = threading.Event()

    def made() -> Reply:
        partial = Reply(text="ab", finish=None, usage=SEVEN)
        raise ProviderError("connection_lost", "cut off", delivered=True, partial=partial)

    slow = Slow(made, flag)
    stage.play(actor=ReplyActor([slow.reply]), cancelled=flag.is_set)
    slow.finish(stage)
    assert [row.usage for row in stage.late_rows] == [SEVEN]
    assert len(stage.detached) == 0


CODECS = [catalog.module("providers", name).build() for name in catalog.names("providers")]
every_dialect = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)


def in_two_parts(codec: Provider) -> tuple[bytes, bytes]:
    """A stream of "abc" up to its piece "ab", and the rest of it, which tells of seven tokens."""
    events = codec.encode_stream(Reply(text="abc", finish="stop", usage=SEVEN))
    at = next(number for number, event in enumerate(events) if b'"ab' in event)
    if b'"ab"' in events[at]:
        return b"".join(events[: at + 1]), b"".join(events[at + 1 :])
    begun = codec.encode_stream(Reply(text="ab", finish=None))
    return b"".join(begun[: at + 1]), b"".join([events[at].replace(b"abc", b"c"), *events[at + 1 :]])


class HeldStream:
    """A network that gives the first part of a stream, asks to stop, and gives the rest once it is let go.

    Without ``ends`` it notices that somebody asked to stop, as the real one does, and gives up.
    """

    def __init__(self, codec: Provider, cancel: threading.Event, *, ends: bool) -> None:
        self.parts, self.cancel, self.ends = in_two_parts(codec), cancel, ends
        self.has_last_event = codec.name != "gemini"  # that stream is over when the connection is
        self.go, self.told = threading.Event(), list[bytes]()

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
        del url, headers, body, deadline_s
        assert is_over is not None
        self.told.append(self.parts[0])
        assert not is_over(self.parts[0])
        self.cancel.set()
        self.go.wait()
        assert cancelled()
        if not self.ends:
            return WireResponse(200, {}, self.parts[0], "cancelled")
        assert is_over(self.parts[1]) == self.has_last_event
        return WireResponse(200, {}, b"".join(self.parts))


@case(28)
@every_dialect
@pytest.mark.parametrize("ends", [True, False], ids=["ends", "is cut off"])
def test_a_stream_that_a_cancellation_overtakes_leaves_its_usage_and_no_word(
    stage: Stage, codec: Provider, ends: bool
) -> None:
    flag, journal = threading.Event(), Journal()
    network = HeldStream(codec, flag, ends=ends)
    streaming = GenerationSettings(stream=True)
    identity = ActorIdentity(ref="toy/model", kind="live", model="m", settings=streaming, digest="sha256:0")
    spec = ActorSpec(identity=identity, base_url="http://127.0.0.1:1")
    actor = catalog.module("actors", "live").build(spec, codec, network.send)
    played = stage.play(actor=actor, cancelled=flag.is_set, journal=journal)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert (network.told, len(stage.detached), stage.late_rows) == ([network.parts[0]], 1, [])
    assert played.trace is not None
    assert [message.role for message in played.trace.requests[-1].messages] == ["system", "user"]
    assert played.receipt.turns == ()
    before = journal.records
    network.go.set()
    assert stage.detached.settle(30.0)
    assert stage.late.drain(30.0)
    told = [(row.operation, row.attempt, row.usage.input_tokens, row.usage.output_tokens) for row in stage.late_rows]
    assert told == ([("turn-1/main", 1, 5, 2)] if ends else [])
    assert (len(stage.detached), journal.records) == (0, before)


@every_dialect
def test_a_stream_in_two_parts_is_one(codec: Provider) -> None:
    reply = codec.decode_stream(WireResponse(200, {}, b"".join(in_two_parts(codec))))
    assert reply.text == "abc"
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 2)


@case(187)
def test_what_lands_after_the_end_is_told_beside_the_journal(stage: Stage) -> None:
    journal = Journal()
    slow = Slow(lambda: said("late", usage=SEVEN))

    def over(request: ModelRequest, context: TurnContext) -> Reply:
        stage.clock.advance(61)
        return slow.reply(request, context)

    played = stage.play(actor=ReplyActor([over]), journal=journal)
    assert [record.payload.kind for record in journal.records][-2:] == ["closed", "acknowledged"]
    before = journal.records
    slow.finish(stage)
    assert journal.records == before
    assert [row.usage for row in stage.late_rows] == [SEVEN]
    assert played.result.log.recovery == ()


def test_what_lands_before_the_end_is_in_the_journal_and_in_the_ledger(stage: Stage) -> None:
    """Between giving up and closing the world is looked at a last time; a reply may come in just then."""
    flag = threading.Event()
    slow = Slow(lambda: said("abc", usage=SEVEN), flag)

    class Lands:
        """Looks on: as soon as the ledger has its row the reply is there."""

        def __call__(self, record: Record) -> None:
            if isinstance(record.payload, UsageRow):
                slow.finish(stage)

    journal = Journal([Lands()])
    played = stage.play(actor=ReplyActor([slow.reply]), cancelled=flag.is_set, journal=journal)
    late = [record.payload for record in journal.records if isinstance(record.payload, LateUsage)]
    assert late == [LateUsage(row="turn-1/main:attempt:1", usage=SEVEN)]
    assert (journal.state.total_tokens.value, stage.late_rows) == (7, [])
    assert played.result.log.recovery == ("late_usage",)
    assert [row.usage for row in played.result.log.attempts] == [SEVEN]


@case(186)
@pytest.mark.parametrize("usage", [None, SEVEN], ids=["no usage", "no reply"])
def test_an_abandoned_call_without_usage_leaves_no_row(stage: Stage, usage: Usage | None) -> None:
    flag = threading.Event()

    def made() -> Reply:
        if usage is not None:
            raise ProviderError("connection_lost", "given up")
        return said("abc", usage=usage)

    slow = Slow(made, flag)
    stage.play(actor=ReplyActor([slow.reply]), cancelled=flag.is_set)
    slow.finish(stage)
    assert (stage.late_rows, len(stage.detached)) == ([], 0)


@case(184)
def test_a_refused_hand_over_frees_the_slot_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    detached, begun, end = DetachedCalls(), threading.Event(), threading.Event()

    def ask() -> Reply:
        begun.set()
        end.wait()
        return said("late", usage=SEVEN)

    def refuse(_: Usage) -> None:
        raise Full("sk-FAKE0secret")

    call = ModelCall(ask, detached=detached, scope="A", late=refuse)
    thread = threading.Thread(target=call.run)
    thread.start()
    begun.wait()
    call.give_up("call_deadline")
    assert len(detached) == 1
    end.set()
    thread.join()
    assert len(detached) == 0
    assert caplog.messages == ["a late reply could not be handed over: Full"]


def test_a_queue_that_is_full_refuses() -> None:
    late, stuck, free = LateReplies(waiting=1), threading.Event(), threading.Event()

    def block() -> None:
        stuck.set()
        free.wait()

    late.hand_over(block)
    stuck.wait()
    late.hand_over(lambda: None)
    with pytest.raises(Full):
        late.hand_over(lambda: None)
    free.set()
    assert late.drain(5.0)


@case(185)
def test_whatever_the_sink_raises_the_next_is_accounted_for_in_order(caplog: pytest.LogCaptureFixture) -> None:
    late, kept = LateReplies(), list[int]()

    def interrupted() -> None:
        raise KeyboardInterrupt

    late.hand_over(interrupted)
    for number in (1, 2, 3):
        late.hand_over(partial(kept.append, number))
    assert late.drain(5.0)
    assert kept == [1, 2, 3]
    assert caplog.messages == ["a late reply could not be accounted for: KeyboardInterrupt"]


def test_the_end_of_the_process_waits_a_bounded_time() -> None:
    late, free = LateReplies(), threading.Event()
    assert late.drain(0.0)

    def block() -> None:
        free.wait()

    late.hand_over(block)
    assert not late.drain(0.01)
    free.set()


def test_a_bug_in_a_call_that_was_given_up_is_logged_and_frees_its_slot(caplog: pytest.LogCaptureFixture) -> None:
    detached, begun, end = DetachedCalls(), threading.Event(), threading.Event()

    def ask() -> Reply:
        begun.set()
        end.wait()
        raise ZeroDivisionError

    call = ModelCall(ask, detached=detached, scope="A", late=lambda _: None)
    thread = threading.Thread(target=call.run)
    thread.start()
    begun.wait()
    call.give_up("cancelled")
    end.set()
    thread.join()
    assert len(detached) == 0
    assert caplog.messages == ["a call that was given up ended in a failure of ours: ZeroDivisionError"]


def test_rows_wait_for_the_driver_and_go_elsewhere_once_it_left() -> None:
    elsewhere: list[LateUsage] = []
    book = LateBook(elsewhere.append)
    book.add("1", SEVEN)
    assert book.take() == (LateUsage(row="1", usage=SEVEN),)
    book.add("2", SEVEN)
    book.leave()
    book.add("3", SEVEN)
    assert (book.take(), [late.row for late in elsewhere]) == ((), ["2", "3"])


def test_no_text_is_kept_of_an_episode_that_is_over() -> None:
    written: list[int] = []
    book = LateBook()
    book.keep_text(lambda: written.append(1))
    book.forget_texts()
    book.keep_text(lambda: written.append(2))
    assert written == [1]


@case(29)
def test_a_reply_just_before_the_cancellation_counts_once_and_leads_nowhere(stage: Stage) -> None:
    flag, journal = threading.Event(), Journal()

    def answered(_: ModelRequest, __: TurnContext) -> Reply:
        flag.set()
        return said("abc", usage=SEVEN)

    played = stage.play(actor=ReplyActor([answered]), cancelled=flag.is_set, journal=journal)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    rows = [payload for record in journal.records if isinstance(payload := record.payload, UsageRow | LateUsage)]
    assert rows == [UsageRow(row="turn-1/main:attempt:1", purpose="main", status="completed", usage=SEVEN)]
    assert (stage.late_rows, len(stage.detached), played.receipt.steps) == ([], 0, ())


def test_a_call_that_has_settled_is_delivered_though_it_is_given_up() -> None:
    call = ModelCall(lambda: said("here"), detached=DetachedCalls(), scope="A", late=lambda _: None)
    call.run()
    assert call.give_up("cancelled").reply == said("here")
