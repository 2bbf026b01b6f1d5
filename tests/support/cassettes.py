"""Cassettes of vcrpy for tests, in the forms in which they are found."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from harness.documents.yaml_values import YamlValue

__all__ = ["CHAT", "Interaction", "exchange", "written"]

Interaction = dict[str, YamlValue]
CHAT = "https://api.openai.com/v1/chat/completions"


def exchange(
    url: str = CHAT,
    asked: YamlValue = None,
    answered: YamlValue = None,
    *,
    method: str = "POST",
    status: int = 200,
    sent: dict[str, str] | None = None,
    came: dict[str, str] | None = None,
) -> Interaction:
    """As vcrpy writes one: bodies are texts or bytes, anything else is written as JSON; each header is a list."""
    request: Interaction = {
        "body": _text(asked),
        "headers": {name: [value] for name, value in (sent or {}).items()},
        "method": method,
        "uri": url,
    }
    response: Interaction = {
        "body": {"string": _text(answered)},
        "headers": {name: [value] for name, value in (came or {"Content-Type": "application/json"}).items()},
        "status": {"code": status, "message": "OK"},
    }
    return {"request": request, "response": response}


def written(path: Path, *interactions: YamlValue) -> Path:
    """A cassette with these, in YAML, or in JSON where the name says so."""
    whole: Interaction = {"interactions": [*interactions], "version": 1}
    text = json.dumps(whole) if path.suffix == ".json" else yaml.safe_dump(whole, sort_keys=False)
    path.write_text(text, encoding="utf-8")
    return path


def _text(value: YamlValue) -> YamlValue:
    return value if value is None or isinstance(value, str | bytes) else json.dumps(value)
