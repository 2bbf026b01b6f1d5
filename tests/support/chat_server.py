"""A real HTTP server on loopback that speaks chat completions as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from pydantic import JsonValue

__all__ = ["ChatServer", "call", "serving", "text"]


def call(command: str, id_: str = "call-1") -> dict[str, JsonValue]:
    """A choice that calls the command tool."""
    function: dict[str, JsonValue] = {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
    message: dict[str, JsonValue] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function}],
    }
    return {"index": 0, "message": message, "finish_reason": "tool_calls"}


def text(said: str) -> dict[str, JsonValue]:
    """A choice that only speaks."""
    return {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}


class ChatServer(ThreadingHTTPServer):
    """``answer`` sees each request's body and gives a status and a body; requests and headers are kept."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, answer: Callable[[dict[str, JsonValue]], tuple[int, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.bodies: list[dict[str, JsonValue]] = []
        self.keys: list[str] = []
        self.asked = threading.Event()

    @property
    def url(self) -> str:
        """Base URL of the API."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"
    quiet: ClassVar[bool] = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers.get("Authorization", ""))
        self.server.asked.set()
        status, data = self.server.answer(body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Say nothing."""


def completion(choice: dict[str, JsonValue]) -> bytes:
    """A whole answer around one choice."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return json.dumps({"id": "x", "model": "toy-1", "choices": [choice], "usage": usage}).encode()


@contextmanager
def serving(answer: Callable[[dict[str, JsonValue]], dict[str, JsonValue] | tuple[int, bytes]]) -> Iterator[ChatServer]:
    """A server while the block runs; ``answer`` gives a choice, or a status with a raw body."""

    def whole(body: dict[str, JsonValue]) -> tuple[int, bytes]:
        given = answer(body)
        return given if isinstance(given, tuple) else (200, completion(given))

    server = ChatServer(whole)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
