"""A journal on disk as another version of harness would have written it: other words, and a chain that holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from harness.schema.base import JsonValue, digest_text

__all__ = ["lacks", "rewrite"]

Payload = dict[str, JsonValue]


def rewrite(path: Path, seq: int, change: Callable[[Payload], None]) -> None:
    """Change what the record ``seq`` says, from 1, and chain it and all that follow it anew."""
    lines = path.read_text("utf-8").splitlines()
    previous = "-"
    for number, line in enumerate(lines[1:], 1):
        record = json.loads(line)
        if number == seq:
            change(record["payload"])
        payload = json.dumps(record["payload"], separators=(",", ":"), ensure_ascii=False)
        digest = digest_text(f"{previous}\n{payload}")
        lines[number] = f'{{"seq":{number},"payload":{payload},"previous":"{previous}","digest":"{digest}"}}'
        previous = digest
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def lacks(name: str) -> Callable[[Payload], None]:
    """A record without a field."""

    def change(payload: Payload) -> None:
        del payload[name]

    return change
