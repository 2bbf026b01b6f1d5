import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import ControlPlaneError
from harness.executors import _link
from harness.executors._link import Link, LinkLostError, completed
from harness.schema.process import ProcessCommand

HELLO = "import os, sys, time; h = b'{}'; os.write(1, len(h).to_bytes(4, 'big') + bytes(4) + h);"


@pytest.fixture
def link() -> Iterator[Link]:
    """The server as it is, in an interpreter that a coverage tool can look into."""
    opened = Link((sys.executable,), dict(os.environ), None)
    yield opened
    opened.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_READY_S", "_HUNG_S", "_END_S"):
        monkeypatch.setattr(_link, name, 0.2)


def command(*argv: str, cwd: str = "/", timeout_s: float = 20.0) -> ProcessCommand:
    return ProcessCommand(argv=argv, cwd=cwd, env={"PATH": os.environ["PATH"]}, timeout_s=timeout_s)


def test_commands_run_fail_to_start_and_leave_nothing(link: Link) -> None:
    assert completed(link.call(command("sh", "-c", "setsid sleep 321 & echo said"))).stdout == b"said\n"
    assert completed(link.call(command("sleep", "60", timeout_s=0.2))).timed_out
    for bad in (command("harness-no-such-program"), command("true", cwd="/harness-no-such-directory")):
        with pytest.raises(ControlPlaneError, match="No such file"):
            completed(link.call(bad))


def test_killed_supervisor_loses_its_own_call_only(link: Link, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(link.call, command("sh", "-c", "sleep 1; echo whole"))
        lost = pool.submit(link.call, command("sh", "-c", "echo $PPID > begun; exec sleep 321", cwd=str(tmp_path)))
        os.kill(int((tmp_path / "begun").read_text("ascii")), signal.SIGKILL)
        with pytest.raises(LinkLostError) as caught:
            lost.result(20)
        assert caught.value.delivered
        assert completed(other.result(20)).stdout == b"whole\n"
    assert link.alive


def test_call_after_the_end_was_not_delivered(link: Link) -> None:
    link.close()
    link.close()
    with pytest.raises(LinkLostError) as caught:
        link.call(command("true"))
    assert not caught.value.delivered


def test_call_into_a_closed_pipe_was_not_delivered(impatient: None) -> None:
    link = Link((sys.executable, "-c", f"import os; os.close(0); {HELLO} time.sleep(60)"), None, None)
    with pytest.raises(LinkLostError) as caught:
        link.call(command("true"))
    assert not caught.value.delivered
    link.close()


def test_server_that_never_answers_is_killed(impatient: None) -> None:
    link = Link((sys.executable, "-c", f"{HELLO} sys.stdin.read()"), None, None)
    with pytest.raises(LinkLostError) as caught:
        link.call(command("true", timeout_s=0.1))
    assert caught.value.delivered
    link.close()
    assert not link.alive


@pytest.mark.parametrize("script", ["exec sleep 60", "exit 1"])
def test_server_that_never_says_hello_is_given_up(impatient: None, script: str) -> None:
    with pytest.raises(LinkLostError) as caught:
        Link(("/bin/sh", "-c", script), None, None)
    assert not caught.value.delivered


def test_text_that_the_system_cannot_encode_is_refused(link: Link) -> None:
    odd = ProcessCommand.model_construct(argv=("\ud800",), cwd="/", env={}, timeout_s=1.0, output_bytes=1)
    with pytest.raises(ControlPlaneError, match="an argument of the command cannot be encoded"):
        link.call(odd)
