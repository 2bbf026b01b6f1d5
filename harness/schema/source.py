"""A place whose value is known only once the world stands: in a workspace file, or in what was answered before."""

from __future__ import annotations

from harness.schema.base import Frozen
from harness.schema.name import KindName, Pointer, WorkspacePath

__all__ = ["ValueSource"]


class ValueSource(Frozen):
    """The value at the pointer ``at`` of a JSON file (``root/path``), or of the first answer of a kind; one of both.

    It is looked up when it is asked for; what is not there equals nothing.
    """

    file: WorkspacePath | None = None
    answer: KindName | None = None
    at: Pointer
