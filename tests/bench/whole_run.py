"""All bundled scenarios in one run beside single calls: ``python tests/bench/whole_run.py [--require SHARE]``.

The bound is twice the calls of loopx that the run makes, each as long as a warm one takes here, and two cold ones: what
is over it harness itself costs. Installs loopx below ``--home`` where it is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import planes

from harness.executors.process import ProcessExecutor
from harness.executors.warm import WarmExecutor
from harness.provision import install

LOOPX = "loopx==0.4.8"


def single_calls(home: Path, pairs: int) -> tuple[float, float]:
    """Seconds of a warm and of a cold call, medians."""
    installed = install(LOOPX, home=home)
    cold = ProcessExecutor()
    warm = WarmExecutor(installed.python, fallback=cold)
    with tempfile.TemporaryDirectory() as folder:
        project = planes.build_workspace(Path(folder).resolve())
        opened = {
            name: planes.opened(installed, project, executor) for name, executor in (("cold", cold), ("warm", warm))
        }
        times = planes.measure(opened, pairs)
    warm.close()
    cold.close()
    return statistics.median(times["warm"]) / 1000, statistics.median(times["cold"]) / 1000


def whole_run(home: Path) -> tuple[float, int]:
    """Seconds of a run of all bundled scenarios with their scripts, and how often it called loopx."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "harness", "run", "--out", f"{folder}/run"]
        start = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "HARNESS_HOME": str(home.resolve())},
            capture_output=True,
            check=False,
        )
        spent = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(f"harness run exits {done.returncode}: {(done.stdout + done.stderr)[-500:]!r}")
        rows = [json.loads(line) for line in Path(folder, "run", "run.jsonl").read_text("utf-8").splitlines()]
    return spent, sum(row["plane_calls"] for row in rows if f"|{LOOPX}|" in row["key"])


def main() -> int:
    """Measure, print, and judge where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(os.environ.get("HARNESS_TEST_HOME", ".stamp/harness-home")))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--require", type=float, help="exit 1 where more than this share of the bound is taken")
    options = parser.parse_args()
    warm, cold = single_calls(options.home, options.pairs)
    runs = [whole_run(options.home) for _ in range(options.runs)]
    seconds, calls = statistics.median(spent for spent, _ in runs), runs[0][1]
    bound = 2 * calls * warm + 2 * cold
    sys.stdout.write(
        f"all bundled scenarios, scripted and warm: {seconds:.2f} s with {calls} calls of loopx, median of "
        f"{options.runs}; a warm call {warm * 1000:.0f} ms, a cold one {cold * 1000:.0f} ms, "
        f"bound {bound:.2f} s, share {seconds / bound:.2f}\n"
    )
    missed = options.require is not None and seconds > options.require * bound
    if missed:
        sys.stdout.write(f"more than the share of {options.require:g}\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
