"""An attempt waits for its turn at the provider before it is started, and gives its place back whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import pytest
from toy import Played, ReplyActor, Stage, called, said

from harness.errors import ProviderError
from harness.journal import Journal
from harness.ports import TurnContext
from harness.receipt import provider_failure
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, Usage
from harness.schema.record import OpStarted
from harness.schema.spending import Entry

REPLIES = (said("", called("toy ask plane", id_="1")), said("", called("cat notes/a.json", id_="2")))


@dataclass
class Turnstile:
    """Lets calls through after so many seconds each; says otherwise where it was told to."""

    stage: Stage
    waits: list[float] = field(default_factory=list)
    says: list[Literal["may_send", "stopped", "closed"]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    patience: list[float] = field(default_factory=list)

    def enter(self, *, patience_s: float, stopped: Callable[[], bool]) -> Literal["may_send", "stopped", "closed"]:
        self.patience.append(patience_s)
        self.stage.clock.advance(self.waits.pop(0) if self.waits else 0.0)
        said_now = "stopped" if stopped() else self.says.pop(0) if self.says else "may_send"
        self.told.append(said_now)
        return said_now

    def leave(self) -> None:
        self.told.append("left")


def play(stage: Stage, pace: Turnstile, *replies: Reply | ProviderError, change: JsonValue = None) -> Played:
    """An episode of a live actor that answers, or fails, in this order."""

    def answer(one: Reply | ProviderError) -> Reply | Callable[[ModelRequest, TurnContext], Reply]:
        def reply(_: ModelRequest, __: TurnContext) -> Reply:
            pace.told.append("sent")
            if isinstance(one, ProviderError):
                raise one
            return one

        return reply

    asked = [answer(one) for one in (replies or REPLIES)]
    changed: dict[str, JsonValue] = change if isinstance(change, dict) else {}
    return stage.play(actor=ReplyActor(asked, kind="live"), pace=pace, change=changed)


def slow_down(retry_after_s: float | None = None) -> ProviderError:
    return ProviderError("rate_limited", "made up", retryable=True, http_status=429, retry_after_s=retry_after_s)


def test_every_attempt_enters_before_it_is_sent_and_leaves_after_it(stage: Stage) -> None:
    pace = Turnstile(stage)
    played = play(stage, pace, slow_down(), *REPLIES)
    assert played.receipt.verdict == "pass"
    assert pace.told == ["may_send", "sent", "left"] * 3 + ["left"]
    assert [row.error for row in played.result.log.attempts] == ["rate_limited", None, None]


def test_who_waits_for_others_is_neither_at_work_nor_short_of_time_to_try_again(stage: Stage) -> None:
    limits: JsonValue = {"active_s": 30.0, "model_retry_s": 20.0, "deadline_s": 5000.0}
    pace = Turnstile(stage, waits=[100.0, 100.0, 100.0])
    played = play(stage, pace, slow_down(), slow_down(), *REPLIES, change={"limits": limits})
    assert played.receipt.verdict == "pass"
    assert played.result.log.active_s is not None
    assert played.result.log.active_s < 30.0
    assert set(pace.patience) == {20.0}


def test_a_provider_that_is_closed_for_too_long_is_an_outage_and_nothing_is_started(stage: Stage) -> None:
    journal = Journal()
    pace = Turnstile(stage, says=["closed"])
    played = stage.play(actor=ReplyActor(list(REPLIES), kind="live"), pace=pace, journal=journal)
    receipt, outcome = played.receipt, played.receipt.outcome
    assert (outcome.name, outcome.detail, receipt.verdict) == ("failed/model_error", "rate_limited", "not_judged")
    assert played.result.log.attempts == ()
    assert played.receipt.counters.model_turns == 0
    assert provider_failure(played.result) == "outage"  # it is tried again, and no trial
    started = [payload.operation for payload in journal.payloads if isinstance(payload, OpStarted)]
    assert "turn-1/main" not in started
    assert played.result.log.problem is not None
    assert "wants to be left alone" in played.result.log.problem


def test_a_deadline_that_passes_while_it_waits_ends_the_episode_unsent(stage: Stage) -> None:
    pace = Turnstile(stage, waits=[400.0])
    played = play(stage, pace, change={"limits": {"deadline_s": 300.0}})
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("limit_exceeded/duration", "deadline")
    assert "sent" not in pace.told


@dataclass(frozen=True)
class Broke:
    """Lets episodes begin and no call be made."""

    admitting: bool

    def admits(self) -> bool:
        return self.admitting

    def before(self, _: str) -> Entry | None:
        return None

    def reserve(self, _: str, __: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        return seconds < 0 or stopped()

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        raise AssertionError((attempt, usage, billed))


def test_a_call_that_there_is_no_money_for_gives_its_place_back(stage: Stage) -> None:
    pace = Turnstile(stage)
    played = stage.play(actor=ReplyActor(list(REPLIES), kind="live"), pace=pace, quota=Broke(admitting=True))
    assert played.receipt.outcome.reason == "quota_refused"
    assert pace.told[:2] == ["may_send", "left"]


def test_a_bug_gives_the_place_back(stage: Stage) -> None:
    def broken(_: ModelRequest, __: TurnContext) -> Reply:
        raise KeyError("bug")

    pace = Turnstile(stage)
    with pytest.raises(KeyError):
        stage.play(actor=ReplyActor([broken], kind="live"), pace=pace)
    assert pace.told[:2] == ["may_send", "left"]
