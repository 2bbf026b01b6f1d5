"""Ways out of a workspace: each tries to change something in a folder beside it, or to reach somebody."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["CHANGES", "CONTACTS", "WRITES", "fingerprint", "furnish", "try_all"]

Way = Callable[[Path, Path], object]

_TRIES = 3000
_DEEP = "d" * 200
_HERE, _EXCHANGE = -100, 2


def furnish(folder: Path, names: list[str], user: int | None) -> None:
    """A folder a way, with something in it that may be changed; all of it is the user's."""
    for name in names:
        (folder / name / "folder").mkdir(parents=True)
        (folder / name / "kept").write_text("kept", "utf-8")
        os.mkfifo(folder / name / "pipe")
    if user is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user)


def fingerprint(folder: Path) -> dict[str, tuple[object, ...]]:
    """All that can be told of what is in a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        seen = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(seen.st_mode) else b""
        found[str(path.relative_to(folder))] = (
            *(seen.st_mode, seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_size, seen.st_mtime_ns),
            data,
            tuple(sorted(os.listxattr(path, follow_symlinks=False))),
        )
    return found


def try_all(ways: dict[str, Way], inside: Path, outside: Path) -> None:
    """Every way, each in folders of its own, whatever becomes of it."""
    for name, way in ways.items():
        with suppress(OSError):
            (inside / name).mkdir()
            os.chdir(inside / name)
            way(inside / name, outside / name)


def _put(path: Path | str, flags: int = os.O_WRONLY | os.O_CREAT) -> None:
    descriptor = os.open(path, flags, 0o644)
    os.write(descriptor, b"out")
    os.close(descriptor)


def _by_link(target: str) -> Way:
    def way(inside: Path, outside: Path) -> None:
        (inside / "link").symlink_to(outside / target)
        _put(inside / "link")

    return way


def _by_chain(inside: Path, outside: Path) -> None:
    (inside / "one").symlink_to(outside)
    (inside / "two").symlink_to("one")
    _put(inside / "two" / "folder" / ".." / "new")


def _by_descriptor(inside: Path, outside: Path) -> None:
    del inside
    place = os.open(outside, os.O_RDONLY | os.O_DIRECTORY)
    _put(f"/proc/self/fd/{place}/new")


def _again_by_descriptor(inside: Path, outside: Path) -> None:
    del inside
    read = os.open(outside / "kept", os.O_RDONLY)
    _put(f"/proc/self/fd/{read}", os.O_WRONLY)


def _hard_link(inside: Path, outside: Path) -> None:
    os.link(outside / "kept", inside / "linked")
    _put(inside / "linked", os.O_WRONLY)


def _linked_out(inside: Path, outside: Path) -> None:
    (inside / "mine").write_text("out", "utf-8")
    os.link(inside / "mine", outside / "new")


def _renamed_out(inside: Path, outside: Path) -> None:
    (inside / "mine").write_text("out", "utf-8")
    (inside / "mine").rename(outside / "kept")


def _exchange(one: Path, other: Path) -> None:
    """The two names change places at one stroke, see renameat2(2)."""
    if ctypes.CDLL(None).renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) != 0:
        raise OSError


def _race(inside: Path, outside: Path) -> None:
    """A name that is a folder inside now and a link to outside then."""
    (inside / "now").mkdir()
    (inside / "then").symlink_to(outside)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            _exchange(inside / "now", inside / "then")

    swapping = threading.Thread(target=swap)
    swapping.start()
    for _ in range(_TRIES):
        with suppress(OSError):
            _put(inside / "now" / "new")
        if (outside / "new").exists():
            break
    over.set()
    swapping.join()


def _unnamed(inside: Path, outside: Path) -> None:
    """A file without a name, which gets one."""
    del inside
    made = os.open(outside, os.O_WRONLY | os.O_TMPFILE, 0o644)
    os.write(made, b"out")
    os.link(f"/proc/self/fd/{made}", outside / "new", src_dir_fd=made, follow_symlinks=True)


def _long(inside: Path, outside: Path) -> None:
    """A path of more than 8 KB, longer than the system takes at once, up again and out."""
    os.chdir(inside)
    for _ in range(42):
        Path(_DEEP).mkdir()
        os.chdir(_DEEP)
    for _ in range(42):
        os.chdir("..")
    _put(f"../../{outside.parent.name}/{outside.name}/new")


def _swapped(inside: Path, outside: Path) -> None:
    (inside / "mine").write_text("out", "utf-8")
    _exchange(inside / "mine", outside / "kept")


def _piped(inside: Path, outside: Path) -> None:
    """Somebody outside reads that pipe; here the same process does, which sees what comes."""
    del inside
    reader = os.open(outside / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(outside / "pipe", os.O_WRONLY | os.O_NONBLOCK)
    os.write(writer, b"out")
    if os.read(reader, 3) == b"out":
        (outside / "new").write_text("out", "utf-8")


def _descriptor_mode(inside: Path, outside: Path) -> None:
    del inside
    os.fchmod(os.open(outside / "kept", os.O_RDONLY), 0o777)


#: Changes of files and folders outside.
WRITES: dict[str, Way] = {
    "new file": lambda _, outside: _put(outside / "new"),
    "change": lambda _, outside: _put(outside / "kept", os.O_WRONLY),
    "append": lambda _, outside: _put(outside / "kept", os.O_WRONLY | os.O_APPEND),
    "empty": lambda _, outside: os.truncate(outside / "kept", 0),
    "empty at opening": lambda _, outside: os.open(outside / "kept", os.O_RDONLY | os.O_TRUNC),
    "new folder": lambda _, outside: (outside / "new").mkdir(),
    "new link": lambda _, outside: (outside / "new").symlink_to("kept"),
    "new pipe": lambda _, outside: os.mkfifo(outside / "new"),
    "unnamed file": _unnamed,
    "remove": lambda _, outside: (outside / "kept").unlink(),
    "remove a folder": lambda _, outside: (outside / "folder").rmdir(),
    "take": lambda inside, outside: (outside / "kept").rename(inside / "taken"),
    "put": _renamed_out,
    "exchange": _swapped,
    "dots": lambda inside, outside: _put(f"{inside}/../../{outside.parent.name}/{outside.name}/new"),
    "dots from here": lambda _, outside: _put(f"../../{outside.parent.name}/{outside.name}/folder/../new"),
    "link to a file": _by_link("kept"),
    "dangling link": _by_link("new"),
    "link to a link": _by_chain,
    "folder's descriptor": _by_descriptor,
    "file's descriptor": _again_by_descriptor,
    "own root": lambda _, outside: _put(f"/proc/self/root{outside}/new"),
    "hard link": _hard_link,
    "hard link out": _linked_out,
    "race": _race,
    "long": _long,
    "pipe": _piped,
    "composed é": lambda _, outside: _put(outside / "n\u00e9w"),
    "decomposed e\u0301": lambda _, outside: _put(outside / "ne\u0301w\u202egpj"),
    "no text": lambda _, outside: _put(os.fsdecode(os.fsencode(outside) + b"/\xff\xfe")),
}
#: Changes of what is told of a file, not of what is in it. The last needs a file system with such attributes.
CHANGES: dict[str, Way] = {
    "mode": lambda _, outside: (outside / "kept").chmod(0o777),
    "mode by descriptor": _descriptor_mode,
    "times": lambda _, outside: os.utime(outside / "kept", (1, 1)),
    "times of a folder": lambda _, outside: os.utime(outside / "folder", (1, 1)),
    "attribute": lambda _, outside: os.setxattr(outside / "kept", "user.out", b"out"),
}


def _talk(family: int, kind: int, address: str | bytes | tuple[str, int]) -> None:
    with socket.socket(family, kind) as made:
        made.settimeout(2)
        made.connect(address)
        made.send(b"out")


def _pair_to(address: str) -> None:
    """A socket that nobody had to ask for: one of a pair."""
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"out", address)


#: Ways to listeners, by the address of each: TCP and UDP ports, Unix sockets of both kinds, one without a path.
CONTACTS: dict[str, Callable[[dict[str, str]], object]] = {
    "tcp": lambda at: _talk(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(at["tcp"]))),
    "udp": lambda at: _talk(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(at["udp"]))),
    "unix": lambda at: _talk(socket.AF_UNIX, socket.SOCK_STREAM, at["unix"]),
    "unix datagram": lambda at: _talk(socket.AF_UNIX, socket.SOCK_DGRAM, at["unix datagram"]),
    "abstract": lambda at: _talk(socket.AF_UNIX, socket.SOCK_STREAM, b"\0" + at["abstract"].encode()),
    "pair": lambda at: _pair_to(at["pair"]),
}
