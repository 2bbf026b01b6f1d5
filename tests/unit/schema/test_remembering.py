"""What follows from a frozen value is computed once for each object."""

from __future__ import annotations

import pytest

from harness.schema.process import PlaneIdentity
from harness.schema.remembering import remembered

ONE = PlaneIdentity(name="toy", version="1")


def test_it_is_computed_once_for_an_object_and_anew_for_its_equal() -> None:
    asked: list[PlaneIdentity] = []

    @remembered(4)
    def told(plane: PlaneIdentity) -> str:
        """Its reference."""
        asked.append(plane)
        return plane.ref

    twin = ONE.model_copy()
    assert [told(ONE), told(ONE), told(twin), told(twin)] == ["toy"] * 4
    assert [one is ONE for one in asked] == [True, False]
    assert told.__doc__ == "Its reference."


def test_only_so_many_are_kept() -> None:
    asked: list[str] = []

    @remembered(2)
    def told(plane: PlaneIdentity) -> str:
        asked.append(plane.version)
        return plane.ref

    planes = [ONE.model_copy(update={"version": str(number)}) for number in range(3)]
    for plane in (*planes, planes[2], planes[0]):
        told(plane)
    assert asked == ["0", "1", "2", "0"]


def test_what_was_computed_elsewhere_is_not_computed_again() -> None:
    asked: list[str] = []

    @remembered(2)
    def told(plane: PlaneIdentity) -> str:
        asked.append(plane.version)
        return plane.ref

    told.know(ONE, "known")
    assert (told(ONE), told(ONE.model_copy()), asked) == ("known", "toy", ["1"])


def test_what_is_raised_is_not_remembered() -> None:
    asked: list[str] = []

    @remembered(2)
    def told(plane: PlaneIdentity) -> str:
        asked.append(plane.version)
        raise ValueError(plane.version)

    for _ in range(2):
        with pytest.raises(ValueError, match="1"):
            told(ONE)
    assert asked == ["1", "1"]
