"""How long a provider asks us to wait."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from harness.ports import WireResponse
from harness.providers._retry_after import reset_after_s, retry_after_s
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
