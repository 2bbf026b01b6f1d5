"""What a replayed turn costs: ``python tests/bench/replay.py [--require-flat RATIO] [--require-vcr RATIO]``.

Two ratios of medians inside one run. Flat: a turn of a recording of 10,000 exchanges over one of 10. Against vcrpy,
matching the body as we do, at 1,000 exchanges; without vcrpy a line says that this was left out.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, cast

import httpx

from harness.recording import Dress, dump, load
from harness.recording.transport import ReplayTransport
from harness.schema.actor import ActorIdentity
from harness.schema.base import JsonValue, digest_text
from harness.schema.process import PlaneIdentity
from harness.schema.recording import Recording, RecordingHeader

PATH = "/v1/chat/completions"
URL = f"https://api.example.test{PATH}"
HEADERS = {"content-type": "application/json"}
VOLATILE = ("/event/id",)
SMALL, LARGE, AGAINST_VCR = 10, 10_000, 1_000
REPLY = b'{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"done"}}]}'


class Vcr(Protocol):
    """As much of vcrpy as is used here."""

    def use_cassette(
        self, path: str, *, record_mode: str, match_on: list[str], allow_playback_repeats: bool
    ) -> AbstractContextManager[object]:
        """Answer from a file within the context."""


def body(number: int) -> bytes:
    """A short conversation whose last message is a plane's answer."""
    answer = json.dumps({"event": {"id": f"e{number}"}, "todo": number, "state": "open"})
    messages: list[JsonValue] = [
        {"role": "system", "content": "You work through a queue of small tasks."},
        {"role": "user", "content": f"Do task {number} and report what you did."},
        {"role": "tool", "tool_call_id": "c1", "content": answer},
    ]
    return json.dumps({"model": "m", "messages": messages, "stream": False}).encode()


def made(size: int, dress: Dress) -> Recording:
    """A recording of so many different exchanges, read from its bytes."""
    header = RecordingHeader(
        scenario="bench/replay",
        scenario_digest=digest_text(""),
        actor=ActorIdentity(ref="openai/m", kind="live", provider="openai", model="m", digest=digest_text("")),
        plane=PlaneIdentity(name="none", version="0"),
        trial=1,
        prompt=digest_text(""),
        tools=digest_text(""),
        volatile=VOLATILE,
        provenance="simulated",
        classifier_version=1,
    )
    response = dress.response(200, HEADERS, REPLY)
    exchanges = [dress.exchange(n, dress.request("POST", PATH, HEADERS, body(n)), response) for n in range(1, size + 1)]
    return load(dump(header, exchanges, []))


def timed(call: Callable[[int], None], size: int) -> list[float]:
    """Microseconds of each call, in order."""
    spent = []
    for number in range(1, size + 1):
        start = time.perf_counter()
        call(number)
        spent.append((time.perf_counter() - start) * 1e6)
    return spent


def replays(recording: Recording, dress: Dress, size: int, rounds: int) -> list[float]:
    """Microseconds of each turn through an httpx client, as the actor's transport has one."""
    times: list[float] = []
    for _ in range(rounds):
        with httpx.Client(transport=ReplayTransport(recording, dress)) as client:
            times += timed(lambda number, ask=client: _post(ask, number), size)  # type: ignore[misc]  # bound at once
    return times


def _post(client: httpx.Client, number: int) -> None:
    if client.post(URL, content=body(number), headers=HEADERS).content != REPLY:
        raise SystemExit(f"turn {number} was answered wrongly")


def cassettes(vcr: Vcr, folder: Path, size: int) -> list[float]:
    """Microseconds of each turn of vcrpy over a cassette of the same exchanges."""
    interactions = [
        {
            "request": {
                "method": "POST",
                "uri": URL,
                "body": body(n).decode(),
                "headers": {"content-type": [*HEADERS]},
            },
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"content-type": ["application/json"]},
                "body": {"string": REPLY.decode()},
            },
        }
        for n in range(1, size + 1)
    ]
    path = folder / "cassette.yaml"
    path.write_text(json.dumps({"interactions": interactions, "version": 1}), "utf-8")  # JSON is YAML
    matched = ["method", "scheme", "host", "port", "path", "query", "body"]
    with (
        vcr.use_cassette(str(path), record_mode="none", match_on=matched, allow_playback_repeats=False),
        httpx.Client() as client,
    ):

        def ask(number: int) -> None:
            if client.post(URL, content=body(number), headers=HEADERS).content != REPLY:
                raise SystemExit(f"vcrpy answered turn {number} wrongly")

        return timed(ask, size)


def flat(dress: Dress) -> float:
    """Cost of a turn of the large recording over one of the small, from interleaved halves; printed."""
    small, large = made(SMALL, dress), made(LARGE, dress)
    gc.collect()
    times: dict[int, list[float]] = {SMALL: [], LARGE: []}
    replays(small, dress, SMALL, 20)  # what is loaded late is there
    for _ in range(2):
        times[SMALL] += replays(small, dress, SMALL, LARGE // SMALL // 2)
        times[LARGE] += replays(large, dress, LARGE, 1)
    medians = {size: statistics.median(values) for size, values in times.items()}
    tenth = LARGE // 10
    growth = statistics.median(times[LARGE][-tenth:]) / statistics.median(times[LARGE][-LARGE : tenth - LARGE])
    ratio = medians[LARGE] / medians[SMALL]
    sys.stdout.write(
        f"a replayed turn: {medians[SMALL]:.0f} us of {SMALL}, {medians[LARGE]:.0f} us of {LARGE}, ratio {ratio:.2f}; "
        f"last tenth / first tenth {growth:.2f}\n"
    )
    return ratio


def against_vcr(dress: Dress) -> float | None:
    """Cost of a turn of vcrpy over one of ours, printed; None where vcrpy is not installed."""
    if importlib.util.find_spec("vcr") is None:
        sys.stdout.write("vcrpy is not installed: the comparison with it was left out\n")
        return None
    vcr = cast("Vcr", importlib.import_module("vcr"))
    ours = statistics.median(replays(made(AGAINST_VCR, dress), dress, AGAINST_VCR, 2))
    with tempfile.TemporaryDirectory() as folder:
        theirs = statistics.median(cassettes(vcr, Path(folder), AGAINST_VCR))
    sys.stdout.write(f"at {AGAINST_VCR}: vcrpy {theirs:.0f} us, ours {ours:.0f} us, ratio {theirs / ours:.0f}\n")
    return theirs / ours


def main() -> int:
    """Measure, print, and judge where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--require-flat", type=float, default=0.0, help="exit 1 where the ratio of sizes is above this")
    parser.add_argument("--require-vcr", type=float, default=0.0, help="exit 1 where vcrpy is less often dearer")
    options = parser.parse_args()
    dress = Dress(volatile=VOLATILE)
    growth = flat(dress)
    gain = against_vcr(dress)
    failed = bool(options.require_flat) and growth > options.require_flat
    failed = failed or (gain is not None and gain < options.require_vcr)
    if failed:
        sys.stdout.write("a required ratio was missed\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
