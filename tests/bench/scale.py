"""How long commands take on a run of 100,000 receipts that nobody played, and how much memory.

The seconds are of the processor, for a machine that does other work beside it tells nothing by its clock; a command
uses one processor, so alone it takes about as long.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from synthetic_run import Synthetic

#: Trials of each of ten scenarios by each of four models.
_CELLS = 40
#: The reports are all there are, one after the other.
_COMMANDS = (("qualify", "{run}"), ("compare", "{run}"), ("report", "{run}"), ("history", "diff", "{run}", "{other}"))


def measured(command: tuple[str, ...], **folders: Path) -> tuple[float, float]:
    """Seconds of the processor and megabytes at most, of one command on runs. Raises CalledProcessError."""
    argv = [word.format(**folders) for word in command]
    program = (
        "import pathlib, re, resource, sys\n"
        "from harness.cli.main import main\n"
        f"code = main({argv!r})\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        # what Linux calls the most of a process includes what began it; its own status does not
        "own = pathlib.Path('/proc/self/status')\n"
        "most = re.search(r'VmHWM:\\s+(\\d+)', own.read_text())[1] if own.exists() else used.ru_maxrss\n"
        "print(used.ru_utime + used.ru_stime, most, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seconds, kilobytes = done.stderr.splitlines()[-1].split()
    return float(seconds), int(kilobytes) / (1024 if sys.platform == "linux" else 1024 * 1024)


def again(folder: Path) -> Path:
    """The same run under another name and id, beside it."""
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    manifest = other / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(Synthetic.run_id.encode(), b"other", 1))
    return other


def main() -> int:
    """Exit code 1 where a command takes longer, or more, than is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--receipts", type=int, default=100_000)
    parser.add_argument("--require-seconds", type=float, default=30.0)
    parser.add_argument("--require-mb", type=float, default=1000.0)
    parser.add_argument("--only", choices=sorted({command[0] for command in _COMMANDS}), action="append")
    asked = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        run = Synthetic(trials=max(1, asked.receipts // _CELLS)).write(Path(place) / "run")
        other = again(run)
        for command in _COMMANDS:
            if asked.only and command[0] not in asked.only:
                continue
            seconds, megabytes = measured(command, run=run, other=other)
            wrong = seconds > asked.require_seconds or megabytes > asked.require_mb
            failed += wrong
            verdict = "TOO MUCH" if wrong else "fine"
            told = " ".join(word for word in command if not word.startswith("{"))
            sys.stdout.write(f"{told:20} {seconds:6.1f} s  {megabytes:7.0f} MB  {verdict}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
