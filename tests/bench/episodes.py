"""Whole episodes of five in-process tool calls, logs on disk: ``python tests/bench/episodes.py [--require RATIO]``.

Episodes a second of ours over samples a second of Inspect AI, medians of runs that alternate: of Inspect AI as it is by
default, whose log can be looked at while it grows (as our run folder can), and with its log written at the end. Each
run has played some episodes before it is timed. Ours has a process for each processor, Inspect AI its one. Ours makes
a workspace for each episode below the temporary directory: that is measured where the system has it, and once more with
one in memory, as docs/running.md advises; logs lie on disk in either case. Without an interpreter that has inspect-ai
a line says that this was left out. Then what the memory of a run grows by from ``--small`` episodes to ``--large``.
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

from workspaces import MEMORY, environment

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


def played(python: Path, side: Path, count: int, *more: str, workspaces: Path | None = None) -> Played:
    """One run in a fresh process. Raises SystemExit where an episode does not pass."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), str(side), str(count), str(Path(folder) / "run"), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(workspaces))
    if done.returncode:
        raise SystemExit(f"{side.name} exits {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return Played(told["seconds"], told["processor_seconds"], int(told["passed"]), int(told["peak_kib"]))


@dataclass(frozen=True)
class Side:
    """One way to play: how it is told, and what plays."""

    name: str
    python: Path
    script: Path
    more: tuple[str, ...] = ()
    workspaces: Path | None = None


def against_inspect(python: Path, count: int, runs: int) -> tuple[float | None, float | None]:
    """Our rate over that of Inspect by default, and the same with workspaces in memory, printed.

    None for what was left out.
    """
    ours, theirs = Side("ours", Path(sys.executable), OURS), Side("Inspect AI", python, THEIRS)
    in_memory = Side("ours with workspaces in memory", ours.python, OURS, (), MEMORY)
    sides = [ours, theirs, Side("Inspect AI with its log at the end", python, THEIRS, ("--log-at-end",))]
    if not python.exists():
        sys.stdout.write(f"{python} is not there: the comparison with Inspect AI was left out\n")
        return None, None
    if MEMORY is None:
        sys.stdout.write("this system has no directory in memory: workspaces there were left out\n")
    else:
        sides.insert(1, in_memory)
    found: dict[Side, list[Played]] = {side: [] for side in sides}
    for _ in range(runs):
        for side, those in found.items():
            those.append(played(side.python, side.script, count, *side.more, workspaces=side.workspaces))
    rates = {side: count / statistics.median(run.seconds for run in those) for side, those in found.items()}
    sys.stdout.write(f"{count} episodes of five calls, medians of {runs} alternating runs:\n")
    for side, those in found.items():
        burnt = statistics.median(run.processor_seconds for run in those) / count * 1000
        ratio = f", ratio {rates[side] / rates[theirs]:.1f}" if side.script == OURS else ""
        sys.stdout.write(f"  {side.name}: {rates[side]:.1f} episodes/s, {burnt:.1f} ms of processor each{ratio}\n")
    return rates[ours] / rates[theirs], rates[in_memory] / rates[theirs] if in_memory in rates else None


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
    parser.add_argument("--require-in-memory", type=float, default=0.0, help="the same with workspaces in memory")
    parser.add_argument("--require-memory", type=float, help="exit 1 where more MiB are added than this")
    options = parser.parse_args()
    ratio, in_memory = against_inspect(options.inspect, options.episodes, options.runs)
    grown = growth(options.small, options.large)
    failed = ratio is not None and ratio < options.require
    failed = failed or (in_memory is not None and in_memory < options.require_in_memory)
    failed = failed or (options.require_memory is not None and grown > options.require_memory)
    if failed:
        sys.stdout.write("a required number was missed\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
