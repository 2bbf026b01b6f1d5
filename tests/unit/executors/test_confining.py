"""What is asked of the kernel, and in which order; whether it holds is in ``test_confined``."""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confined import MODULES

from harness.executors import _probe

LANDLOCK, SECCOMP, SPACES, VIEW, CONFINE = (sys.modules[name] for name in MODULES)
ALLOWED, ENOSYS, EACCES = 0x7FFF0000, 0x50026, 0x5000D
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(machine: str, number: int, second: int = 0, arch: int | None = None) -> int:
    """What the filter says to a system call, run as the kernel runs it."""
    seen = {0: number, 4: AUDIT[machine] if arch is None else arch, 24: second}
    code = SECCOMP._program(machine)
    steps = [struct.unpack("=HBBI", code[at : at + 8]) for at in range(0, len(code), 8)]
    at, held = 0, 0
    while True:
        kind, yes, no, value = steps[at]
        at += 1
        if kind == 0x20:
            held = seen[value]
        elif kind == 0x54:
            held &= value
        elif kind == 0x06:
            return int(value)
        else:
            at += yes if (held == value if kind == 0x15 else held >= value) else no


@pytest.mark.parametrize(("machine", "socket", "pair", "keys"), [("x86_64", 41, 53, 248), ("aarch64", 198, 199, 217)])
def test_the_filter_refuses_sockets_rings_and_keys_and_nothing_else(
    machine: str, socket: int, pair: int, keys: int
) -> None:
    assert verdict(machine, socket) == EACCES
    assert [verdict(machine, pair, kind | 0o2000000) for kind in (1, 2, 3, 5)] == [ALLOWED, EACCES, EACCES, ALLOWED]
    assert {verdict(machine, number) for number in (425, 426, 427, keys, keys + 1, keys + 2)} == {ENOSYS}
    assert {verdict(machine, number) for number in (0, 1, socket + 1, pair + 1, keys - 1, 424, 428)} == {ALLOWED}
    assert verdict(machine, 0, arch=0x40000003) == ENOSYS
    assert verdict(machine, 0x40000000 + socket) == (ENOSYS if machine == "x86_64" else ALLOWED)


@dataclass
class Kernel:
    """Takes every call, and remembers it."""

    result: int = 0
    asked: list[tuple[str, tuple[object, ...]]] = field(default_factory=list)

    def __getattr__(self, name: str) -> object:
        def asked(*arguments: object) -> int:
            self.asked.append((name, arguments))
            return self.result

        return asked

    @property
    def names(self) -> list[str]:
        return [str(given[0]) if name == "syscall" else name for name, given in self.asked]


@pytest.mark.parametrize("abi", [3, 4, 5, 6, 7])
def test_landlock_is_asked_for_what_its_version_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, abi: int
) -> None:
    kernel = Kernel()
    monkeypatch.setattr(LANDLOCK, "_LIBC", kernel)
    kernel.result = os.open(os.devnull, os.O_RDONLY)
    LANDLOCK.restrict(os.fsencode(tmp_path), abi)
    assert kernel.names == ["444", "445", "445", "445", "445", "446"]
    size = kernel.asked[0][1][2]
    assert getattr(size, "value", 0) == (24 if abi >= 6 else 16 if abi >= 4 else 8)
    kernel.result = -1
    with pytest.raises(OSError, match="landlock"):
        LANDLOCK.restrict(os.fsencode(tmp_path), abi)


def test_the_filter_that_the_kernel_does_not_take_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel()
    monkeypatch.setattr(SECCOMP, "_LIBC", kernel)
    SECCOMP.restrict()
    kernel.result = -1
    with pytest.raises(OSError, match="seccomp"):
        SECCOMP.restrict()
    assert kernel.names == ["prctl", "prctl"]


def test_the_way_into_namespaces_that_works_in_a_copy_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, written = Kernel(), []
    monkeypatch.setattr(SPACES, "_LIBC", kernel)
    monkeypatch.setattr(Path, "write_bytes", lambda path, _: written.append(path.name))
    monkeypatch.setattr(os, "fork", lambda: 1)
    for codes, way in (([0], "direct"), ([1, 0], "user"), ([1, 1], "")):
        left = iter(codes)
        monkeypatch.setattr(os, "waitpid", lambda *_, left=left: (1, next(left)))
        assert SPACES.enter() == way
    assert written == ["setgroups", "uid_map", "gid_map"]
    assert kernel.names == ["unshare", "mount", "442"] * 2
    kernel.result = -1
    for step in (SPACES.leave_mounts, lambda: SPACES.only_writable(b"/"), lambda: SPACES.mount(None, b"/", None, 0)):
        with pytest.raises(OSError):  # noqa: PT011  (the number is the kernel's)
            step()
    SPACES.show_own_processes()


def test_each_step_of_confining_comes_in_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    for module, name in (
        (VIEW, "see_only"),
        (SPACES, "show_own_processes"),
        (LANDLOCK, "restrict"),
        (SECCOMP, "restrict"),
    ):
        told = f"{module.__name__}.{name}"
        monkeypatch.setattr(module, name, lambda *_, told=told: steps.append(told))
    kernel, limits = Kernel(), {}
    monkeypatch.setattr(CONFINE, "_LIBC", kernel)
    monkeypatch.setattr(resource, "setrlimit", lambda which, bound: limits.update({which: bound}))
    means = CONFINE.Means(7, "user", filtered=True)
    assert means.ways == ["landlock-7", "seccomp", "namespaces-user"]
    means.enter(b"/x", 10.0)
    means.enter(b"/x", 10.0, alone=True)
    assert steps == [
        *("_namespaces.show_own_processes", "_landlock.restrict", "_seccomp.restrict"),
        *("_view.see_only", "_landlock.restrict", "_seccomp.restrict"),
    ]
    assert kernel.names == ["capget", "capset", "prctl"] * 2
    assert limits[resource.RLIMIT_CORE] == (0, 0)
    assert limits[resource.RLIMIT_FSIZE][1] <= 1 << 30
    kernel.result = -1
    with pytest.raises(OSError, match="capget"):
        means.enter(b"/x", 10.0)
    none = CONFINE.Means(0, "", filtered=False)
    assert (none.ways, none.begin(b"/x")) == ([], 0)
    with pytest.raises(OSError, match="alone"):
        none.enter(b"/x", 1.0, alone=True)


def test_what_is_tried_to_get_out_is_tried_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept", "utf-8")
    (outside / "mode").touch(0o600)
    spec: dict[str, str | int] = {
        "inside": str(inside),
        "outside": str(outside),
        "tcp": 1,
        "udp": 1,
        "unix": "nobody",
        "process": os.getpid(),
    }
    assert _probe.main([json.dumps(spec)]) == 0
    reached, tried = capsys.readouterr().out.splitlines()
    assert (reached, json.loads(tried)) == ("reached", sorted(_probe.attempts(spec)))
    assert sorted(path.name for path in outside.iterdir()) == ["folder", "mode", "new"]
    assert (outside / "mode").stat().st_mode & 0o777 == 0o777
