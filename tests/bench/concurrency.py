"""Live episodes side by side against the simulated provider: ``python tests/bench/concurrency.py``.

AT_ONCE episodes of six model calls at a time, in a process a processor, over HTTP on loopback, the provider in a
process of its own:

- at 500 ms for each answer: our rate over the most that can be had, which is AT_ONCE / (latency x calls);
- at 50 ms: our rate over that of a bare loop (as many threads with an httpx client each, the same requests, answers
  read as JSON), and over that of Inspect AI with its own provider for such APIs, where an interpreter has it;
- a storm: a share of the attempts is refused with 429. Every trial is judged in the end, and the attempts at calls are
  counted apart from the trials.

Medians of runs that alternate. Our workspaces lie in memory where the system has room for files there, as
docs/running.md advises (the others make none); our logs lie in the temporary directory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workspaces import MEMORY, environment

HERE = Path(__file__).parent
INSPECT = Path(".stamp/inspect/bin/python")
AT_ONCE, CALLS, STORM = 64, 6, 0.3
#: Trials in the storm: it slows all of them down together, as it is to.
STORMED = 16

Told = dict[str, float]


@contextmanager
def serving(latency_ms: float, storm: float = 0.0) -> Iterator[str]:
    """The provider's address while the block runs."""
    command = [sys.executable, str(HERE / "server_side.py"), str(latency_ms), str(storm)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.wait(30)


def played(python: Path, side: str, url: str, count: int) -> Told:
    """One run in a fresh process. Raises SystemExit where an episode does not pass."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), str(HERE / side), url, str(count), str(AT_ONCE), *([folder] if "live" in side else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(MEMORY))
    if done.returncode:
        raise SystemExit(f"{side} exits {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


def rate(runs: list[Told], count: int) -> float:
    """Episodes a second, the median of the runs."""
    return count / statistics.median(run["seconds"] for run in runs)


def of_the_bound(count: int, runs: int, latency_ms: float) -> float:
    """Our rate over the most that can be had, printed."""
    with serving(latency_ms) as url:
        ours = rate([played(Path(sys.executable), "live_side.py", url, count) for _ in range(runs)], count)
    bound = AT_ONCE / (latency_ms / 1000 * CALLS)
    sys.stdout.write(
        f"{count} live episodes, {AT_ONCE} at once, {latency_ms:g} ms for each of {CALLS} answers: {ours:.1f} "
        f"episodes/s of {bound:.1f} that can be had, {ours / bound:.3f}\n"
    )
    return ours / bound


def against_others(count: int, runs: int, latency_ms: float, inspect: Path) -> tuple[float, float | None]:
    """Our rate over that of a bare loop and over Inspect AI's (None where there is none), printed."""
    ours, bare, theirs = [], [], []
    with serving(latency_ms) as url:
        for _ in range(runs):
            bare.append(played(Path(sys.executable), "bare_side.py", url, count))
            ours.append(played(Path(sys.executable), "live_side.py", url, count))
            if inspect.exists():
                theirs.append(played(inspect, "inspect_live_side.py", url, count))
    mine, plain = rate(ours, count), rate(bare, count)
    beside = f"{inspect} is not there: Inspect AI was left out"
    if theirs:
        other = rate(theirs, count)
        beside = f"Inspect AI {other:.1f}, ratio {mine / other:.1f}"
    sys.stdout.write(
        f"at {latency_ms:g} ms, medians of {runs} alternating runs of {count}: ours {mine:.1f} episodes/s; a bare loop "
        f"{plain:.1f}, ratio {mine / plain:.2f}; {beside}\n"
    )
    return mine / plain, mine / rate(theirs, count) if theirs else None


def storm(count: int) -> bool:
    """Whether every trial was judged once although a share of the attempts was refused; printed."""
    with serving(5, STORM) as url:
        told = played(Path(sys.executable), "live_side.py", url, count)
    sys.stdout.write(
        f"{STORM:.0%} of the attempts refused: {told['trials']:g} of {count} trials judged and passed, "
        f"{told['calls']:g} attempts at {count * CALLS} calls, {told['refused_calls']:g} of them refused, "
        f"{told['repeated_trials']:g} trials tried again\n"
    )
    return told["trials"] == count == told["passed"] and told["refused_calls"] > 0


def main() -> int:
    """Measure, print, and judge where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inspect", type=Path, default=INSPECT, help="interpreter that has inspect-ai and openai")
    parser.add_argument("--episodes", type=int, default=4 * AT_ONCE)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--require-bound", type=float, default=0.0, help="share of what can be had at 500 ms")
    parser.add_argument("--require-bare", type=float, default=0.0, help="share of a bare loop's rate at 50 ms")
    parser.add_argument("--require", type=float, default=0.0, help="ratio to Inspect AI at 50 ms")
    options = parser.parse_args()
    bound = of_the_bound(options.episodes, options.runs, 500)
    bare, ratio = against_others(options.episodes, options.runs, 50, options.inspect)
    missed = [
        name
        for name, is_missed in (
            ("the bound", bound < options.require_bound),
            ("the bare loop", bare < options.require_bare),
            ("Inspect AI", ratio is not None and ratio < options.require),
            ("the storm", not storm(STORMED)),
        )
        if is_missed
    ]
    if missed:
        sys.stdout.write(f"a required number was missed: {', '.join(missed)}\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
