"""Which recorded answer is due to a request, and what differs where none is."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Lock

from harness import redaction
from harness.errors import ReplayMismatchError
from harness.recording.keys import exchange_key
from harness.recording.matching import Scrub, explain, nearest
from harness.schema.base import Digest
from harness.schema.recording import Drift, Exchange, RecordedRequest, Recording

__all__ = ["Replayer"]


class Replayer:
    """Gives each request the exchange that was recorded for it, in the recorded order, each once; O(1) a request.

    A request that is not in the recording, or not yet or no more to be asked, or whose kept headers are others, raises
    ReplayMismatchError; ``drifts`` then tells where it differs from the nearest recorded one. ``asked`` are all
    requests so far. Texts of requests are shown only where they are ``sayable``, their words only with a ``scrub``.

    ``volatile`` are the places that are not compared, those of the recording or more.
    """

    def __init__(
        self,
        recording: Recording,
        volatile: Sequence[str] = (),
        *,
        sayable: frozenset[str] = frozenset(),
        scrub: Scrub | None = None,
    ) -> None:
        self._exchanges, self._volatile, self._sayable, self._scrub = recording.exchanges, volatile, sayable, scrub
        same = set(volatile) == set(recording.header.volatile)
        self._queues: dict[Digest, deque[int]] = {}
        for position, exchange in enumerate(recording.exchanges):
            key = exchange.key if same else exchange_key(exchange, volatile)
            self._queues.setdefault(key, deque()).append(position)
        self._next = 0
        self._drifts: list[Drift] = []
        self._asked: list[tuple[RecordedRequest, Digest]] = []
        self._lock = Lock()

    def take(self, asked: RecordedRequest, key: Digest) -> Exchange:
        """The exchange that is due to a request with that key. Raises ReplayMismatchError."""
        with self._lock:
            self._asked.append((asked, key))
            queue = self._queues.get(key)
            if not queue or queue[0] != self._next:
                raise self._mismatch(asked, known=key in self._queues)
            exchange = self._exchanges[queue[0]]
            if exchange.request.headers != asked.headers:
                raise self._mismatch(asked, known=True, problem="this request was recorded with other headers")
            queue.popleft()
            self._next += 1
        return exchange

    @property
    def goes_on_with_the_same(self) -> bool:
        """Whether the request that was answered last was sent once more at once, when it was recorded."""
        with self._lock:
            queue = self._queues.get(self._asked[-1][1]) if self._asked else None
            return queue is not None and len(queue) > 0 and queue[0] == self._next

    @property
    def asked(self) -> tuple[tuple[RecordedRequest, Digest], ...]:
        """All requests so far with their keys, those that did not fit included."""
        return tuple(self._asked)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Where requests differed from the recording, in the order they were asked."""
        return tuple(self._drifts)

    @property
    def unplayed(self) -> tuple[Drift, ...]:
        """What was recorded and has not been asked so far, one ``not_asked`` each, in order."""
        return tuple(Drift(stale="not_asked", exchange=left.number) for left in self._exchanges[self._next :])

    def _mismatch(
        self, asked: RecordedRequest, *, known: bool, problem: str = "this request was recorded, but not at this point"
    ) -> ReplayMismatchError:
        """Keep what differs, and make the error; ``problem`` is that of a request that is ``known``."""
        near: Exchange | None = None
        if self._next >= len(self._exchanges):
            problem = (
                "this request was asked more often than it was recorded" if known else "this request was not recorded"
            )
        elif known:
            near = self._exchanges[self._next]
        else:
            # The one that is due comes first: of equally near ones it is the one that was meant.
            due = (*self._exchanges[self._next :], *self._exchanges[: self._next])
            near = nearest(due, asked.body, self._volatile)
            problem = "this request was not recorded"
        if near is None:
            recorded, now = (redaction.value(number, frozenset()) for number in (self._next, len(self._asked)))
            self._drifts.append(Drift(stale="extra_request", recorded=recorded, now=now))
        else:
            self._drifts += explain(near, asked, self._volatile, sayable=self._sayable, scrub=self._scrub)
        return ReplayMismatchError(None if near is None else near.number, problem)
