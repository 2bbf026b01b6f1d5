"""Control planes whose operations can be tools, told apart from those that are called by commands only."""

from __future__ import annotations

from typing import cast

from harness.ports import ControlPlane, OperationPlane

__all__ = ["with_operations"]

_known: dict[type[ControlPlane], bool] = {}


def with_operations(plane: ControlPlane) -> OperationPlane | None:
    """The plane where it has operations; found out once for each class, for asking costs more than most operations."""
    kind = type(plane)
    if kind not in _known:
        _known[kind] = isinstance(plane, OperationPlane)
    return cast("OperationPlane", plane) if _known[kind] else None
