"""Calls that were given up hold a slot until they end; calls that somebody waits for hold none."""

from __future__ import annotations

import threading

from numbered import case
from toy import ReplyActor, Stage, said

from harness.episode.detached import DetachedCalls
from harness.episode.model_call import CallEnd, ModelCall
from harness.schema.message import Reply, Usage


def given_up(detached: DetachedCalls, scope: str = "A") -> tuple[ModelCall, threading.Thread, threading.Event]:
    """A call in flight that its owner has left."""
    begun, end = threading.Event(), threading.Event()

    def ask() -> Reply:
        begun.set()
        end.wait()
        return said("too late")

    call = ModelCall(ask, detached=detached, scope=scope, late=lambda _: None)
    thread = threading.Thread(target=call.run, daemon=True)
    thread.start()
    begun.wait()
    assert call.give_up("cancelled").sent
    return call, thread, end


@case(180)
def test_a_call_beyond_the_process_limit_is_not_made(stage: Stage) -> None:
    stage.detached = DetachedCalls(process=1)
    _, thread, end = given_up(stage.detached)
    actor = ReplyActor([])
    played = stage.play(actor=actor)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.limit, outcome.observed) == ("limit_exceeded/detached_calls", 1, 1)
    assert (played.receipt.verdict, played.receipt.counters.model_turns, actor.requests) == ("not_judged", 0, [])
    end.set()
    thread.join()
    assert stage.play().receipt.verdict == "pass"


@case(181)
def test_one_episodes_abandoned_calls_are_no_other_ones_matter() -> None:
    detached = DetachedCalls(scope=2)
    calls = [given_up(detached), given_up(detached)]
    assert detached.excess("A") == (2, 2)
    assert detached.excess("B") is None
    for _, thread, end in calls:
        end.set()
        thread.join()
    assert detached.excess("A") is None


@case(182)
def test_live_calls_are_free() -> None:
    detached = DetachedCalls(process=1, scope=1)
    end = threading.Event()

    def ask() -> Reply:
        end.wait()
        return said("here")

    calls = [ModelCall(ask, detached=detached, scope="A", late=lambda _: None) for _ in range(10)]
    threads = [threading.Thread(target=call.run, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    assert detached.excess("A") is None
    end.set()
    for thread in threads:
        thread.join()
    assert [call.end().reply for call in calls] == [said("here")] * 10


@case(183)
def test_a_slot_is_released_once_however_giving_up_and_settling_race() -> None:
    detached = DetachedCalls()
    ends, late = list[CallEnd](), list[Usage]()
    for _ in range(1000):
        meet = threading.Barrier(2)

        def ask(meet: threading.Barrier = meet) -> Reply:
            meet.wait()
            return said("x")

        call = ModelCall(ask, detached=detached, scope="A", late=late.append)
        thread = threading.Thread(target=call.run)
        thread.start()
        meet.wait()
        ends.append(call.give_up("cancelled"))
        thread.join()
    assert len(detached) == 0
    assert detached.excess("A") is None
    assert sum(end.reply is not None for end in ends) + len(late) == 1000


def test_who_waits_for_them_is_told_whether_all_have_ended() -> None:
    detached = DetachedCalls()
    assert detached.settle(0.0)
    slots = [detached.take("A"), detached.take("B")]
    assert not detached.settle(0.0)
    slots[0].release()
    assert not detached.settle(0.0)
    last = threading.Thread(target=slots[1].release)
    last.start()
    assert detached.settle(10.0)
    last.join()


def test_releasing_a_slot_again_frees_no_other() -> None:
    detached = DetachedCalls()
    slot, _ = detached.take("A"), detached.take("A")
    slot.release()
    slot.release()
    assert len(detached) == 1
