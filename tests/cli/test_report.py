from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


@pytest.fixture
def finished(harness: Harness, world: World) -> Path:
    """The folder of a run that is done."""
    assert harness("run", "--out", "out")[0] == 0
    return Path("out")


def test_reports_are_written_again_from_the_receipts(harness: Harness, finished: Path) -> None:
    before = {name: (finished / name).read_text() for name in ("junit.xml", "report.html")}
    for name in before:
        (finished / name).unlink()

    code, out, err = harness("report", "out")

    assert (code, err) == (0, "")
    assert {name: (finished / name).read_text() for name in before} == before
    assert "written: out/report.html\n" in out
    assert "pack/a" in out
    assert not list(finished.glob(".*"))


def test_one_report_goes_where_it_is_wanted(harness: Harness, finished: Path) -> None:
    assert harness("report", "out", "--report", "junit", "--out", "j.xml") == (0, "written: j.xml\n", "")
    assert Path("j.xml").read_text() == (finished / "junit.xml").read_text()

    code, out, _ = harness("report", "out", "--report", "junit", "--out", "-")
    assert (code, out) == (0, Path("j.xml").read_text())


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("nowhere",), "harness: nowhere: holds no run (manifest.json is not there)\n"),
        (("out", "--report", "pdf"), "harness: unknown report 'pdf'; there are: "),
        (("out", "--out", "x"), "harness: --out takes exactly one report; choose it with --report NAME\n"),
        (
            ("out", "--report", "junit", "--out", "no/x"),
            "harness: no/x: cannot be written: No such file or directory\n",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(harness: Harness, finished: Path, argv: tuple[str, ...], line: str) -> None:
    code, out, err = harness("report", *argv)

    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith(line)


def test_a_receipt_that_was_changed_is_refused_by_file_and_line(harness: Harness, finished: Path) -> None:
    receipts = finished / "receipts.jsonl"
    receipts.write_text(receipts.read_text().replace('"pass"', '"fail"', 1))

    code, _, err = harness("report", "out")

    assert (code, err.startswith("harness: out/receipts.jsonl:1: ")) == (4, True)
