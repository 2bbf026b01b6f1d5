"""Proxies and certificates as the environment names them: can a client be made with them?"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

__all__ = ["bundle_of", "names_proxies", "problem_of"]

_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
_PROXY_KINDS: Final = frozenset({"http", "https", "all"})
_SCHEMES: Final = frozenset({"http", "https"})
#: Where other tools are told of certificates: a file, or a folder as ``openssl rehash`` makes it. The first counts.
_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
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


def names_proxies() -> bool:
    """Whether a proxy stands before any address, as httpx reads the environment of this process."""
    return not _PROXY_KINDS.isdisjoint(getproxies())


def bundle_of(environ: Mapping[str, str]) -> str | None:
    """The certificates that ``REQUESTS_CA_BUNDLE`` or ``CURL_CA_BUNDLE`` name; None where nothing else is to be read.

    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` go before them, and are read by the client itself.
    """
    variable = _bundle_variable(environ)
    return None if variable is None else environ[variable]


def _bundle_variable(environ: Mapping[str, str]) -> str | None:
    if environ.get("SSL_CERT_FILE") or environ.get("SSL_CERT_DIR"):
        return None
    return next((name for name in _BUNDLES if environ.get(name)), None)


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
    bundle = _bundle_variable(environ)
    if file and not _holds_certificates(file):
        return "the environment variable SSL_CERT_FILE names no file of certificates; allowed: a file in PEM form"
    if not file and folder and not all(map(_is_folder, folder.split(os.pathsep))):
        return "the environment variable SSL_CERT_DIR names no folder; allowed: folders of certificates"
    if bundle is not None and not _is_folder(environ[bundle]) and not _holds_certificates(environ[bundle]):
        return f"the environment variable {bundle} names no certificates; allowed: a file in PEM form, or a folder"
    return None


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  (never raises)


def _holds_certificates(file: str) -> bool:
    try:
        ssl.create_default_context(cafile=file)
    except (OSError, ValueError):
        return False
    return True
