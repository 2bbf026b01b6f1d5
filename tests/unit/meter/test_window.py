"""Calls at once: halved by a refusal, widened by answers, and always within its bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.meter import Window

ceilings = st.integers(1, 256)
happenings = st.lists(
    st.one_of(
        st.tuples(st.just("refused"), st.integers(0, 300), st.integers(1, 300)),
        st.tuples(st.just("answered"), st.just(0), st.just(0)),
        st.tuples(st.just("told"), st.integers(0, 1000), st.just(0)),
    ),
    max_size=60,
)


@given(ceiling=ceilings, events=happenings)
def test_it_is_never_below_one_nor_above_its_ceiling(ceiling: int, events: list[tuple[str, int, int]]) -> None:
    window = Window.whole(ceiling)
    assert window.at_once == ceiling
    for name, first, second in events:
        before = window
        if name == "refused":
            window = window.refused(first, second)
            assert window.size <= before.size
        elif name == "answered":
            window = window.answered()
            assert before.size <= window.size <= before.size + 1
        else:
            window = window.told(first)
            assert window.size <= before.size
        assert 1 <= window.size <= window.ceiling == ceiling
        assert 1 <= window.at_once <= ceiling


@given(ceiling=ceilings, out=st.integers(1, 256))
def test_one_wave_of_refusals_counts_once(ceiling: int, out: int) -> None:
    begun = Window.whole(ceiling).refusals
    once = Window.whole(ceiling).refused(begun, out)
    assert once.size == max(1, min(ceiling, out) / 2)
    again = once
    for _ in range(out):
        again = again.refused(begun, out)
    assert again == once
    assert again.refused(again.refusals, out).size == max(1, once.size / 2)


@given(ceiling=st.integers(1, 16))
def test_answers_alone_bring_it_back_to_its_ceiling(ceiling: int) -> None:
    window = Window(ceiling, 1.0)
    for _ in range(ceiling * (ceiling + 1)):
        window = window.answered()
    assert window.at_once == ceiling


@given(ceiling=st.integers(1, 12), takes=st.integers(1, 16))
def test_it_settles_around_what_a_provider_takes(ceiling: int, takes: int) -> None:
    """A provider that takes so many calls at once and refuses the rest, asked in waves of as many as may be out."""
    window, sizes = Window.whole(ceiling), list[int]()
    for wave in range(60):
        out, begun = window.at_once, window.refusals
        for number in range(out):
            window = window.answered() if number < takes else window.refused(begun, out)
        if wave >= 30:
            sizes.append(window.at_once)
    most = min(ceiling, takes)
    assert most // 2 <= min(sizes) <= max(sizes) <= most + 1
