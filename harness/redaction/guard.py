"""The last look before bytes are written: does a known secret occur in them, in any usual encoding?

This is the net below the wire: redaction is by construction, so a hit is a bug, and the write is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import RedactionError
from harness.redaction.breaks import unwrapped, unwrapped_bytes
from harness.redaction.forms import base64_digits, hexadecimal_digits, texts, utf8

__all__ = ["SECRET_MIN", "SecretGuard"]

#: Secrets shorter than this (in characters, without surrounding white space) are not looked for.
SECRET_MIN = 8
_DIGITS = "as hexadecimal or percent-encoded digits"


class SecretGuard:
    """Refuses bytes in which one of ``secrets`` occurs.

    Found are: the text itself; JSON escapes, also nested twice; HTML escapes; URL encodings, also of every byte;
    base64 in both alphabets at all three alignments; hexadecimal digits in any case. All of these are found with
    breaks in between too, as ``breaks`` knows them.
    A secret of fewer than ``SECRET_MIN`` characters (the ``EMPTY`` or ``none`` that local servers take for a key)
    occurs in innocent text and would stop every run: it is left out, and ``ignored`` counts such ones.
    """

    __slots__ = ("_count", "_digits", "_exact", "_folded", "_unwrapped", "ignored")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        stripped = {secret.strip() for secret in secrets} - {""}
        guarded = sorted(secret for secret in stripped if len(secret) >= SECRET_MIN)
        self.ignored = len(stripped) - len(guarded)
        self._count = len(guarded)
        self._exact = frozenset(form for secret in guarded for form in texts(secret))
        self._folded = frozenset(form.lower() for secret in guarded for form in hexadecimal_digits(secret))
        self._digits = frozenset(form for secret in guarded for form in base64_digits(utf8(secret)))
        bare = [text for secret in guarded if len(text := unwrapped(secret)) >= SECRET_MIN]
        self._unwrapped = frozenset(unwrapped_bytes(form) for text in bare for form in texts(text))

    def __repr__(self) -> str:
        return f"SecretGuard({self._count} secrets)"

    def check(self, data: bytes, where: str = "a file") -> None:
        """Return if ``data`` holds no secret; ``where`` is named in the error.

        Raises RedactionError, which tells neither the secret nor the data.
        """
        if not self._count:
            return
        bare = unwrapped_bytes(data)
        for found, form in (
            (_holds(data, self._exact) or _holds(bare, self._unwrapped), "as text"),
            (_holds(data.lower(), self._folded) or _holds(bare.lower(), self._folded), _DIGITS),
            (_holds(data, self._digits) or _holds(bare, self._digits), "as base64"),
        ):
            if found:
                raise RedactionError(_refusal(where, form))


def _holds(data: bytes, forms: Iterable[bytes]) -> bool:
    return any(form in data for form in forms)


def _refusal(where: str, form: str) -> str:
    return f"{where}: a secret was about to be written ({form}); nothing was written; this is a bug, please report it"
