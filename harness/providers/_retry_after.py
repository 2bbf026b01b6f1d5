"""How long a provider asks us to wait."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from harness.schema.base import JsonValue

__all__ = ["retry_after_s", "retry_delay_s"]


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait, never negative; None where nothing readable is said. Header names in lower case.

    ``retry-after-ms`` (milliseconds) is the more exact one and wins; ``retry-after`` is a number of seconds or an
    HTTP date (RFC 9110, 10.2.3), counted from ``now``, else from the answer's own ``date``.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    until, start = _date(said), now or _date(headers.get("date"))
    if until is None or start is None:
        return None
    return max(0.0, (until - start).total_seconds())


def retry_delay_s(details: JsonValue) -> float | None:
    """Seconds to wait as the ``details`` of a Google error say it (``"retryDelay": "7.5s"``), else None."""
    for detail in details if isinstance(details, list) else []:
        said = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(said, str) and said.endswith("s"):
            return _number(said[:-1])
    return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, TypeError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
