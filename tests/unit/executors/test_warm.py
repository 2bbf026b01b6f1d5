import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confined import offered
from machine import SOON_S

from harness.errors import ControlPlaneError
from harness.executors.process import ProcessExecutor
from harness.executors.warm import WarmCounts, WarmExecutor
from harness.schema.process import Completed, ProcessCommand

PROGRAM = '''
"""A program with every habit that a copy could get wrong."""
from __future__ import annotations
import argparse, atexit, os, sys, threading
from pathlib import Path

STATE = Path.home() / ".state"
FLAVOUR = os.environ.get("FLAVOUR", "plain")

def place(kind: str, root: Path = STATE, *, text: str = f"in {STATE}") -> list[object]:
    return [kind, root, text]

class Box:
    folder = STATE / "box"
    def __init__(self) -> None:
        self.items = {"path": STATE / "items", "pair": (1, str(STATE))}

BOX = Box()

def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A program. " * 20)
    parser.add_argument("--state", default=str(STATE), help=f"by default {STATE}, " + "words " * 30)
    parser.add_argument("--asked", default=os.environ.get("ASKED_WHILE_BUILDING"))
    sub = parser.add_subparsers(dest="command", required=True)
    for name in ("say", "facts", "home", "crash", "chain", "exit", "text", "none", "thread", "late", "hang", "die",
                 "kill-parent", "bad-output", "random", "pid", "environment", "read", "write"):
        sub.add_parser(name, help="help for " + name).add_argument("rest", nargs="*")
    return parser

def main() -> object:
    arguments = build_parser().parse_args()
    print("called", arguments.command, arguments.rest)
    print("to stderr", file=sys.stderr)
    return globals()["do_" + arguments.command.replace("-", "_")](arguments)

def do_say(a): print("ü", *a.rest, end="")
def do_facts(a):
    import signal
    spec = sys.modules["__main__"].__spec__
    print(sys.argv, sys.orig_argv, sys.path[0], os.getcwd(), __name__, __file__, __package__, spec.name)
    print(sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering, sys.stderr.encoding, sys.stderr.errors)
    print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE), signal.getsignal(signal.SIGCHLD))
    print(os.getsid(0) == os.getpid(), sorted(os.listdir("/proc/self/fd"))[:3], sys.flags, threading.active_count())
def do_home(a): print(a.state, a.asked, place("x"), Box.folder, BOX.items, Path.home(), os.path.expanduser("~/y"))
def do_crash(a): return {}["no such key"]
def do_chain(a):
    try: do_crash(a)
    except KeyError as error: raise RuntimeError("second") from error
def do_exit(a): return int(a.rest[0])
def do_text(a): return "a last word"
def do_none(a):
    atexit.register(print, "at exit")
    sys.stdout.write("no newline")
def do_thread(a): threading.Thread(target=lambda: print("from a thread")).start()
def do_late(a):
    import lately
    print(lately.VALUE, lately.HOME)
def do_hang(a):
    print("hanging", flush=True)
    threading.Event().wait()
def do_die(a): os.kill(os.getpid(), 9)
def do_kill_parent(a): os.kill(os.getppid(), 9); threading.Event().wait()
def do_bad_output(a): print("\\udc80")
def do_random(a):
    import random, tempfile
    print(random.random())
def do_pid(a): print(os.getppid())
def do_environment(a): print(sorted(os.environ.items()), FLAVOUR)
def do_read(a): print(repr(sys.stdin.read()))
def do_write(a): Path(a.rest[0]).write_text("written")

if __name__ == "__main__":
    sys.exit(main())
'''

LATE = 'import os, time\nfrom pathlib import Path\nVALUE = os.environ.get("LATELY", "unset")\nHOME = Path.home()\n'


@dataclass
class Recorded:
    """A fallback that really runs, and remembers what it was asked to."""

    real: ProcessExecutor
    asked: list[ProcessCommand] = field(default_factory=list)

    def run(self, command: ProcessCommand) -> Completed:
        self.asked.append(command)
        return self.real.run(command)

    def ways(self) -> tuple[str, ...]:
        return self.real.ways()

    def close(self) -> None:
        self.real.close()


@dataclass
class Bench:
    """One program, cold and warm."""

    folder: Path
    cold: ProcessExecutor
    warm: WarmExecutor
    fallback: Recorded

    def command(
        self, *args: str, home: str = "home one", timeout_s: float = 30.0, env: dict[str, str] | None = None
    ) -> ProcessCommand:
        place = self.folder / home
        place.mkdir(exist_ok=True)
        traced = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
        fixed = {"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": str(self.folder), "LANG": "C.UTF-8"}
        return ProcessCommand(
            argv=(sys.executable, "-m", "program", *args),
            cwd=str(self.folder),
            env={**fixed, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", **traced, **(env or {})},
            timeout_s=timeout_s,
        )

    def close(self) -> None:
        self.warm.close()
        self.cold.close()


def open_bench(folder: Path, plane_time: datetime | None = None, *, confined: bool = False) -> Bench:
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    (folder / "lately.py").write_text(LATE, "utf-8")
    cold = ProcessExecutor(plane_time=plane_time, confined=confined)
    fallback = Recorded(cold)
    warm = WarmExecutor(Path(sys.executable), module="program", fallback=fallback, plane_time=plane_time)
    return Bench(folder, cold, warm, fallback)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = open_bench(tmp_path_factory.mktemp("program").resolve())
    yield bench
    bench.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    opened = open_bench(tmp_path.resolve())
    yield opened
    opened.close()


def wait_until(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + SOON_S
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


PARITY: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (("say", "a", "b"), {}),
    (("facts", "--", "-x"), {}),
    (("home",), {}),
    (("home",), {"home": "another hömé"}),
    (("home",), {"home": "another hömé", "ASKED_WHILE_BUILDING": "yes"}),
    (("--state", "given", "home"), {"home": "third"}),
    (("crash",), {}),
    (("chain",), {}),
    (("exit", "0"), {}),
    (("exit", "7"), {}),
    (("exit", "-1"), {}),
    (("exit", "1000"), {}),
    (("text",), {}),
    (("none",), {}),
    (("thread",), {}),
    (("late",), {}),
    (("late",), {"home": "third"}),
    (("bad-output",), {}),
    (("environment",), {"EXTRA": "1", "COLUMNS": "99"}),
    (("read",), {}),
    ((), {}),
    (("--help",), {}),
    (("--help",), {"COLUMNS": "40"}),
    (("--help",), {"COLUMNS": "200", "home": "third"}),
    (("say", "--help"), {"COLUMNS": "33"}),
    (("no-such",), {}),
    (("say", "--no-such"), {}),
)


@pytest.mark.parametrize(("args", "env"), PARITY)
def test_warm_call_has_the_bytes_of_a_cold_one(shared: Bench, args: tuple[str, ...], env: dict[str, str]) -> None:
    variables = {name: value for name, value in env.items() if name.isupper()}
    command = shared.command(*args, home=env.get("home", "home one"), env=variables)
    assert shared.warm.run(command) == shared.cold.run(command)
    assert shared.fallback.asked == []


def test_module_imported_late_is_there_in_the_next_fork(bench: Bench) -> None:
    first, second = (bench.warm.run(bench.command("late", home=name)) for name in ("one", "two"))
    assert first.stdout.endswith(f"unset {bench.folder / 'one'}\n".encode())
    (bench.folder / "lately.py").write_text("raise SystemExit('imported anew')\n")
    assert second.stdout.endswith(f"unset {bench.folder / 'two'}\n".encode())
    third = bench.warm.run(bench.command("late", home="three"))
    assert (third.exit_code, third.stderr) == (0, b"to stderr\n")


def test_variable_that_a_late_import_reads_decides_where_a_call_runs(bench: Bench) -> None:
    bench.warm.run(bench.command("late"))
    done = bench.warm.run(bench.command("late", env={"LATELY": "set"}))
    assert done.stdout.splitlines()[-1].startswith(b"set ")
    assert bench.warm.counts == WarmCounts(warm=1, cold=1)


@pytest.mark.parametrize("env", [{"FLAVOUR": "sour"}, {"PYTHONHASHSEED": "1"}, {"LC_ALL": "C"}, {"TZ": "Asia/Tokyo"}])
def test_call_whose_environment_shapes_the_import_runs_cold(bench: Bench, env: dict[str, str]) -> None:
    bench.warm.run(bench.command("exit", "0"))
    command = bench.command("environment", env=env)
    assert bench.warm.run(command) == bench.cold.run(command)
    assert bench.fallback.asked == [command]
    assert bench.warm.counts == WarmCounts(warm=1, cold=1)


def test_call_without_home_and_another_program_run_cold(bench: Bench) -> None:
    without = bench.command("say")
    without = without.model_copy(update={"env": {k: v for k, v in without.env.items() if k != "HOME"}})
    assert bench.warm.run(without).exit_code == 0
    bench.warm.run(bench.command("exit", "0"))
    assert bench.warm.run(without).exit_code == 0
    assert bench.warm.run(ProcessCommand(argv=("echo", "x"), cwd="/", env=bench.command().env)).stdout == b"x\n"
    assert bench.warm.counts == WarmCounts(warm=1, cold=3)


def test_two_forks_do_not_share_random_numbers(shared: Bench) -> None:
    numbers = {shared.warm.run(shared.command("random")).stdout for _ in range(4)}
    assert len(numbers) == 4


def test_calls_of_many_threads_run_at_once_and_stay_apart(shared: Bench) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda n: shared.warm.run(shared.command("say", str(n))).stdout, range(24)))
    assert texts == [f"called say ['{n}']\nü {n}".encode() for n in range(24)]


def test_hang_and_violent_death_of_a_call_leave_the_server_as_it_was(bench: Bench) -> None:
    bench.warm.run(bench.command("exit", "0"))
    before = bench.warm.server_pid
    hung = bench.warm.run(bench.command("hang", timeout_s=0.5))
    assert (hung.timed_out, hung.exit_code, hung.stdout.splitlines()[-1]) == (True, None, b"hanging")
    assert bench.warm.run(bench.command("die")).signal == signal.SIGKILL
    with pytest.raises(ControlPlaneError, match="warm control plane ended before"):
        bench.warm.run(bench.command("kill-parent"))
    assert bench.warm.run(bench.command("exit", "5")).exit_code == 5
    assert bench.warm.server_pid == before
    assert bench.warm.counts.restarts == 0


def test_directory_that_is_not_there_is_one_clear_line(shared: Bench) -> None:
    command = shared.command("say").model_copy(update={"cwd": "/harness-no-such-directory"})
    with pytest.raises(ControlPlaneError, match="could not enter the directory: No such file"):
        shared.warm.run(command)


def test_dead_server_is_started_once_more_and_then_calls_run_cold(bench: Bench) -> None:
    for number in range(2):
        assert bench.warm.run(bench.command("exit", str(number))).exit_code == number
        pid = bench.warm.server_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: bench.warm.server_pid is None)
    assert bench.warm.run(bench.command("exit", "9")).exit_code == 9
    assert bench.warm.counts == WarmCounts(warm=2, cold=1, restarts=1)


def test_server_that_dies_during_a_call_never_repeats_it(bench: Bench) -> None:
    bench.warm.run(bench.command("exit", "0"))
    pid = bench.warm.server_pid
    assert pid is not None
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(bench.warm.run, bench.command("hang"))
        assert wait_until(lambda: bool(children(pid)))
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ControlPlaneError, match="warm control plane ended before"):
            running.result(10)
    assert bench.fallback.asked == []


def children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


@pytest.mark.parametrize("source", ["import no_such_module_at_all\n", "print('no main statement')\n", "def ("])
def test_program_that_cannot_be_prepared_runs_cold(bench: Bench, source: str) -> None:
    (bench.folder / "program.py").write_text(source)
    command = bench.command("x")
    assert bench.warm.run(command) == bench.cold.run(command)
    assert bench.warm.run(command).exit_code is not None
    assert bench.warm.counts == WarmCounts(warm=0, cold=2)


def test_program_without_a_parser_of_that_name_is_still_warm(bench: Bench) -> None:
    (bench.folder / "program.py").write_text("if __name__ == '__main__':\n    print(input.__name__)\n")
    assert bench.warm.run(bench.command()).stdout == b"input\n"
    assert bench.warm.counts == WarmCounts(warm=1)


def test_interpreter_that_is_not_there_leaves_it_to_the_fallback(bench: Bench) -> None:
    missing = Path("/harness-no-such-python")
    warm = WarmExecutor(missing, module="program", fallback=bench.fallback)
    with pytest.raises(ControlPlaneError, match="could not start"):
        warm.run(ProcessCommand(argv=(str(missing), "-m", "program"), cwd="/", env={"HOME": "/"}))
    assert warm.counts == WarmCounts(cold=1)


def test_running_calls_and_server_end_with_an_owner_that_is_killed(bench: Bench) -> None:
    os.mkfifo(bench.folder / "begun")
    (bench.folder / "program.py").write_text(
        "import os, threading\nif __name__ == '__main__':\n"
        "    open('begun', 'w').write(f'{os.getppid()} {os.getpid()}')\n    threading.Event().wait()\n"
    )
    command = bench.command()
    owner = (
        "import sys\nfrom pathlib import Path\n"
        "from harness.executors.process import ProcessExecutor\nfrom harness.executors.warm import WarmExecutor\n"
        "from harness.schema.process import ProcessCommand\n"
        "warm = WarmExecutor(Path(sys.executable), module='program', fallback=ProcessExecutor())\n"
        f"warm.run(ProcessCommand.model_validate_json({command.model_dump_json()!r}))\n"
    )
    with subprocess.Popen([sys.executable, "-c", owner]) as process:
        supervisor, worker = map(int, (bench.folder / "begun").read_text("ascii").split())
        server = int(Path(f"/proc/{supervisor}/stat").read_text("ascii").rpartition(")")[2].split()[1])
        process.kill()
    assert wait_until(lambda: all(map(dead, (worker, supervisor, server))))


def test_plane_time_is_the_same_warm_and_cold(tmp_path: Path) -> None:
    shows = "import time, datetime\nif __name__ == '__main__':\n    print(time.time(), datetime.datetime.now())\n"
    bench = open_bench(tmp_path.resolve(), datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC))
    (tmp_path / "program.py").write_text(shows)
    command = bench.command(env={"TZ": "UTC"})
    warm, cold = bench.warm.run(command), bench.cold.run(command)
    assert bench.warm.counts == WarmCounts(warm=1)
    bench.close()
    assert warm == cold
    assert warm.stdout == b"1577934245.0 2020-01-02 03:04:05\n"


def test_stopping_ends_a_start_that_hangs_and_nothing_runs_afterwards(bench: Bench) -> None:
    os.mkfifo(bench.folder / "begun")
    (bench.folder / "program.py").write_text(
        f"import os, threading\nopen({str(bench.folder / 'begun')!r}, 'w').write(str(os.getpid()))\n"
        "threading.Event().wait()\nif __name__ == '__main__': pass\n"
    )
    command = bench.command()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(bench.warm.run, command)
        pid = int((bench.folder / "begun").read_text("ascii"))
        for executor in (bench.warm, bench.cold):
            executor.stop()
        with pytest.raises(ControlPlaneError, match="stopped before the command could run"):
            running.result(10)
    assert wait_until(lambda: dead(pid))
    for executor in (bench.warm, bench.cold):
        with pytest.raises(ControlPlaneError, match="stopped before the command could run"):
            executor.run(command)


def test_stopping_ends_a_call_that_runs(bench: Bench) -> None:
    bench.warm.run(bench.command("exit", "0"))
    pid = bench.warm.server_pid
    assert pid is not None
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(bench.warm.run, bench.command("hang"))
        assert wait_until(lambda: bool(children(pid)))
        bench.warm.stop()
        with pytest.raises(ControlPlaneError, match="ended before the command did"):
            running.result(10)
    assert wait_until(lambda: dead(pid))


@pytest.mark.skipif(not offered() & {"landlock", "namespaces"}, reason="this kernel offers nothing")
def test_confined_calls_write_below_their_folder_only_warm_and_cold(tmp_path: Path) -> None:
    bench = open_bench(tmp_path.resolve(), confined=True)
    inside, outside = bench.folder / "home one" / "made", bench.folder / "outside"
    for executor in (bench.warm, bench.cold):
        folder = {"folder": str(inside.parent)}
        refused = executor.run(bench.command("write", str(outside)).model_copy(update=folder))
        done = executor.run(bench.command("write", str(inside)).model_copy(update=folder))
        assert (refused.exit_code, done.exit_code, inside.read_text("utf-8")) == (1, 0, "written")
        assert b"Error: [Errno" in refused.stderr
        inside.unlink()
    assert not outside.exists()
    assert bench.warm.counts == WarmCounts(warm=2)
    bench.close()


def test_a_server_that_is_confined_otherwise_than_its_fallback_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = open_bench(tmp_path.resolve(), confined=True)
    monkeypatch.setattr(bench.cold, "ways", lambda: ("another",))
    assert bench.warm.run(bench.command("exit", "3")).exit_code == 3
    assert bench.warm.counts == WarmCounts(cold=1)
    bench.close()
