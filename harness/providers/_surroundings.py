"""Proxies and certificates as the environment names them: can a client be made with them?"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

__all__ = ["problem_of"]

_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
_SCHEMES: Final = frozenset({"http", "https"})
_ALLOWED: Final = "http://HOST:PORT or https://HOST:PORT"


def problem_of(environ: Mapping[str, str]) -> str | None:
    """What is wrong with the first variable that no client can be made with; None where there is none.

    A value is never shown: that of a proxy may hold a password.
    """
    for name in _PROXIES:
        # the spelling in small letters counts where both are there
        variable = name if name in environ else name.upper()
        if environ.get(variable) and not _is_proxy(environ[variable]):
            return f"the environment variable {variable} names no proxy that can be used; allowed: {_ALLOWED}"
    return _of_certificates(environ)


def _is_proxy(text: str) -> bool:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        usable = parts.port != 0
    except ValueError:
        return False
    printable = text.isascii() and text.isprintable() and " " not in text
    return usable and printable and parts.scheme in _SCHEMES and bool(parts.hostname)


def _of_certificates(environ: Mapping[str, str]) -> str | None:
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if file:
        try:
            ssl.create_default_context(cafile=file)
        except (OSError, ValueError):
            return "the environment variable SSL_CERT_FILE names no file of certificates; allowed: a file in PEM form"
    elif folder and not all(os.path.isdir(part) for part in folder.split(os.pathsep)):  # noqa: PTH112  (never raises)
        return "the environment variable SSL_CERT_DIR names no folder; allowed: folders of certificates"
    return None
