"""What a provider says of its limits is heard, told, and kept to by all episodes of a run."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

from harness import wiring
from harness.clock import FakeClock, SystemClock
from harness.episode import retrying
from harness.errors import ProviderCategory, ProviderError
from harness.meter import Ceiling
from harness.meter.ceiling import Bound
from harness.providers.openai import build
from harness.rehearsal import Rehearsal
from harness.schema.actor import ActorIdentity
from harness.schema.rehearsal import FaultSpec, PolicyFile, RehearsedModel, RehearsedPolicy
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite import Care, run_suite
from harness.wiring.pacing import Paces

LIVE = ActorIdentity(ref="openai/m", kind="live", provider="openai", model="m", digest="sha256:0")
SCENARIO = "registry/answers-after-last-tool-call"


def refusal(category: ProviderCategory = "rate_limited", status: int = 429, wait: float | None = None) -> ProviderError:
    return ProviderError(category, "made up", http_status=status, retry_after_s=wait)


def test_a_refusal_slows_a_provider_down_and_is_told() -> None:
    paces = Paces(FakeClock(), {"openai": 6}, at_once=8)
    heard = paces.hearing(LIVE)
    assert heard is not None
    assert (paces.at_most("openai"), paces.at_most("groq"), paces.told, paces.ended) == (6, 8, "", ())
    visitors = [paces.visitor(LIVE) for _ in range(6)]
    for visitor in visitors:
        assert visitor is not None
        assert visitor.enter(patience_s=1.0, stopped=lambda: False) == "may_send"
    heard.ended(heard.begun(), {}, refusal(wait=20.0))
    assert (paces.at_most("openai"), paces.closed_s("openai"), paces.closed_s("groq")) == (3, 20.0, 0.0)
    assert paces.told == "provider openai: 3 of 6 at once after 429"
    heard.ended(heard.begun(), {}, refusal("overloaded", 529))
    assert paces.told == "provider openai: 1 of 6 at once after 529"
    (line,) = paces.ended
    assert line.startswith("provider openai refused 2 calls for its limits, so as few as 1 of 6 ran at once; ")
    for _ in range(60):
        heard.ended(heard.begun(), {}, None)
    assert (paces.at_most("openai"), paces.told) == (6, "")


@pytest.mark.parametrize("category", ["auth", "quota_exhausted", "server_error", "timeout", "connection_lost"])
def test_other_failures_say_nothing_of_the_pace(category: ProviderCategory) -> None:
    paces = Paces(FakeClock(), at_once=4)
    heard = paces.hearing(LIVE)
    assert heard is not None
    heard.ended(heard.begun(), {}, refusal(category, 500, 30.0))
    assert (paces.at_most("openai"), paces.closed_s("openai"), paces.ended) == (4, 0.0, ())


@pytest.mark.parametrize(
    ("headers", "at_most"),
    [
        ({"x-ratelimit-remaining-requests": "2"}, 2),
        ({"anthropic-ratelimit-requests-remaining": "1", "anthropic-ratelimit-tokens-remaining": "90000"}, 1),
        ({"x-ratelimit-remaining-requests": "50", "x-ratelimit-remaining-tokens": "0"}, 1),
        ({"x-ratelimit-remaining-tokens": "3"}, 8),
        ({"x-ratelimit-remaining-requests": "1e400", "ratelimit-remaining": "-"}, 8),
        ({}, 8),
    ],
)
def test_what_an_answer_says_is_left_bounds_what_is_asked_next(headers: dict[str, str], at_most: int) -> None:
    paces = Paces(FakeClock(), at_once=8)
    heard = paces.hearing(LIVE)
    assert heard is not None
    heard.ended(heard.begun(), headers, None)
    assert paces.at_most("openai") == at_most


def test_scripts_and_recordings_keep_no_pace() -> None:
    paces = Paces(FakeClock())
    for kind in ("script", "recorded"):
        identity = LIVE.model_copy(update={"kind": kind})
        assert (paces.visitor(identity), paces.hearing(identity)) == (None, None)
    assert paces.told == ""


@pytest.mark.slow
def test_in_a_storm_of_refusals_every_trial_is_judged_and_every_attempt_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 of 100 calls are refused: no trial is lost, none is played twice, and no further attempt counts as one."""
    monkeypatch.setattr(retrying, "backoff_s", lambda attempt: 0.01 * attempt)
    place = wiring.settings({"PATH": "/usr/bin:/bin"}, tmp_path)
    loaded = wiring.load_scenario(place, SCENARIO)
    storm = FaultSpec(kind="status", status=429, rate=0.3, retry_after_s=0.02)
    policy, model = (
        RehearsedPolicy(script="reference"),
        RehearsedModel(policies=("right",), fault=(storm,), latency_ms=5),
    )
    policies = PolicyFile.model_validate({"schema": 1, "policy": {"right": policy}, "model": {"m": model}})
    trials = 16
    with Rehearsal([loaded.scenario], policies, 7, build()).serve() as served:
        (spec,) = wiring.actor_specs(place, f"openai-compatible/m@{served.url}", loaded, ())
        plane = wiring.plane_identity(place, loaded.scenario.plane)
        jobs = [EpisodeJob(loaded=loaded, actor=spec, plane=plane, trial=one) for one in range(1, trials + 1)]
        paces = Paces(SystemClock(), at_once=8)
        results, again = list[EpisodeResult](), list[EpisodeResult]()
        ceiling = Ceiling(Bound(), SystemClock().monotonic)
        with wiring.Session(place, ceiling=ceiling, paces=paces) as session:
            end = run_suite(
                jobs,
                episode=session.run,
                jobs_at_once=8,
                done=lambda _, result: results.append(result),
                again=lambda _, result: again.append(result),
                stop=threading.Event(),
                care=Care(retries=2),
                pacing=paces,
            )
        served_calls = served.calls
    assert (end.delivered, end.crashes, end.stopped) == (trials + len(again), (), False)
    assert sorted(result.receipt.trial for result in results) == list(range(1, trials + 1))
    assert {result.receipt.verdict for result in results} == {"pass"}
    rows = [row for result in (*results, *again) for row in result.log.attempts]
    told = Counter(row.http_status for row in rows)
    refused = sum(call.fault is not None for call in served_calls)
    assert refused >= trials // 4
    assert told[429] == refused
    assert len(rows) == len(served_calls)
    assert paces.ended
    assert paces.at_most("openai-compatible") <= 8
