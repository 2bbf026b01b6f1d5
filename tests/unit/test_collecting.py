"""While episodes are played the interpreter looks for cycles less often, and as before once that is over."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from harness.collecting import OBJECTS, READ_OBJECTS, rare_collections


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_stands_is_left_alone_and_new_objects_are_looked_at_less_often() -> None:
    gc.set_threshold(700, 11, 12)
    with rare_collections():
        assert gc.get_threshold() == (OBJECTS, 11, 12)
        assert gc.get_freeze_count() > 0
        assert gc.isenabled()
    assert gc.get_threshold() == (700, 11, 12)
    assert gc.get_freeze_count() == 0


def test_it_is_as_before_after_an_error_too() -> None:
    gc.set_threshold(700, 11, 12)
    with pytest.raises(KeyError), rare_collections():
        raise KeyError
    assert gc.get_threshold() == (700, 11, 12)
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("young", [0, OBJECTS * 5])
def test_who_looks_less_often_already_or_never_is_not_overruled(young: int) -> None:
    gc.set_threshold(young, 11, 12)
    with rare_collections():
        assert gc.get_threshold() == (young, 11, 12)


def test_what_somebody_else_froze_stays_frozen() -> None:
    gc.freeze()
    with rare_collections():
        pass
    assert gc.get_freeze_count() > 0


def test_one_inside_the_other_leaves_the_outer_one_as_it_is() -> None:
    gc.set_threshold(700, 11, 12)
    with rare_collections():
        with rare_collections():
            pass
        assert gc.get_threshold() == (OBJECTS, 11, 12)
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_whoever_reads_a_large_run_may_look_even_less_often() -> None:
    young, *older = gc.get_threshold()
    with rare_collections(READ_OBJECTS):
        assert gc.get_threshold() == (READ_OBJECTS, *older)
    assert gc.get_threshold() == (young, *older)
    assert 0 < young < OBJECTS < READ_OBJECTS
