"""What a server says on one connection: heads and bodies of answers, read by llhttp, the parser of Node.js."""

from __future__ import annotations

from typing import Final

import httptools

__all__ = ["HEAD_MAX", "AnswerReader"]

#: Most that headers may be, names and values, in bytes; most that may come in a row without any of a body, too.
HEAD_MAX: Final = 64 * 1024
_GONE: Final = "peer closed the connection before the whole answer"
_NOT_HTTP: Final = "the answer is not HTTP"
_FIRST_FINAL: Final = 200


class AnswerReader:
    """Reads one answer after another: ``expect`` one, then ``feed`` it what comes until it ``is_whole``.

    What stands before it of status 1xx is passed over. ``status`` is 0 until its head was read; ``headers`` have names
    in lower case, each once. ``pieces`` of its body are for whoever reads them to take. ``problem`` is why nothing more
    can be read, else None. ``is_kept``: another answer may follow on this connection.
    """

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        # as RFC 9112 has a client read it: 5.2 (folded lines), 2.2 (lines without CR), 6.3 (chunks go before a length);
        # old servers pad the size of a chunk
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_chunked_length=True,
            lenient_spaces_after_chunk_size=True,
        )
        self.expect()

    def expect(self) -> None:
        """The next answer begins."""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.problem: str | None = None
        self.is_whole = self.is_kept = False
        self._raw: list[tuple[bytes, bytes]] = []
        self._lasts = False
        self._size = self._bare = 0

    def feed(self, data: bytes) -> None:
        """Read on; no bytes: the connection ended."""
        if not data:
            self.is_kept = False
            self.is_whole = self._lasts
            self.problem = None if self._lasts else _GONE
            return
        self._bare += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            # what follows a whole answer belongs to none
            self.is_kept = False
            self.problem = None if self.is_whole else _NOT_HTTP
        if self.pieces:
            self._bare = 0
        elif self._bare > HEAD_MAX and not self.is_whole:
            self.problem = _NOT_HTTP

    def end(self) -> None:
        """Nothing more is read: parser and reader, which know each other, need no collector to go. Idempotent."""
        vars(self).pop("_parser", None)

    def on_message_begin(self) -> None:
        """Called by the parser, as are all that follow. Raises HttpParserError."""
        if self.is_whole:
            raise httptools.HttpParserError
        self._raw.clear()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, or one that follows the last chunk."""
        self._size += len(name) + len(value)
        # of a control character a client may make something, but not of this one (RFC 9110, 5.5)
        if self._size > HEAD_MAX or b"\0" in value:
            raise httptools.HttpParserError
        self._raw.append((name, value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        """A head is there. Raises HttpParserError, as the others do, where it cannot be that of an answer."""
        status = self._parser.get_status_code()
        if status < _FIRST_FINAL:
            if status < 100:  # noqa: PLR2004  (no status at all; the parser itself stops at 101)
                raise httptools.HttpParserError
            return
        self.headers = _told(self._raw)
        coding = self.headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise httptools.HttpParserError
        self.status = status
        self.is_kept = self._parser.should_keep_alive()
        self._lasts = coding is None and "content-length" not in self.headers

    def on_body(self, piece: bytes) -> None:
        """Some of a body."""
        self.pieces.append(piece)

    def on_message_complete(self) -> None:
        """The end of an answer, or of what stood before it."""
        self.is_whole = self.status > 0


def _told(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Each header once, what is said in several lines joined by commas; in the first encoding that fits them all."""
    try:
        lines = [(name.decode(), value.decode()) for name, value in raw]
    except UnicodeDecodeError:
        lines = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
    told: dict[str, str] = {}
    for name, value in lines:
        key = name.lower()
        told[key] = f"{told[key]}, {value}" if key in told else value
    return told
