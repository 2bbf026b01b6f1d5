"""What kind of failure an answer tells: from the status, and from the words that providers use in error bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harness.config.addresses import nothing_answers
from harness.errors import RETRYABLE, ProviderCategory, ProviderError
from harness.ports import WireResponse
from harness.providers._retry_after import reset_after_s, retry_after_s, retry_delay_s
from harness.providers._wire.strict_json import NotJsonError, read_json
from harness.schema.base import JsonValue
from harness.schema.message import Reply

__all__ = ["failure_inside", "failure_of", "retryable"]

#: Words that name one thing whatever the status is. Lower case; numbers are those of vendors' own tables.
_SAYS: Final[dict[ProviderCategory, tuple[str, ...]]] = {
    "quota_exhausted": (
        *("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"),
        *("exceeded_current_quota_error", "insufficient_user_quota", "accountoverdueerror", "arrearage"),
        *("billing_error", "1008", "1113"),
    ),
    "auth": (
        *("invalid_api_key", "api_key_invalid", "incorrect_api_key", "unauthenticated", "authenticationerror"),
        *("unsupported_country_region_territory", "1004", "2049"),
    ),
    "model_not_found": (
        *("model_not_found", "model_not_exist", "unknown_model", "modelnotopen", "deploymentnotfound"),
        *("invalidendpointormodel.notfound", "model_not_available"),
    ),
    "content_filter": (
        *("content_filter", "responsibleaipolicyviolation", "content_policy_violation", "data_inspection_failed"),
        *("sensitivecontentdetected", "inputtextsensitivecontentdetected", "1026", "1027", "1301"),
        *("image_content_policy_violation",),
    ),
    "malformed_tool_call": ("tool_use_failed",),
    "invalid_request": ("context_length_exceeded", "string_above_max_length", "2013"),
    "rate_limited": ("rate_limit_exceeded", "1002", "1039"),
    "overloaded": (
        *("overloaded_error", "engine_overloaded_error", "engine_overloaded", "unavailable", "serveroverloaded"),
        *("overloaded", "server_is_overloaded", "slow_down"),
    ),
}

#: Words that are used beside many statuses: they count only where the status says nothing.
_SAYS_LOOSELY: Final[dict[ProviderCategory, tuple[str, ...]]] = {
    "rate_limited": ("rate_limit_error", "too_many_requests", "requests", "tokens"),
    "auth": ("authentication_error", "permission_error", "permission_denied"),
    "invalid_request": (
        *("invalid_request_error", "invalid_argument", "invalid_parameter_error", "request_too_large"),
        *("invalid_prompt",),
    ),
    "timeout": ("timeout_error",),
    "model_not_found": ("not_found_error", "not_found"),
}

#: Phrases of messages, for vendors whose codes say less than their texts.
_PHRASES: Final[dict[ProviderCategory, re.Pattern[str]]] = {
    "quota_exhausted": re.compile(r"insufficient (?:balance|credits?|funds)|credit balance is too low", re.IGNORECASE),
    "content_filter": re.compile(r"flagged as potentially violating", re.IGNORECASE),
    "auth": re.compile(
        r"api key not valid|invalid api key|incorrect api key|user location is not supported", re.IGNORECASE
    ),
}

_BY_STATUS: Final[dict[int, ProviderCategory]] = {
    401: "auth",
    402: "quota_exhausted",
    403: "auth",
    407: "auth",
    408: "timeout",
    409: "server_error",
    425: "server_error",
    499: "server_error",
    429: "rate_limited",
    498: "overloaded",
    529: "overloaded",
}

_IDENTIFIER = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Told:
    """An error body, read. ``message`` is the provider's text: it is looked at and never passed on."""

    words: tuple[str, ...]
    code: str | None
    message: str
    number: int | None
    delay_s: float | None = None


def retryable(category: ProviderCategory) -> bool:
    """Whether the same request may be sent again after a failure of this kind."""
    return category in RETRYABLE


def failure_of(response: WireResponse, now: datetime | None = None, *, codec: str = "openai") -> ProviderError:
    """The failure that an unsuccessful status tells; ``now`` is what a ``retry-after`` date counts from.

    ``codec`` is the dialect that was spoken.
    """
    try:
        told = _read(read_json(response.body))
    except NotJsonError:
        told = None
    category = _category(response.status, told)
    return _error(category, told, response.status, response.headers, now, codec=codec)


def failure_inside(body: JsonValue, status: int) -> ProviderError | None:
    """The failure that a body, or an event, tells which came with a successful status; None where it tells none.

    One whose words cannot be read is a failure all the same.
    """
    if not isinstance(body, list) and not (isinstance(body, dict) and _is_failure(body)):
        return None
    told = _read(body)
    if told is None and isinstance(body, list):
        return None
    return _error(_category(status, told), told, status, {}, None)


def _is_failure(body: dict[str, JsonValue]) -> bool:
    return _says(body.get("error")) or "error" in (body.get("type"), body.get("object")) or _base_code(body)


def _says(error: JsonValue) -> bool:
    """Whether there is something in it: some servers say with empty fields that all is well."""
    inside = error.values() if isinstance(error, dict) else error if isinstance(error, list) else [error or None]
    return any(value not in (None, "", [], {}) for value in inside)


def _category(status: int, told: _Told | None) -> ProviderCategory:
    specific = _said(told, _SAYS) or _phrase(told)
    if specific is not None:
        return specific
    if 200 <= status < 300:  # noqa: PLR2004  (the successful statuses of HTTP)
        if told is not None and told.number is not None and 400 <= told.number < 600:  # noqa: PLR2004  (its errors)
            return _by_status(told.number, told)
        return _said(told, _SAYS_LOOSELY) or "server_error"
    return _by_status(status, told)


def _by_status(status: int, told: _Told | None) -> ProviderCategory:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status == 404:  # noqa: PLR2004  (a missing model, or a wrong address)
        if told is None:
            return "bad_response"
        # who does not speak of a model does not know the place, and how servers say that is not agreed on
        return "model_not_found" if "model" in told.message.lower() else "bad_response"
    if status >= 500:  # noqa: PLR2004  (server errors)
        overloaded = told is not None and "overloaded" in told.message.lower()
        return "overloaded" if overloaded else "server_error"
    return "invalid_request" if status >= 400 else "bad_response"  # noqa: PLR2004  (client errors; else no answer)


def _said(told: _Told | None, table: dict[ProviderCategory, tuple[str, ...]]) -> ProviderCategory | None:
    if told is None:
        return None
    return next((category for word in told.words for category, words in table.items() if word in words), None)


def _phrase(told: _Told | None) -> ProviderCategory | None:
    if told is None:
        return None
    return next((category for category, pattern in _PHRASES.items() if pattern.search(told.message)), None)


def _read(body: JsonValue) -> _Told | None:
    """The error in a body: below ``error``, in a list of one, in ``base_resp``, or the body itself."""
    if isinstance(body, list):
        return _read(body[0]) if body else None
    if not isinstance(body, dict):
        return None
    inner = body.get("error")
    if isinstance(inner, list) and inner:
        inner = inner[0]
    if isinstance(inner, str) and inner:
        return _Told((), None, inner, None)
    error = inner if isinstance(inner, dict) else body
    if isinstance(inner, int) and not isinstance(inner, bool):
        error = {"code": inner, **body}
    base = error.get("base_resp")
    if isinstance(base, dict):
        error = {"code": base.get("status_code"), "message": base.get("status_msg")}
    code = error.get("code")
    nested, details = error.get("innererror"), error.get("details")
    kind = error.get("type")
    found = [
        code,
        None if kind == "error" else kind,
        error.get("status"),
        nested.get("code") if isinstance(nested, dict) else None,
    ]
    found += [one.get("reason") for one in details if isinstance(one, dict)] if isinstance(details, list) else []
    words = tuple(str(word).lower() for word in found if isinstance(word, str | int) and not isinstance(word, bool))
    message = next((text for key in ("message", "detail", "msg") if isinstance(text := error.get(key), str)), "")
    if not words and not message:
        return None
    number = next((int(word) for word in words if re.fullmatch(r"[0-9]{1,9}", word)), None)
    name = next((str(word) for word in found[:2] if isinstance(word, str | int) and not isinstance(word, bool)), None)
    delay = retry_delay_s(details)
    return _Told(words, name if name is not None and _IDENTIFIER.fullmatch(name) else None, message, number, delay)


def _base_code(body: dict[str, JsonValue]) -> bool:
    base = body.get("base_resp")
    return isinstance(base, dict) and base.get("status_code") not in (None, 0)


def _error(
    category: ProviderCategory,
    told: _Told | None,
    status: int,
    headers: Mapping[str, str],
    now: datetime | None,
    *,
    codec: str = "openai",
) -> ProviderError:
    if 200 <= status < 300:  # noqa: PLR2004  (the successful statuses of HTTP)
        text = f"the provider reported an error inside an answer with HTTP {status}"
    elif 300 <= status < 400:  # noqa: PLR2004  (redirects)
        text = f"the address answered HTTP {status}, a redirect; redirects are not followed, is the base URL right?"
    elif status == 404 and category == "bad_response":  # noqa: PLR2004  (nothing is at that path)
        text = f"nothing answers there (HTTP 404); {nothing_answers(codec)}"
    elif category == "bad_response":
        text = f"the address answered HTTP {status} and no API error; is the base URL right?"
    else:
        text = f"the provider answered HTTP {status}"
    wait = retry_after_s(headers, now)
    if wait is None and told is not None:
        wait = told.delay_s
    if wait is None and category == "rate_limited":
        wait = reset_after_s(headers, now)
    return ProviderError(
        category,
        text,
        retryable=retryable(category),
        http_status=status,
        provider_code=None if told is None else told.code,
        retry_after_s=wait,
        # a filter is why nothing was said, whether it looked at the question or at the answer
        partial=Reply(text=None, finish="content_filter") if category == "content_filter" else None,
    )
