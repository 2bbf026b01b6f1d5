"""What a run may cost is reserved before it is spent: no order of threads makes it more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine import PATIENCE_S

from harness.clock import FakeClock
from harness.meter import Bound, Ceiling
from harness.schema.spending import Entry


def never() -> bool:
    return False


@dataclass
class Book:
    """Keeps entries, and the highest sum that was ever out or spent."""

    entries: list[Entry] = field(default_factory=list)
    highest: Decimal = Decimal(0)

    def keep(self, entry: Entry) -> None:
        self.entries.append(entry)
        open_: dict[str, Decimal] = {}
        for one in self.entries:
            open_[one.attempt] = one.micro_usd if one.micro_usd is not None else open_.get(one.attempt, Decimal(0))
        self.highest = max(self.highest, sum(open_.values(), Decimal(0)))


def ceiling(cost: int | None, book: Book | None = None, **given: tuple[Entry, ...]) -> Ceiling:
    bound = Bound(cost=None if cost is None else Decimal(cost))
    return Ceiling(bound, FakeClock().monotonic, keep=(book or Book()).keep, before=given.get("before", ()))


def take(one: Ceiling, name: str, most: int | None, stopped: Callable[[], bool] = never) -> bool:
    return one.reserve(name, None if most is None else Decimal(most), seconds=1.0, stopped=stopped)


@settings(max_examples=40, deadline=None)
@given(
    bound=st.integers(1, 60),
    trials=st.lists(
        st.lists(st.tuples(st.integers(0, 20), st.none() | st.integers(0, 100)), min_size=1, max_size=4),
        min_size=2,
        max_size=6,
    ),
)
def test_side_by_side_trials_never_spend_more_than_the_bound(
    bound: int, trials: list[list[tuple[int, int | None]]]
) -> None:
    """Each trial makes attempts one after the other; each costs a share of its most, or nobody knows.

    Nobody settles before everybody has tried its first one, so as many as can be are out at once.
    """
    book = Book()
    shared = ceiling(bound, book)
    start, everybody_tried = threading.Barrier(len(trials)), threading.Event()
    tried: set[int] = set()

    def trying(number: int) -> bool:
        tried.add(number)
        if len(tried) == len(trials):
            everybody_tried.set()
        return False

    def play(number: int, attempts: list[tuple[int, int | None]]) -> None:
        start.wait()
        for place, (most, share) in enumerate(attempts):
            name = f"{number}:{place}"
            admitted = take(shared, name, most, lambda: trying(number))
            trying(number)
            if not admitted:
                return
            assert everybody_tried.wait(30)
            shared.settle(name, None if share is None else Decimal(most) * share / 100)

    threads = [threading.Thread(target=play, args=one) for one in enumerate(trials)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)
    assert book.highest <= bound
    assert shared.committed <= bound
    everything = sum(most for attempts in trials for most, _ in attempts)
    assert everything > bound or shared.reached is None


def test_who_finds_too_little_left_waits_for_those_that_are_out() -> None:
    shared = ceiling(10)
    assert take(shared, "a", 8)
    waits, done = threading.Event(), threading.Event()
    admitted: list[bool] = []

    def stopped() -> bool:
        waits.set()
        return False

    def second() -> None:
        admitted.append(take(shared, "b", 8, stopped))
        done.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert waits.wait(30)
    assert not done.is_set()
    shared.settle("a", Decimal(2))
    assert done.wait(30)
    thread.join()
    assert (admitted, shared.reached) == ([True], None)


def test_whoever_can_never_be_admitted_is_refused_while_others_are_out_and_nobody_starts_after() -> None:
    shared = ceiling(10)
    assert take(shared, "a", 8)
    assert not take(shared, "b", 11)
    assert shared.reached == "cost"
    assert not take(shared, "c", 1)
    assert not shared.is_open()
    shared.settle("a", Decimal(8))
    assert shared.committed == 8


def test_an_attempt_of_unknown_bound_is_within_no_bound() -> None:
    assert not take(ceiling(10), "a", None)
    assert take(ceiling(None), "a", None)


def test_what_nobody_knows_counts_as_the_most_it_could_be() -> None:
    shared = ceiling(10)
    assert take(shared, "a", 6)
    shared.settle("a", None)
    assert shared.committed == 6
    assert not take(shared, "b", 5)


@pytest.mark.parametrize("by_another", [False, True], ids=["one process", "two"])
def test_an_attempt_that_is_made_after_it_was_settled_is_paid_for_as_well(by_another: bool) -> None:
    book = Book()
    shared = ceiling(20, book)
    assert take(shared, "a", 5)
    shared.settle("a", Decimal(1))
    if by_another:
        shared = ceiling(20, book, before=tuple(book.entries))
    assert take(shared, "a", 5)
    shared.settle("a", Decimal(3))
    shared.settle("a", Decimal(3))
    assert shared.committed == 4
    assert ceiling(20, before=tuple(book.entries)).committed == 4


def test_an_attempt_is_settled_once() -> None:
    book = Book()
    shared = ceiling(10, book)
    assert take(shared, "a", 6)
    shared.settle("a", Decimal(1))
    shared.settle("a", Decimal(6))
    assert shared.committed == 1
    assert len(book.entries) == 2


def test_whoever_is_stopped_waits_no_longer() -> None:
    shared = ceiling(10)
    assert take(shared, "a", 8)
    asked: list[None] = []

    def stopped() -> bool:
        asked.append(None)
        return len(asked) > 1

    assert not take(shared, "b", 8, stopped)
    assert shared.reached is None


def test_a_run_that_is_gone_on_with_counts_what_it_spent_and_what_it_left_open() -> None:
    book = Book()
    first = ceiling(100, book)
    assert take(first, "paid", 40)
    first.settle("paid", Decimal(30))
    assert take(first, "cut off", 50)
    again = ceiling(100, before=tuple(book.entries))
    assert again.committed == 80
    assert again.unbounded == 0
    assert again.is_open()
    again.settle("cut off", Decimal(10))
    assert again.committed == 40
    assert take(again, "next", 60)


def test_what_was_reserved_and_never_made_is_reserved_anew() -> None:
    before = (Entry(attempt="a", event="reserved", micro_usd=Decimal(60)),)
    again = ceiling(100, before=before)
    assert take(again, "a", 60)
    assert again.committed == 60


def test_a_run_that_spent_its_bound_before_starts_nothing() -> None:
    before = (Entry(attempt="a", event="reserved", micro_usd=Decimal(10)),)
    assert not ceiling(10, before=before).is_open()
    assert ceiling(11, before=before).is_open()


@pytest.mark.parametrize("settled", [False, True])
def test_spending_that_nobody_can_bound_is_counted_as_such(settled: bool) -> None:
    entries = [Entry(attempt="a", event="reserved", micro_usd=None)]
    if settled:
        entries.append(Entry(attempt="a", event="settled", micro_usd=None))
    assert ceiling(None, before=tuple(entries)).unbounded == 1


def test_nothing_starts_that_could_end_after_the_time() -> None:
    clock = FakeClock()
    timed = Ceiling(Bound(ends=60.0), clock.monotonic)
    assert timed.reserve("a", None, seconds=60.0, stopped=never)
    clock.advance(1)
    assert timed.is_open()
    assert not timed.reserve("b", None, seconds=60.0, stopped=never)
    assert timed.reached == "time"
    assert not timed.is_open()


def test_an_entry_that_cannot_be_kept_reserves_nothing() -> None:
    def full(_: Entry) -> None:
        raise OSError(28, "No space left on device")

    shared = Ceiling(Bound(cost=Decimal(10)), FakeClock().monotonic, keep=full)
    with pytest.raises(OSError, match="No space"):
        take(shared, "a", 5)
    assert shared.committed == 0
