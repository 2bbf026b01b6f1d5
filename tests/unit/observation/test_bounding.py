"""What is shown of a text: real beginnings and ends, numbers that add up, bounds that hold."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import case

from harness.observation import Batch, Measured, Room, Span, bound, bound_error, exceeds

NARROW = Room(section=12_000, result=20_000)
_MARK = re.compile(r"\n\[(\d+) of (\d+) characters are left out here\. [^\n]*\]\n")


def note(offset: int) -> str:
    return f"Go on at {offset}"


def texts() -> st.SearchStrategy[str]:
    """With marks, joiners, halves of surrogate pairs and everything else that is cut badly."""
    hard = st.sampled_from(
        ["e\u0301\u0302", "\U0001f469\u200d\U0001f680", "\ud83d\ude80", "\ud83d", "\u0301", "\n", "x"]
    )
    return st.lists(st.one_of(hard, st.text(max_size=30)), max_size=80).map("".join)


@st.composite
def measured(draw: st.DrawFn) -> Measured:
    """A text with some of its parts counting as more or fewer characters than they have."""
    text = draw(texts())
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=10)))
    spans: list[Span] = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        spans.append((start, end, draw(st.integers(1, 40))))
    return Measured(text, spans)


@st.composite
def sections(draw: st.DrawFn, length: int) -> Sequence[int]:
    """Lengths of parts that are the whole together."""
    cuts = [0, *sorted(draw(st.lists(st.integers(0, length), max_size=5))), length]
    return [end - start for start, end in itertools.pairwise(cuts)]


@given(st.data(), measured(), st.integers(0, 700), st.integers(0, 700))
def test_whatever_the_text_and_the_bounds_the_numbers_add_up_and_the_ends_are_real(
    data: st.DataObject, text: Measured, section: int, result: int
) -> None:
    parts, room = data.draw(sections(len(text.text))), Room(section=section, result=result)
    shown = bound(text, parts, room, note)
    if text.length == len(text.text) and not exceeds(text, parts, room):
        assert shown.length == len(shown.text)
    channel = shown.channel
    assert channel.seen == text.length == channel.retained + channel.dropped
    assert channel.truncated is (channel.dropped > 0)
    assert channel.unit == "chars"
    if not exceeds(text, parts, room):
        assert (shown.text, channel.dropped) == (text.text, 0)
        return
    marks = list(_MARK.finditer(shown.text))
    if len(marks) == 1 and len(parts) == 1:
        assert text.text.startswith(shown.text[: marks[0].start()])
        assert text.text.endswith(shown.text[marks[0].end() :])
        assert (int(marks[0][1]), int(marks[0][2])) == (channel.dropped, text.length)
    assert shown.length <= result


@given(measured(), st.integers(0, 4_000))
def test_no_character_is_cut_in_two(text: Measured, offset: int) -> None:
    for position in (text.before(offset), text.after(offset)):
        assert 0 <= position <= len(text.text)
        left, right = text.text[:position], text.text[position:]
        assert not ("\ud800" <= left[-1:] <= "\udbff" and "\udc00" <= right[:1] <= "\udfff")
        assert text.offset(position) + Measured(right).length >= 0
    assert text.offset(text.before(offset)) <= offset
    assert text.offset(text.after(offset)) >= min(offset, text.length)


@given(measured())
def test_a_position_is_where_its_offset_says(text: Measured) -> None:
    assert text.offset(len(text.text)) == text.length
    for offset in range(text.length + 1):
        position = text.before(offset)
        assert text.before(text.offset(position)) == position


def test_an_accent_stays_with_its_letter_and_a_family_together() -> None:
    text = Measured("ae\u0301z" + "\U0001f469\u200d\U0001f680" + "!")
    assert [text.before(offset) for offset in range(8)] == [0, 1, 1, 3, 4, 4, 4, 7]
    assert [text.after(offset) for offset in range(8)] == [0, 1, 3, 3, 4, 7, 7, 7]


def test_a_chain_without_end_is_cut_somewhere() -> None:
    text = Measured("a" + "\u0301" * 100)
    assert (text.before(90), text.after(10)) == (58, 42)


def test_a_span_is_never_cut() -> None:
    text = Measured("see /tmp/x/project/a", [(4, 18, 14)])
    assert text.length == 20
    assert (text.before(10), text.after(10)) == (4, 18)
    assert (text.before(18), text.before(19)) == (18, 19)
    wide = Measured("see /w/a", [(4, 6, 14)])
    assert (wide.length, wide.before(17), wide.after(17), wide.after(18)) == (20, 4, 6, 6)


@case(149)
def test_two_million_characters_are_shown_as_their_first_six_and_last_four_thousand() -> None:
    whole = "".join(f"{number:08}" for number in range(250_000))
    shown = bound(Measured(whole), (), NARROW, note)
    mark = _MARK.search(shown.text)
    assert mark is not None
    assert (mark[1], mark[2]) == ("1990000", "2000000")
    assert (shown.text[: mark.start()], shown.text[mark.end() :]) == (whole[:6_000], whole[-4_000:])
    assert (shown.channel.seen, shown.channel.retained, shown.channel.dropped) == (2_000_000, 10_000, 1_990_000)
    assert "Go on at 6000." in mark[0]
    assert "Do not infer what is missing." in mark[0]
    assert 10_000 < len(shown.text) < 10_400


def test_each_section_has_its_own_bound_and_mark() -> None:
    whole = "a" * 13_000 + "b" * 100 + "c" * 13_000
    shown = bound(Measured(whole), (13_000, 100, 13_000), Room(section=12_000, result=40_000), note)
    assert [(mark[1], mark[2]) for mark in _MARK.finditer(shown.text)] == [("3000", "26100")] * 2
    assert "Go on at 6000." in shown.text
    assert "Go on at 19100." in shown.text
    assert _MARK.sub("|", shown.text) == "a" * 6_000 + "|" + "a" * 4_000 + "b" * 100 + "c" * 6_000 + "|" + "c" * 4_000


def test_sections_that_are_too_long_together_are_cut_as_one() -> None:
    whole = "a" * 11_000 + "b" * 11_000
    shown = bound(Measured(whole), (11_000, 11_000), NARROW, note)
    assert len(_MARK.findall(shown.text)) == 1
    assert (shown.text[0], shown.text[-1]) == ("a", "b")
    assert 19_980 <= len(shown.text) == shown.length <= 20_000


@pytest.mark.parametrize("length", [12_000, 12_001])
def test_the_bound_of_a_section_is_exact(length: int) -> None:
    text = Measured("x" * length)
    assert exceeds(text, (), NARROW) is (length > 12_000)


def test_a_room_without_space_for_a_mark_is_not_exceeded() -> None:
    shown = bound(Measured("x" * 500), (), Room(section=40, result=40), note)
    assert (len(shown.text), shown.length) == (40, 40)
    assert "x" not in shown.text
    assert shown.channel.dropped == 500


@given(texts(), st.integers(-5, 9_000))
def test_an_error_is_cut_within_its_bytes_and_its_room(text: str, room: int) -> None:
    shown = bound_error(text * 40, room)
    assert len(shown.text.encode("utf-8", "surrogatepass")) <= 4_096
    assert len(shown.text) <= max(room, 0)
    assert shown.channel.seen == shown.channel.retained + shown.channel.dropped
    assert shown.channel.truncated is (shown.text != text * 40)


def test_an_error_of_exactly_its_bytes_is_whole() -> None:
    assert bound_error("é" * 2_048, 60_000).text == "é" * 2_048
    cut = bound_error("é" * 2_049, 60_000)
    assert cut.text == "é" * 2_045 + " [cut]"
    assert (cut.channel.seen, cut.channel.retained, cut.channel.unit) == (4_098, 4_090, "bytes")


@case(153)
def test_five_long_results_and_two_notices_fit_into_a_batch_and_the_notices_are_whole() -> None:
    batch = Batch(60_000, [None, None, None, None, None, 300, 200])
    rooms = []
    for wanted in [20_000] * 5 + [300, 200]:
        rooms.append(min(batch.room(), wanted))
        batch.took(rooms[-1])
    assert rooms == [11_900] * 5 + [300, 200]


def test_what_one_result_does_not_need_goes_to_those_after_it() -> None:
    batch = Batch(1_000, [None, 100, None, None])
    assert batch.room() == 300
    batch.took(60)
    assert batch.room() == 100
    batch.took(100)
    assert batch.room() == 420


@given(st.integers(0, 2_000), st.lists(st.tuples(st.integers(0, 900), st.booleans()), max_size=12))
def test_a_batch_is_never_exceeded(limit: int, answers: list[tuple[int, bool]]) -> None:
    batch = Batch(limit, [length if is_notice else None for length, is_notice in answers])
    total = 0
    for length, _ in answers:
        taken = min(batch.room(), length)
        assert taken >= 0
        batch.took(taken)
        total += taken
    assert total <= limit
