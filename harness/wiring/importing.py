"""Cassettes of vcrpy turned into recordings: one for each model that a cassette has exchanges with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from harness import catalog, config, recording
from harness.documents import DocumentError
from harness.errors import RedactionError, StoreError, UsageError
from harness.ports import Provider
from harness.recording import Dress
from harness.recording.bodies import is_stream
from harness.recording.cassette import Captured, read_cassette
from harness.recording.credentials import credentials_in
from harness.recording.dialects import dialect_of, model_of
from harness.redaction import Scrubber, SecretGuard
from harness.schema.actor import ActorIdentity
from harness.schema.base import JsonValue, digest_bytes, digest_json
from harness.schema.recording import Exchange, Recording, RecordingHeader
from harness.schema.wire_file import API_CODECS
from harness.wiring.known_keys import known_keys
from harness.wiring.places import Settings

__all__ = ["PACK", "Imported", "Importer", "LeftOut", "Made"]

#: The first part of what stands in the place of a scenario's id.
PACK: Final = "imported"
#: Of an exchange that names no model.
_UNNAMED: Final = "unnamed"
#: Dialect -> the provider that an address is taken for which no provider has.
_PROVIDERS: Final = {
    "openai-chat": "openai-compatible",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_NAME_MAX: Final = 80
_PATH_MAX: Final = 80
#: Parts of an answer's digest that tell cassettes of one name apart.
_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An exchange that is no recording's: its place in the cassette, what it is (method and path), and why."""

    number: int
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Made:
    """One recording. ``is_new`` is False where the same bytes lay there already."""

    path: Path
    api: str
    provider: str
    model: str
    exchanges: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one cassette."""

    cassette: Path
    recordings: tuple[Made, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def exchanges(self) -> int:
        """How many of its exchanges are in recordings."""
        return sum(one.exchanges for one in self.recordings)

    @property
    def reasons(self) -> dict[tuple[str, str], int]:
        """What was left out, and why, and how often."""
        return dict(Counter((one.what, one.why) for one in self.left_out))


@dataclass(frozen=True, slots=True)
class _Actor:
    """Whose exchanges stand in one recording."""

    api: str
    provider: str
    model: str


@dataclass(frozen=True)
class Importer:
    """Writes recordings below ``folder``.

    ``api`` says the dialect of every call; with ``replace`` what lies there already is written over.
    """

    place: Settings
    folder: Path
    api: str | None = None
    replace: bool = False

    def take(self, path: Path) -> Imported:
        """Import one cassette.

        Raises UsageError for a file that is no cassette, or one whose keys could not be kept out of files; StoreError
        where another recording lies in the place of one, or it cannot be written.
        """
        try:
            captured = read_cassette(path)
        except DocumentError as error:
            raise UsageError(f"{path}: {_told(error)}") from None
        secrets = (*self._keys, *credentials_in(captured))
        dress, guard = Dress(scrubber=Scrubber(secrets)), SecretGuard(secrets)
        groups, left_out = self._sorted(captured, dress.scrubber)
        name = f"{PACK}/{_name(path, captured, dress.scrubber)}"
        try:
            made = [self._write(name, actor, group, dress, guard) for actor, group in groups.items()]
        except RedactionError:
            raise UsageError(
                f"{path}: a key in it, or in the environment, is an ordinary text that recordings hold anyway; "
                "put a made-up key of other letters in its place"
            ) from None
        return Imported(path, tuple(made), left_out)

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        return known_keys(self.place)

    def _sorted(
        self, captured: Iterable[Captured], scrubber: Scrubber
    ) -> tuple[dict[_Actor, list[Captured]], tuple[LeftOut, ...]]:
        """Whose exchanges they are, in their order; what names no model goes with the exchange before it."""
        groups: dict[_Actor, list[Captured]] = {}
        left_out: list[LeftOut] = []
        last: dict[tuple[str, str], _Actor] = {}
        for one in captured:
            api = dialect_of(one, self.api)
            why = "no call of a model" if api is None else one.unread
            if api is None or why is not None:
                what = scrubber.text(f"{one.method} {one.path}")
                left_out.append(LeftOut(one.number, what[:_PATH_MAX], why or ""))
                continue
            provider, model = _provider(one.url, api), model_of(one)
            known = last.get((api, provider))
            if model is not None or known is None:
                known = _Actor(api, provider, scrubber.text(model or _UNNAMED))
            last[api, provider] = known
            groups.setdefault(known, []).append(one)
        return groups, tuple(left_out)

    def _write(self, name: str, actor: _Actor, group: Sequence[Captured], dress: Dress, guard: SecretGuard) -> Made:
        codec: Provider = catalog.module("providers", API_CODECS[actor.api]).build()
        header = _header(name, actor)
        exchanges = [_exchange(one, number, codec, dress) for number, one in enumerate(group, start=1)]
        path = recording.recording_path(self.folder, name, header.actor)
        is_there = _is_there(path, recording.dump(header, exchanges, ()))
        if not is_there:
            whole = Recording(header=header, exchanges=tuple(exchanges), answers=(), digest="")
            recording.write(path, whole, guard, replace=self.replace)
        return Made(path, actor.api, actor.provider, actor.model, len(exchanges), not is_there)


def _told(error: DocumentError) -> str:
    line = "" if error.line is None else f"line {error.line}: "
    return f"{line}{error}{error.allowed and f'; allowed: {error.allowed}'}"


def _name(path: Path, captured: Sequence[Captured], scrubber: Scrubber) -> str:
    """The cassette's own name and a digest of what it holds: cassettes of one name in several folders stay apart."""
    own = _UNSAFE.sub("-", scrubber.text(path.stem).lower())[:_NAME_MAX].strip("-") or "cassette"
    held: list[JsonValue] = [
        [one.method, one.path, digest_bytes(one.asked), one.status, digest_bytes(one.body)] for one in captured
    ]
    return f"{own}-{digest_json(held).removeprefix('sha256:')[:_DIGITS]}"


def _provider(url: str, api: str) -> str:
    """The provider whose address it is, where that speaks the dialect; else the one that stands for the dialect."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    for preset in config.PRESETS:
        at_home = preset.base_url is not None and urlsplit(preset.base_url).hostname == host
        if at_home and preset.codec == API_CODECS[api] and not config.is_loopback(preset.base_url or ""):
            return preset.name
    return _PROVIDERS[api]


def _header(name: str, actor: _Actor) -> RecordingHeader:
    identity = ActorIdentity(
        ref=f"{actor.provider}/{actor.model}",
        kind="live",
        provider=actor.provider,
        model=actor.model,
        digest=digest_json([PACK, actor.provider, actor.model]),
    )
    return RecordingHeader(
        scenario=name,
        scenario_digest=None,
        actor=identity,
        plane=None,
        trial=1,
        prompt=None,
        tools=None,
        volatile=(),
        provenance="imported",
        classifier_version=None,
    )


def _exchange(one: Captured, number: int, codec: Provider, dress: Dress) -> Exchange:
    body = codec.coalesce(one.body) if is_stream(one.headers, one.body) else one.body
    plain = {name: value for name, value in one.headers.items() if name != "content-encoding"}
    asked = dress.request(one.method, one.path, one.asked_headers, one.asked)
    return dress.exchange(number, asked, dress.response(one.status, plain, body))


def _is_there(path: Path, data: bytes) -> bool:
    """Whether these bytes lie there already: to import a cassette twice changes nothing."""
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from error
