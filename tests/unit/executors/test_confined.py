"""Nothing that runs in a confined call writes outside of its folder, reaches anybody, or is there afterwards.

Each means is tried alone, for machines that have only that one, and all together; as whoever runs the tests, and as an
ordinary user where that is root. The same ways are open without a sandbox, so that each of them is one.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest
from confined import ORDINARY, Called, call, offered, ways
from ways_out import CHANGES, CONTACTS, WRITES, fingerprint, furnish, try_all

from harness.executors import _landlock, _namespaces, _seccomp

USERS = (None, ORDINARY) if os.getuid() == 0 else (None,)
ALL, FREE = "all", "free"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no sandbox")


@dataclass(frozen=True)
class Place:
    """A folder that may be written and one beside it, whose name only begins like that one's."""

    inside: Path
    outside: Path


@pytest.fixture(params=USERS, ids=lambda user: "self" if user is None else "ordinary")
def user(request: pytest.FixtureRequest) -> int | None:
    """Who runs what is confined."""
    found: int | None = request.param
    return found


@pytest.fixture
def place(user: int | None) -> Iterator[Place]:
    """Where an ordinary user can go: pytest's own folders are the owner's alone."""
    base = Path(tempfile.mkdtemp(prefix="confined-"))
    base.chmod(0o755)
    made = Place(base / "ws", base / "ws-secret")
    for folder in (made.inside, made.outside):
        folder.mkdir()
        if user is not None:
            os.chown(folder, user, user)
    yield made
    rmtree(base)


def need(user: int | None, *means: str) -> None:
    """Only where the kernel says that it has none of them a test is skipped; what it has must work."""
    if not offered(user) & set(means):
        pytest.skip(f"this kernel offers no {' and no '.join(means)}")


def test_all_that_the_kernel_offers_is_used(user: int | None) -> None:
    assert {way.partition("-")[0] for way in ways(user)} == offered(user)


ONE_ALONE = [pytest.param("landlock", marks=pytest.mark.slow), pytest.param("namespaces", marks=pytest.mark.slow)]


@pytest.mark.parametrize("means", [ALL, *ONE_ALONE])
def test_nothing_outside_is_changed(place: Place, user: int | None, means: str) -> None:
    need(user, *(("landlock", "namespaces") if means == ALL else (means,)))
    is_told_all = means != "landlock" and "namespaces" in offered(user)
    tried = {**WRITES, **(CHANGES if is_told_all else {})}
    furnish(place.outside, list(tried), user)
    before = fingerprint(place.outside)
    done = call(lambda inside: try_all(tried, inside, place.outside), place.inside, user=user, means=means)
    assert (done.status, done.problem) == (0, [])
    after = fingerprint(place.outside)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()
    assert {path.name for path in place.inside.iterdir()} == set(tried)


@pytest.mark.slow
def test_each_way_leads_out_where_nothing_is_confined(place: Place, user: int | None) -> None:
    tried = {**WRITES, **CHANGES}
    furnish(place.outside, list(tried), user)
    before = fingerprint(place.outside)
    call(lambda inside: try_all(tried, inside, place.outside), place.inside, user=user, means=FREE)
    after = fingerprint(place.outside)
    changed = {name.split("/")[0] for name in {*before, *after} if before.get(name) != after.get(name)}
    assert set(tried) - changed <= {"attribute"}  # which some file systems do not know


class Listeners:
    """Everybody who can be reached, and whether somebody did."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.at: dict[str, str] = {}
        self._made: dict[str, socket.socket] = {}
        for name in CONTACTS:
            family = socket.AF_INET if name in {"tcp", "udp"} else socket.AF_UNIX
            kind = socket.SOCK_DGRAM if name in {"udp", "unix datagram", "pair"} else socket.SOCK_STREAM
            made = self._made[name] = stack.enter_context(socket.socket(family, kind))
            if family == socket.AF_INET:
                made.bind(("127.0.0.1", 0))
                self.at[name] = str(made.getsockname()[1])
            elif name == "abstract":
                self.at[name] = f"confined-{os.getpid()}"
                made.bind(b"\0" + self.at[name].encode())
            else:
                self.at[name] = str(folder / name)
                made.bind(self.at[name])
                Path(self.at[name]).chmod(0o777)
            if kind == socket.SOCK_STREAM:
                made.listen()
            made.setblocking(False)

    def reached(self) -> set[str]:
        """The names of those to whom something came."""
        found = set()
        for name, made in self._made.items():
            with suppress(BlockingIOError):
                if made.type == socket.SOCK_STREAM:
                    made.accept()[0].close()
                else:
                    made.recv(1)
                found.add(name)
        return found


def _contact_all(at: dict[str, str]) -> None:
    for way in CONTACTS.values():
        with suppress(OSError):
            way(at)


@pytest.mark.parametrize("means", [ALL, "seccomp", FREE])
def test_nobody_is_reached(place: Place, user: int | None, means: str) -> None:
    need(user, "seccomp")
    with ExitStack() as stack:
        listeners = Listeners(place.outside, stack)
        done = call(lambda _: _contact_all(listeners.at), place.inside, user=user, means=means)
        assert done.status == 0
        assert listeners.reached() == (set(CONTACTS) if means == FREE else set())


def test_with_namespaces_alone_no_port_and_no_socket_without_a_path_is_reached(place: Place, user: int | None) -> None:
    need(user, "namespaces")
    with ExitStack() as stack:
        listeners = Listeners(place.outside, stack)
        call(lambda _: _contact_all(listeners.at), place.inside, user=user, means="namespaces")
        assert listeners.reached() & {"tcp", "udp", "abstract"} == set()


def _said(what: Callable[[], object]) -> None:
    try:
        what()
    except OSError as error:
        sys.stdout.write(f"{error.errno} ")
    else:
        sys.stdout.write("0 ")


def _system(number: int, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "system call")


def test_rings_keys_and_every_family_of_sockets_are_refused_but_pairs_of_streams_are_not(place: Place) -> None:
    need(None, "seccomp")
    ring = ctypes.create_string_buffer(256)
    keys = {"x86_64": 250, "aarch64": 219}[os.uname().machine]

    def tries(_: Path) -> None:
        _said(lambda: _system(425, 1, ring))
        _said(lambda: _system(keys, 0, -3, 1))
        for family in (socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 40):
            _said(partial(socket.socket, family, socket.SOCK_RAW))
        _said(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))

    assert call(tries, place.inside).text.split() == ["38", "38", "13", "13", "13", "13", "0"]


def test_mounts_namespaces_and_other_processes_cannot_be_changed(place: Place, user: int | None) -> None:
    need(user, "namespaces")
    libc, outsider = ctypes.CDLL(None, use_errno=True), os.getpid()

    def checked(*results: int) -> None:
        if any(results):
            raise OSError(ctypes.get_errno(), "refused")

    def tries(inside: Path) -> None:
        folder = os.fsencode(inside)
        _said(lambda: checked(libc.mount(b"none", folder, b"tmpfs", 0, None)))
        _said(lambda: checked(libc.mount(None, b"/", None, 0x1020, None)))
        _said(lambda: checked(libc.umount(b"/proc")))
        _said(lambda: os.kill(outsider, 0))
        _said(lambda: os.mknod(inside / "device", 0o60600, os.makedev(7, 0)))
        name = os.uname().nodename.encode()
        _said(lambda: checked(libc.sethostname(name, len(name))))
        _said(lambda: list(Path(f"/proc/{outsider}/fd").iterdir()))
        _said(lambda: checked(libc.unshare(0x10000000), libc.mount(None, b"/", None, 0x1020, None)))

    assert "0" not in call(tries, place.inside, user=user).text.split()


def _daemon(inside: Path, *, stubborn: bool = False) -> None:
    """A process that left everything it could, and holds a lock as long as it lives; returns when it has it."""
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if stubborn:
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(number, signal.SIG_IGN)
            held = os.open(inside / "lock", os.O_RDWR | os.O_CREAT)
            fcntl.flock(held, fcntl.LOCK_EX)
            os.write(tell, b"x")
            signal.pause()
        os._exit(0)
    os.read(ready, 1)


def _nobody_holds(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize("means", [ALL, "landlock"])
def test_a_daemon_ends_with_its_call(place: Place, user: int | None, means: str) -> None:
    def leave(inside: Path) -> None:
        _daemon(inside, stubborn=True)
        sys.stdout.write("left")

    assert call(leave, place.inside, user=user, means=means).text == "left"
    assert _nobody_holds(place.inside / "lock")


def test_a_call_that_is_over_its_time_ends_with_all_of_its_processes(place: Place, user: int | None) -> None:
    def hang(inside: Path) -> None:
        _daemon(inside)
        signal.pause()

    assert call(hang, place.inside, user=user, timeout_s=0.5).status is None
    assert _nobody_holds(place.inside / "lock")


def _most_processes() -> str:
    return Path("/proc/sys/kernel/pid_max").read_text("ascii").strip()


@pytest.mark.parametrize("alone", [False, True])
def test_processes_are_bounded_in_a_call_and_nowhere_else(place: Place, user: int | None, alone: bool) -> None:
    need(user, "namespaces")
    before = _most_processes()
    assert before != "1024"
    done = call(lambda _: sys.stdout.write(_most_processes()), place.inside, user=user, alone=alone)
    kernel = tuple(map(int, os.uname().release.split(".")[:2]))
    assert done.text == ("1024" if kernel >= (6, 14) else before)
    assert _most_processes() == before


@pytest.mark.parametrize(
    ("release", "counts"),
    [
        ("6.14.0-rc1", True),
        ("6.18.44-x", True),
        ("7.0", True),
        ("6.13.12", False),
        ("5.15.0-91-generic", False),
        ("", False),
    ],
)
def test_a_kernel_with_one_bound_for_the_whole_machine_is_left_alone(release: str, counts: bool) -> None:
    assert sys.modules["_namespaces"]._counts_by_tree(release) is counts


def test_the_bound_is_not_set_by_a_process_that_is_in_no_new_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _most_processes()
    module = sys.modules["_namespaces"]
    monkeypatch.setattr(module, "_OUTER", {module._own_tree()})
    monkeypatch.setattr(module, "_PROCESSES", before.encode())
    written: list[bytes] = []
    monkeypatch.setattr(Path, "write_bytes", lambda _, data: written.append(data))
    module.bound_processes()
    assert (written, _most_processes()) == ([], before)


@pytest.mark.slow
def test_a_fork_bomb_is_bounded_and_ends_with_its_call(place: Place, user: int | None) -> None:
    need(user, "namespaces")

    def explode(inside: Path) -> None:
        held = os.open(inside / "lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(held, fcntl.LOCK_EX)
        while True:
            try:
                if os.fork() == 0:
                    os.setsid()
            except OSError:  # the bound: what is there stays, and waits
                signal.pause()

    assert call(explode, place.inside, user=user, timeout_s=2.0).status is None
    assert _nobody_holds(place.inside / "lock")


def test_no_file_fills_the_disk_and_nothing_is_dumped(place: Place, user: int | None) -> None:
    def fill(inside: Path) -> None:
        with (inside / "large").open("wb") as file:
            _said(lambda: os.truncate(file.fileno(), (1 << 30) + 1))
            _said(lambda: os.pwrite(file.fileno(), b"x", 1 << 30))
            _said(lambda: os.truncate(file.fileno(), 1 << 20))
        sys.stdout.write(str(resource.getrlimit(resource.RLIMIT_CORE)))

    need(user, "landlock", "namespaces", "seccomp")
    assert call(fill, place.inside, user=user).text == "27 27 0 (0, 0)"


def test_work_inside_is_as_without_a_sandbox(place: Place, user: int | None) -> None:
    def work(inside: Path) -> None:
        (inside / "a" / "b").mkdir(parents=True)
        (inside / "a" / "file").write_text("text", "utf-8")
        (inside / "a" / "file").rename(inside / "a" / "b" / "moved")
        os.link(inside / "a" / "b" / "moved", inside / "linked")
        (inside / "link").symlink_to("linked")
        (inside / "link").chmod(0o600)
        os.utime(inside / "linked", (1, 2))
        os.mkfifo(inside / "pipe")
        Path("/dev/null").write_text("nothing", "utf-8")
        sys.stdout.write(
            f"{os.getuid()} {(inside / 'link').read_text('utf-8')} {oct((inside / 'linked').stat().st_mode)}"
        )
        (inside / "secret").touch(mode=0o000)
        _said(lambda: (inside / "secret").open("rb").close())

    def told(means: str) -> Called:
        for path in place.inside.iterdir():
            rmtree(path) if path.is_dir() else path.unlink()
        return call(work, place.inside, user=user, means=means)

    free = told(FREE)
    assert free.text
    assert [told(means) for means in (ALL, "landlock")] == [free, free]


def test_a_call_that_cannot_be_confined_is_not_run(
    place: Place, user: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(user, "landlock")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(1, "refused")

    monkeypatch.setattr(sys.modules["_landlock"], "restrict", refuse)
    done = call(lambda inside: (inside / "ran").write_text("x", "utf-8"), place.inside, user=user)
    assert (done.problem, list(place.inside.iterdir())) == (["be confined", "1"], [])


def test_what_is_alone_sees_its_folder_and_the_programs_of_the_system_and_nothing_else(
    place: Place, user: int | None
) -> None:
    need(user, "namespaces")
    secret = place.outside / "secret"
    secret.write_text("secret", "utf-8")
    secret.chmod(0o644)
    hidden = (secret, Path("/etc/passwd"), Path("/proc/1/root") / secret.relative_to("/"), Path("..", "ws-secret"))

    def look(inside: Path) -> None:
        (inside / "made").write_text("made", "utf-8")
        for path in hidden:
            _said(path.stat)
        _said(Path("/bin/sh").stat)
        _said(lambda: Path("/dev/null").write_text("x", "utf-8"))
        _said(lambda: Path("/new").write_text("x", "utf-8"))
        _said(lambda: (inside.parent / "new").write_text("x", "utf-8"))
        names = {path.name for path in Path("/").iterdir()} - {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}
        sys.stdout.write(f"{sorted(names - {'etc'})} {[path.name for path in inside.parent.iterdir()]}")

    def look_outside(_: Path) -> None:
        for path in hidden[:2]:
            _said(path.stat)

    assert call(look_outside, place.inside, user=user).text == "0 0 "
    done = call(look, place.inside, user=user, alone=True)
    assert done.problem == []
    assert done.text == f"2 2 13 2 0 0 30 30 {sorted(['dev', 'proc', place.inside.parts[1]])} ['ws']"
    assert (place.inside / "made").read_text("utf-8") == "made"


@pytest.mark.parametrize("means", [FREE, "landlock", "seccomp"])
def test_what_must_be_alone_and_cannot_be_is_not_run(place: Place, user: int | None, means: str) -> None:
    done = call(lambda inside: (inside / "ran").touch(), place.inside, user=user, means=means, alone=True)
    assert done.problem == ["be confined", "95"]
    assert list(place.inside.iterdir()) == []


def test_another_system_and_another_machine_offer_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert (_landlock.version(), _seccomp.supported(), _namespaces.enter()) == (0, False, "")
