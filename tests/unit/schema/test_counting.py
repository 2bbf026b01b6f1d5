from __future__ import annotations

import pytest

from harness.schema.counting import counted, of_all, percent, worded, worded_of


@pytest.mark.parametrize(("number", "told"), [(0, "0 episodes"), (1, "1 episode"), (2, "2 episodes")])
def test_the_noun_goes_with_the_number(number: int, told: str) -> None:
    assert counted(number, "episode") == told


def test_a_plural_of_another_form_is_given() -> None:
    assert (counted(1, "reply", "replies"), counted(2, "reply", "replies")) == ("1 reply", "2 replies")


@pytest.mark.parametrize(
    ("part", "total", "told"), [(1, 1, "1 of 1 call"), (1, 2, "1 of 2 calls"), (0, 1, "0 of 1 call")]
)
def test_of_a_part_the_noun_goes_with_the_whole(part: int, total: int, told: str) -> None:
    assert of_all(part, total, "call") == told


def test_a_verb_goes_with_its_number() -> None:
    assert [worded(number, "is", "are") for number in (0, 1, 2)] == ["are", "is", "are"]


def test_the_verb_of_a_part_is_plural_only_where_neither_is_one() -> None:
    found = [worded_of(part, total, "is", "are") for part, total in ((0, 1), (1, 1), (1, 2), (0, 2), (2, 2))]
    assert found == ["is", "is", "is", "are", "are"]


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.0, "0 %"),
        (5e-324, "< 1 %"),
        (0.004, "< 1 %"),
        (0.006, "1 %"),
        (0.994, "99 %"),
        (9_999 / 10_000, "> 99 %"),
        (0.9999999999999999, "> 99 %"),
        (1.0, "100 %"),
    ],
)
def test_only_all_are_a_hundred_percent_and_only_none_are_zero(share: float, told: str) -> None:
    assert percent(share) == told
