"""Values computed from one HOME at import, moved below another. Standard library only, see ``_preload``.

Looked through: attributes of modules and classes outside the standard library, defaults and closures of functions,
lists, dictionaries, and objects with attributes, as deep as they go. A value is a text or a path that holds the old
HOME, or a tuple of such.
"""

from __future__ import annotations

import sys
import types
from pathlib import PurePath

#: Where a value is held, and under what: an index, a key, or the name of an attribute.
Place = tuple[object, "int | str | object", str]

#: What objects of the language itself hold without an attribute dictionary.
_PARTS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (types.FunctionType, ("__defaults__", "__kwdefaults__")),
    (property, ("fget", "fset", "fdel")),
    (staticmethod, ("__func__",)),
    (classmethod, ("__func__",)),
)
#: The server's own modules hold the old HOME on purpose.
_SERVER = frozenset(
    (
        *("_confine", "_frames", "_landlock", "_namespaces", "_preload", "_reaping"),
        *("_rebase", "_seccomp", "_supervise", "_timeshift", "_view"),
    )
)
_CODE = (types.FunctionType, types.MethodType)
_OPAQUE = (str, bytes, int, float, complex, bool, type(None), PurePath, types.CodeType, types.BuiltinFunctionType)


def moved(value: object, old: str, new: str) -> object:
    """``value`` with ``old`` replaced; the very same object where it does not hold it."""
    if isinstance(value, str):
        return value.replace(old, new) if type(value) is str and old in value else value
    if isinstance(value, PurePath):
        return type(value)(str(value).replace(old, new)) if old in str(value) else value
    if type(value) is tuple:
        parts = tuple(moved(part, old, new) for part in value)
        return parts if any(part is not was for part, was in zip(parts, value, strict=True)) else value
    return value


def places(roots: list[object], old: str) -> list[Place]:
    """Every place reachable from ``roots`` whose value holds ``old``."""
    found: list[Place] = []
    # What was seen is held on to: the id of an object that has gone could be another's.
    seen: dict[int, object] = {}
    todo = list(roots)
    while todo:
        holder = todo.pop()
        if id(holder) in seen or isinstance(holder, _OPAQUE) or _foreign(holder):
            continue
        seen[id(holder)] = holder
        for key, value, how in _held(holder):
            if moved(value, old, "") is not value:
                found.append((holder, key, how))
            elif isinstance(value, tuple):
                todo.extend(value)
            else:
                todo.append(value)
    return found


def move(found: list[Place], old: str, new: str) -> None:
    """Replace ``old`` at each place."""
    for holder, key, how in found:
        if how == "item":
            holder[key] = moved(holder[key], old, new)  # type: ignore[index]
        elif isinstance(holder, type):
            setattr(holder, str(key), moved(vars(holder)[str(key)], old, new))
        else:
            object.__setattr__(holder, str(key), moved(getattr(holder, str(key)), old, new))


def _ours(name: str | None) -> bool:
    """Whether a module of that name may have computed something from HOME that a program shows."""
    top = (name or "").partition(".")[0]
    return top == "__main__" or (top not in sys.stdlib_module_names and top not in _SERVER)


def _foreign(holder: object) -> bool:
    if isinstance(holder, types.ModuleType):
        return not _ours(holder.__name__)
    if isinstance(holder, (type, *_CODE)):
        return not _ours(holder.__module__)
    return False


def _held(holder: object) -> list[tuple[object, object, str]]:
    """What an object holds: key, value, and how it is set."""
    if isinstance(holder, dict):
        return [(key, value, "item") for key, value in holder.items()]
    if isinstance(holder, list):
        return [(index, value, "item") for index, value in enumerate(holder)]
    if isinstance(holder, types.CellType):
        try:
            return [("cell_contents", holder.cell_contents, "name")]
        except ValueError:  # an empty cell
            return []
    if isinstance(holder, type):
        return [(name, value, "name") for name, value in vars(holder).items()]
    named: list[str] = [name for kind in type(holder).__mro__ for name in _slots(kind)]
    for kind, names in _PARTS:
        if isinstance(holder, kind):
            named.extend(names)
    held: list[tuple[object, object, str]] = [(name, getattr(holder, name, None), "name") for name in named]
    held.append(("__dict__", getattr(holder, "__dict__", None), "name"))
    if isinstance(holder, types.FunctionType):
        held.extend(("cell", cell, "name") for cell in holder.__closure__ or ())
    return held


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
