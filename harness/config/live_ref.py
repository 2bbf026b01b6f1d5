"""``PROVIDER/MODEL[@BASE_URL]``, the way to name a live model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from harness.errors import UsageError

__all__ = ["LiveRef", "is_loopback", "parse_live_ref", "problem_of_url"]

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
#: Printable ASCII without spaces; model names may hold slashes, colons and ``@``.
_MODEL = re.compile(r"[!-~]{1,200}")
_ADDRESS = re.compile(r"@(?=[A-Za-z][A-Za-z0-9+.-]*://)")
_UNPRINTABLE = re.compile(r"[^!-~]")
#: What stands behind an ``@``, up to a slash, and is a place in a network, not a part of a model's name.
_HOST = re.compile(
    r"(?:[^/]*:[0-9]{1,5}"  # with a port
    r"|localhost"
    r"|[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
    r"|\[[^/]*"  # the bracket of an IPv6 address
    r"|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z]{2,}\.?"  # a domain
    r"|https?:[^/]*)",  # a scheme that lost its slashes
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LiveRef:
    """A live model as named; ``base_url`` is None for the provider's own address, and never ends in a slash."""

    provider: str
    model: str
    base_url: str | None = None


def parse_live_ref(text: str) -> LiveRef:
    """Read ``PROVIDER/MODEL[@BASE_URL]``; whether the provider exists is not looked at.

    An ``@`` may be a part of the model's name, as in ``NAME@2024-01``, but not where an address without its scheme
    stands behind it: that request would go to the provider's own address.

    Raises:
        UsageError: with what is wrong and the form; of an address only the problem is told, it may hold secrets.
    """
    provider, slash, rest = text.partition("/")
    if not slash or not _PROVIDER.fullmatch(provider):
        raise UsageError(f"no live model: {_shown(text)}; the form is PROVIDER/MODEL[@BASE_URL]")
    model, *addresses = _ADDRESS.split(rest, maxsplit=1)
    if not _MODEL.fullmatch(model):
        raise UsageError(
            f"live model of {provider}: the model's name must be 1 to 200 printable ASCII characters without spaces"
        )
    if _holds_address(model):
        raise UsageError(
            f"live model of {provider}: behind an @ of the model's name stands what looks like an address; an address "
            "is written with its scheme, PROVIDER/MODEL@http://HOST:PORT or @https://HOST; of a name that is meant so, "
            "make an actor in harness.toml"
        )
    if not addresses:
        return LiveRef(provider, model)
    problem = problem_of_url(addresses[0])
    if problem is not None:
        raise UsageError(f"live model {provider}/{model}: the address {problem}")
    return LiveRef(provider, model, addresses[0].rstrip("/"))


def _holds_address(model: str) -> bool:
    """Whether an address without its scheme stands behind an ``@``.

    That is a host with a port, ``localhost``, a number of IP or a domain; and any text with a slash in it, except where
    the ``@`` begins a part of the name, as in ``@cf/meta/llama``.
    """
    before, *pieces = model.split("@")
    for piece in pieces:
        host, slash, _path = piece.partition("/")
        begins_part = not before or before.endswith("/")
        is_path = bool(slash) and (not begins_part or not host or "." in host)
        if is_path or _HOST.fullmatch(host):
            return True
        before = piece
    return False


def problem_of_url(url: str) -> str | None:
    """Why a text cannot be a base URL, as the rest of a sentence; None where it can. Never shows the text."""
    if _UNPRINTABLE.search(url):
        return "may hold printable ASCII characters only, no spaces"
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return "is no URL that can be read; like https://HOST:PORT/v1"
    problems = (
        (parts.scheme not in {"http", "https"}, "must begin with http:// or https://"),
        (not host, "names no host"),
        ("@" in parts.netloc, "must not hold a user name or password; name an environment variable for the key"),
        ("?" in url or "#" in url, "must have no query and no fragment"),
    )
    return next((problem for wrong, problem in problems if wrong), None)


def is_loopback(url: str) -> bool:
    """Whether only this machine can answer: a rehearsal may be told which visit this is, nobody else ever."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(text: str) -> str:
    """Only what is surely no address with secrets in it."""
    return repr(text) if re.fullmatch(r"[\w.:-]{1,80}", text) else "the text given"
