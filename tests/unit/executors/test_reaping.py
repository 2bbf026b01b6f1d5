import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machine import PATIENCE_S, SOON_S

from harness.executors import _reaping

SCRIPT = """
import os, subprocess, sys
from harness.executors import _reaping
assert _reaping.become_subreaper()
assert _reaping.reap() is None
spared = subprocess.Popen(["sleep", "300"])
doomed = subprocess.Popen(["sh", "-c", "setsid sleep 301 & sleep 302"])
while len(_reaping.descendants(os.getpid())) < 4:
    pass
ended = _reaping.kill_below(frozenset({spared.pid}))
assert _reaping.descendants(os.getpid()) == [spared.pid], _reaping.descendants(os.getpid())
assert ended[doomed.pid] == 9
assert spared.poll() is None
assert list(_reaping.kill_below()) == [spared.pid]
assert _reaping.kill_below() == {}
_reaping.kill(spared.pid)
print("done")
"""


def test_everything_below_is_killed_but_what_is_spared() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_descendants_are_listed_parents_first() -> None:
    process = subprocess.Popen(["/bin/sh", "-c", "sleep 303 & echo up; wait"], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        below = _reaping.descendants(process.pid)
        assert len(below) == 1
        found = _reaping.descendants(os.getpid())
        assert found.index(process.pid) < found.index(below[0])
        os.kill(below[0], 9)
    finally:
        process.communicate()


def test_system_without_subreapers_is_told_from_one_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    def refuse(_: object) -> None:
        raise OSError

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert not _reaping.become_subreaper()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not _reaping.become_subreaper()


GROUP = """
import json, os, sys
from harness.executors import _frames, _reaping
_reaping.become_subreaper = lambda: False
_reaping.descendants = lambda root: []
sys.modules.update(_frames=_frames, _reaping=_reaping)
from harness.executors import _supervise
header = {"id": 1, "argv": ["sh", "-c", "sleep 304 & echo $!"], "cwd": "/", "env": {"PATH": os.environ["PATH"]},
          "timeout_s": 20.0, "output_bytes": 100, "folder": "/", "alone": False, "loopback": False}
life, _ = os.pipe()
answer = _supervise.Supervisor(_supervise.Request(json.dumps(header).encode()), life).run(_supervise.execute)
head, body = _frames.split(bytearray(answer))
assert json.loads(head)["status"] == 0, head
print(int(body))
"""


def test_process_group_is_killed_where_there_are_no_subreapers() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROUP], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.stderr == ""
    until = time.monotonic() + SOON_S
    while time.monotonic() < until and not _dead(int(done.stdout)):
        time.sleep(0.01)
    assert _dead(int(done.stdout))


def _dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
