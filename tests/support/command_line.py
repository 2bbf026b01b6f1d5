"""The installed command in a process of its own, in a world of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from machine import PATIENCE_S

__all__ = ["CommandLine"]


@dataclass
class CommandLine:
    """Runs ``harness`` with its own folders; ``environ`` is added to a bare environment."""

    home: Path
    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in (self.cwd, self.temporary, self.user):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def cwd(self) -> Path:
        """Where it is started."""
        return self.folder / "cwd"

    @property
    def temporary(self) -> Path:
        """Its TMPDIR."""
        return self.folder / "tmp"

    @property
    def user(self) -> Path:
        """Its HOME."""
        return self.folder / "user"

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """All variables it gets."""
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "COVERAGE_PROCESS_CONFIG"}}
        own = {"HARNESS_HOME": str(self.home), "TMPDIR": str(self.temporary), "HOME": str(self.user)}
        return {**kept, **own, **self.environ, **(more or {})}

    def start(self, *argv: str, umask: int = -1, **more: str) -> subprocess.Popen[bytes]:
        """Start it; ``more`` are variables."""
        return subprocess.Popen(
            [sys.executable, "-m", "harness", *argv],
            cwd=self.cwd,
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            umask=umask,
        )

    def run(self, *argv: str, umask: int = -1, **more: str) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end, at most five minutes."""
        process = self.start(*argv, umask=umask, **more)
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
            process.wait()
        return subprocess.CompletedProcess(argv, process.returncode, out, err)
