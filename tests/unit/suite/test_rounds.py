"""A run that may end early: the same is decided, and played up to a round more, however episodes end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from planned import job_of, result_of

from harness.qualification.stopping import Stopping
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.early import EarlyStop
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult
from harness.schema.verdict import Verdict
from harness.suite.care import Care
from harness.suite.queue import Entry, Queue

SCENARIOS, TRIALS = ("pack/a", "pack/b", "pack/c", "pack/d"), 6
Says = Callable[[EpisodeJob], Verdict]


def place(job: EpisodeJob) -> tuple[str, str, int]:
    return job.loaded.scenario.id, job.actor.identity.ref, job.trial


def plan_of(actors: int) -> list[EpisodeJob]:
    """In plan order: scenario, actor, trial; each actor has a provider of its own."""
    specs = [
        ActorSpec(identity=ActorIdentity(ref=f"{name}/m", kind="live", provider=name, digest=f"sha256:{name}"))
        for name in "abc"[:actors]
    ]
    return [
        job_of(scenario, trial, live=True).model_copy(update={"actor": spec})
        for scenario in SCENARIOS
        for spec in specs
        for trial in range(1, TRIALS + 1)
    ]


def ended(job: EpisodeJob, says: Says, *, outage: bool) -> EpisodeResult:
    if not outage:
        return result_of(job, says(job), Outcome(status="completed", reason="final_response"))
    row = AttemptRow(operation="turn-1/main", attempt=1, status="failed", usage=None, seconds=0.1, error="unavailable")
    lost = Outcome(status="failed", reason="model_error")
    made = result_of(job, "not_judged", lost, cause="provider")
    return made.model_copy(update={"log": made.log.model_copy(update={"attempts": (row,)})})


def play(
    jobs: list[EpisodeJob], says: Says, *, at_once: int, seed: int
) -> tuple[EarlyStop, Counter[tuple[str, str, int]]]:
    """Episodes end in any order, some of them for an outage; what was told, and how often each place was played."""
    random = Random(seed)  # noqa: S311  (an order, no secret)
    queue = Queue(jobs, Care(retries=2), in_rounds=True)
    stopping = Stopping([place(job) for job in jobs], 0.2)
    flight: list[Entry] = []
    played: Counter[tuple[str, str, int]] = Counter()
    while True:
        while len(flight) < at_once and (entry := queue.start()) is not None:
            flight.append(entry)
        if not flight:
            return stopping.told, played
        entry = flight.pop(random.randrange(len(flight)))
        result = ended(entry.job, says, outage=entry.retry < 2 and random.random() < 0.1)
        if queue.ended(entry, result):
            continue
        receipt = result.receipt
        played[place(entry.job)] += 1
        if stopping.over(receipt.scenario, receipt.actor.ref, receipt.trial, receipt.verdict):
            queue.keep(lambda job: stopping.needs(job.actor.identity.ref, job.trial))


@settings(max_examples=30)
@given(
    actors=st.integers(2, 3),
    rates=st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 3),
    verdicts=st.integers(0, 10_000),
    at_once=st.integers(1, 30),
    seed=st.integers(0, 10_000),
)
def test_whatever_ends_first_the_same_is_decided_and_little_more_is_played(
    actors: int, rates: tuple[float, float, float], verdicts: int, at_once: int, seed: int
) -> None:
    jobs = plan_of(actors)
    random = Random(verdicts)  # noqa: S311  (made-up verdicts)
    passing = {place(job) for job in jobs if random.random() < rates["abc".index(place(job)[1][0])]}

    def says(job: EpisodeJob) -> Verdict:
        return "pass" if place(job) in passing else "fail"

    told, played = play(jobs, says, at_once=at_once, seed=seed)
    one_by_one, least = play(jobs, says, at_once=1, seed=0)

    assert told == one_by_one
    assert set(played.values()) == {1}
    needed = {place(job) for job in jobs if told.needs(job.actor.identity.ref, job.trial)}
    assert needed == least.keys()
    more = played.keys() - needed
    assert needed <= played.keys()
    assert all(told.needs(actor, trial - 1) for _, actor, trial in more), "no more than the round after"
    assert len(more) < at_once + len(jobs) // TRIALS


def test_trials_are_played_round_by_round_and_an_outage_ends_its_own() -> None:
    jobs = plan_of(2)
    queue = Queue(jobs, Care(retries=1), in_rounds=True)
    order: list[tuple[int, int]] = []
    while (entry := queue.start()) is not None:
        order.append((entry.job.trial, entry.retry))
        queue.ended(entry, ended(entry.job, lambda _: "pass", outage=entry.index == 0 and not entry.retry))
    first = len(SCENARIOS) * 2
    assert order[: first + 1] == [(1, 0)] * first + [(1, 1)]
    assert order == sorted(order)


def test_a_provider_that_is_left_alone_holds_nobody_else_back() -> None:
    jobs = plan_of(2)
    queue = Queue(jobs, Care(refusals=1), in_rounds=True)
    played = Counter[str]()
    row = AttemptRow(operation="turn-1/main", attempt=1, status="failed", usage=None, seconds=0.1, error="auth")
    while (entry := queue.start()) is not None:
        actor = entry.job.actor.identity.ref
        played[actor] += 1
        result = ended(entry.job, lambda _: "pass", outage=actor == "b/m")
        queue.ended(
            entry,
            result
            if actor == "a/m"
            else result.model_copy(update={"log": result.log.model_copy(update={"attempts": (row,)})}),
        )
    assert played == {"a/m": len(SCENARIOS) * TRIALS, "b/m": 1}


def test_an_outage_of_what_is_not_needed_any_more_is_not_tried_again() -> None:
    queue = Queue(plan_of(2), Care(retries=2), in_rounds=True)
    entry = queue.start()
    assert entry is not None
    assert len(queue.keep(lambda _: False)) == len(plan_of(2)) - 1
    assert not queue.ended(entry, ended(entry.job, lambda _: "pass", outage=True))
    assert queue.start() is None
