from __future__ import annotations

import socket

import httpx
import pytest


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_that_would_leave_the_machine_fails_the_test(family: socket.AddressFamily) -> None:
    address = "192.0.2.1" if family is socket.AF_INET else "2001:db8::1"
    with socket.socket(family) as sock:
        with pytest.raises(pytest.fail.Exception, match="loopback"):
            sock.connect((address, 80))
        with pytest.raises(pytest.fail.Exception, match="loopback"):
            sock.connect_ex((address, 80))


def test_a_look_up_of_another_machine_fails_the_test() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"example\.invalid"):
        socket.getaddrinfo("example.invalid", 80)


def test_an_http_client_is_held_too() -> None:
    with httpx.Client() as client, pytest.raises(pytest.fail.Exception, match="loopback"):
        client.get("http://192.0.2.1/")


def test_loopback_may_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5) as client:
            assert client.getpeername()[1] == port
        with socket.socket() as client:
            assert client.connect_ex(("127.0.0.1", port)) == 0


def test_sockets_without_addresses_of_machines_are_free() -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"x")
        assert right.recv(1) == b"x"
