"""An actor that waits for nobody is asked without a thread of its own, under the same bounds."""

from __future__ import annotations

import threading

import pytest
from toy import Stage, answer, completed, said

from harness.clock import FakeClock
from harness.episode.callers import Callers
from harness.episode.detached import DetachedCalls
from harness.episode.latch import Bounds
from harness.episode.model_call import CallEnd, ModelCall, call_at_once
from harness.schema.base import JsonValue
from harness.schema.message import Reply
from harness.schema.process import Completed
from harness.schema.script import Action
from harness.workspace import Workspace


def call_that_takes(clock: FakeClock, seconds: float, asked: list[float]) -> ModelCall:
    def ask() -> Reply:
        asked.append(seconds)
        clock.advance(seconds)
        return said("here")

    return ModelCall(ask, detached=DetachedCalls(), scope="A", late=lambda _: None)


@pytest.mark.parametrize(
    ("takes", "limit_s", "deadline_s", "gave_up"),
    [(2, 2, 9, None), (3, 2, 9, "call_deadline"), (9, 9, 9, None), (10, 9, 9, "deadline"), (10, 2, 9, "deadline")],
)
def test_what_took_too_long_is_given_up(takes: float, limit_s: float, deadline_s: float, gave_up: str | None) -> None:
    clock, asked = FakeClock(), list[float]()
    bounds = Bounds(lambda: False, clock, deadline_s)
    end = call_at_once(call_that_takes(clock, takes, asked), bounds, limit_s=limit_s)
    assert (end.gave_up, end.reply is None, end.sent, asked) == (gave_up, gave_up is not None, True, [takes])


@pytest.mark.parametrize(
    ("cancelled", "limit_s", "deadline_s", "gave_up"),
    [(True, 1, 9, "cancelled"), (False, 0, 9, "call_deadline"), (False, 0, 0, "deadline")],
)
def test_what_is_over_already_is_not_asked(cancelled: bool, limit_s: float, deadline_s: float, gave_up: str) -> None:
    clock, asked = FakeClock(), list[float]()
    bounds = Bounds(lambda: cancelled, clock, deadline_s)
    assert bounds.cancelled() is cancelled
    end = call_at_once(call_that_takes(clock, 1, asked), bounds, limit_s=limit_s)
    assert (end, asked) == (CallEnd(gave_up=gave_up, sent=False), [])  # type: ignore[arg-type]


def test_what_an_actor_raises_that_is_none_of_our_errors_is_raised_again() -> None:
    def ask() -> Reply:
        raise ZeroDivisionError

    call = ModelCall(ask, detached=DetachedCalls(), scope="A", late=lambda _: None)
    with pytest.raises(ZeroDivisionError):
        call_at_once(call, Bounds(lambda: False, FakeClock(), 9), limit_s=1)


def test_a_script_needs_no_thread(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    monkeypatch.setattr("harness.episode.model_call.CALLERS", Callers())
    played = stage.play((Action(content="hello"),))
    assert [row.status for row in played.result.log.attempts] == ["completed"]


def test_a_script_whose_value_comes_too_late_is_over_its_own_limit(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("slow",):
            stage.clock.advance(6)
            return completed('{"text": "project/notes/a.json"}')
        return answer(workspace, args)

    change: dict[str, JsonValue] = {
        "late": {"slow": {"plane": ["slow"], "at": "/text"}},
        "limits": {"model_call_s": 5.0},
    }
    played = stage.play(("toy ask plane", "cat {slow}"), says=says, change=change)
    assert played.receipt.outcome.status != "completed"
    assert [row.status for row in played.result.log.attempts] == ["completed", "unknown"]
    change["limits"] = {"model_call_s": 6.0}
    assert [
        row.status for row in stage.play(("toy ask plane", "cat {slow}"), says=says, change=change).result.log.attempts
    ][:2] == ["completed", "completed"]
