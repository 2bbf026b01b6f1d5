"""Whole episodes of five in-process tool calls, logs on disk: ``python tests/bench/episodes.py [--require RATIO]``.

Episodes a second of ours over samples a second of Inspect AI, medians of runs that alternate: of Inspect AI as it is by
default, whose log can be looked at while it grows (as our run folder can), and with its log written at the end. Each
run has played some episodes before it is timed. Ours has a process for each processor, Inspect AI its one. Without an
interpreter that has inspect-ai a line says that this was left out. Then what the memory of a run grows by from
``--small`` episodes to ``--large``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
OURS, THEIRS = HERE / "own_side.py", HERE / "inspect_side.py"
INSPECT = Path(".stamp/inspect/bin/python")


@dataclass(frozen=True)
class Played:
    """What one run took."""

    seconds: float
    processor_seconds: float
    passed: int
    peak_kib: int


def played(python: Path, side: Path, count: int, *more: str) -> Played:
    """One run in a fresh process. Raises SystemExit where an episode does not pass."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), str(side), str(count), str(Path(folder) / "run"), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{side.name} exits {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return Played(told["seconds"], told["processor_seconds"], int(told["passed"]), int(told["peak_kib"]))


def against_inspect(python: Path, count: int, runs: int) -> float | None:
    """Our rate over that of Inspect by default, printed; None where there is no Inspect."""
    if not python.exists():
        sys.stdout.write(f"{python} is not there: the comparison with Inspect AI was left out\n")
        return None
    ours, theirs, at_end = [], [], []
    for _ in range(runs):
        ours.append(played(Path(sys.executable), OURS, count))
        theirs.append(played(python, THEIRS, count))
        at_end.append(played(python, THEIRS, count, "--log-at-end"))
    sides = (ours, theirs, at_end)
    rates = [count / statistics.median(run.seconds for run in side) for side in sides]
    burnt = [statistics.median(run.processor_seconds for run in side) / count * 1000 for side in sides]
    sys.stdout.write(
        f"{count} episodes of five calls, medians of {runs} alternating runs: ours {rates[0]:.0f} episodes/s "
        f"({burnt[0]:.1f} ms of processor each); Inspect AI {rates[1]:.1f} ({burnt[1]:.1f} ms), ratio "
        f"{rates[0] / rates[1]:.1f}; with its log at the end {rates[2]:.1f} ({burnt[2]:.1f} ms), ratio "
        f"{rates[0] / rates[2]:.1f}\n"
    )
    return rates[0] / rates[1]


def growth(small: int, large: int) -> float:
    """MiB that the larger run's peak is above the smaller's; printed."""
    peaks = [played(Path(sys.executable), OURS, count).peak_kib / 1024 for count in (small, large)]
    grown = peaks[1] - peaks[0]
    sys.stdout.write(
        f"peak memory: {peaks[0]:.0f} MiB at {small} episodes, {peaks[1]:.0f} MiB at {large}, {grown:.1f} MiB more\n"
    )
    return grown


def main() -> int:
    """Measure, print, and judge where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inspect", type=Path, default=INSPECT, help="interpreter that has inspect-ai")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--large", type=int, default=10_000)
    parser.add_argument("--require", type=float, default=0.0, help="exit 1 where the ratio of rates is below this")
    parser.add_argument("--require-memory", type=float, help="exit 1 where more MiB are added than this")
    options = parser.parse_args()
    ratio = against_inspect(options.inspect, options.episodes, options.runs)
    grown = growth(options.small, options.large)
    failed = ratio is not None and ratio < options.require
    failed = failed or (options.require_memory is not None and grown > options.require_memory)
    if failed:
        sys.stdout.write("a required number was missed\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
