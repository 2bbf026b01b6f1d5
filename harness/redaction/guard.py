"""The last look before bytes are written: does a known secret occur in them, in any usual encoding?

This is the net below the wire: redaction is by construction, so a hit is a bug, and the write is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import RedactionError
from harness.redaction.forms import base64_digits, hexadecimal_digits, texts, utf8

__all__ = ["SECRET_MIN", "SecretGuard"]

#: Secrets shorter than this (in characters, without surrounding white space) are not looked for.
SECRET_MIN = 8
#: What may stand between the digits of a base64 text: line breaks and blanks, raw and as JSON escapes.
_WRAPS = (b"\\r", b"\\n", b"\\", b"\r", b"\n", b" ", b"\t")


class SecretGuard:
    """Refuses bytes in which one of ``secrets`` occurs.

    Found are: the text itself; JSON escapes, also nested twice; HTML escapes; URL encodings, also of every byte;
    base64 in both alphabets at all three alignments, also wrapped into lines; hexadecimal digits in any case.
    A secret of fewer than ``SECRET_MIN`` characters (the ``EMPTY`` or ``none`` that local servers take for a key)
    occurs in innocent text and would stop every run: it is left out, and ``ignored`` counts such ones.
    """

    __slots__ = ("_count", "_exact", "_folded", "_unwrapped", "ignored")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        stripped = {secret.strip() for secret in secrets} - {""}
        guarded = sorted(secret for secret in stripped if len(secret) >= SECRET_MIN)
        self.ignored = len(stripped) - len(guarded)
        self._count = len(guarded)
        self._exact = frozenset(form for secret in guarded for form in texts(secret))
        self._folded = frozenset(form.lower() for secret in guarded for form in hexadecimal_digits(secret))
        self._unwrapped = frozenset(form for secret in guarded for form in base64_digits(utf8(secret)))

    def __repr__(self) -> str:
        return f"SecretGuard({self._count} secrets)"

    def check(self, data: bytes, where: str = "a file") -> None:
        """Return if ``data`` holds no secret; ``where`` is named in the error.

        Raises RedactionError, which tells neither the secret nor the data.
        """
        if any(form in data for form in self._exact):
            raise RedactionError(_refusal(where, "as text"))
        if self._folded:
            folded = data.lower()
            if any(form in folded for form in self._folded):
                raise RedactionError(_refusal(where, "as hexadecimal or percent-encoded digits"))
        if self._unwrapped:
            unwrapped = data
            for wrap in _WRAPS:
                unwrapped = unwrapped.replace(wrap, b"")
            if any(form in data or form in unwrapped for form in self._unwrapped):
                raise RedactionError(_refusal(where, "as base64"))


def _refusal(where: str, form: str) -> str:
    return f"{where}: a secret was about to be written ({form}); nothing was written; this is a bug, please report it"
