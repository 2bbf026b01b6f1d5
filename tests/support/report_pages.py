"""A report page taken apart: what it says, its script, and the data that the script reads."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode

from pydantic import JsonValue

__all__ = ["packed_of", "script_of", "without_script"]

_SCRIPT = re.compile(r'<script(?: type="text/plain" id="packed")?>(.*?)</script>\n?', re.DOTALL)


def without_script(page: str) -> str:
    """The page as a browser shows it that runs no script."""
    return _SCRIPT.sub("", page)


def script_of(page: str) -> str:
    """The one script of a page. Raises ValueError where there is another number of them."""
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return str(script)


def packed_of(page: str) -> dict[str, JsonValue]:
    """What the page holds of its episodes: columns, and the tables that they point into."""
    (packed,) = re.findall(r'<script type="text/plain" id="packed">([A-Za-z0-9+/=]*)</script>', page)
    found = json.loads(zlib.decompress(b64decode(packed), wbits=-zlib.MAX_WBITS))
    assert isinstance(found, dict)
    return found
