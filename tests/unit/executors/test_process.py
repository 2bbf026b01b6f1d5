import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from machine import SOON_S

from harness.errors import ControlPlaneError, MachineError
from harness.executors.process import ProcessExecutor
from harness.schema.process import Completed, ProcessCommand

PATH = os.environ["PATH"]


@pytest.fixture(scope="module")
def executor() -> Iterator[ProcessExecutor]:
    running = ProcessExecutor()
    yield running
    running.close()


def command(
    *argv: str, cwd: str = "/", timeout_s: float = 20.0, output_bytes: int = 65536, **env: str
) -> ProcessCommand:
    return ProcessCommand(argv=argv, cwd=cwd, env={"PATH": PATH, **env}, timeout_s=timeout_s, output_bytes=output_bytes)


def gone(pid: int) -> bool:
    """Whether a process ends within a bound; the wait is for the kernel, not for a race of ours."""
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_streams_and_exit_code_are_reported_apart(executor: ProcessExecutor) -> None:
    done = executor.run(command("sh", "-c", "echo out; echo err >&2; exit 3"))
    assert done == Completed(exit_code=3, stdout=b"out\n", stderr=b"err\n", stdout_seen=4, stderr_seen=4)


def test_environment_and_directory_are_exactly_what_was_given(executor: ProcessExecutor, tmp_path: Path) -> None:
    done = executor.run(ProcessCommand(argv=("/usr/bin/env",), cwd=str(tmp_path), env={"ONE": "1", "ZWEI": "ü"}))
    assert sorted(done.stdout.decode().splitlines()) == ["ONE=1", "ZWEI=ü"]
    assert executor.run(command("pwd", "-P", cwd=str(tmp_path))).stdout.decode().strip() == str(tmp_path.resolve())


def test_program_has_no_descriptors_but_three_and_reads_nothing(executor: ProcessExecutor) -> None:
    done = executor.run(command("sh", "-c", "ls /proc/$$/fd; cat"))
    assert done.stdout.split() == [b"0", b"1", b"2"]


def test_program_leads_a_session_of_its_own_with_default_signals(executor: ProcessExecutor) -> None:
    script = (
        "import os,signal;print(os.getsid(0)==os.getpid(),"
        "signal.getsignal(signal.SIGINT) is signal.default_int_handler,len(signal.pthread_sigmask(0,())))"
    )
    assert executor.run(command(sys.executable, "-c", script)).stdout == b"True True 0\n"


def test_death_by_signal_is_no_exit_code(executor: ProcessExecutor) -> None:
    done = executor.run(command("sh", "-c", "kill -9 $$"))
    assert (done.exit_code, done.signal, done.timed_out) == (None, signal.SIGKILL, False)


def test_hanging_program_is_ended_at_the_bound_with_what_it_said(executor: ProcessExecutor) -> None:
    start = time.monotonic()
    done = executor.run(command("sh", "-c", "echo begun; sleep 60", timeout_s=0.3))
    assert (done.exit_code, done.signal, done.timed_out, done.stdout) == (None, None, True, b"begun\n")
    assert time.monotonic() - start < 10


def test_endless_output_is_cut_at_the_bound_and_counted(executor: ProcessExecutor) -> None:
    done = executor.run(command("yes", timeout_s=0.3, output_bytes=7))
    assert (done.stdout, done.timed_out) == (b"y\ny\ny\ny", True)
    assert done.stdout_seen > 1000


def test_output_beyond_the_bound_does_not_block_the_program(executor: ProcessExecutor) -> None:
    done = executor.run(command("head", "-c", "1000000", "/dev/zero", output_bytes=10))
    assert (done.exit_code, len(done.stdout), done.stdout_seen) == (0, 10, 1_000_000)


def test_invalid_utf8_is_kept_as_bytes(executor: ProcessExecutor) -> None:
    assert executor.run(command("printf", r"\377\376")).stdout == b"\xff\xfe"


@pytest.mark.parametrize(
    "background",
    ["sleep 321 &", "setsid sleep 321 &", "setsid sh -c 'sleep 321 & wait' &", "env -i setsid setsid sleep 321 &"],
)
def test_grandchildren_are_killed_when_the_program_ends(
    executor: ProcessExecutor, tmp_path: Path, background: str
) -> None:
    start = time.monotonic()
    done = executor.run(command("sh", "-c", f"{background} echo $! > pid; echo said", cwd=str(tmp_path)))
    assert done.stdout == b"said\n"
    assert time.monotonic() - start < 10
    assert gone(int((tmp_path / "pid").read_text()))


def test_escaped_grandchild_is_killed_at_the_time_bound(executor: ProcessExecutor, tmp_path: Path) -> None:
    script = "setsid sh -c 'echo $$ > pid; exec sleep 321' & sleep 60"
    done = executor.run(command("sh", "-c", script, cwd=str(tmp_path), timeout_s=0.5))
    assert done.timed_out
    assert gone(int((tmp_path / "pid").read_text()))


def test_commands_of_other_threads_are_untouched_by_a_cleanup(executor: ProcessExecutor) -> None:
    begun = threading.Event()

    def patient() -> Completed:
        begun.set()
        return executor.run(command("sh", "-c", "setsid sleep 1 & wait; echo whole"))

    with ThreadPoolExecutor(4) as pool:
        waiting = pool.submit(patient)
        begun.wait(10)
        others = [
            pool.submit(executor.run, command("sh", "-c", "setsid sleep 321 & echo $0", str(n))) for n in range(8)
        ]
        assert [other.result().stdout for other in others] == [f"{n}\n".encode() for n in range(8)]
        assert waiting.result().stdout == b"whole\n"


@pytest.mark.parametrize(
    ("argv", "cwd", "message"),
    [
        (("harness-no-such-program",), "/", "could not start: No such file"),
        (("true",), "/harness-no-such-directory", "could not enter the directory: No such file"),
        (("/etc/passwd",), "/", "could not start: Permission denied"),
        (("echo", "a\0b"), "/", "NUL"),
        (("true",), "/\0", "NUL"),
    ],
)
def test_what_cannot_start_is_one_clear_line(
    executor: ProcessExecutor, argv: tuple[str, ...], cwd: str, message: str
) -> None:
    with pytest.raises(ControlPlaneError, match=message) as caught:
        executor.run(command(*argv, cwd=cwd))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "A=B"])
def test_environment_name_that_cannot_be_is_refused(executor: ProcessExecutor, name: str) -> None:
    with pytest.raises(ControlPlaneError, match="environment variable"):
        executor.run(ProcessCommand(argv=("true",), cwd="/", env={name: "x"}))


def test_refused_command_tells_nothing_of_its_values(executor: ProcessExecutor) -> None:
    with pytest.raises(ControlPlaneError) as caught:
        executor.run(ProcessCommand(argv=("true",), cwd="/", env={"KEY": "canary\0"}))
    assert "canary" not in str(caught.value)


def test_closing_twice_is_harmless_and_a_later_run_starts_anew() -> None:
    executor = ProcessExecutor()
    executor.close()
    assert executor.run(command("true")).exit_code == 0
    executor.close()
    executor.close()
    assert executor.run(command("true")).exit_code == 0
    executor.close()


def test_closing_ends_what_still_runs(tmp_path: Path) -> None:
    executor = ProcessExecutor()
    os.mkfifo(tmp_path / "begun")
    script = "setsid sh -c 'echo $$ > begun; exec sleep 321' & wait"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(executor.run, command("sh", "-c", script, cwd=str(tmp_path)))
        pid = int((tmp_path / "begun").read_text())
        executor.close()
        with pytest.raises(ControlPlaneError, match="ended before the command did"):
            running.result(10)
    assert gone(pid)


def test_killed_server_is_replaced_for_the_next_command() -> None:
    with closing(ProcessExecutor()) as executor:
        parent = int(executor.run(command("sh", "-c", "ps -o ppid= -p $PPID")).stdout)
        os.kill(parent, signal.SIGKILL)
        assert gone_or_zombie(parent)
        assert executor.run(command("echo", "again")).stdout == b"again\n"


def gone_or_zombie(pid: int) -> bool:
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_killed_supervisor_is_an_error_and_its_command_dies(executor: ProcessExecutor, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            executor.run, command("sh", "-c", "echo $PPID $$ > begun; exec sleep 321", cwd=str(tmp_path))
        )
        supervisor, worker = map(int, (tmp_path / "begun").read_text("ascii").split())
        os.kill(supervisor, signal.SIGKILL)
        with pytest.raises(ControlPlaneError, match="ended before the command did"):
            running.result(10)
    assert gone(worker)
    assert executor.run(command("echo", "on")).stdout == b"on\n"


def test_everything_dies_with_an_owner_that_is_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    owner = (
        "from harness.executors.process import ProcessExecutor as E\n"
        "from harness.schema.process import ProcessCommand as C\n"
        "script = 'setsid sh -c \"echo \\$0 \\$\\$ > begun; exec sleep 321\" $PPID & wait'\n"
        f"E().run(C(argv=('sh', '-c', script), cwd={str(tmp_path)!r}, env={{'PATH': {PATH!r}}}))\n"
    )
    with subprocess.Popen([sys.executable, "-c", owner]) as process:
        supervisor, escaped = map(int, (tmp_path / "begun").read_text("ascii").split())
        process.kill()
    assert gone(supervisor)
    assert gone(escaped)


def test_plane_time_is_what_a_python_module_sees(tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(
        "import sys,time,datetime\nprint(time.time(), datetime.date.today(), sys.argv)\n"
    )
    executor = ProcessExecutor(plane_time=datetime(2031, 5, 6, tzinfo=UTC))
    done = executor.run(command(sys.executable, "-m", "shows", "--x", cwd=str(tmp_path), TZ="UTC"))
    other = executor.run(command("date", "+%Y"))
    executor.close()
    assert done.stdout.decode() == f"1935792000.0 2031-05-06 ['{tmp_path.resolve() / 'shows.py'}', '--x']\n"
    assert other.stdout != b"2031\n"


@pytest.mark.parametrize("most", [24, 64, 199, 201])
def test_few_open_files_are_enough_to_run_a_program(most: int) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    with closing(ProcessExecutor()) as executor:
        warmed = executor.run(command("true"))
        parent = executor.run(command("sh", "-c", "ps -o ppid= -p $PPID"))
        server = int(parent.stdout)
        resource.prlimit(server, resource.RLIMIT_NOFILE, (most, limit[1]))
        done = executor.run(command("sh", "-c", "ulimit -n; ls /proc/$$/fd"))
    assert warmed.exit_code == 0
    assert done.stdout.split() == [str(most).encode(), b"0", b"1", b"2"]


@pytest.mark.parametrize("most", [3, 8, 12])
def test_too_few_open_files_are_the_machines_fault(most: int) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    with closing(ProcessExecutor()) as executor:
        server = int(executor.run(command("sh", "-c", "ps -o ppid= -p $PPID")).stdout)
        resource.prlimit(server, resource.RLIMIT_NOFILE, (most, limit[1]))
        with pytest.raises(MachineError, match="the command could not be run: Too many open files"):
            executor.run(command("true"))
        resource.prlimit(server, resource.RLIMIT_NOFILE, limit)
        assert executor.run(command("echo", "on")).stdout == b"on\n"
