"""One live episode at the run's ceiling: the most a call can cost is never less than what it does."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import FakeClock
from harness.meter import Bound, Ceiling
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import digest_json
from harness.schema.message import GenerationSettings, ModelRequest, Usage, UserMessage
from harness.schema.price import Price
from harness.schema.process import PlaneIdentity
from harness.schema.run import EpisodeJob
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.spending import Entry
from harness.wiring.quota import EpisodeQuota, most_of

PRICE = Price(input=Decimal(2), output=Decimal(8), source="test")


def actor(price: Price | None = PRICE, longest: int | None = 100) -> ActorSpec:
    settings = GenerationSettings(max_output_tokens=longest)
    identity = ActorIdentity(ref="m", kind="live", model="m", settings=settings, digest=digest_json("m"))
    return ActorSpec(identity=identity, price=price)


def request(text: str) -> ModelRequest:
    return ModelRequest(model="m", messages=(UserMessage(text=text),), tools=())


@given(st.text(max_size=200))
def test_a_token_is_at_least_a_byte_of_what_is_asked(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    most = most_of(actor(), request(text))
    assert most is not None
    assert most >= size * PRICE.input + 100 * PRICE.output


def test_half_of_a_pair_can_be_counted() -> None:
    assert most_of(actor(), request("\ud800")) is not None


@pytest.mark.parametrize("spec", [actor(price=None), actor(longest=None)], ids=["no price", "no bound"])
def test_a_call_without_price_or_bound_has_no_most(spec: ActorSpec) -> None:
    assert most_of(spec, request("x")) is None


@pytest.fixture
def job() -> Callable[[int], EpisodeJob]:
    scenario = Scenario.model_validate(
        {
            "schema": 1,
            "id": "pack/a",
            "asks": "Look.",
            "plane": "toy==1",
            "workspace": {"roots": ("project",)},
            "prompt": {"user": "Go."},
            "tool": {"exec": {"about": "Run.", "argument": "cmd", "grammar": "loopx-0.4"}},
            "kind": ({"name": "look", "read": "content", "failed": "failed", "sets": "seen"},),
            "end": {"accept": ("seen",), "silence": ({"code": "stopped"},)},
            "script": {"reference": ("ls",)},
        }
    )
    loaded = LoadedScenario(scenario=scenario, digest=digest_json("a"), path="a.toml")

    def made(trial: int) -> EpisodeJob:
        return EpisodeJob(loaded=loaded, actor=actor(), plane=PlaneIdentity(name="toy", version="1"), trial=trial)

    return made


def test_episodes_share_one_ceiling_and_pay_what_their_calls_cost(job: Callable[[int], EpisodeJob]) -> None:
    entries: list[Entry] = []
    bound = Bound(cost=Decimal(4_000))
    ceiling = Ceiling(bound, FakeClock().monotonic, keep=entries.append)
    first, second = (EpisodeQuota(ceiling, job(trial)) for trial in (1, 2))
    for quota in (first, second):
        assert quota.admits()
        assert quota.reserve("turn-1/main:attempt:1", request("x"), seconds=1.0, stopped=lambda: False)
    first.settle("turn-1/main:attempt:1", Usage(input_tokens=10, output_tokens=10, cache_read_tokens=0), billed=True)
    second.settle("turn-1/main:attempt:1", None, billed=False)
    assert ceiling.committed == 100
    assert len({entry.attempt for entry in entries}) == 2
    assert all(entry.attempt.startswith("sha256:") for entry in entries)
    assert first.reserve("turn-2/main:attempt:1", request("x"), seconds=1.0, stopped=lambda: False)
    first.settle("turn-2/main:attempt:1", None, billed=True)
    most = most_of(actor(), request("x"))
    assert most is not None
    assert ceiling.committed == 100 + most


def test_what_will_be_reserved_is_foretold_to_an_account_that_another_process_holds(
    job: Callable[[int], EpisodeJob],
) -> None:
    told: list[tuple[str, Decimal | None, float]] = []

    class Elsewhere(Ceiling):
        def foretold(self, attempt: str, most: Decimal | None, seconds: Callable[[], float]) -> None:
            told.append((attempt, most, seconds()))

        def reserve(self, attempt: str, most: Decimal | None, *, seconds: float, stopped: Callable[[], bool]) -> bool:
            told.append((attempt, most, seconds))
            return not stopped()

    here, there = Ceiling(Bound(), FakeClock().monotonic), Elsewhere(Bound(), FakeClock().monotonic)
    for account in (here, there):
        quota = EpisodeQuota(account, job(1))
        quota.foretold("turn-1/main#1", request("x"), lambda: 2.0)
        assert quota.reserve("turn-1/main#1", request("x"), seconds=2.0, stopped=lambda: False)
    assert told[0] == told[1]
    quota.reserve("turn-2/main#1", request("xy"), seconds=2.0, stopped=lambda: False)
    assert (told[2][0] == told[1][0], told[2][1] == most_of(job(1).actor, request("xy"))) == (False, True)
