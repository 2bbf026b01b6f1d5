from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, RedactionError, StoreError
from harness.receipt import RunStore, digest, line, read_run
from harness.redaction import SecretGuard
from harness.schema.run import EpisodeResult, Manifest
from harness.schema.verdict import Verdict

CANARY = "kanari-kanari-0815"
END = "2026-08-12T00:01:00+00:00"
MakeResult = Callable[[int], EpisodeResult]


def store(folder: Path, manifest: Manifest) -> RunStore:
    return RunStore(folder, manifest, SecretGuard([CANARY]), sync=False)


def told(result: EpisodeResult, verdict: Verdict, attempt: int = 1) -> EpisodeResult:
    return result.model_copy(
        update={"receipt": result.receipt.model_copy(update={"verdict": verdict, "attempt": attempt})}
    )


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file may grow beyond ``room`` bytes: a write is cut there, and the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_receipts_lie_in_plan_order_whatever_order_they_finished_in(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        for position in (2, 0, 1):
            run.add(position, make_result(position))
        run.finish(END)
        written = read_run(tmp_path / "run").manifest
    lines = (tmp_path / "run/receipts.jsonl").read_text().splitlines()
    assert [json.loads(row)["scenario"] for row in lines] == ["demo/first", "demo/second", "demo/third"]
    assert lines[0] == line(make_result(0).receipt)
    assert [link.digest for link in written.receipts] == [digest(make_result(place).receipt) for place in range(3)]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "manifest.json",
        "receipts.jsonl",
        "run.jsonl",
    ]


def test_a_run_that_kept_nothing_can_be_taken_back_with_the_folders_made_for_it(
    tmp_path: Path, manifest: Manifest
) -> None:
    with store(tmp_path / "reports/run", manifest) as run:
        assert run.discard()
    assert list(tmp_path.iterdir()) == []


def test_taking_a_run_back_leaves_what_was_there_before(tmp_path: Path, manifest: Manifest) -> None:
    (tmp_path / "reports/run").mkdir(parents=True)
    with store(tmp_path / "reports/run", manifest) as run:
        (tmp_path / "reports/other").touch()
        assert run.discard()
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == ["other", "run"]
    with store(tmp_path / "reports/new", manifest) as run:
        (tmp_path / "reports/new/mine").touch()
        assert run.discard()
    assert [path.name for path in (tmp_path / "reports/new").iterdir()] == ["mine"]


def test_a_run_that_kept_an_episode_is_not_taken_back(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
        assert not run.discard()
        run.finish(END)
    assert len(read_run(tmp_path / "run").receipts) == 1


def test_a_finished_run_reads_back_as_it_was(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> None:
    results = [make_result(0), told(make_result(1), "not_judged"), make_result(2)]
    with RunStore(tmp_path / "run", manifest, SecretGuard()) as run:
        for position in (1, 2, 0):
            run.add(position, results[position])
        run.finish(END)
        written = read_run(tmp_path / "run").manifest
    view = read_run(tmp_path / "run")
    assert view.manifest == written
    assert view.manifest.state == "complete"
    assert view.manifest.finished_at == END
    assert view.manifest.verdicts == {"pass": 2, "fail": 0, "not_judged": 1, "pending": 0}
    assert view.receipts == tuple(result.receipt for result in results)
    assert [entry.key for entry in view.log] == [receipt.key for receipt in view.receipts]


@given(
    order=st.permutations([0, 1, 2]),
    verdicts=st.lists(st.sampled_from(get_args(Verdict)), min_size=3, max_size=3),
    problem=st.text(),
    count=st.integers(0, 3),
)
def test_whatever_was_kept_reads_back_in_plan_order(
    *,
    tmp_path_factory: pytest.TempPathFactory,
    manifest: Manifest,
    make_result: MakeResult,
    order: list[int],
    verdicts: list[Verdict],
    problem: str,
    count: int,
) -> None:
    folder = tmp_path_factory.mktemp("any") / "run"
    results = [told(make_result(position), verdicts[position]) for position in range(3)]
    logs = [result.log.model_copy(update={"problem": problem}) for result in results]
    with RunStore(folder, manifest, SecretGuard(), sync=False) as run:
        for position in order[:count]:
            run.add(position, results[position].model_copy(update={"log": logs[position]}))
        going_on = read_run(folder)
        run.finish(END)
    finished = read_run(folder)
    kept = sorted(order[:count])
    assert finished.receipts == going_on.receipts == tuple(results[position].receipt for position in kept)
    assert finished.log == going_on.log == tuple(logs[position] for position in kept)
    assert sum(finished.manifest.verdicts.values()) == count


def test_two_runs_that_finished_in_another_order_have_the_same_bytes(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    for name, order in (("a", (0, 1, 2)), ("b", (2, 1, 0))):
        with store(tmp_path / name, manifest) as run:
            for position in order:
                run.add(position, make_result(position))
            run.finish(END)
    for name in ("manifest.json", "receipts.jsonl", "run.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_run_with_places_left_is_interrupted(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(1, make_result(1))
        run.finish(END)
        assert read_run(tmp_path / "run").manifest.state == "interrupted"
    assert [receipt.scenario for receipt in read_run(tmp_path / "run").receipts] == ["demo/second"]


def test_a_place_tried_twice_keeps_both_receipts_and_counts_once(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, told(make_result(0), "pass", 2))
        run.add(0, told(make_result(0), "not_judged", 1))
        run.finish(END)
        written = read_run(tmp_path / "run").manifest
    assert [receipt.attempt for receipt in read_run(tmp_path / "run").receipts] == [1, 2]
    assert written.verdicts["pass"] == 1
    assert written.verdicts["not_judged"] == 0


def test_while_a_run_goes_on_what_is_finished_can_be_read(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        assert read_run(tmp_path / "run").receipts == ()
        run.add(2, make_result(2))
        run.add(0, make_result(0))
        view = read_run(tmp_path / "run")
    assert view.manifest.state == "running"
    assert [receipt.scenario for receipt in view.receipts] == ["demo/first", "demo/third"]
    assert [entry.key for entry in view.log] == [receipt.key for receipt in view.receipts]


def test_kill_9_loses_nothing_that_was_finished(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> None:
    results = "[" + ",".join(make_result(position).model_dump_json() for position in range(3)) + "]"
    program = """
        import sys
        from pathlib import Path
        from pydantic import TypeAdapter
        from harness.receipt import RunStore
        from harness.redaction import SecretGuard
        from harness.schema.run import EpisodeResult, Manifest
        folder, manifest, results = sys.argv[1:]
        run = RunStore(Path(folder), Manifest.model_validate_json(manifest), SecretGuard())
        values = TypeAdapter(list[EpisodeResult]).validate_json(results)
        for position in (2, 0):
            run.add(position, values[position])
            print(position, flush=True)
        sys.stdin.read()
    """
    argv = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "run"), manifest.model_dump_json(), results]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert [child.stdout.readline() for _ in range(2)] == [b"2\n", b"0\n"]
        child.send_signal(signal.SIGKILL)
    view = read_run(tmp_path / "run")
    assert view.manifest.state == "running"
    assert view.receipts == (make_result(0).receipt, make_result(2).receipt)


def test_a_full_disk_is_one_clear_line_and_leaves_no_torn_line(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        run.add(0, make_result(0))
        size = (tmp_path / "run/episodes.part.jsonl").stat().st_size
        with full_disk(size + 100), pytest.raises(StoreError, match=r"cannot be written: .*1 episode .* is kept"):
            run.add(1, make_result(1))
        assert (tmp_path / "run/episodes.part.jsonl").stat().st_size == size
        assert len(read_run(tmp_path / "run").receipts) == 1
        run.add(1, make_result(1))
        run.finish(END)
    assert len(read_run(tmp_path / "run").receipts) == 2


def test_a_disk_that_is_full_at_the_end_leaves_the_finished_episodes_readable(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        for position in range(3):
            run.add(position, make_result(position))
        with full_disk(200), pytest.raises(StoreError, match=r"receipts\.jsonl: cannot be written"):
            run.finish(END)
    assert len(read_run(tmp_path / "run").receipts) == 3
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["episodes.part.jsonl", "manifest.json"]


def test_a_disk_that_is_full_at_the_start_leaves_no_half_run(tmp_path: Path, manifest: Manifest) -> None:
    with full_disk(10), pytest.raises(StoreError, match=r"manifest\.json: cannot be written"):
        store(tmp_path / "run", manifest)
    assert list((tmp_path / "run").iterdir()) == []


def test_a_secret_is_never_written(tmp_path: Path, manifest: Manifest, make_result: MakeResult) -> None:
    with store(tmp_path / "run", manifest) as run:
        tainted = make_result(0).log.model_copy(update={"problem": f"answered {CANARY}"})
        with pytest.raises(RedactionError):
            run.add(0, make_result(0).model_copy(update={"log": tainted}))
        with pytest.raises(RedactionError):
            run.write_report("report.html", f"<p>{CANARY}</p>")
        run.add(1, make_result(1))
        run.finish(END)
    with pytest.raises(RedactionError):
        store(tmp_path / "other", manifest.model_copy(update={"platform": CANARY}))
    assert not (tmp_path / "other").exists()
    for path in (tmp_path / "run").iterdir():
        assert CANARY not in path.read_text()


def test_a_folder_with_other_files_is_refused(tmp_path: Path, manifest: Manifest) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="is not empty and holds no run"):
        store(tmp_path, manifest)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path: Path, manifest: Manifest) -> None:
    store(tmp_path / "run", manifest).close()
    with pytest.raises(StoreError, match="holds a run already"):
        store(tmp_path / "run", manifest)


def test_of_a_full_disk_only_what_is_finished_is_told_as_finished(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path, manifest) as run:
        run.add(0, make_result(0))
        waits = make_result(1)
        run.add(1, waits.model_copy(update={"log": waits.log.model_copy(update={"resumable": True})}))
        size = (tmp_path / "episodes.part.jsonl").stat().st_size
        with full_disk(size + 100), pytest.raises(StoreError, match=r"1 episode finished before is kept"):
            run.add(1, waits)


@pytest.mark.parametrize("below", ["file", "file/deeper"])
def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path, manifest: Manifest, below: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        store(tmp_path / below, manifest)


def test_a_report_that_cannot_be_made_is_one_clear_line(tmp_path: Path, manifest: Manifest) -> None:
    with store(tmp_path / "run", manifest) as run:
        (tmp_path / "run/.report.html.part").mkdir()
        with pytest.raises(StoreError, match=r"report\.html\.part: cannot be written: Is a directory"):
            run.write_report("report.html", "x")


def test_nothing_is_writable_by_others_even_without_a_umask(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    before = os.umask(0)
    try:
        with store(tmp_path / "reports" / "run", manifest) as run:
            run.add(0, make_result(0))
            run.finish(END)
            run.write_report("junit.xml", "<testsuites/>")
    finally:
        os.umask(before)
    for path in (tmp_path / "reports").rglob("*"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o022


def test_a_report_is_written_whole_whatever_its_text(tmp_path: Path, manifest: Manifest) -> None:
    with store(tmp_path / "run", manifest) as run:
        path = run.write_report("report.html", "ü \ud800")
        assert path.read_text(encoding="utf-8") == "ü \\ud800"
        run.write_report("report.html", "again")
        assert path.read_text(encoding="utf-8") == "again"


@pytest.mark.parametrize("name", ["../report.html", "/etc/x", "", "manifest.json", "a/b"])
def test_a_report_cannot_leave_the_folder_or_replace_its_data(tmp_path: Path, manifest: Manifest, name: str) -> None:
    with store(tmp_path / "run", manifest) as run, pytest.raises(HarnessError, match="cannot be the name of a report"):
        run.write_report(name, "x")


def test_a_place_outside_the_plan_or_kept_twice_is_a_bug_that_is_told(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with store(tmp_path / "run", manifest) as run:
        with pytest.raises(HarnessError, match="place 3 is not in a plan of 3"):
            run.add(3, make_result(0))
        run.add(0, make_result(0))
        with pytest.raises(HarnessError, match="place 0, attempt 1, is already kept"):
            run.add(0, make_result(0))


def test_a_run_whose_interruption_tears_a_line_goes_on_without_it(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:20])
        raise KeyboardInterrupt

    with store(tmp_path / "run", manifest) as run:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                run.add(0, make_result(0))
        run.add(1, make_result(1))
        run.finish(END)
    assert [receipt.scenario for receipt in read_run(tmp_path / "run").receipts] == ["demo/second"]


def test_episodes_that_finish_at_once_in_several_threads_are_all_kept(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    with RunStore(tmp_path / "run", manifest, SecretGuard()) as run:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda position: run.add(position, make_result(position)), range(3)))
        run.finish(END)
        assert read_run(tmp_path / "run").manifest.state == "complete"
    assert len(read_run(tmp_path / "run").receipts) == 3


def test_closing_twice_is_harmless_and_keeps_what_was_not_finished(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult
) -> None:
    run = store(tmp_path / "run", manifest)
    run.add(0, make_result(0))
    run.close()
    run.close()
    assert len(read_run(tmp_path / "run").receipts) == 1


@pytest.mark.parametrize("odd", ["\x7f", "\u202e", "\U0001f600", "\udcff", "\x1b"])
def test_a_line_of_the_log_shows_whatever_it_is_given(
    tmp_path: Path, manifest: Manifest, make_result: MakeResult, odd: str
) -> None:
    result = make_result(0)
    log = result.log.model_copy(update={"workspace": f"/place/{odd}", "seconds": 2.5e-05})
    with store(tmp_path / "run", manifest) as run:
        run.add(0, EpisodeResult(receipt=result.receipt, log=log))
        run.finish(END)
    written = (tmp_path / "run" / "run.jsonl").read_text("ascii")
    assert written.removesuffix("\n").isprintable()
    assert json.loads(written) == log.model_dump(mode="json")
