"""What a run says of its sandbox is what was seen, and what must hold and does not is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy import Stage

from harness import catalog
from harness.errors import EnvironmentProblem, MachineError
from harness.executors.process import ProcessExecutor
from harness.schema.confinement import Confinement, level_of, weakest
from harness.wiring import sandboxing
