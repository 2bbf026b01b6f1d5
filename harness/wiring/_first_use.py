"""Names of a package that are imported when they are first used: a command's help need not wait for the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["on_first_use"]


def on_first_use(package: str, rooms: Mapping[str, str]) -> Callable[[str], object]:
    """A module's ``__getattr__`` (PEP 562), which raises AttributeError for a name that it does not know.

    ``rooms`` maps a module of the package to the names, separated by blanks, that the package takes from it.
    """
    homes = {name: room for room, names in rooms.items() for name in names.split()}

    def look_up(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{homes[name]}"), name)
        return value

    return look_up
