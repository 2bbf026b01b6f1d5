"""One model call under a deadline, given up on cancellation: on a thread of its own where it may wait."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Literal

from harness.episode.callers import CALLERS
from harness.episode.detached import DetachedCalls, Slot
from harness.episode.latch import Bounds
from harness.errors import MachineError, ProviderError, ReplayMismatchError, ScriptExhaustedError
from harness.schema.message import Reply, Usage
from harness.watching import WATCHER

__all__ = ["CallEnd", "GaveUp", "ModelCall", "call_at_once", "call_model"]

#: Why nobody waits for a call any more: ``deadline`` is the episode's, ``call_deadline`` its own, ``interrupted`` that
#: its driver was killed.
GaveUp = Literal["cancelled", "deadline", "call_deadline", "interrupted"]

#: Failures after which nobody can tell what the provider did with a request that was sent.
_LOST = frozenset(("connection_lost", "timeout"))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended: exactly one of ``reply``, ``error``, ``gave_up`` is set.

    A call that was given up is left behind, and whatever it brings later is not used; ``sent`` is False where it
    provably never began. A failure is definite where nothing of the call can have come to pass any more.
    """

    reply: Reply | None = None
    error: ProviderError | ScriptExhaustedError | ReplayMismatchError | None = None
    gave_up: GaveUp | None = None
    sent: bool = True
    is_definite: bool = False

    @property
    def usage(self) -> Usage | None:
        """What a call that failed was billed, where its provider told it before it did; never that of a reply."""
        partial = self.error.partial if isinstance(self.error, ProviderError) and self.error.sent else None
        return None if partial is None else partial.usage


class ModelCall:
    """One call between the thread that makes it and its owner.

    It ends in exactly one way, whatever both do at the same time: its end is delivered to the owner; or it is withdrawn
    before it began, and then nobody is asked; or it is left in flight, holds a slot of ``detached`` until it settles,
    and what it was billed is given to ``late``, once.
    """

    def __init__(
        self, ask: Callable[[], Reply], *, detached: DetachedCalls, scope: str, late: Callable[[Usage], None]
    ) -> None:
        """``ask`` gives the reply and puts it where nothing can take it away again, before anybody reads it."""
        self._ask, self._late = ask, late
        self._detached, self._scope = detached, scope
        self._lock = threading.Lock()
        self._begun = self._withdrawn = False
        self._slot: Slot | None = None
        self._end: CallEnd | BaseException | None = None
        self._noticed = SimpleQueue[None]()

    def run(self) -> None:
        """Make the call, on whatever thread this is."""
        with self._lock:
            if self._withdrawn:
                return
            self._begun = True
        end = self._made()
        with self._lock:
            slot, self._end = self._slot, end
        self.notice()
        if slot is not None:
            self._account(end, slot)

    def _made(self) -> CallEnd | BaseException:
        try:
            return CallEnd(reply=self._ask())
        except ProviderError as error:
            answered = error.http_status is not None or error.category not in _LOST
            return CallEnd(error=error, sent=error.sent, is_definite=answered and not error.delivered)
        except (ScriptExhaustedError, ReplayMismatchError) as error:
            return CallEnd(error=error, is_definite=True)
        except BaseException as error:  # noqa: BLE001  (carried to the owner's thread and raised there)
            return error

    def _account(self, end: CallEnd | BaseException, slot: Slot) -> None:
        """Nobody waits: what was paid for is handed on, and the slot is free whatever becomes of that."""
        usage = None if isinstance(end, BaseException) else end.usage if end.reply is None else end.reply.usage
        try:
            if isinstance(end, BaseException):
                _log.warning("a call that was given up ended in a failure of ours: %s", type(end).__name__)
            elif usage is not None:
                self._late(usage)
        except BaseException as error:  # noqa: BLE001  (there is no owner to raise it for)
            _log.warning("a late reply could not be handed over: %s", type(error).__name__)
        finally:
            slot.release()

    def notice(self) -> None:
        """Have ``wait`` return: there is a reason to wait no longer."""
        self._noticed.put(None)

    def wait(self) -> None:
        """Wait until it settled, or until ``notice``; its owner does, once."""
        self._noticed.get()

    @property
    def has_settled(self) -> bool:
        """Whether it ended."""
        return self._end is not None

    def end(self) -> CallEnd:
        """How it ended; it has settled. A failure of ours that it met is raised here."""
        if isinstance(self._end, BaseException):
            raise self._end
        if self._end is None:  # pragma: no cover  (it is asked for once it has settled)
            raise AssertionError(self._scope)
        return self._end

    def give_up(self, why: GaveUp) -> CallEnd:
        """Wait no longer; where it has settled already, that is its end all the same."""
        with self._lock:
            if self._end is None:
                if self._begun:
                    self._slot = self._detached.take(self._scope)
                else:
                    self._withdrawn = True
                return CallEnd(gave_up=why, sent=self._begun)
        return self.end()


def call_model(call: ModelCall, bounds: Bounds, *, limit_s: float) -> CallEnd:
    """Make the call; returns as soon as it settles, ``limit_s`` seconds pass, or cancellation is seen.

    Anything an actor raises that is not one of our errors is a bug and is raised again here, on the owner's thread.
    Raises MachineError where no thread can be had.
    """
    patience = _Patience(call, bounds, limit_s)
    with ExitStack() as stack:
        try:
            stack.callback(WATCHER.watch(patience.look, within_s=min(limit_s, bounds.left())).end)
            CALLERS.call(call.run)
        except RuntimeError as error:
            raise MachineError("no thread can be started for a model call") from error
        call.wait()
    return call.end() if patience.why is None else call.give_up(patience.why)


class _Patience:
    """Why an owner waits no longer for its call, once there is a reason."""

    def __init__(self, call: ModelCall, bounds: Bounds, limit_s: float) -> None:
        self._call, self._bounds = call, bounds
        self._ends = time.monotonic() + limit_s
        self.why: GaveUp | None = None

    def look(self) -> float:
        """Look for a reason; the seconds until there may be one."""
        left, left_of_call = self._bounds.left(), self._ends - time.monotonic()
        if self.why is None and not self._call.has_settled:
            if self._bounds.cancelled():
                self.why = "cancelled"
            elif left <= 0:
                self.why = "deadline"
            elif left_of_call <= 0:
                self.why = "call_deadline"
            if self.why is not None:
                self._call.notice()
        return min(left, left_of_call)


def call_at_once(call: ModelCall, bounds: Bounds, *, limit_s: float) -> CallEnd:
    """Make the call here, of an actor that waits for nobody; withdrawn where it is cancelled or too late already.

    What took longer than ``limit_s`` seconds all the same counts as given up. Raises what an actor raises that is not
    one of our errors.
    """
    before = bounds.left()
    if bounds.latched:
        return call.give_up("cancelled")
    if min(before, limit_s) <= 0:
        return call.give_up("deadline" if before <= 0 else "call_deadline")
    call.run()
    left = bounds.left()
    if left < 0:
        return CallEnd(gave_up="deadline")
    return CallEnd(gave_up="call_deadline") if before - left > limit_s else call.end()
