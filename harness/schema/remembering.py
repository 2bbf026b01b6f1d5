"""What follows from a frozen value is computed once for each value, not once for each episode that uses it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

from harness.schema.base import Frozen

__all__ = ["remembered"]

_Value = TypeVar("_Value", bound=Frozen)
_Result = TypeVar("_Result")


class _Same(Generic[_Value]):
    """Equal to itself and to what holds the very same object: comparing whole values would cost what is saved."""

    __slots__ = ("value",)

    def __init__(self, value: _Value) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


def remembered(most: int) -> Callable[[Callable[[_Value], _Result]], Callable[[_Value], _Result]]:
    """Decorates a pure function of one frozen value: the results for the last ``most`` objects are kept.

    The objects are kept as well, so that no other one gets their place in memory. Callers share a result and must not
    change it. What the function raises is not remembered. Safe to use from several threads.
    """

    def decorate(function: Callable[[_Value], _Result]) -> Callable[[_Value], _Result]:
        @lru_cache(maxsize=most)
        def kept(same: _Same[_Value]) -> _Result:
            return function(same.value)

        def ask(value: _Value) -> _Result:
            return kept(_Same(value))

        ask.__doc__ = function.__doc__
        return ask

    return decorate
