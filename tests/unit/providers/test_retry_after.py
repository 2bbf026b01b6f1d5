"""How long a provider asks us to wait."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.ports import WireResponse
from harness.providers import _retry_after
from harness.providers._retry_after import calls_left, reset_after_s, retry_after_s, retry_delay_s
from harness.providers._wire.failures import failure_of

NOW = datetime(2026, 3, 3, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": " +7 "}, 7.0),
        ({"retry-after": ".5"}, 0.5),
        ({"retry-after": "1e2"}, 100.0),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "1_000"}, None),
        ({"retry-after": "\u0663"}, None),
        ({"retry-after": "Tue, 03 Mar 2026 10:0\u0661:00 GMT"}, None),
        ({"retry-after": "Tue, 0_3 Mar 2026 10:01:00 GMT"}, None),
        ({"retry-after": "Mon, 01 Jan 2030 00:00:00 +99999999999999999999"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Tue, 03 Mar 2026 10:01:00 GMT"}, 60.0),
        ({"retry-after": "Tue, 03 Mar 2026 10:01:00 -0000"}, 60.0),
        ({"retry-after": "Tue, 03 Mar 2026 09:00:00 GMT"}, 0.0),
    ],
)
def test_seconds_are_read_from_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


def test_a_date_without_any_time_to_count_from_says_nothing() -> None:
    assert retry_after_s({"retry-after": "Tue, 03 Mar 2026 10:01:00 GMT"}) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-requests": "1d2h3m4.5s"}, 93784.5),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-tokens": "1s500ms"}, 1.5),
        ({"x-ratelimit-reset-tokens": "7.66s", "x-ratelimit-remaining-tokens": "0"}, 7.66),
        ({"x-ratelimit-reset-tokens": "7.66s", "x-ratelimit-remaining-tokens": "12"}, None),
        ({"x-ratelimit-reset-requests": "2s", "x-ratelimit-reset-tokens": "3s"}, 3.0),
        ({"x-ratelimit-reset": "24"}, 24.0),
        ({"x-ratelimit-reset": "1772532030"}, 30.0),
        ({"x-ratelimit-reset": "1772532030500"}, 30.5),
        ({"x-ratelimit-reset": "1772531000"}, 0.0),
        ({"x-ratelimit-reset": "9" * 300}, None),
        ({"ratelimit-reset": "5"}, 5.0),
        ({"anthropic-ratelimit-tokens-reset": "2026-03-03T10:00:09Z"}, 9.0),
        ({"anthropic-ratelimit-tokens-reset": "2026-03-03T10:00:09"}, 9.0),
        ({"x-ratelimit-reset": "Tue, 03 Mar 2026 10:01:00 GMT"}, 60.0),
        ({"x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-reset": "1_000"}, None),
        ({"x-ratelimit-reset": "\u0663s"}, None),
        ({"x-ratelimit-reset": "Mon, 01 Jan 2030 00:00:00 +99999999999999999999"}, None),
        ({"x-ratelimit-reset": ""}, None),
        ({"x-ratelimit-reset": "ms"}, None),
    ],
)
def test_the_time_until_a_limit_is_full_again_is_read_from_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert reset_after_s(headers, NOW) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"x-ratelimit-reset-requests": "2s"}, 2.0),
        (429, {"x-ratelimit-reset-requests": "2s", "retry-after": "1"}, 1.0),
        (500, {"x-ratelimit-reset-requests": "2s"}, None),
        (500, {"retry-after": "1"}, 1.0),
    ],
)
def test_a_limit_counts_only_where_it_was_the_reason_and_nobody_says_how_long_to_wait(
    status: int, headers: dict[str, str], seconds: float | None
) -> None:
    assert failure_of(WireResponse(status, headers, b""), NOW).retry_after_s == seconds


def test_a_date_of_the_answer_that_is_none_is_nothing_to_count_from() -> None:
    said = {"retry-after": "Tue, 03 Mar 2026 10:01:00 GMT", "date": "Mon, 01 Jan 2030 00:00:00 +99999999999999999999"}
    assert retry_after_s(said) is None


#: Everything that reads a time, mixed with what a careless or hostile server puts in its place.
pieces = st.sampled_from(
    [
        *"0123456789+-:,._ eETZ",
        "\u0663",
        "\ud800",
        "9" * 20,
        "9" * 400,
        "Mon",
        "Jan",
        "2030",
        "00:00:00",
        "GMT",
        "ms",
        "s",
        "d",
    ]
)
said_texts = (
    st.text()
    | st.lists(pieces, max_size=12).map("".join)
    | st.lists(pieces, max_size=8).map(lambda tail: "Mon, 01 Jan 2030 00:00:00 " + "".join(tail))
    | st.lists(pieces, max_size=8).map(lambda tail: "2030-01-01T00:00:00" + "".join(tail))
)
NAMES = ("retry-after", "retry-after-ms", "date", *(name for pair in _retry_after._RESETS for name in pair))


@given(st.dictionaries(st.sampled_from(NAMES), said_texts), st.sampled_from([None, NOW]))
@example({"retry-after": "Mon, 01 Jan 2030 00:00:00 +99999999999999999999"}, NOW)
@example({"retry-after": "Mon, 01 Jan 0001 00:00:00 +2359", "date": "Fri, 31 Dec 9999 23:59:59 -2359"}, None)
def test_no_text_of_a_header_is_more_than_unreadable(headers: dict[str, str], now: datetime | None) -> None:
    for wait in (retry_after_s(headers, now), reset_after_s(headers, now)):
        assert wait is None or 0 <= wait < float("inf")
    left = calls_left(headers)
    assert left is None or left >= 0


@given(said_texts)
def test_no_delay_of_a_body_is_more_than_unreadable(said: str) -> None:
    wait = retry_delay_s([{"retryDelay": f"{said}s"}])
    assert wait is None or 0 <= wait < float("inf")
