from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from synthetic_run import Synthetic

from harness.receipt import WHOLE_MAX, RunStore, read_run, reading
from harness.redaction import SecretGuard
from harness.reporters import html
from harness.schema.run import EpisodeResult


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


def test_a_page_of_too_many_episodes_gets_files_beside_it_which_are_told(
    harness: Harness, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "ROWS_MAX", 1)
    monkeypatch.setattr(html, "PART_ROWS", 1)
    assert harness("report", "out", "--report", "html")[0] == 0
    assert {path.name for path in finished.glob("*.html")} == {"report.html", "report-1.html", "report-2.html"}
    code, told, _ = harness("report", "out", "--report", "html", "--out", "page.html")
    assert (code, told) == (0, "".join(f"written: page{part}.html\n" for part in ("", "-1", "-2")))
    assert 'href="page-2.html"' in Path("page.html").read_text()
    assert 'href="page.html"' in Path("page-2.html").read_text()
    code, told, _ = harness("report", "out", "--report", "html", "--out", "-")
    assert (code, told) == (0, (finished / "report.html").read_text())
    assert harness("run", "--out", "again")[0] == 0
    assert Path("again/report-2.html").is_file()
    assert harness("verify", "again")[0] == 0


def test_of_a_run_that_did_not_end_it_says_whether_it_goes_on_or_was_killed_and_where_to_look(
    harness: Harness, finished: Path
) -> None:
    view = read_run(finished)
    manifest = view.manifest.model_copy(update={"state": "running", "receipts": (), "seal": None, "log": None})
    with RunStore(Path("half"), manifest, SecretGuard(())) as store:
        store.add(0, EpisodeResult(receipt=view.receipts[0], log=view.log[0]))
        code, goes_on, _ = harness("report", "half")
        assert "half: goes on, 1 receipt of 2 episodes" in harness("verify", "half")[1]
    killed = harness("report", "half")[1]
    assert "half: was killed, 1 receipt of 2 episodes" in harness("verify", "half")[1]
    assert code == 0
    assert "(running), loopx==0.4.8" in goes_on
    assert "\nThe run goes on: what was finished is kept.\n" in goes_on
    assert "(killed), loopx==0.4.8" in killed
    assert "\nThe run was killed: what was finished is kept.\n" in killed
    for told in (goes_on, killed):
        assert "   episodes.part.jsonl what was finished so far, one episode a line\n" in told
        assert "receipts.jsonl" not in told
        assert "run.jsonl" not in told
    assert ", killed, `loopx==0.4.8`" in Path("half/summary.md").read_text()
    assert " · killed · " in Path("half/report.html").read_text()


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


def test_a_large_run_is_told_alike_without_its_digests(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Synthetic(trials=13).write(tmp_path / "run")
    names = ("annotations.txt", "junit.xml", "report.html", "summary.md", "summary.txt", "trials.csv")
    assert harness("report", str(run))[0] == 0
    before = {name: (run / name).read_bytes() for name in names}

    # an episode with a card of its own shows the digests
    assert html.CARDS_MAX <= WHOLE_MAX
    monkeypatch.setattr(reading, "WHOLE_MAX", html.CARDS_MAX)
    assert len(read_run(run).receipts) > reading.WHOLE_MAX
    assert harness("report", str(run))[0] == 0

    assert {name: (run / name).read_bytes() for name in names} == before


def test_a_large_run_is_told_whole_to_machines(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Synthetic(trials=1).write(tmp_path / "run")
    monkeypatch.setattr(reading, "WHOLE_MAX", 1)

    code, out, _ = harness("report", str(run), "--report", "csv", "--format", "json")

    assert code == 0
    assert out.count('"command_digest": "sha256:') == sum(len(one.steps) for one in read_run(run).receipts)
