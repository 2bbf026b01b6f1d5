"""The simulated provider's sockets: loopback only, one thread a connection, every bound explicit."""

from __future__ import annotations

import math
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader
from pathlib import Path
from typing import Final, TextIO

from harness.clock import SystemClock
from harness.errors import EnvironmentProblem, StoreError
from harness.ports import Provider
from harness.rehearsal.dialects import Endpoints
from harness.rehearsal.heads import answer_head, first_fields, plain_head
from harness.rehearsal.performance import Performance
from harness.rehearsal.serving import Serving
from harness.rehearsal.stage import Stage
from harness.schema.rehearsal import REHEARSAL_HEADER, SIMULATED_HEADER, PolicyFile
from harness.schema.scenario import Scenario

__all__ = ["BODY_MAX", "Rehearsal"]

#: Largest request body that is read, in bytes.
BODY_MAX: Final = 16 * 1024 * 1024
_LOG_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
_HOST: Final = "127.0.0.1"
#: Says that no real model answered, whatever the answer is.
_SIMULATED: Final = {SIMULATED_HEADER: "rehearsal"}
#: SO_LINGER that is on with no time: closing throws away what is left and resets the connection.
_RESETS: Final = struct.pack("ii", 1, 0)


class Rehearsal:
    """A simulated provider that plays scripts of scenarios under model names."""

    def __init__(
        self, scenarios: Sequence[Scenario], policies: PolicyFile, seed: int, codec: Provider, *more: Provider
    ) -> None:
        """The dialect of each codec is spoken, all on one port.

        Raises ConfigError for a policy that cannot play the scenarios it names, CatalogError for a codec of an unknown
        dialect.
        """
        self._endpoints = Endpoints((codec, *more))
        self._stage = Stage(scenarios, policies, seed, self._endpoints)

    @contextmanager
    def serve(self, port: int = 0, log: Path | None = None) -> Iterator[Serving]:
        """Serve on loopback while the block runs; port 0 takes any that is free.

        ``log`` gets one JSON line a call, appended. At the end connections are closed, waiting ones too. Raises
        StoreError where the log cannot be written, EnvironmentProblem where the port cannot be taken.
        """
        with _opened(log) as file, _bound(self._stage, port) as server:
            here = f"http://{_HOST}:{server.server_port}"
            urls = {name: here + base for name, base in self._endpoints.bases.items()}
            server.serving = Serving(urls, self._stage.models, file)
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="rehearsal")
            thread.start()
            try:
                yield server.serving
            finally:
                server.stopping.set()
                server.shutdown()
                thread.join()
                server.hang_up()


@contextmanager
def _opened(log: Path | None) -> Iterator[TextIO | None]:
    if log is None:
        yield None
        return
    try:
        # a pipe that nobody reads would be waited for
        file = open(os.open(log, _LOG_FLAGS, 0o644), "a", encoding="utf-8")  # noqa: PTH123, SIM115  (a descriptor)
    except OSError as error:
        raise StoreError(f"{log}: cannot be written: {error.strerror}") from None
    with file:
        yield file


@contextmanager
def _bound(stage: Stage, port: int) -> Iterator[_Server]:
    try:
        server = _Server(stage, port)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise EnvironmentProblem(f"port {port} of {_HOST} cannot be taken: {why}") from None
    with server:
        yield server


class _Server(ThreadingHTTPServer):
    # Its threads are waited for: every connection is closed first, so none of them can wait for long.
    daemon_threads = False
    request_queue_size = 256
    serving: Serving

    def __init__(self, stage: Stage, port: int) -> None:
        self.stage = stage
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__((_HOST, port), _Handler)

    def server_bind(self) -> None:
        """Bind without asking for this machine's name, which may take long."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = _HOST, self.server_address[1]

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Remember the connection, so that it can be closed from outside."""
        if isinstance(request, socket.socket):
            with self._lock:
                self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close a connection; one that was told to reset is not ended politely first."""
        if not isinstance(request, socket.socket):
            return
        with self._lock:
            self._open.discard(request)
            on, _ = struct.unpack("ii", request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, len(_RESETS)))
            if on:
                request.close()
            else:
                super().shutdown_request(request)

    def hang_up(self) -> None:
        """Wake every thread that reads from or writes to a connection."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error; anything else is one line without its text."""
        del request, client_address
        error = sys.exception()
        if not isinstance(error, OSError):
            sys.stderr.write(f"harness: a bug of the rehearsal server: {type(error).__name__}\n")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    rfile: BufferedReader
    protocol_version = "HTTP/1.1"
    server_version = "harness-rehearsal"
    sys_version = ""
    # An answer leaves in one piece at once; a small piece held back would add 40 ms to every call.
    disable_nagle_algorithm = True
    wbufsize = -1

    def handle_one_request(self) -> None:
        """One request and its answer; of a head that is not plain all is left to ``http.server``."""
        head = plain_head(self.rfile.peek())
        if head is None:
            super().handle_one_request()
            return
        self.rfile.read(head.size)
        self.command, self.path, self.request_version = head.method, head.target, "HTTP/1.1"
        self.close_connection = head.is_last
        self._answer(head.fields)
        self.wfile.flush()

    def do_POST(self) -> None:
        """One model call."""
        self._answer(first_fields(self.headers.items()))

    def do_GET(self) -> None:
        """Which models there are, and what each plays."""
        self._answer(first_fields(self.headers.items()))

    def _answer(self, fields: Mapping[str, str]) -> None:
        """One request with these header fields, names in lower case."""
        if self.command == "GET":
            self._perform(self.server.stage.listing(self.path, fields))
            return
        body = self._body(fields.get("content-length", ""))
        if body is not None:
            self._perform(self.server.stage.perform(self.path, fields.get(REHEARSAL_HEADER), body))

    def _body(self, length: str) -> bytes | None:
        """The request's body; None where it has none that is read, which is answered, or its client went away."""
        if not (length.isascii() and length.isdigit()):
            self._refuse(411, "length_required", "the request needs a content-length")
        elif len(length) > len(str(BODY_MAX)) or int(length) > BODY_MAX:
            self._refuse(413, "body_too_large", f"a request has at most {BODY_MAX} bytes")
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                return body
            self.close_connection = True
        return None

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Refuse and close: what stands on the connection from here on is not read."""
        self.close_connection = True
        self._perform(self.server.stage.refuse(self.path, status, code, message))

    def _perform(self, play: Performance) -> None:
        if play.call is not None:
            self.server.serving.note(play.call)
        elif play.status != HTTPStatus.OK:
            self.close_connection = True
        if play.latency_ms and self.server.stopping.wait(play.latency_ms / 1000):
            self.close_connection = True
            return
        if play.fault == "hang":
            self._wait_for_the_client()
            return
        self._send(play, is_chunked=self._begin(play))

    def _send(self, play: Performance, *, is_chunked: bool) -> None:
        """The body, as far as it goes."""
        for number, piece in enumerate(play.pieces):
            if number == play.breaks_at:
                break
            if number == play.pauses_at and not self._pause(play.pause_s):
                return
            if piece:  # an empty chunk would be the end
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
                self.wfile.flush()
        if play.breaks_at is not None:
            self._break_off(is_reset=play.fault == "reset")
        elif is_chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _begin(self, play: Performance) -> bool:
        """Send status and headers; whether what follows is sent in chunks, for its length is not told."""
        now = SystemClock().now()
        headers = {"content-type": "application/json", **play.headers, **_SIMULATED}
        is_chunked = play.streamed and self.request_version != "HTTP/1.0"
        if is_chunked:
            headers["transfer-encoding"] = "chunked"
        elif play.streamed:
            self.close_connection = True
        else:
            headers["content-length"] = str(len(play.body))
        if play.retry_in_s is not None:
            # dates have no fractions: nobody is to come back too soon
            then = now + timedelta(seconds=math.ceil(play.retry_in_s))
            headers["retry-after"] = format_datetime(then.astimezone(UTC), usegmt=True)
        if self.close_connection:
            headers["connection"] = "close"
        if self.request_version != "HTTP/0.9":  # whose answers are a body and nothing else
            self.wfile.write(answer_head(play.status, self.version_string(), now, headers))
        return is_chunked

    def _pause(self, seconds: float | None) -> bool:
        """Be silent; whether the answer goes on then."""
        if seconds is None:
            self._wait_for_the_client()
            return False
        if self.server.stopping.wait(seconds):
            self.close_connection = True
            return False
        return True

    def _wait_for_the_client(self) -> None:
        """Until it goes away, or the server closes the connection."""
        self.connection.recv(1)
        self.close_connection = True

    def _break_off(self, *, is_reset: bool) -> None:
        self.wfile.flush()
        if is_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Say nothing: what was played is in ``calls``."""
