"""The simulated provider's chance: a function of the seed and of who asks, never of when."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import httpx
import pytest
from dialects import asked, came, decoded
from hypothesis import given
from hypothesis import strategies as st
from rehearsing import CHAT, CODEC, CODECS, ask, policy_file, scenario

from harness.errors import ProviderError
from harness.rehearsal import Rehearsal, Serving
from harness.rehearsal.casting import cast
from harness.rehearsal.dialects import Endpoints
from harness.rehearsal.performance import Performance
from harness.rehearsal.policies import rated
from harness.rehearsal.stage import Stage
from harness.schema.base import JsonValue
from harness.schema.rehearsal import REHEARSAL_HEADER, FaultKind, PolicyFile, Visit

TRIALS = 2000
EVERYTHING = Endpoints([*CODECS.values()])
FIELDS = ("model", "messages", "input", "contents", "role", "content", "parts", "type", "functionResponse", "output")
PACKET = json.dumps({"target": "notes/a.json"})
FAULTS: list[JsonValue] = [
    {"kind": "status", "status": 503, "rate": 0.1},
    {"kind": "no_usage", "rate": 0.3},
    {"kind": "truncate", "rate": 0.05},
]
POLICIES = policy_file(
    {
        "reference": {"script": "reference", "weight": 6},
        "talks": {"script": "wrong:did_nothing", "weight": 3, "latency_ms": [0, 2]},
        "reads": {"script": "wrong:read_before_ask", "fault": [{"kind": "html", "at_turn": 1}]},
    },
    fault=FAULTS,
)

visits = st.builds(
    Visit,
    scenario=st.just("toy/ask-then-read"),
    trial=st.integers(1, 50),
    turn=st.integers(1, 3),
    attempt=st.integers(1, 3),
)


def staged(seed: int, policies: PolicyFile = POLICIES) -> Stage:
    return Stage([scenario()], policies, seed, Endpoints([CODEC]))


def play(stage: Stage, visit: Visit) -> Performance:
    return stage.perform(CHAT, visit.header, ask(PACKET, model="all"))


in_two_orders = st.lists(visits, max_size=8).flatmap(lambda asked: st.tuples(st.just(asked), st.permutations(asked)))


@given(st.integers(), in_two_orders)
def test_an_answer_does_not_depend_on_what_was_asked_before(seed: int, orders: tuple[list[Visit], list[Visit]]) -> None:
    one, other = staged(seed), staged(seed)
    first = {visit: play(one, visit) for visit in orders[0]}
    assert all(play(other, visit) == first[visit] for visit in (*orders[1], *orders[0]))


targets = st.text(max_size=60) | st.builds(
    "{}{}".format,
    st.sampled_from(["//[", "http://[x", CHAT, "/v1/responses", "/v1/messages", "/v1beta/m:generateContent"]),
    st.text(max_size=10) | st.just("?alt=sse"),
)
bodies = st.binary(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
).map(lambda value: json.dumps(value).encode())


@given(targets, st.text(max_size=60) | st.none(), bodies)
def test_nothing_that_is_sent_makes_it_fail(target: str, header: str | None, body: bytes) -> None:
    found = Stage([scenario()], POLICIES, 0, Endpoints([*CODECS.values()])).perform(target, header, body)
    assert found.call is None
    assert "error" in json.loads(found.body)


@given(
    st.sampled_from(sorted(CODECS)),
    st.booleans(),
    st.sampled_from(get_args(FaultKind)),
    st.sampled_from([*range(400, 600)]),
    st.integers(),
)
def test_whatever_goes_wrong_is_played_and_read_as_a_reply_or_an_error(
    name: str, stream: bool, kind: FaultKind, status: int, seed: int
) -> None:
    fault: JsonValue = {"kind": kind, "rate": 1, "status": status}
    made = Stage([scenario()], policy_file({"m": {"script": "wrong:called", "fault": [fault]}}), seed, EVERYTHING)
    target, body = asked(name, stream=stream)
    play = made.perform(target, Visit(scenario="toy/ask-then-read", trial=1, turn=1, attempt=1).header, body)
    assert play.call is not None
    assert (play.call.fault, all(play.pieces)) == (kind, True)
    try:
        reply = decoded(name, came(play), stream=stream)
    except ProviderError:
        assert kind not in {"chunks", "stall", "truncate", "no_usage"}
    else:
        assert len(reply.calls) == 2


@given(st.integers(0, 2**64))
def test_draws_lie_in_their_interval(seed: int) -> None:
    draws = cast([scenario()], POLICIES, seed)["all"].draws
    assert 0 <= draws.uniform("any", seed) < 1


def within(seen: int, n: int, rate: float) -> bool:
    """Within four standard deviations of what the rate promises."""
    return abs(seen - n * rate) <= 4 * math.sqrt(n * rate * (1 - rate))


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 0.8, 0.99, 1.0])
def test_a_pass_rate_is_kept(rate: float) -> None:
    toy = scenario()
    part = cast([toy], rated([toy], {"m": rate}), seed=1)["m"]
    drawn = [part.role(Visit(scenario=toy.id, trial=trial, turn=1, attempt=1)) for trial in range(1, TRIALS + 1)]
    names = [role.policy for role in drawn if role is not None]
    assert len(names) == TRIALS
    assert within(names.count("m1-pass"), TRIALS, rate)
    wrong = [name for name in names if name != "m1-pass"]
    share = (1 - rate) / len(toy.script.wrong)
    assert all(within(wrong.count(f"m1-s1-{code}"), TRIALS, share) for code in toy.script.wrong)


def test_rates_of_policies_and_faults_are_kept() -> None:
    stage = staged(2)
    calls = [
        play(stage, Visit(scenario="toy/ask-then-read", trial=trial, turn=1, attempt=1)).call
        for trial in range(1, TRIALS + 1)
    ]
    policies = [call.policy for call in calls if call is not None]
    assert len(policies) == TRIALS
    for name, share in (("reference", 0.6), ("talks", 0.3), ("reads", 0.1)):
        assert within(policies.count(name), TRIALS, share)
    others = [call.fault for call in calls if call is not None and call.policy != "reads"]
    for kind, rate in (("status", 0.1), ("no_usage", 0.3), ("truncate", 0.05)):
        assert within(others.count(kind), len(others), rate)  # type: ignore[arg-type]  # the literals of FaultKind


def test_faults_of_two_attempts_are_independent() -> None:
    half: list[JsonValue] = [{"kind": "no_usage", "rate": 0.5}]
    stage = staged(3, policy_file({"p": {"script": "reference"}}, fault=half))
    pairs = [
        tuple(
            play(stage, Visit(scenario="toy/ask-then-read", trial=trial, turn=1, attempt=attempt)).fault
            for attempt in (1, 2)
        )
        for trial in range(1, TRIALS + 1)
    ]
    for pair in ((None, None), (None, "no_usage"), ("no_usage", None), ("no_usage", "no_usage")):
        assert within(pairs.count(pair), TRIALS, 0.25)


def served(serving: Serving, order: list[Visit], at_once: int) -> dict[Visit, tuple[int, bytes]]:
    with httpx.Client() as client, ThreadPoolExecutor(at_once) as pool:

        def one(visit: Visit) -> tuple[int, bytes]:
            answer = client.post(
                f"{serving.url}/chat/completions",
                content=ask(PACKET, model="all"),
                headers={REHEARSAL_HEADER: visit.header},
            )
            return answer.status_code, answer.content

        return dict(zip(order, pool.map(one, order), strict=True))


def test_servers_of_one_seed_agree_whatever_the_order_and_concurrency_and_other_seeds_differ() -> None:
    asked = [
        Visit(scenario="toy/ask-then-read", trial=trial, turn=turn, attempt=1)
        for trial in range(1, 21)
        for turn in (1, 2)
    ]
    toy = scenario()
    with Rehearsal([toy], POLICIES, 7, CODEC).serve() as one, Rehearsal([toy], POLICIES, 7, CODEC).serve() as other:
        slow, fast = served(one, asked, 1), served(other, asked[::-1], 8)
        assert fast == slow
        assert one.counts == other.counts
    with Rehearsal([toy], POLICIES, 8, CODEC).serve() as third:
        assert served(third, asked, 8) != slow
