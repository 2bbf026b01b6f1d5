"""A model behind an API: encode, send, decode; one attempt, nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from harness.actors._drain import Drain
from harness.actors._key import SecretKey
from harness.config import is_loopback
from harness.errors import ProviderError, UsageError
from harness.ports import Hearing, Provider, TurnContext, WireResponse
from harness.redaction import Scrubber
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import as_json
from harness.schema.message import GenerationSettings, ModelRequest, Reply
from harness.schema.rehearsal import REHEARSAL_HEADER

__all__ = ["LiveActor", "SecretKey", "Send", "build"]


class Send(Protocol):
    """Sends one request and reads the whole answer. Raises ProviderError where there is none."""

    def __call__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        """POST ``body`` to ``url`` within ``deadline_s`` seconds; ``is_over`` watches the pieces of a stream."""


def build(
    spec: ActorSpec,
    provider: Provider,
    send: Send,
    key: SecretKey | None = None,
    hearing: Hearing | None = None,
    *,
    meter: Callable[[], float] | None = None,
) -> LiveActor:
    """The actor of a spec. What ``send`` belongs to is the caller's to close; ``hearing`` is told how calls end.

    A cancelled call is closed at once. ``meter`` (seconds on the monotonic clock) is given where calls are metered:
    then a stream that has begun is read on by it for a bounded time, so that what it costs is known.

    Raises:
        UsageError: the spec names no model or no address.
    """
    if spec.identity.model is None or spec.base_url is None:
        raise UsageError(f"actor {spec.identity.ref!r} needs a model and an address: PROVIDER/MODEL[@BASE_URL]")
    made = LiveActor(spec.identity, spec.identity.model, spec.base_url, provider=provider, send=send, key=key)
    made.hearing, made.meter = hearing, meter
    return made


class LiveActor:
    """Asks the model of its identity with the settings of its identity, whatever the request says of both.

    A provider may repeat the key that it was sent. It is taken out of the reply here, before anybody keeps, runs or
    shows any of it: a reply says what it says when it is replayed from a recording, which holds no key either.
    ``hearing`` and ``meter`` are as for ``build``.
    """

    def __init__(
        self,
        identity: ActorIdentity,
        model: str,
        base_url: str,
        *,
        provider: Provider,
        send: Send,
        key: SecretKey | None,
    ) -> None:
        self.hearing: Hearing | None = None
        self.meter: Callable[[], float] | None = None
        self._identity, self._provider, self._send, self._key = identity, provider, send, key
        self._model, self._settings = model, identity.settings or GenerationSettings()
        self._base_url = base_url.rstrip("/")
        self._rehearses = is_loopback(base_url)
        self._scrubber = Scrubber(() if key is None else (key.reveal(),))

    @property
    def identity(self) -> ActorIdentity:
        """As receipts name it."""
        return self._identity

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """One attempt. Raises ProviderError."""
        begun = 0 if self.hearing is None else self.hearing.begun()
        try:
            response, reply = self._exchanged(request, context)
        except ProviderError as error:
            if self.hearing is not None:
                self.hearing.ended(begun, {}, error)
            raise
        if self.hearing is not None:
            self.hearing.ended(begun, response.headers, None)
        return reply

    def _exchanged(self, request: ModelRequest, context: TurnContext) -> tuple[WireResponse, Reply]:
        headers = self._provider.headers(None if self._key is None else self._key.reveal())
        if self._rehearses:
            headers[REHEARSAL_HEADER] = context.visit.header
        is_streamed = context.streamed or self._settings.stream is True
        settings = self._settings.model_copy(update={"stream": True}) if is_streamed else self._settings
        asked = replace(request, model=self._model, settings=settings)
        cancelled, is_over = context.cancelled, self._provider.stream_end() if is_streamed else None
        if is_over is not None and self.meter is not None:
            drain = Drain(cancelled, is_over, self.meter)
            cancelled, is_over = drain.cancelled, drain.is_over
        response = self._send(
            self._base_url + self._provider.path(asked),
            headers=headers,
            body=self._provider.encode_request(asked),
            deadline_s=context.deadline_s,
            cancelled=cancelled,
            is_over=is_over,
        )
        decode = self._provider.decode_stream if is_streamed else self._provider.decode_reply
        return response, self._without_key(decode(response))

    def _without_key(self, reply: Reply) -> Reply:
        if self._key is None:
            return reply
        told = as_json(reply)
        clean = self._scrubber.secrets(told)
        return reply if clean == told else Reply.of(clean)

    def close(self) -> None:
        """Nothing to release: the connection is the caller's."""
