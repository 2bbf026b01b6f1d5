"""What a server that runs tells of itself: where it is, whom it plays, and what was asked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import TextIO

from harness.schema.rehearsal import ServedCall, Visit

__all__ = ["Serving"]


class Serving:
    """A server that runs; everything may be asked from any thread.

    ``urls`` are its base URLs by the provider whose dialect is spoken there; ``url`` is the first of them,
    that of chat completions where these are spoken.
    """

    def __init__(self, urls: Mapping[str, str], models: tuple[str, ...], log: TextIO | None) -> None:
        self.urls = dict(urls)
        self.url = next(iter(self.urls.values()))
        self.models = models
        self._log = log
        self._lock = threading.Lock()
        self._calls: list[ServedCall] = []

    @property
    def calls(self) -> tuple[ServedCall, ...]:
        """Everything played so far, in order of arrival; requests that were refused are not among them."""
        with self._lock:
            return tuple(self._calls)

    @property
    def counts(self) -> Counter[tuple[str, Visit]]:
        """How often each visit came, by model and visit: more than 1 is a call that was paid twice."""
        return Counter((call.model, call.visit) for call in self.calls)

    def note(self, call: ServedCall) -> None:
        """Count a call, before it is answered: a client that dies meanwhile has still made it."""
        with self._lock:
            self._calls.append(call)
            if self._log is not None:
                self._log.write(call.model_dump_json() + "\n")
                self._log.flush()
