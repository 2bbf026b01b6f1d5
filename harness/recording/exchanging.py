"""From what goes over the wire to what a recording holds, and back.

Both ways the same order holds: paths become placeholders, then secrets are taken out. So what a recorded reply made
the actor say next is compared in the form in which it was recorded.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from harness.errors import RecordingError
from harness.recording.keys import embedded, request_key
from harness.redaction import Scrubber
from harness.schema.base import Digest, JsonValue
from harness.schema.recording import Exchange, RecordedRequest, RecordedResponse

__all__ = ["BODY_MAX", "ENCODING", "Dress", "body_bytes", "decoded"]

#: The headers that are kept. Everything else may hold credentials, hosts, times or ids, or tell a simulated
#: provider whose request it is.
_REQUEST_HEADERS: Final = ("content-type",)
_RESPONSE_HEADERS: Final = ("content-type", "retry-after")
#: Kept only where the body could not be decoded: a replay meets the same unreadable answer.
ENCODING: Final = "content-encoding"
#: Largest body that is decompressed for a recording, in bytes.
BODY_MAX: Final = 16 * 1024 * 1024
#: Deeper JSON is kept as a text.
_DEPTH_MAX: Final = 100


def _as_is(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Dress:
    """How one episode's traffic looks in its recording.

    ``hide`` replaces this run's paths by placeholders and ``show`` is its inverse; ``scrubber`` takes secrets out;
    ``volatile`` are the scenario's pointers into plane answers.
    """

    hide: Callable[[str], str] = _as_is
    show: Callable[[str], str] = _as_is
    scrubber: Scrubber = field(default_factory=Scrubber)
    volatile: Sequence[str] = ()

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> RecordedRequest:
        """What was asked, as it is kept. ``path`` is without a query, which may hold a key."""
        return RecordedRequest(
            method=method,
            path=self.scrubber.text(self.hide(path)),
            headers=self._kept(headers, _REQUEST_HEADERS),
            body=self._body(body)[0],
        )

    def key(self, request: RecordedRequest) -> Digest:
        """The digest by which a kept request is found."""
        return request_key(request.method, request.path, request.body, self.volatile)

    def response(self, status: int, headers: Mapping[str, str], body: bytes) -> RecordedResponse:
        """What came back, as it is kept; ``body`` as it arrived, compressed or not.

        Of a body in an encoding that is not read nothing is kept but the encoding's name: it could not be redacted.
        """
        plain = decoded(body, headers)
        if plain is None:
            kept = self._kept(headers, (*_RESPONSE_HEADERS, ENCODING))
            return RecordedResponse(status=status, headers=kept, body="", encoding="base64")
        value, encoding = self._body(plain)
        kept = self._kept(headers, _RESPONSE_HEADERS)
        return RecordedResponse(status=status, headers=kept, body=value, encoding=encoding)

    def exchange(self, number: int, request: RecordedRequest, response: RecordedResponse) -> Exchange:
        """Both together, keyed; ``number`` counts from 1."""
        return Exchange(number=number, key=self.key(request), request=request, response=response)

    def answer(self, response: RecordedResponse) -> bytes:
        """The body that a recorded response gives in this run: its placeholders are this run's paths."""
        shown = self._shown(response.body) if response.encoding != "base64" else response.body
        return body_bytes(response.model_copy(update={"body": shown}))

    def _kept(self, headers: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
        lowered = {name.lower(): value for name, value in headers.items()}
        return {name: self.scrubber.text(self.hide(lowered[name])) for name in names if name in lowered}

    def _body(self, data: bytes) -> tuple[JsonValue, Literal["json", "utf-8", "base64"]]:
        try:
            text = self.hide(data.decode("utf-8"))
        except UnicodeDecodeError:
            return b64encode(self.scrubber.data(data)).decode("ascii"), "base64"
        try:
            return self.scrubber.json(_strict_json(text)), "json"
        except (ValueError, RecursionError):
            return self.scrubber.text(text), "utf-8"

    def _shown(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._shown_text(value)
        if isinstance(value, list):
            return [self._shown(item) for item in value]
        if isinstance(value, dict):
            return {self.show(key): self._shown(item) for key, item in value.items()}
        return value

    def _shown_text(self, text: str) -> str:
        """Where the text is JSON, a path that JSON escapes is escaped in it."""
        shown = self.show(text)
        if shown == text:
            return text
        inside = embedded(text)
        if inside is None:
            return shown
        wanted = self._shown(inside)
        return shown if embedded(shown) == wanted else json.dumps(wanted, separators=(",", ":"))


def body_bytes(response: RecordedResponse) -> bytes:
    """The bytes that a recorded body stands for. Raises RecordingError for base64 that is none."""
    if response.encoding == "json":
        return json.dumps(response.body, separators=(",", ":")).encode("ascii")
    text = response.body if isinstance(response.body, str) else ""
    if response.encoding == "utf-8":
        return text.encode("utf-8", "surrogatepass")
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise RecordingError("recording", "a body is not the base64 that it says it is") from None


def decoded(body: bytes, headers: Mapping[str, str]) -> bytes | None:
    """The body without its compression; None where that is not read, does not fit, or is too large."""
    name = headers.get(ENCODING, "").strip().lower()
    if name in {"", "identity"}:
        return body
    if name not in {"gzip", "x-gzip", "deflate"}:
        return None
    inflater = zlib.decompressobj(zlib.MAX_WBITS if name == "deflate" else 16 + zlib.MAX_WBITS)
    try:
        plain = inflater.decompress(body, BODY_MAX)
    except zlib.error:
        return None
    return None if inflater.unconsumed_tail else plain


def _strict_json(text: str) -> JsonValue:
    """A JSON value that gives an equal value when it is written and read again.

    Raises ValueError for anything else, NaN and infinities, numbers beyond a float and keys that stand twice included;
    RecursionError or ValueError for what nests too deep to be walked.
    """
    value: JsonValue = json.loads(text, object_pairs_hook=_once, parse_constant=_refused, parse_float=_finite)
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _DEPTH_MAX:
            raise ValueError("too deep")
        level = [item for outer in level for item in _items(outer)]
    return value


def _items(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refused(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise ValueError("beyond a float")
    return number
