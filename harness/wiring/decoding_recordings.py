"""What the answers in a recording come to, in the dialect of the provider that gave them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness import catalog, config, recording
from harness.errors import CatalogError, UsageError
from harness.ports import Provider, WireResponse
from harness.recording.bodies import is_stream
from harness.schema.message import Reply
from harness.schema.recording import Exchange, RecordingHeader
from harness.wiring.decoding import Explained, read_answer

__all__ = ["codec_of", "explain_recording", "read_exchange", "reader_of"]


def explain_recording(path: Path) -> tuple[Explained, ...]:
    """Each of its answers, in order. Raises RecordingError, and UsageError where nobody here speaks its dialect."""
    made = recording.load(path)
    codec = codec_of(made.header)
    if codec is None:
        raise UsageError(f"{path}: its provider {made.header.actor.provider!r} is not known here")
    return tuple(read_exchange(codec, exchange) for exchange in made.exchanges)


def reader_of(header: RecordingHeader) -> Callable[[Exchange], Reply | None]:
    """Decodes answers of a recording; gives None for what is no reply, or where nobody here speaks its dialect."""
    codec = codec_of(header)

    def read(exchange: Exchange) -> Reply | None:
        found = None if codec is None else read_exchange(codec, exchange)
        return found.reply if found is not None and found.error is None else None

    return read


def codec_of(header: RecordingHeader) -> Provider | None:
    """What speaks the dialect of the recorded provider; None where that is not known here."""
    try:
        preset = config.resolve(header.actor.provider or "")
    except CatalogError:
        return None
    codec: Provider = catalog.module("providers", preset.codec).build(preset)
    return codec


def read_exchange(codec: Provider, exchange: Exchange) -> Explained:
    """The answer of an exchange. Raises RecordingError for a body that stands for no bytes."""
    kept = exchange.response
    body = recording.body_bytes(kept)
    return read_answer(codec, WireResponse(kept.status, kept.headers, body), stream=is_stream(kept.headers, body))
