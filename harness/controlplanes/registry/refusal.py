"""Why the registry did not do what it was asked."""

from __future__ import annotations

from typing import Final, Literal

from harness.schema.base import JsonValue

__all__ = ["Refusal", "RefusalCode"]

RefusalCode = Literal[
    "already_claimed",
    "already_done",
    "dependency_cycle",
    "dependency_open",
    "duplicate_task",
    "foreign_owner",
    "invalid_arguments",
    "key_reused",
    "not_claimed",
    "registry_locked",
    "stale_version",
    "unknown_operation",
    "unknown_task",
]

#: The same intent may succeed later, or with what is read anew.
_RECOVERABLE: Final[frozenset[RefusalCode]] = frozenset(("registry_locked", "stale_version"))


class Refusal(Exception):  # noqa: N818  (an answer of the registry, and no fault in it)
    """Nothing was changed. ``code`` is for programs, ``text`` for whoever asked."""

    def __init__(self, code: RefusalCode, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(code)

    @property
    def document(self) -> dict[str, JsonValue]:
        """The answer that tells of it."""
        error: JsonValue = {"code": self.code, "recoverable": self.code in _RECOVERABLE, "message": self.text}
        return {"ok": False, "error": error}
