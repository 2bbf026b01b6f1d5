import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from machine import SOON_S

from harness.errors import ControlPlaneError
from harness.executors import _link
from harness.executors._link import Link, LinkLostError
from harness.executors._wire import completed
from harness.schema.process import ProcessCommand

HELLO = "import os, sys, time; h = b'{}'; os.write(1, len(h).to_bytes(4, 'big') + bytes(4) + h);"


@pytest.fixture
def link() -> Iterator[Link]:
    """The server as it is, in an interpreter that a coverage tool can look into."""
    opened = opened_link(sys.executable)
    yield opened
    opened.close()


def opened_link(*interpreter: str) -> Link:
    opened = Link(interpreter, dict(os.environ), None)
    opened.wait_ready()
    return opened


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_HUNG_S", "_END_S"):
        monkeypatch.setattr(_link, name, 0.2)


@pytest.fixture
def soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough for a shell to say that it has begun, also on a busy machine."""
    monkeypatch.setattr(_link, "_READY_S", 3.0)


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
    link = opened_link(sys.executable, "-c", f"import os; os.close(0); {HELLO} time.sleep(60)")
    with pytest.raises(LinkLostError) as caught:
        link.call(command("true"))
    assert not caught.value.delivered
    link.close()


def test_server_that_never_answers_is_killed(impatient: None) -> None:
    link = opened_link(sys.executable, "-c", f"{HELLO} sys.stdin.read()")
    with pytest.raises(LinkLostError) as caught:
        link.call(command("true", timeout_s=0.1))
    assert caught.value.delivered
    link.close()
    assert not link.alive


@pytest.mark.parametrize("script", ["exec sleep 60", "exit 1"])
def test_server_that_never_says_hello_is_given_up(soon_given_up: None, script: str) -> None:
    with pytest.raises(LinkLostError) as caught:
        opened_link("/bin/sh", "-c", script)
    assert not caught.value.delivered


def test_text_that_the_system_cannot_encode_is_refused(link: Link) -> None:
    odd = ProcessCommand.model_construct(argv=("\ud800",), cwd="/", env={}, timeout_s=1.0, output_bytes=1)
    with pytest.raises(ControlPlaneError, match="an argument of the command cannot be encoded"):
        link.call(odd)


#: Starts a daemon in a session of its own with no stream of ours, waits until its number is written, and goes on.
STRAY = (
    "mkfifo up; setsid sh -c 'echo $$ > stray; echo > up; exec sleep 321' >/dev/null 2>&1 </dev/null & read x < up; "
)


def gone(pid: int) -> bool:
    """Whether a process ends within a bound; the wait is for the kernel, not for a race of ours."""
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("then", ["exec sleep 60", "exit 1", "printf 'no frame at all, but text'; exec sleep 60"])
def test_what_a_broken_interpreter_started_is_gone_when_it_is_given_up(
    soon_given_up: None, tmp_path: Path, then: str
) -> None:
    script = f"cd {tmp_path}; {STRAY} {then}"
    with pytest.raises(LinkLostError):
        opened_link("/bin/sh", "-c", script)
    assert gone(int((tmp_path / "stray").read_text()))


def test_stopping_ends_a_server_that_is_still_starting_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    link = Link(("/bin/sh", "-c", f"cd {tmp_path}; {STRAY} echo $$ > begun; exec sleep 60"), None, None)
    pid = int((tmp_path / "begun").read_text())
    link.stop()
    link.stop()
    with pytest.raises(LinkLostError, match="did not come up"):
        link.wait_ready()
    assert gone(pid)
    assert gone(int((tmp_path / "stray").read_text()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_owner_that_is_killed_during_the_start_leaves_nothing(tmp_path: Path, number: int) -> None:
    os.mkfifo(tmp_path / "begun")
    script = f"cd {tmp_path}; {STRAY} echo $$ > begun; exec sleep 60"
    owner = f"from harness.executors._link import Link\nLink(('/bin/sh', '-c', {script!r}), None, None).wait_ready()\n"
    with subprocess.Popen([sys.executable, "-c", owner]) as process:
        pid = int((tmp_path / "begun").read_text())
        process.send_signal(number)
    assert gone(pid)
    assert gone(int((tmp_path / "stray").read_text()))


def test_server_ends_with_a_guard_that_is_killed(link: Link) -> None:
    status = Path(f"/proc/{link.pid}/stat").read_text("ascii")
    os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGKILL)
    assert gone(link.pid)
    link.close()
    assert not link.alive


@pytest.mark.parametrize(
    "frame",
    [
        "b'text that is no frame at all'",
        "(2).to_bytes(4, 'big') + bytes(4) + b'{]'",
        "(2).to_bytes(4, 'big') + bytes(4) + b'[]'",
        "(1).to_bytes(4, 'big') + bytes(4) + b'\\xff'",
        "(11).to_bytes(4, 'big') + bytes(4) + b'{\"id\": [1]}'",
        "(20000).to_bytes(4, 'big') + bytes(4) + b'[' * 20000",
    ],
)
def test_bytes_that_are_no_answer_end_the_call_with_that_reason_and_no_traceback(
    impatient: None, capfd: pytest.CaptureFixture[str], frame: str
) -> None:
    link = opened_link(sys.executable, "-c", f"{HELLO} os.read(0, 9999); os.write(1, {frame}); time.sleep(60)")
    with pytest.raises(LinkLostError) as caught:
        link.call(command("true"))
    link.close()
    assert (caught.value.delivered, caught.value.reason) == (True, "sent something that is no answer")
    assert capfd.readouterr() == ("", "")
