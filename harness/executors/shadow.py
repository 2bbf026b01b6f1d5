"""Every Nth warm call repeated cold, on the same state, under the same paths, and compared."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.ports import Executor
from harness.schema.base import JsonValue
from harness.schema.process import Completed, ProcessCommand

__all__ = ["ShadowCounts", "ShadowExecutor", "differing"]

_ASIDE = ".shadow"
_COPIES = ("before", "once more", "at last")
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?")


@dataclass(slots=True)
class ShadowCounts:
    """``checks`` calls were repeated, ``differences`` of them differed, ``skipped`` could not be repeated."""

    checks: int = 0
    differences: int = 0
    skipped: int = 0
    differing: list[str] = field(default_factory=list)


class ShadowExecutor:
    """Runs on ``warm``, and every ``every``-th call again on ``cold``; the answer is always the warm one.

    Before such a call the directories in ``root`` are copied aside; after it they are moved away, the copy is put where
    they were, and the cold call sees the very world that the warm one saw; then the warm call's world is moved back. No
    path changes, so nothing has to be rewritten to be compared. Times of day and the JSON pointers ``volatile`` of the
    answer are left out of the comparison; where it finds something, another cold call from the same world says what no
    two calls agree on, such as ids made by chance, and that is left out too. Where something is still found, one more
    warm call is made after both cold ones, and what the two warm ones do not agree on is left out as well: an answer
    that goes by the hour, or counts the seconds since something, is another one when time went on between.
    ``turn`` counts calls, from 1; give several executors one counter to sample a whole run. With ``program`` only its
    calls count and are repeated: what the warm executor hands on, such as ``date``, is run alike by both, and differs
    by the time alone. Plain files directly in ``root`` stay where they are. Neither executor is closed here.
    """

    def __init__(
        self,
        warm: Executor,
        cold: Executor,
        *,
        every: int,
        root: Path,
        volatile: tuple[str, ...] = (),
        turn: Callable[[], int] | None = None,
        program: str | None = None,
    ) -> None:
        self._program = program
        self._warm, self._cold, self._every, self._root, self._volatile = warm, cold, every, root, volatile
        self._turn = turn if turn is not None else itertools.count(1).__next__
        self.counts = ShadowCounts()

    def run(self, command: ProcessCommand) -> Completed:
        """The warm answer. Raises ControlPlaneError as ``warm`` does; also where the cold call cannot be started."""
        if self._every < 1 or self._program not in {None, command.argv[0]} or self._turn() % self._every:
            return self._warm.run(command)
        aside = self._root / _ASIDE
        try:
            for name in _COPIES:
                self._copy(aside / name)
        except (OSError, shutil.Error):
            shutil.rmtree(aside, ignore_errors=True)
            self.counts.skipped += 1
            return self._warm.run(command)
        try:
            done = self._warm.run(command)
            again = self._again(self._cold, command, aside, _COPIES[0])
            found = [] if again is None else self._confirmed(command, aside, done, again)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        if again is None:
            self.counts.skipped += 1
            return done
        self.counts.checks += 1
        self.counts.differences += bool(found)
        self.counts.differing.extend(found)
        return done

    def close(self) -> None:
        """Nothing of its own is open; idempotent."""

    def _confirmed(self, command: ProcessCommand, aside: Path, warm: Completed, cold: Completed) -> list[str]:
        """What differs, and is neither chance nor the hour."""
        found = differing(warm, cold, self._volatile)
        third = self._again(self._cold, command, aside, _COPIES[1]) if found else None
        if third is not None:
            found = differing(warm, cold, self._volatile, third)
        last = self._again(self._warm, command, aside, _COPIES[2]) if found else None
        if last is None:
            return found
        return differing(warm, cold, self._volatile, third, last)

    def _again(self, executor: Executor, command: ProcessCommand, aside: Path, copy: str) -> Completed | None:
        try:
            with self._earlier(aside, copy):
                return executor.run(command)
        except OSError:
            return None

    def _folders(self, place: Path) -> list[Path]:
        return sorted(
            path for path in place.iterdir() if path.is_dir() and not path.is_symlink() and path.name != _ASIDE
        )

    def _copy(self, into: Path) -> None:
        into.mkdir(parents=True, mode=0o700)
        for folder in self._folders(self._root):
            shutil.copytree(folder, into / folder.name, symlinks=True)

    @contextmanager
    def _earlier(self, aside: Path, copy: str) -> Iterator[None]:
        """The copy in place of the present world, which comes back afterwards whatever happens."""
        after, moved = aside / "after", False
        try:
            self._move(self._root, after)
            moved = True
            self._move(aside / copy, self._root)
            yield
        finally:
            if moved:
                self._move(self._root, aside / f"{copy}, used")
            self._move(after, self._root)

    def _move(self, source: Path, target: Path) -> None:
        target.mkdir(mode=0o700, exist_ok=True)
        for folder in self._folders(source):
            folder.rename(target / folder.name)


def differing(
    one: Completed,
    other: Completed,
    volatile: tuple[str, ...],
    again: Completed | None = None,
    once_more: Completed | None = None,
) -> list[str]:
    """The names of the fields of two answers that differ; no text of either is returned.

    ``again`` is what the other executor answered a second time, ``once_more`` what the first one did: places where the
    answers of either differ are left out.
    """
    answers = (one, one if once_more is None else once_more, other, other if again is None else again)
    left, last, right, third = (_fields(done, volatile) for done in answers)
    return [name for name in right if not _same((left[name], last[name]), (right[name], third[name]))]


_Field = bytes | int | None


def _fields(done: Completed, volatile: tuple[str, ...]) -> dict[str, _Field]:
    texts = {"stdout": _steady(done.stdout, volatile), "stderr": _steady(done.stderr, volatile)}
    return {"exit_code": done.exit_code, "signal": done.signal, "timed_out": done.timed_out, **texts}


def _same(left: tuple[_Field, _Field], right: tuple[_Field, _Field]) -> bool:
    """Whether two answers of each side are alike wherever each side agrees with itself."""
    if left[0] == right[0]:
        return True
    if left[0] == left[1] and right[0] == right[1]:
        return False
    texts = [field for field in (*left, *right) if isinstance(field, bytes)]
    if len(texts) < len(left) + len(right):
        return True
    one, last, other, third = map(_value, texts)
    steady = [_agreed(value, other, third) for value in (one, last, other)]
    return _agreed(steady[0], *steady[:2]) == _agreed(steady[2], *steady[:2])


def _value(text: bytes) -> JsonValue:
    """JSON, else the text as it is."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text.decode("latin-1")
    return value


def _agreed(value: JsonValue, one: JsonValue, other: JsonValue) -> JsonValue:
    """A value without what stands at places where two others differ."""
    if one == other:
        return value
    if isinstance(one, dict) and isinstance(other, dict) and isinstance(value, dict) and one.keys() == other.keys():
        return {key: _agreed(inner, one.get(key), other.get(key)) for key, inner in value.items()}
    if not (isinstance(one, list) and isinstance(other, list) and isinstance(value, list)):
        return None
    if not len(one) == len(other) == len(value):
        return None
    return [_agreed(*three) for three in zip(value, one, other, strict=True)]


def _steady(data: bytes, volatile: tuple[str, ...]) -> bytes:
    """An answer without what may differ between two calls."""
    try:
        value: JsonValue = json.loads(data)
    except ValueError:
        return _TIME.sub(b"<time>", data)
    if volatile:
        for pointer in volatile:
            _drop(value, [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]])
        data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    return _TIME.sub(b"<time>", data)


def _drop(value: JsonValue, parts: list[str]) -> None:
    for part in parts[:-1]:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return
    if isinstance(value, dict) and parts:
        value.pop(parts[-1], None)
