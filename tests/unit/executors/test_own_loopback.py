"""A confined call that talks to itself has a loopback of its own: nobody else is there, and all else holds too."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import ControlPlaneError, MachineError
from harness.executors.process import ProcessExecutor
from harness.executors.sandbox import measure
from harness.schema.process import Completed, ProcessCommand

TALKS = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.sendall(b"to itself")
print(server.accept()[0].recv(99).decode())
"""
#: Waits until somebody came, or nobody did for a second.
LISTENS = """
import socket
server = socket.create_server(("127.0.0.1", 18999))
server.settimeout(1)
try:
    server.accept()
    print("reached")
except TimeoutError:
    print("nobody came")
"""


class Talking:
    """Gives every command a loopback of its own."""

    def __init__(self, executor: ProcessExecutor) -> None:
        self._executor = executor

    def run(self, command: ProcessCommand) -> Completed:
        return self._executor.run(command.model_copy(update={"loopback": True}))

    def close(self) -> None:
        raise AssertionError


@pytest.fixture(scope="module")
def executor() -> Iterator[ProcessExecutor]:
    made = ProcessExecutor(confined=True)
    yield made
    made.close()


@pytest.fixture
def has_namespaces(executor: ProcessExecutor) -> bool:
    return any(way.startswith("namespaces") for way in executor.ways())


def ran(executor: ProcessExecutor, program: str, folder: Path, *, loopback: bool = True) -> Completed:
    argv = (sys.executable, "-I", "-S", "-c", program)
    return executor.run(
        ProcessCommand(argv=argv, cwd=str(folder), env={}, timeout_s=30, folder=str(folder), loopback=loopback)
    )


def test_a_call_talks_to_itself_where_it_may_and_nowhere_else(
    executor: ProcessExecutor, has_namespaces: bool, tmp_path: Path
) -> None:
    if not executor.ways():
        pytest.skip("this machine confines nothing")
    if not has_namespaces:
        with pytest.raises((ControlPlaneError, MachineError)):
            ran(executor, TALKS, tmp_path)
        return
    assert ran(executor, TALKS, tmp_path).stdout == b"to itself\n"
    assert ran(executor, TALKS, tmp_path, loopback=False).exit_code == 1


def test_nobody_else_is_on_it_and_all_else_is_held_as_without(
    executor: ProcessExecutor, has_namespaces: bool, tmp_path: Path
) -> None:
    if not has_namespaces:
        pytest.skip("this machine has no namespaces")
    held = []
    for name, runs in (("plain", executor), ("talking", Talking(executor))):
        inside, outside = tmp_path / name / "inside", tmp_path / name / "outside"
        inside.mkdir(parents=True)
        outside.mkdir()
        held.append(measure(runs, inside, outside))
    assert held[0] == held[1]
    assert {"tcp", "udp", "unix"} <= set(held[1])


def test_a_listener_of_this_machine_on_the_same_port_is_another_one(
    executor: ProcessExecutor, has_namespaces: bool, tmp_path: Path
) -> None:
    if not has_namespaces:
        pytest.skip("this machine has no namespaces")
    with socket.create_server(("127.0.0.1", 18999)):
        # the port is taken out here, and free in there
        assert ran(executor, LISTENS, tmp_path).stdout == b"nobody came\n"


def test_without_a_sandbox_it_changes_nothing(tmp_path: Path) -> None:
    free = ProcessExecutor()
    try:
        assert ran(free, TALKS, tmp_path).stdout == b"to itself\n"
    finally:
        free.close()
