"""What follows from a frozen value is computed once for each value, not once for each episode that uses it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from harness.schema.base import Frozen

__all__ = ["Remembered", "remembered"]

_Value = TypeVar("_Value", bound=Frozen)
_Result = TypeVar("_Result")


class Remembered(Generic[_Value, _Result]):
    """A pure function of one frozen value that knows its results for the last ``most`` objects that it was asked of.

    By the very same object: comparing whole values would cost what is saved. The objects are kept as well, so that no
    other one gets their place in memory. Callers share a result and must not change it. What the function raises is not
    remembered. Safe to use from several threads.
    """

    def __init__(self, function: Callable[[_Value], _Result], most: int) -> None:
        self._function, self._most = function, most
        self._known: dict[int, tuple[_Value, _Result]] = {}
        self._lock = Lock()
        self.__doc__ = function.__doc__

    def __call__(self, value: _Value) -> _Result:
        """The result for this object."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        result = self._function(value)
        self.know(value, result)
        return result

    def know(self, value: _Value, result: _Result) -> None:
        """Remember a result that was computed elsewhere."""
        with self._lock:
            self._known[id(value)] = value, result
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]


def remembered(most: int) -> Callable[[Callable[[_Value], _Result]], Remembered[_Value, _Result]]:
    """Decorates a pure function of one frozen value: the results for the last ``most`` objects are kept."""

    def decorate(function: Callable[[_Value], _Result]) -> Remembered[_Value, _Result]:
        return Remembered(function, most)

    return decorate
