"""Patterns of the identifiers that scenario files and receipts are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

__all__ = ["Code", "Fact", "KindName", "Pointer", "ScenarioId", "ValueName", "WorkspacePath"]

#: A failure code: lower-case words joined by underscores.
Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")]
KindName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")]
Fact = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")]
ValueName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")]
#: ``pack/name``; a variant adds ``-variant`` to the name.
ScenarioId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}/[a-z0-9][a-z0-9-]{0,127}$")]
#: An RFC 6901 JSON pointer.
Pointer = Annotated[str, Field(pattern=r"^(/([^~/]|~[01])*)*$")]
#: ``root/relative/path``: never absolute, never with ``..``. Placeholders may stand in it.
WorkspacePath = Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[^/\x00][^\x00]*$")]
