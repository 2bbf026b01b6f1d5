"""How long a provider asks us to wait."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from harness.providers._retry_after import retry_after_s

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
