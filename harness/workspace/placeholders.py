"""Absolute paths of a workspace become names, and names become paths again.

What is kept of an episode never holds where it happened: ``{project_root}`` stands for the root ``project``,
``{process_home_root}`` for the process's own home, ``{fixture_root}`` for the workspace itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii
from pathlib import Path
from urllib.parse import quote

from pydantic import JsonValue

from harness.workspace.reservation import PROCESS_HOME, Workspace

__all__ = ["Placeholders"]

_WHOLE = "{fixture_root}"
#: What JSON, percent-encoding and all encodings of names write as it is, but for slashes.
_SAME_IN_ALL = re.compile(r"[A-Za-z0-9_.~/-]+")

# A root's path does not end before one of these; the workspace's own path, whose name is drawn by lot, always does.
_ENDS = r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9_])"


class Placeholders:
    """Both ways for one workspace.

    Every spelling of a path is hidden: as it is, with links resolved, escaped in JSON (ASCII or not, slashes or not),
    percent-encoded, and decoded with replacement characters. Longest paths first. ``/w/project2`` is not
    ``/w/project``. ``show`` gives the resolved path.
    """

    def __init__(self, workspace: Workspace) -> None:
        names = {path.name: f"{{{name}_root}}" for name, path in workspace.roots.items()}
        names[PROCESS_HOME] = f"{{{PROCESS_HOME}_root}}"
        self._workspace = workspace
        self._mark = workspace.root.name
        self._names = names
        self._paths = {placeholder: str(workspace.root / folder) for folder, placeholder in names.items()}
        self._paths[_WHOLE] = str(workspace.root)
        self._inside = _inside(tuple(names))
        self._name = _placeholder(tuple(self._paths))

    def touches(self, text: str) -> bool:
        """Whether ``hide`` may change a text, or one that is written in this JSON: False only where it can not."""
        return self._mark in text or "_root}" in text

    def hide(self, text: str) -> str:
        """The text with every path of the workspace replaced by its placeholder.

        What looks like a placeholder already is none: ``{project_root}`` becomes ``{=project_root}``, and so on, so
        that ``show`` gives back exactly this text.
        """
        if "_root}" in text:
            text = self._name.sub(r"{=\1\2}", text)
        if self._mark not in text:
            return text
        parts, done = [], 0
        for start, end, name in self._found(text):
            parts += [text[done:start], name]
            done = end
        return "".join((*parts, text[done:]))

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Every path of the workspace: start, end, and its placeholder; in order."""
        done = at = 0
        while (mark := text.find(self._mark, at)) >= 0:
            at = mark + len(self._mark)
            start = next((at - len(base) for base in self._bases if text.endswith(base, done, at)), None)
            if start is None:
                continue
            inner = self._inside.match(text, at)
            done = at = at if inner is None else inner.end()
            yield start, done, _WHOLE if inner is None else self._names[inner[1]]

    @cached_property
    def _bases(self) -> tuple[str, ...]:
        """How the workspace's own path is spelled, longest first; each spelling ends with its name."""
        spelled = _spellings(self._workspace.root) | _spellings(self._workspace.given)
        return tuple(sorted(spelled, key=len, reverse=True))

    def spans(self, text: str) -> tuple[tuple[int, int, int], ...]:
        """What ``hide`` would replace: start, end, and the length of what would stand there; in order."""
        found: list[tuple[int, int, int]] = []
        if "_root}" in text:
            found += [(match.start(), match.end(), len(match[0]) + 1) for match in self._name.finditer(text)]
        if self._mark in text:
            found += [(start, end, len(name)) for start, end, name in self._found(text)]
        return tuple(sorted(found))

    def show(self, text: str) -> str:
        """The text with every placeholder of the workspace replaced by its path; the inverse of ``hide``."""
        return self._name.sub(self._shown, text)

    def _shown(self, match: re.Match[str]) -> str:
        escapes, name = match[1], match[2]
        return f"{{{escapes[1:]}{name}}}" if escapes else self._paths[f"{{{name}}}"]

    def hide_json(self, value: JsonValue) -> JsonValue:
        """The value with ``hide`` applied to every string in it, keys included."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hide_json(item) for item in value]
        if isinstance(value, dict):
            return {self.hide(key): self.hide_json(item) for key, item in value.items()}
        return value


def _spellings(path: Path) -> set[str]:
    """How a path may be spelled in a text."""
    if _SAME_IN_ALL.fullmatch(str(path)):
        return {str(path), str(path).replace("/", r"\/")}
    raw = os.fsencode(path)
    plain = {str(path), raw.decode("utf-8", "surrogateescape"), raw.decode("utf-8", "replace")}
    once = _in_json(plain)
    escaped = once | _in_json(once)
    return plain | escaped | {text.replace("/", r"\/") for text in escaped} | {quote(raw)}


def _in_json(texts: set[str]) -> set[str]:
    return {encode(text)[1:-1] for text in texts for encode in (encode_basestring_ascii, encode_basestring)}


@lru_cache(maxsize=64)
def _inside(names: tuple[str, ...]) -> re.Pattern[str]:
    """What of a path comes behind the workspace's own where it leads into one of its roots."""
    return re.compile(rf"\\?/({_longest_first(names)}){_ENDS}")


@lru_cache(maxsize=64)
def _placeholder(placeholders: tuple[str, ...]) -> re.Pattern[str]:
    words = _longest_first([placeholder[1:-1] for placeholder in placeholders])
    return re.compile(rf"{{(=*)({words})}}")


def _longest_first(texts: Collection[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))
