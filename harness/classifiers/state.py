"""What is there at the end: in the control plane, in files, and that nothing else was changed on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import ClassVar, Final

from pydantic import Field

from harness.classifiers._expecting import expectation_problems, misses
from harness.rules import words
from harness.rules.expecting import same
from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence, SettingProblem, Violation
from harness.schema.judging import Classifier
from harness.schema.name import Pointer, WorkspacePath
from harness.schema.pointer import MISSING, Missing
from harness.schema.rules import Expectation
from harness.schema.scenario import Scenario

__all__ = ["CLASSIFIER", "State"]

_UNCHANGED: Final = "unchanged"
_NOTHING_NEW: Final = "nothing new"
_STATE: Final = "/state"
#: So many places of collateral damage are told.
_TOLD = 16


class State(Classifier):
    """The state that an episode leaves behind.

    ``holds``: expectations by pointers into what the control plane holds (``/tasks/a/status``). ``files``: the same by
    workspace file (``root/path``), in its JSON, or its text where it is none. ``only``: nothing else in the control
    plane may differ from what it held at the start. ``only_files``: nothing else in the workspace may; ``root/dir/**``
    is everything below.
    """

    grounds: ClassVar[tuple[str, ...]] = ("holds", "files", "damage")

    holds: dict[Pointer, Expectation] = Field(default={}, max_length=256)
    files: dict[str, dict[Pointer, Expectation]] = Field(default={}, max_length=64)
    only: tuple[Pointer, ...] | None = Field(default=None, max_length=256)
    only_files: tuple[WorkspacePath, ...] | None = Field(default=None, max_length=256)

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        """Roots that there are not, tests of more than one value, and nothing to look at."""
        return tuple(self._problems(scenario))

    def phrases(self) -> Sequence[str]:
        """What was wanted, and where."""
        expectations = [*self.holds.values(), *(one for holds in self.files.values() for one in holds.values())]
        places = [_STATE, *(f"{_STATE}{at}" for at in self.holds)]
        places += [f"{_place(file)}{at}" for file, holds in self.files.items() for at in holds]
        return (*words(expectations), *places, _UNCHANGED, _NOTHING_NEW)

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """What is not as it has to be, then what is not as it was."""
        now = evidence.document.get("state")
        found = [*misses(now, self.holds, "holds", shown=_STATE)]
        for file, holds in self.files.items():
            found += misses(_document(evidence.file(file)), holds, "files", shown=_place(file))
        if self.only is not None:
            found += islice(_damage(evidence.before, now, "", self.only), _TOLD)
        if self.only_files is not None:
            touched = [one.path for one in evidence.changes if not _within(one.path, self.only_files)]
            found += [Violation(ground="damage", path=path, expected=_UNCHANGED) for path in touched[:_TOLD]]
        return found

    def _problems(self, scenario: Scenario) -> Iterator[SettingProblem]:
        if not self.holds and not self.files and self.only is None and self.only_files is None:
            yield SettingProblem(at=(), text="nothing is looked at", allowed="holds, files, only, only_files")
        for at, expectation in self.holds.items():
            yield from expectation_problems(expectation, ("holds", at))
        for file, holds in self.files.items():
            yield from _rooted(scenario, file, ("files", file))
            for at, expectation in holds.items():
                yield from expectation_problems(expectation, ("files", file, at))
        for index, path in enumerate(self.only_files or ()):
            yield from _rooted(scenario, path, ("only_files", index))


def _rooted(scenario: Scenario, path: str, at: tuple[str | int, ...]) -> Iterator[SettingProblem]:
    roots = scenario.workspace.roots
    if path.partition("/")[0] not in roots or ".." in path.split("/"):
        yield SettingProblem(at=at, text=f"{path!r} is in no root", allowed=", ".join(f"{root}/…" for root in roots))


def _place(file: str) -> Pointer:
    """A file as the beginning of a pointer."""
    return "/files/" + file.replace("~", "~0").replace("/", "~1")


def _document(text: str | None) -> JsonValue:
    """An array that holds nothing is a document without any of the places that settings point to."""
    if text is None:
        return []
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _damage(before: JsonValue, now: JsonValue | Missing, at: str, only: Sequence[Pointer]) -> Iterator[Violation]:
    """Places that differ, and lie neither at nor below one that may; each is told by what was there before."""
    if any(at == place or at.startswith(f"{place}/") for place in only):
        return
    if not isinstance(before, dict) or not isinstance(now, dict):
        if not same(before, now):
            got = None if now is MISSING else now
            yield Violation(
                ground="damage", pointer=f"{_STATE}{at}", expected=_UNCHANGED, got=got, missing=now is MISSING
            )
        return
    for key in sorted(before):
        yield from _damage(before[key], now.get(key, MISSING), f"{at}/{_token(key)}", only)
    for key in sorted(now.keys() - before.keys()):
        inner = f"{at}/{_token(key)}"
        if not any(inner == place or inner.startswith(f"{place}/") for place in only):
            yield Violation(ground="damage", pointer=f"{_STATE}{at}", expected=_NOTHING_NEW, got=now[key])


def _token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _within(path: str, patterns: Sequence[str]) -> bool:
    """At a pattern, below one that says so, or a folder on the way to one."""
    for pattern in patterns:
        base = pattern.removesuffix("/**")
        below = pattern != base and path.startswith(f"{base}/")
        if path == base or below or base.startswith(f"{path}/"):
            return True
    return False


CLASSIFIER = State
