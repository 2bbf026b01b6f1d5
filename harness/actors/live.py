"""A model behind an API: encode, send, decode; one attempt, nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from harness.actors._key import SecretKey
from harness.config import is_loopback
from harness.errors import UsageError
from harness.ports import Provider, TurnContext, WireResponse
from harness.schema.actor import ActorIdentity, ActorSpec
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


def build(spec: ActorSpec, provider: Provider, send: Send, key: SecretKey | None = None) -> LiveActor:
    """The actor of a spec. What ``send`` belongs to is the caller's to close.

    Raises:
        UsageError: the spec names no model or no address.
    """
    if spec.identity.model is None or spec.base_url is None:
        raise UsageError(f"actor {spec.identity.ref!r} needs a model and an address: PROVIDER/MODEL[@BASE_URL]")
    return LiveActor(spec.identity, spec.identity.model, spec.base_url, provider=provider, send=send, key=key)


class LiveActor:
    """Asks the model of its identity with the settings of its identity, whatever the request says of both."""

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
        self._identity, self._provider, self._send, self._key = identity, provider, send, key
        self._model, self._settings = model, identity.settings or GenerationSettings()
        self._base_url = base_url.rstrip("/")
        self._rehearses = is_loopback(base_url)

    @property
    def identity(self) -> ActorIdentity:
        """As receipts name it."""
        return self._identity

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """One attempt. Raises ProviderError."""
        headers = self._provider.headers(None if self._key is None else self._key.reveal())
        if self._rehearses:
            headers[REHEARSAL_HEADER] = context.visit.header
        is_streamed = context.streamed or self._settings.stream is True
        settings = self._settings.model_copy(update={"stream": True}) if is_streamed else self._settings
        asked = replace(request, model=self._model, settings=settings)
        response = self._send(
            self._base_url + self._provider.path(asked),
            headers=headers,
            body=self._provider.encode_request(asked),
            deadline_s=context.deadline_s,
            cancelled=context.cancelled,
            is_over=self._provider.stream_end() if is_streamed else None,
        )
        return self._provider.decode_stream(response) if is_streamed else self._provider.decode_reply(response)

    def close(self) -> None:
        """Nothing to release: the connection is the caller's."""
