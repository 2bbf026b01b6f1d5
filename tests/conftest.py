"""What every test has: no network beyond this machine, and the real control plane where it is asked for."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples at every run, and none too slow on a busy machine; --hypothesis-profile=explore looks further.
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("steady")

REPOSITORY = Path(__file__).resolve().parent.parent
PLANE = "loopx==0.4.8"
#: One that needs Node.js.
NEWER_PLANE = "loopx==2.1.1"


def _is_local(host: object) -> bool:
    if host in {None, "", "localhost", b"localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:
        return False


def _refuse(host: object) -> None:
    # pytest's failure is no Exception, so no code under test can take it for an outage.
    pytest.fail(f"a test tried to reach {host!r}: only this machine's loopback may be reached", pytrace=True)


@pytest.fixture(autouse=True, scope="session")
def network_guard() -> Iterator[None]:
    """Refuse every look-up and every connection that would leave this machine; child processes are not touched."""
    look_up = socket.getaddrinfo
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def checked(sock: socket.socket, address: object) -> None:
        if sock.family in {socket.AF_INET, socket.AF_INET6} and isinstance(address, tuple):
            host = address[0]
            if not _is_local(host):
                _refuse(host)

    def guarded_connect(sock: socket.socket, address: tuple[str, int] | str | bytes) -> None:
        checked(sock, address)
        connect(sock, address)

    def guarded_connect_ex(sock: socket.socket, address: tuple[str, int] | str | bytes) -> int:
        checked(sock, address)
        return connect_ex(sock, address)

    def guarded_look_up(host: bytes | str | None, *rest: object, **named: object) -> object:
        if not _is_local(host):
            _refuse(host)
        return look_up(host, *rest, **named)  # type: ignore[arg-type]  # passed through as it came

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


@pytest.fixture(scope="session")
def plane_home() -> Path:
    """A HARNESS_HOME with the loopx control plane installed: ``$HARNESS_TEST_HOME``, or one kept in the checkout.

    The first process installs it, the other workers wait for the lock and find it there.
    """
    from harness.provision import install

    home = Path(os.environ.get("HARNESS_TEST_HOME") or REPOSITORY / ".stamp" / "harness-home").resolve()
    home.mkdir(parents=True, exist_ok=True)
    with (home / "tests.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(PLANE, home=home)
    return home


@pytest.fixture(scope="session")
def newer_plane_home(plane_home: Path) -> Path:
    """The same with a newer loopx and its Node.js: for slow tests, it is 70 MB to load and 130 MB on disk."""
    from harness.provision import install

    with (plane_home / "tests.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(NEWER_PLANE, home=plane_home)
    return plane_home
