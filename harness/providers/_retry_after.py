"""How long a provider asks us to wait."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from harness.schema.base import JsonValue

__all__ = ["calls_left", "reset_after_s", "retry_after_s", "retry_delay_s"]

#: When a limit is full again, and what is left of it: pairs of headers.
_RESETS: Final = (
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("ratelimit-reset", "ratelimit-remaining"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
)
#: Of what is left, those that count calls; the rest counts tokens, of which nobody knows how many a call takes.
_COUNT_CALLS: Final = frozenset(
    {
        "x-ratelimit-remaining-requests",
        "x-ratelimit-remaining",
        "ratelimit-remaining",
        "anthropic-ratelimit-requests-remaining",
    }
)
_DURATION = re.compile(
    r"(?=[0-9])(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?",
    re.ASCII,
)
#: ``float`` reads more than a header may say: digits of other scripts, and lines between digits.
_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
#: The same of the readers of dates; none that a server means is longer.
_DATED: Final = re.compile(r"[A-Za-z0-9 ,:.()+-]{1,80}")
_UNITS: Final = (86_400.0, 3600.0, 60.0, 1.0, 0.001)
#: A larger number is a time of day, in seconds since 1970; one larger by a thousand in milliseconds.
_TIME_MIN: Final = 1_000_000_000


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
    return seconds if seconds is not None else _until(_date(said), headers, now)


def reset_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds until every limit that is used up, or of which nobody says what is left, is full again; None: not told.

    A limit is told as seconds, as a duration (``6m0s``, ``20ms``), as a time since 1970 in seconds or milliseconds, or
    as a date. It is no wish to wait and counts only where ``retry_after_s`` is None and a limit was the reason.
    """
    used_up = (name for name, left in _RESETS if _number(headers.get(left, "0")) == 0)
    waits = [wait for name in used_up if (wait := _reset(headers.get(name), headers, now)) is not None]
    return max(waits, default=None)


def calls_left(headers: Mapping[str, str]) -> int | None:
    """How many more calls a provider takes for now, as its answer says it; None where it does not. Names in lower case.

    Tokens count where none are left: then no call is.
    """
    told = {left: number for _, left in _RESETS if (number := _number(headers.get(left))) is not None}
    counts = [int(min(number, _TIME_MIN)) for name, number in told.items() if name in _COUNT_CALLS or not number]
    return min(counts, default=None)


def _reset(said: str | None, headers: Mapping[str, str], now: datetime | None) -> float | None:
    number = _number(said)
    if number is not None:
        if number < _TIME_MIN:
            return number
        seconds = number / 1000 if number >= _TIME_MIN * 1000 else number
        try:
            return _until(datetime.fromtimestamp(seconds, UTC), headers, now)
        except (ValueError, OverflowError, OSError):
            return None
    found = _DURATION.fullmatch((said or "").strip())
    if found is not None:
        return sum(float(part) * unit for part, unit in zip(found.groups("0"), _UNITS, strict=True))
    return _until(_iso(said) or _date(said), headers, now)


def _until(then: datetime | None, headers: Mapping[str, str], now: datetime | None) -> float | None:
    start = now or _date(headers.get("date"))
    return None if then is None or start is None else max(0.0, (then - start).total_seconds())


def retry_delay_s(details: JsonValue) -> float | None:
    """Seconds to wait as the ``details`` of a Google error say it (``"retryDelay": "7.5s"``), else None."""
    for detail in details if isinstance(details, list) else []:
        said = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(said, str) and said.endswith("s"):
            return _number(said[:-1])
    return None


def _number(text: str | None) -> float | None:
    if text is None or _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return max(0.0, value) if math.isfinite(value) else None


def _iso(text: str | None) -> datetime | None:
    return _read(datetime.fromisoformat, text)


def _date(text: str | None) -> datetime | None:
    return _read(parsedate_to_datetime, text)


def _read(reader: Callable[[str], datetime], text: str | None) -> datetime | None:
    """What a reader of dates makes of a text; each has more than one way to refuse what is none."""
    said = (text or "").strip()
    if _DATED.fullmatch(said) is None:
        return None
    try:
        date = reader(said)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
