"""Known secrets, and what stands where credentials stand, are taken out of texts, JSON values and bytes.

A recording has to hold what was said. So here, unlike in a receipt, texts are searched; the ``SecretGuard`` looks
again at what is written.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, cast

from pydantic import JsonValue

from harness.redaction.breaks import Unwrapped, unwrapped
from harness.redaction.guard import SECRET_MIN
from harness.redaction.joining import scrub_joined
from harness.redaction.spelling import bare_pattern, base64_pattern, characters_pattern, hexadecimal_pattern

__all__ = ["MASK", "Scrubber"]

#: Stands for what was taken out. Shorter than any secret that is looked for: no secret can be found in it again.
MASK: Final = "[mask]"

#: Largest gzip member that is looked into, in bytes after decompression.
_INFLATED_MAX = 16 * 1024 * 1024
#: Deeper JSON is searched as text only.
_DEPTH_MAX = 64

#: Whether a look for the shapes below can find anything.
_SHAPED = re.compile(r"authori[sz]ation|cookie|api-key|:(?:\\*/){2}[^\s/]*@", re.IGNORECASE)
#: The part before ``@`` in the address of a URL.
_USERINFO = re.compile(r"""(:(?:\\*/){2})[^\s/?#@"'<>\\]+@""")
#: Values of headers that carry credentials, as a header block, a command line, or a mapping shows them.
_CREDENTIAL = re.compile(
    r"""\b((?:proxy-)?authori[sz]ation|[a-z-]*api-key)(\\*["']?\s*[:=]\s*\\*["']?)"""
    r"""((?:(?:basic|bearer|token|digest|negotiate)\s+)?)[^\s"'\\,;]+""",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"""\b((?:set-)?cookie)(\\*["']?\s*[:=]\s*\\*["']?)[^\r\n"'\\]+""", re.IGNORECASE)
#: A gzip member in base64; its first three bytes are always the same.
_PACKED = re.compile(r"H4sI[A-Za-z0-9+/_-]{12,}={0,2}")
_BASE64_DIGITS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


class Scrubber:
    """Takes ``secrets`` out; a mapping's values are the secrets, its keys are what they are called.

    Everything is done until nothing changes any more. Each round leaves less beside the masks, so that ends.

    Found are all the forms a ``SecretGuard`` knows, any mixture of them, secrets inside gzip, all of these also with
    breaks in between as ``breaks`` knows them, and secrets that are cut over the events of a stream or over
    neighbouring strings of one value. Each becomes ``MASK``, once, the
    longest first; scrubbing twice changes nothing. Known or not, credentials in URLs and in the values of the
    headers ``authorization``, ``cookie`` and their like go too. Secrets below ``SECRET_MIN`` characters are not
    looked for, as with the guard.
    """

    __slots__ = ("_bare", "_digits", "_patterns")

    def __init__(self, secrets: Mapping[str, str] | Iterable[str] = ()) -> None:
        given = secrets.values() if isinstance(secrets, Mapping) else secrets
        known = sorted({secret.strip() for secret in given if len(secret.strip()) >= SECRET_MIN})
        self._patterns = [make(secret) for secret in known for make in (characters_pattern, hexadecimal_pattern)]
        self._digits = [base64_pattern(secret) for secret in known]
        whole = [secret for secret in known if len(unwrapped(secret)) >= SECRET_MIN]
        self._bare = [*map(bare_pattern, whole), *map(hexadecimal_pattern, known)]

    def __repr__(self) -> str:
        return f"Scrubber({len(self._digits)} secrets)"

    def text(self, text: str) -> str:
        """The text without secrets; where it is JSON or an event stream, also without those cut over its strings."""
        before = None
        while text != before:
            before, text = text, self._known(_without_credentials(text))
        return text

    def json(self, value: JsonValue) -> JsonValue:
        """The value with every string in it scrubbed, keys included, and those cut over neighbouring strings."""
        before: JsonValue = None
        while value != before:
            before, value = value, self._joined(_mapped(value, self.text))
        return value

    def secrets(self, value: JsonValue) -> JsonValue:
        """The value without known secrets, as ``json`` takes them out; what only looks like a credential stays."""
        before: JsonValue = None
        while value != before:
            before, value = value, self._joined(_mapped(value, self._known))
        return value

    def data(self, data: bytes) -> bytes:
        """The bytes, scrubbed as UTF-8 text; what was gzip is looked into, and compressed again if it changed."""
        if data.startswith(b"\x1f\x8b"):
            inside, _ = _member(data)
            clean = None if inside is None else self.data(inside)
            if clean != inside and clean is not None:
                packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
                return packer.compress(clean) + packer.flush()
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _known(self, text: str) -> str:
        """Without known secrets. What is cut is longer than the mask that replaces it: both loops end."""
        before = None if self._digits else text
        while text != before:
            before = text
            while spans := self._spans(text):
                text = _cut(text, spans)
            text = self._structured(text)
        return text

    def _joined(self, value: JsonValue) -> JsonValue:
        return scrub_joined(value, self._spans, MASK) if self._digits else value

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where known secrets stand, in order, those that touch joined."""
        found = [*_found(self._patterns, text), *self._packed(text), *self._wrapped(text)]
        found += [_whole_base64(text, *span) for span in _found(self._digits, text)]
        joined: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def _wrapped(self, text: str) -> Iterator[tuple[int, int]]:
        """Where known secrets stand that breaks run through."""
        bare = Unwrapped(text)
        if bare.text == text:
            return
        yield from (bare.span(*span) for span in _found(self._bare, bare.text))
        yield from (_padded(text, *bare.span(*span)) for span in self._packed(bare.text))
        yield from (_whole_base64(text, *bare.span(*span)) for span in _found(self._digits, bare.text))

    def _packed(self, text: str) -> Iterator[tuple[int, int]]:
        """Where base64 texts of gzip members stand that hold a secret; what follows a member is not part of it."""
        for match in _PACKED.finditer(text):
            digits = match[0].rstrip("=").translate(str.maketrans("-_", "+/"))
            digits = digits[: len(digits) - (len(digits) % 4 == 1)]
            inside, size = _member(b64decode(digits + "=" * (-len(digits) % 4)))
            if inside is not None and self.data(inside) != inside:
                end = match.start() + -(-size * 4 // 3)
                yield match.start(), match.end() if end >= match.start() + len(digits) else end

    def _structured(self, text: str) -> str:
        lines = text.split("\n")
        events = [(at, line[5:]) for at, line in enumerate(lines) if line.startswith("data:")]
        if events:
            parsed = [(at, value) for at, tail in events if (value := _parsed(tail)) is not None]
            clean = self._joined(_mapped([value for _, value in parsed], self._known))
            for (at, value), scrubbed in zip(parsed, cast("list[JsonValue]", clean), strict=True):
                if scrubbed != value:
                    ending = "\r" if lines[at].endswith("\r") else ""
                    lines[at] = f"data: {_dumped(scrubbed)}{ending}"
            return "\n".join(lines)
        value = _parsed(text)
        if value is None:
            return text
        scrubbed = self._joined(_mapped(value, self._known))
        return text if scrubbed == value else _dumped(scrubbed)


def _without_credentials(text: str) -> str:
    """Without what stands where credentials stand."""
    if not _SHAPED.search(text):
        return text
    text = _USERINFO.sub(rf"\1{MASK}@", text)
    text = _CREDENTIAL.sub(rf"\1\2\3{MASK}", text)
    return _COOKIE.sub(rf"\1\2{MASK}", text)


def _mapped(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _mapped(item, change) for key, item in value.items()}
    return value


def _found(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for pattern in patterns for match in pattern.finditer(text))


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], MASK]
        at = end
    return "".join([*pieces, text[at:]])


def _whole_base64(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole run of digits: what lies at its edges holds bits of the secret too."""
    while start > 0 and text[start - 1] in _BASE64_DIGITS:
        start -= 1
    while end < len(text) and text[end] in _BASE64_DIGITS:
        end += 1
    return _padded(text, start, end)


def _padded(text: str, start: int, end: int) -> tuple[int, int]:
    """With the signs that fill the last digits up."""
    while end < len(text) and text[end] == "=":
        end += 1
    return start, end


def _member(data: bytes) -> tuple[bytes | None, int]:
    """What a gzip member decompresses to, as far as it can be read, and its size; None where it is none."""
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        inside = inflater.decompress(data, _INFLATED_MAX)
    except zlib.error:
        return None, 0
    return inside, len(data) - len(inflater.unused_data)


def _parsed(text: str) -> JsonValue:
    """The object or array that a text is, or None."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if _depth(value) <= _DEPTH_MAX else None


def _depth(value: JsonValue) -> int:
    """How deep arrays and objects nest; counted without recursion."""
    depth, level = 0, [value]
    while level := [item for outer in level for item in _items(outer)]:
        depth += 1
    return depth


def _items(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()


def _dumped(value: JsonValue) -> str:
    return json.dumps(value, separators=(",", ":"))
