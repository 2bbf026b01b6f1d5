"""A recording is called by its id, or by whatever only one actor is called."""

from __future__ import annotations

from pathlib import Path

import pytest
import recorded as rec

from harness.errors import UsageError
from harness.recording import chosen, dump, reseal


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, ...]:
    """Two trials of one actor, the same model with other settings, another model, a damaged one, and an odd name."""
    names = ["a--m-00000000", "a--m-00000000-t2", "a--n-11111111", "b--n-22222222", "c--x-33333333", "mine"]
    for name in names:
        made = rec.recording([])
        actor = made.header.actor.model_copy(update={"ref": f"of-{name}", "model": f"M/{name}", "provider": "p"})
        header = made.header.model_copy(update={"actor": actor})
        sealed = reseal(made.model_copy(update={"header": header}))
        (tmp_path / f"{name}.jsonl").write_bytes(dump(sealed.header, (), ()))
    (tmp_path / "c--x-33333333.jsonl").write_bytes(b"damaged")
    return tuple(tmp_path / f"{name}.jsonl" for name in names)


@pytest.mark.parametrize(
    ("name", "stems"),
    [
        ("a--m-00000000-t2", ["a--m-00000000-t2"]),
        ("a--m-00000000-t2.jsonl", ["a--m-00000000-t2"]),
        ("a--m-00000000", ["a--m-00000000"]),
        ("m", ["a--m-00000000", "a--m-00000000-t2"]),
        ("a--m", ["a--m-00000000", "a--m-00000000-t2"]),
        ("b--n", ["b--n-22222222"]),
        ("x", ["c--x-33333333"]),
        ("of-mine", ["mine"]),
        ("M/mine", ["mine"]),
        ("p/M/mine", ["mine"]),
        ("min", []),
        ("", []),
    ],
)
def test_a_name_means_the_recordings_of_one_actor(paths: tuple[Path, ...], name: str, stems: list[str]) -> None:
    assert [path.stem for path in chosen(paths, name)] == stems


def test_a_name_of_several_actors_is_refused_with_their_ids(paths: tuple[Path, ...]) -> None:
    with pytest.raises(UsageError, match=r"recorded:n means several recordings: a--n-11111111, b--n-22222222; give"):
        chosen(paths, "n")
