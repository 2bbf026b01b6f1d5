"""The simulated provider of ``concurrency.py``: ``python server_side.py LATENCY_MS STORM``, until its input ends.

Its model ``steady`` plays ``own_side.SCENARIO`` and answers after LATENCY_MS; a share STORM (0 to 1) of the attempts is
told 429 instead. Prints its address.
"""

from __future__ import annotations

import json
import sys

from own_side import SCENARIO

from harness import catalog
from harness.rehearsal import Rehearsal
from harness.schema.base import JsonValue
from harness.schema.rehearsal import PolicyFile
from harness.schema.scenario import Scenario

MODEL = "steady"
#: What a refusal asks for, in seconds.
RETRY_AFTER_S = 0.05


def policies(latency_ms: float, storm: float) -> PolicyFile:
    """One model that follows the reference script."""
    storms: JsonValue = [{"kind": "status", "status": 429, "retry_after_s": RETRY_AFTER_S, "rate": storm}]
    said: JsonValue = {
        "schema": 1,
        "policy": {"follows": {"script": "reference"}},
        "model": {MODEL: {"policies": ["follows"], "latency_ms": latency_ms, "fault": storms if storm else []}},
    }
    return PolicyFile.model_validate_json(json.dumps(said))


def main() -> int:
    """Serve."""
    latency_ms, storm = float(sys.argv[1]), float(sys.argv[2])
    scenario = Scenario.model_validate_json(json.dumps(SCENARIO))
    codec = catalog.module("providers", "openai").build()
    with Rehearsal([scenario], policies(latency_ms, storm), 1, codec).serve() as serving:
        sys.stdout.write(serving.url + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
