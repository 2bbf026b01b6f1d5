"""Control planes that come with harness: they run in this process and need no installation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import ModuleType

from harness import catalog
from harness.schema.process import PlaneIdentity
from harness.schema.tool import ToolSpec

__all__ = ["built_in", "built_in_identities", "plane_operations"]


@cache
def built_in(name: str) -> ModuleType | None:
    """The control plane of that name that needs no installation: it offers its operations as tools."""
    found = catalog.module("controlplanes", name) if name in catalog.names("controlplanes") else None
    return found if hasattr(found, "OPERATIONS") else None


def built_in_identities() -> tuple[PlaneIdentity, ...]:
    """The control planes that come with harness."""
    found = [built_in(name) for name in catalog.names("controlplanes")]
    return tuple(module.IDENTITY for module in found if module is not None)


def plane_operations(ref: str) -> Mapping[str, ToolSpec] | None:
    """The operations, by name, of a control plane that comes with harness; None where none is called so."""
    module = built_in(ref)
    operations: Mapping[str, ToolSpec] | None = None if module is None else module.OPERATIONS
    return operations
