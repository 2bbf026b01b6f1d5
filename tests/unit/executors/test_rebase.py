import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.executors import _rebase

OLD, NEW = "/nonexistent/old", "/somewhere/new home"


@dataclass(frozen=True, slots=True)
class Slotted:
    path: Path
    plain: int = 1


@dataclass(frozen=True)
class Open:
    path: str


class Kind:
    root = Path(OLD)

    @property
    def shown(self) -> Callable[[], str]:
        return _closure(f"{OLD}/property")

    @staticmethod
    def fixed(root: Path = Path(OLD) / "static") -> Path:
        return root

    @classmethod
    def of_class(cls, *, root: str = OLD) -> str:
        return root


def _closure(text: str) -> Callable[[], str]:
    def tell() -> str:
        return text

    return tell


@pytest.fixture
def program() -> Iterator[types.ModuleType]:
    module = types.ModuleType("harness_test_program")
    sys.modules[module.__name__] = module
    for thing in (Kind, Kind.fixed, vars(Kind)["of_class"].__func__, Slotted, Open):
        thing.__module__ = module.__name__
    yield module
    del sys.modules[module.__name__]


def test_every_kind_of_holder_is_moved(program: types.ModuleType) -> None:
    tell = _closure(f"{OLD}/closure")
    tell.__module__ = program.__name__
    program.__dict__.update(
        path=Path(OLD) / "a",
        text=f"see {OLD}/b and {OLD}/c",
        other=Path("/other"),
        pair=(1, (Path(OLD), "x")),
        nested={"list": [OLD, {"deep": Path(OLD)}]},
        slotted=Slotted(Path(OLD)),
        open=Open(OLD),
        kind=Kind,
        instance=[Kind()],
        tell=tell,
    )
    found = _rebase.places([program], OLD)
    _rebase.move(found, OLD, NEW)
    held = vars(program)
    assert held["path"] == Path(NEW) / "a"
    assert held["text"] == f"see {NEW}/b and {NEW}/c"
    assert held["other"] == Path("/other")
    assert held["pair"] == (1, (Path(NEW), "x"))
    assert held["nested"] == {"list": [NEW, {"deep": Path(NEW)}]}
    assert (held["slotted"], held["open"]) == (Slotted(Path(NEW)), Open(NEW))
    assert Kind.root == Path(NEW)
    assert Kind.fixed() == Path(NEW) / "static"
    assert Kind.of_class() == NEW
    assert tell() == f"{NEW}/closure"
    assert _rebase.places([program], OLD) == []


def test_roots_are_looked_through_and_rings_end(program: types.ModuleType) -> None:
    ring: list[object] = [OLD]
    ring.append(ring)
    _rebase.move(_rebase.places([ring], OLD), OLD, NEW)
    assert ring[0] == NEW


def test_standard_library_and_builtins_are_left_alone(program: types.ModuleType) -> None:
    held = types.ModuleType("json")
    held.path = OLD  # type: ignore[attr-defined]
    assert _rebase.places([held, {OLD}, print, [].append, 3], OLD) == []


def test_value_without_the_old_home_is_the_same_object() -> None:
    value = (Path("/x"), "text", (1, 2))
    assert _rebase.moved(value, OLD, NEW) is value


def test_cell_that_is_still_empty_is_passed_over(program: types.ModuleType) -> None:
    def outer(*, fill: bool) -> Callable[[], object]:
        if fill:
            late = 1

        def inner() -> object:
            return late

        return inner

    inner = outer(fill=False)
    inner.__module__ = program.__name__
    vars(program)["inner"] = inner
    assert _rebase.places([program], OLD) == []
