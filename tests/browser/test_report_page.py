"""The report page of a real run, in a real browser that reaches nothing but the file."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from command_line import CommandLine

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.plane,
    pytest.mark.skipif(BROWSER is None, reason="no chromium is on the PATH: the report page is not looked at"),
]

#: What a browser asks for by itself, whatever it shows.
OWN = re.compile(rb"[\w.]*(?<!fonts)\.(google|googleapis)\.com(:443)?\Z")
ACTORS = ("script", "script:quota_reentry_before_callsite", "script:quota_execution_failed")
SIZE = (480, 640)


@dataclass(frozen=True)
class Seen:
    """What came of showing one page."""

    output: bytes
    console: list[str]
    asked: list[bytes]


class Show(Protocol):
    """Shows a file with more options of the browser."""

    def __call__(self, file: Path, *options: str) -> Seen: ...


class Proxy:
    """The only way out for a browser: notes the host of each request and answers nothing."""

    def __init__(self) -> None:
        self.hosts: list[bytes] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                host = re.match(rb"\w+ (?:https?://)?([^/ ]+)", connection.recv(4096))
                self.hosts.append(host[1] if host else b"?")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.socket.getsockname()[1]}"

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


@pytest.fixture
def show(tmp_path: Path) -> Iterator[Show]:
    """A browser with a profile of its own."""
    proxy = Proxy()

    def shown(file: Path, *options: str) -> Seen:
        quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        argv = [BROWSER or "", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", *quiet]
        argv += [f"--user-data-dir={tmp_path / 'profile'}", f"--proxy-server={proxy.address}", "--hide-scrollbars"]
        argv += [f"--window-size={SIZE[0]},{SIZE[1]}", "--enable-logging=stderr", *options, file.as_uri()]
        done = subprocess.run(argv, capture_output=True, timeout=120, check=True)
        console = re.findall(r"CONSOLE[^\n]*", done.stderr.decode("utf-8", "replace"))
        return Seen(done.stdout, console, [host for host in proxy.hosts if not OWN.match(host)])

    yield shown
    proxy.close()


@pytest.fixture
def page(plane_home: Path, tmp_path: Path) -> Path:
    """The page of a run with one pass and two failures."""
    line = CommandLine(plane_home, tmp_path / "run")
    actors = [word for actor in ACTORS for word in ("--actor", actor)]
    done = line.run("run", "loopx/capability-repair", *actors, "--report", "html", "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (1, b"")
    return tmp_path / "out/report.html"


def test_the_page_opens_offline_without_a_complaint_and_shows_counts_and_rules(page: Path, show: Show) -> None:
    seen = show(page, "--dump-dom")
    assert (seen.console, seen.asked) == ([], [])
    dom = seen.output.decode("utf-8")
    assert "<h1>1 of 3 passed, 2 failed</h1>" in dom
    tiles = dict(re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd></div>", dom))
    assert tiles == {"passed": "1", "failed": "2", "not judged": "0", "pending": "0", "not run": "0"}
    drawn = re.findall(r'<use href="#([^"]+)">', dom)
    assert len(drawn) == len(set(drawn)) == 3
    for name in drawn:
        art = dom[dom.index(f'<g id="{name}"') :].partition("</defs>")[0]
        assert {"informed", "verified", "quota_reentry"} <= set(re.findall(r"<text[^>]*>([^<]+)</text>", art))
        assert 'class="edge taken"' in art or 'class="node visited"' in art
    assert dom.replace("<wbr>", "").count("quota_reentry_before_callsite") > 1


def test_a_page_that_asks_for_something_or_fails_is_noticed(tmp_path: Path, show: Show) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://example.com/x.png"><script>nothing_of_the_kind()</script>', "utf-8")
    seen = show(bad, "--dump-dom")
    assert seen.asked == [b"example.com"]
    assert "nothing_of_the_kind is not defined" in seen.console[0]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_text_stands_out_from_its_ground_in_both_themes(page: Path, tmp_path: Path, show: Show, theme: str) -> None:
    picture = tmp_path / "page.png"
    show(page, f"--screenshot={picture}", f"--blink-settings=preferredColorScheme={int(theme == 'light')}")
    shades = Counter(luminance(*color) for color in pixels(picture.read_bytes()))
    ground = shades.most_common(1)[0][0]
    assert (ground > 0.5) == (theme == "light")
    ink = min(shades) if theme == "light" else max(shades)
    bright, dim = max(ink, ground), min(ink, ground)
    assert (bright + 0.05) / (dim + 0.05) > 7


def luminance(red: int, green: int, blue: int) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [part / 255 for part in (red, green, blue)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def pixels(png: bytes) -> Iterator[tuple[int, int, int]]:
    """The colours of a PNG of 8 bits a channel, without interlacing; its lines are unfiltered by the PNG standard."""
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        size, kind = int.from_bytes(png[at : at + 4]), png[at + 4 : at + 8]
        chunks[kind] = chunks.get(kind, b"") + png[at + 8 : at + 8 + size]
        at += size + 12
    assert (int.from_bytes(chunks[b"IHDR"][:4]), chunks[b"IHDR"][8]) == (SIZE[0], 8)
    step = {2: 3, 6: 4}[chunks[b"IHDR"][9]]
    data = zlib.decompress(chunks[b"IDAT"])
    above = bytearray(SIZE[0] * step)
    for start in range(0, len(data), len(above) + 1):
        row = bytearray(data[start + 1 : start + 1 + len(above)])
        for place in range(len(row)):
            left = row[place - step] if place >= step else 0
            corner = above[place - step] if place >= step else 0
            row[place] = (row[place] + predicted(data[start], left, above[place], corner)) % 256
        yield from ((row[place], row[place + 1], row[place + 2]) for place in range(0, len(row), step))
        above = row


def predicted(sort: int, left: int, up: int, corner: int) -> int:
    """What a filter of a PNG line took away from each byte."""
    if sort == 4:
        guess = left + up - corner
        return min((left, up, corner), key=lambda one: abs(guess - one))
    return (0, left, up, (left + up) // 2)[sort]
