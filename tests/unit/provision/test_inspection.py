from pathlib import Path

import pytest

from harness.errors import ProvisionError
from harness.provision import ensure_layout, find, installed


def site(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).mkdir(parents=True)
    return root


def test_layout_alone_below_a_skipped_part_is_accepted(tmp_path: Path) -> None:
    alone = site(tmp_path / ".venv" / "lib", "loopx", "loopx-1.dist-info")
    assert refusal(alone) is None
    assert refusal(site(alone, "pip")) is not None


def refusal(place: Path) -> str | None:
    """What is wrong with a layout, None where it is accepted."""
    try:
        ensure_layout(place, "loopx", "1")
    except ProvisionError as error:
        return str(error)
    return None


def test_layout_without_a_skipped_part_is_refused_with_the_line_to_type(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match=r"below a directory named \.venv.*harness plane install loopx==1"):
        ensure_layout(site(tmp_path / "venv" / "lib", "loopx"), "loopx", "1")


@pytest.mark.parametrize("foreign", ["pip", "loopx-2.dist-info", "other"])
def test_layout_with_foreign_files_is_refused_by_name(tmp_path: Path, foreign: str) -> None:
    with pytest.raises(ProvisionError, match=f"must lie alone, but .* also holds '{foreign}'"):
        ensure_layout(site(tmp_path / ".venv" / "lib", "loopx", foreign), "loopx", "1")


def test_empty_home_has_no_plane(tmp_path: Path) -> None:
    assert installed(tmp_path / "none") == ()
    assert find("loopx", "0.4.8", tmp_path / "none") is None
