"""The templates of a page, its style sheet and its script, and what its policy calls them."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.reporters._console import safe
from harness.reporters._rows import plain

__all__ = ["environment", "furniture"]

_SCRIPTS: Final = ("report_data.js", "report_parts.js", "report_episode.js", "report_table.js")


@cache
def environment() -> Environment:
    """Everything that it puts into a page is escaped, and shown without characters that act."""
    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(_source),
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    made.filters["breakable"] = _breakable
    made.filters["short"] = _short
    made.filters["lines"] = lambda text: Markup(escape(safe(text)))  # noqa: S704  (escaped)
    made.filters["thousands"] = lambda number: f"{number:,}"
    return made


@cache
def furniture() -> dict[str, object]:
    """``style`` and ``script`` as they stand in a page, and the ``policy`` that allows these two and nothing else."""
    style = _source("html.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_source(name) for name in _SCRIPTS) + "})();\n"
    policy = "; ".join((
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        f"script-src '{_digest(script)}'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ))  # fmt: skip
    # both are files of this package
    return {"style": Markup(style), "script": Markup(script), "policy": Markup(policy)}  # noqa: S704


def _source(name: str) -> str:
    return (files("harness.reporters") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _breakable(text: str) -> Markup:
    """Long identifiers may break after their joints."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/,|])|(?<==)(?!=)", plain(text)))


def _short(digest: str | None) -> str:
    """The first 12 digits of a digest."""
    return "" if digest is None else digest.removeprefix("sha256:")[:12]
