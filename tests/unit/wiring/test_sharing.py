"""Episodes of several processes at one account and one pace: as if all were threads of one."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned import job_of

from harness.clock import FakeClock, SystemClock
from harness.errors import ProviderError
from harness.meter import Bound, Ceiling
from harness.schema.message import Usage
from harness.schema.run import EpisodeJob, LateRow
from harness.schema.spending import Entry
from harness.wiring.pacing import Paces
from harness.wiring.places import Settings
from harness.wiring.session import Session
from harness.wiring.sharing import Clerk, news_to
from harness.wiring.worker import Away, Work, opener

JOB = job_of("pack/a", live=True)
WHO = JOB.actor.identity


def never() -> bool:
    return False


@dataclass
class Line:
    """A desk whose clerk sits in this process: what goes there and back is pickled all the same."""

    ceiling: Ceiling
    paces: Paces
    rows: list[LateRow] = field(default_factory=list)
    is_cut: bool = False
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._mine = threading.local()

    @property
    def clerk(self) -> Clerk:
        """That of the calling thread."""
        made: Clerk = self._mine.__dict__.setdefault("clerk", Clerk(JOB, ceiling=self.ceiling, paces=self.paces))
        return made

    def ask(self, question: object) -> object:
        if self.is_cut:
            raise ConnectionAbortedError
        self.asked.append(type(question).__name__)
        return _sent(self.clerk.answer(_sent(question)))

    def tell(self, news: object) -> None:
        self.clerk.hear(_sent(news))

    def report(self, news: object) -> None:
        news_to(self.paces, self.rows.append)(_sent(news))


def _sent(value: object) -> object:
    """What comes out at the other end."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  (made here)


def line(cost: int | None = None, at_once: int = 4, before: tuple[Entry, ...] = ()) -> Line:
    bound = Bound(cost=None if cost is None else Decimal(cost))
    clock = SystemClock()
    return Line(Ceiling(bound, clock.monotonic, before=before), Paces(clock, at_once=at_once))


@settings(max_examples=20, deadline=None)
@given(
    bound=st.integers(1, 60),
    trials=st.lists(
        st.lists(st.tuples(st.integers(0, 20), st.none() | st.integers(0, 100)), min_size=1, max_size=3),
        min_size=6,
        max_size=9,
    ),
)
def test_threads_of_three_processes_never_spend_more_than_the_bound(
    bound: int, trials: list[list[tuple[int, int | None]]]
) -> None:
    open_: dict[str, Decimal] = {}
    highest = [Decimal(0)]

    def keep(entry: Entry) -> None:
        open_[entry.attempt] = entry.micro_usd if entry.micro_usd is not None else open_[entry.attempt]
        highest[0] = max(highest[0], sum(open_.values(), Decimal(0)))

    shared = Ceiling(Bound(cost=Decimal(bound)), FakeClock().monotonic, keep=keep)
    paces = Paces(SystemClock())
    processes = [Away(Line(shared, paces)) for _ in range(3)]
    start = threading.Barrier(len(trials))

    def play(number: int, attempts: list[tuple[int, int | None]]) -> None:
        away = processes[number % 3]
        start.wait()
        for place, (most, share) in enumerate(attempts):
            name = f"{number}:{place}"
            if not away.reserve(name, Decimal(most), seconds=1.0, stopped=never):
                return
            away.settle(name, None if share is None else Decimal(most) * share / 100)

    threads = [threading.Thread(target=play, args=trial) for trial in enumerate(trials)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert highest[0] <= bound


def test_who_waits_for_room_is_admitted_once_another_process_has_settled() -> None:
    here = line(10)
    one, other = Away(here), Away(here)
    assert one.reserve("a", Decimal(8), seconds=1.0, stopped=never)
    waiting = threading.Thread(target=other.reserve, args=("b", Decimal(8)), kwargs={"seconds": 1.0, "stopped": never})
    waiting.start()
    while here.asked.count("Reserve") < 3:  # it asks again and again
        threading.Event().wait(0.01)
    one.settle("a", Decimal(1))
    waiting.join(30)
    assert here.ceiling.committed == 9


def test_who_waits_for_room_goes_when_it_is_told_to() -> None:
    here = line(10)
    assert Away(here).reserve("a", Decimal(8), seconds=1.0, stopped=never)
    looks = iter([False, True])
    assert not Away(here).reserve("b", Decimal(8), seconds=1.0, stopped=lambda: next(looks))
    assert Away(here).is_open()
    assert not Away(here).reserve("c", Decimal(11), seconds=1.0, stopped=never)
    assert (here.ceiling.reached, Away(here).is_open()) == ("cost", False)


def test_what_an_episode_had_reserved_when_its_process_was_killed_is_waited_for_by_nobody_and_stays_counted() -> None:
    here = line(10)
    away = Away(here)
    assert away.reserve("settled", Decimal(8), seconds=1.0, stopped=never)
    away.settle("settled", Decimal(1))
    assert away.reserve("killed in", Decimal(8), seconds=1.0, stopped=never)
    here.clerk.close()
    here.clerk.close()
    assert here.ceiling.committed == 9
    looks = iter([*[False] * 5, *[True] * 5])
    assert not away.reserve("next", Decimal(2), seconds=1.0, stopped=looks.__next__)  # nobody settles that any more
    assert here.ceiling.reached == "cost"


def test_what_an_interrupted_run_said_of_an_attempt_is_told_there_too() -> None:
    entry = Entry(attempt="a", event="settled", micro_usd=Decimal(2))
    away = Away(line(before=(entry,)))
    assert (away.before("a"), away.before("b")) == (entry, None)


def test_a_refusal_in_one_process_closes_the_gate_for_all() -> None:
    here = line(at_once=4)
    one, other = Away(here), Away(here)
    hearing, visit = one.hearing(WHO), one.visitor(WHO)
    assert hearing is not None
    assert visit is not None
    assert visit.enter(patience_s=0.0, stopped=never) == "may_send"
    assert visit.enter(patience_s=0.0, stopped=never) == "may_send"  # it is in already
    assert one.reserve("a", Decimal(1), seconds=1.0, stopped=never)
    hearing.ended(hearing.begun(), {}, ProviderError("rate_limited", "slow down", retry_after_s=60.0, http_status=429))
    visit.leave()
    visit.leave()
    assert here.paces.closed_s(WHO.ref) == 0  # it goes along with what the call cost
    one.settle("a", Decimal(1))
    assert here.ceiling.committed == 1
    assert 59 < here.paces.closed_s(WHO.ref) <= 60
    assert here.paces.told == f"provider {WHO.ref}: 1 of 4 at once after 429"
    other.hearing(WHO)
    elsewhere = other.visitor(WHO)
    assert elsewhere is not None
    assert elsewhere.enter(patience_s=59.0, stopped=never) == "closed"
    looks = iter([False, True])
    assert elsewhere.enter(patience_s=61.0, stopped=lambda: next(looks)) == "stopped"


def test_a_turn_at_the_provider_and_room_at_the_account_are_asked_for_at_once() -> None:
    here = line(10, at_once=2)
    away = Away(here)
    away.hearing(WHO)
    visit = away.visitor(WHO)
    assert visit is not None
    left = iter([3.0, 2.0])
    away.foretold("a", Decimal(4), lambda: next(left))
    assert visit.enter(patience_s=0.0, stopped=never) == "may_send"
    assert here.ceiling.committed == 4
    assert away.reserve("a", Decimal(4), seconds=3.0, stopped=never)
    assert (here.asked, here.ceiling.committed) == (["Enter"], 4)
    assert away.reserve("b", Decimal(1), seconds=1.0, stopped=never)  # what was not foretold is asked
    visit.leave()
    away.settle("b", Decimal(1))
    away.foretold("c", Decimal(20), lambda: 1.0)
    assert visit.enter(patience_s=0.0, stopped=never) == "may_send"
    assert not away.reserve("c", Decimal(20), seconds=1.0, stopped=never)
    assert (here.asked, here.ceiling.reached) == (["Enter", "Reserve", "Enter"], "cost")


def test_who_has_its_turn_and_no_room_yet_waits_for_it() -> None:
    here = line(10)
    assert Away(here).reserve("out", Decimal(8), seconds=1.0, stopped=never)
    away = Away(here)
    away.hearing(WHO)
    visit = away.visitor(WHO)
    assert visit is not None
    away.foretold("a", Decimal(8), lambda: 1.0)
    assert visit.enter(patience_s=0.0, stopped=never) == "may_send"
    here.ceiling.settle("out", Decimal(1))
    assert away.reserve("a", Decimal(8), seconds=1.0, stopped=never)
    assert (here.asked, here.ceiling.committed) == (["Reserve", "Enter", "Reserve"], 9)


def test_nothing_is_set_aside_for_a_call_that_may_not_be_sent_or_of_another_episode() -> None:
    here = line(10, at_once=1)
    away, looks = Away(here), iter([False, True])
    assert here.paces.of(WHO.ref).enter(patience_s=0.0, stopped=never) == "may_send"
    away.hearing(WHO)
    visit = away.visitor(WHO)
    assert visit is not None
    away.foretold("a", Decimal(4), lambda: 1.0)
    assert visit.enter(patience_s=0.0, stopped=lambda: next(looks)) == "stopped"
    here.paces.of(WHO.ref).leave()
    away.hearing(WHO)
    another = away.visitor(WHO)
    assert another is not None
    assert another.enter(patience_s=0.0, stopped=never) == "may_send"
    assert here.ceiling.committed == 0


def test_how_a_call_ended_is_told_before_the_next_one_is_begun() -> None:
    here = line(at_once=1)
    away = Away(here)
    hearing, visit = away.hearing(WHO), away.visitor(WHO)
    assert hearing is not None
    assert visit is not None
    for _ in range(2):
        assert visit.enter(patience_s=0.0, stopped=never) == "may_send"
        hearing.ended(hearing.begun(), {}, ProviderError("overloaded", "busy"))
        visit.leave()
    assert here.paces.of(WHO.ref).refused == 1
    away.hearing(WHO)  # another episode, which says nothing of the last one's calls
    assert away.is_open()
    assert here.paces.of(WHO.ref).refused == 1


def test_how_a_call_ended_that_nobody_waited_for_is_told_all_the_same() -> None:
    here = line(at_once=4)
    away = Away(here)
    hearing, visit = away.hearing(WHO), away.visitor(WHO)
    assert hearing is not None
    assert visit is not None
    visit.enter(patience_s=0.0, stopped=never)
    visit.leave()
    hearing.ended(hearing.begun(), {}, ProviderError("timeout", "too late"))  # it says nothing of the pace
    assert here.paces.ended == ()
    hearing.ended(hearing.begun(), {}, ProviderError("overloaded", "busy"))
    assert here.paces.of(WHO.ref).refused == 1
    hearing.ended(hearing.begun(), {"x-ratelimit-remaining-requests": "2"}, None)
    assert here.paces.at_most(WHO.ref) == 2


def test_a_process_that_is_gone_gives_its_turn_back() -> None:
    here = line(at_once=1)
    away = Away(here)
    away.hearing(WHO)
    visit = away.visitor(WHO)
    assert visit is not None
    assert visit.enter(patience_s=0.0, stopped=never) == "may_send"
    here.clerk.close()
    free = Clerk(JOB, ceiling=here.ceiling, paces=here.paces)
    there = Line(here.ceiling, here.paces)
    there._mine.clerk = free
    other = Away(there)
    other.hearing(WHO)
    second = other.visitor(WHO)
    assert second is not None
    assert second.enter(patience_s=0.0, stopped=never) == "may_send"


def test_where_nobody_is_there_any_more_nothing_is_begun_and_nothing_raised() -> None:
    here = line()
    away = Away(here)
    away.hearing(WHO)
    visit = away.visitor(WHO)
    assert visit is not None
    here.is_cut = True
    looks = iter([False, True])
    assert not away.is_open()
    assert not away.reserve("a", Decimal(1), seconds=1.0, stopped=never)
    away.settle("a", Decimal(1))
    assert visit.enter(patience_s=1.0, stopped=lambda: next(looks)) == "stopped"


def test_scripts_keep_no_pace_and_late_usage_goes_where_all_of_it_is_kept() -> None:
    here = line()
    away = Away(here)
    script = job_of("pack/a").actor.identity
    assert (away.hearing(script), away.visitor(script)) == (None, None)
    row = LateRow(key="k", operation="turn-1/main", attempt=1, usage=Usage(input_tokens=1, output_tokens=2))
    away.late_row(row)
    assert here.rows == [row]


@pytest.mark.parametrize("question", ["nonsense", 1])
def test_a_question_that_is_none_is_a_bug(question: object) -> None:
    here = line()
    with pytest.raises(TypeError):
        here.clerk.answer(question)
    with pytest.raises(TypeError):
        here.report(question)
    with pytest.raises(TypeError):
        here.tell(question)


def test_no_key_is_sent_to_a_process_which_takes_it_from_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1234")
    job: EpisodeJob = job_of("pack/a", live=True)
    place = Settings(tmp_path, tmp_path, (), {"OPENAI_API_KEY": "sk-very-secret-1234"})
    work = Work(place, (job.actor,), place.cwd, "all", is_new=True)
    sent = pickle.dumps(opener(work))
    assert b"sk-very-secret" not in sent
    opened: Callable[[object], AbstractContextManager[object]] = pickle.loads(sent)  # noqa: S301  (made here)
    with opened(line()) as session:
        assert isinstance(session, Session)
        assert session._place.environ["OPENAI_API_KEY"] == "sk-very-secret-1234"
