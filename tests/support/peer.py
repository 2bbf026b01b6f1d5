"""A server on a real socket of this machine that answers with what a test says."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

__all__ = ["OK", "Handler", "Peer", "Peers", "answering", "answering_once"]

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"

Handler = Callable[[socket.socket, "Peer"], None]


class Peer:
    """A server that answers every connection with one function; it remembers the requests and the closed ends."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1/chat/completions"
        self.requests: list[bytes] = []
        self.connections = 0
        self.asked = threading.Event()
        self.closed = threading.Event()
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                try:
                    self._handler(connection, self)
                except OSError:
                    self.closed.set()

    def request(self, connection: socket.socket) -> bytes:
        """Read one request with its body; empty where the other end closed."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return b""
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(x.split(b":")[1]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length"))
        while len(body) < length:
            body += connection.recv(65536)
        self.requests.append(head + b"\r\n\r\n" + body)
        self.asked.set()
        return self.requests[-1]

    def wait_closed(self, connection: socket.socket) -> None:
        """Wait until the other end is gone."""
        if connection.recv(1) == b"":
            self.closed.set()

    def close(self) -> None:
        self.stop.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


Peers = Callable[[Handler], Peer]


def answering(answer: bytes) -> Handler:
    def handle(connection: socket.socket, peer: Peer) -> None:
        while peer.request(connection):
            connection.sendall(answer)

    return handle


def answering_once(answer: bytes) -> Handler:
    def handle(connection: socket.socket, peer: Peer) -> None:
        peer.request(connection)
        connection.sendall(answer)

    return handle
