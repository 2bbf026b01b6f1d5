"""Inspect AI's side of ``concurrency.py``: ``inspect_live_side.py URL SAMPLES AT_ONCE FOLDER``, where it is installed.

Its own provider for APIs like this one asks for what ``live_side.py`` asks for: AT_ONCE samples at a time, a log in
FOLDER. The header that names the visit to the simulated provider is added on the way out.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Protocol

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolDef
from openai import DefaultAsyncHttpxClient

SCENARIO, MODEL = "bench/five-calls", "steady"
PROMPT = "Do the steps in /tmp/harness-abcdefgh/project."


async def execute(cmd: str) -> str:
    """Run one command.

    Args:
        cmd: The command.
    """
    return '{"target": "notes/a.json", "stamp": 17}'


class Outgoing(Protocol):
    """A request of whichever client the package brings."""

    content: bytes
    headers: dict[str, str]


async def name_the_visit(request: Outgoing) -> None:
    """Add the header: which turn it is stands in the messages."""
    turn = 1 + sum(message["role"] == "assistant" for message in json.loads(request.content)["messages"])
    request.headers["x-harness-rehearsal"] = f"scenario={SCENARIO};trial=1;turn={turn};attempt=1"


def play(url: str, count: int, at_once: int, folder: Path) -> int:
    """Run so many samples; returns how many were scored as right."""
    task = Task(
        dataset=MemoryDataset([Sample(input=PROMPT, target="done") for _ in range(count)]),
        solver=[use_tools(ToolDef(execute, name="exec").as_tool()), generate()],
        scorer=includes(),
    )
    client = DefaultAsyncHttpxClient(event_hooks={"request": [name_the_visit]})
    model = get_model(
        f"openai-api/bench/{MODEL}",
        config=GenerateConfig(max_tokens=100),
        base_url=url,
        api_key="none",
        memoize=False,
        http_client=client,
    )
    log = run_eval(
        task, model=model, display="none", log_dir=str(folder), max_connections=at_once, max_samples=at_once
    )[0]
    if log.status != "success" or log.results is None:
        sys.stderr.write(f"{log.error}\n")
        return 0
    accuracy: float = log.results.scores[0].metrics["accuracy"].value
    return round(accuracy * count)


def main() -> int:
    """Play one that does not count, for what is loaded late; then all of them, and print."""
    url, count, at_once, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    play(url, 1, 1, folder / "first")
    started, burnt = time.perf_counter(), time.process_time()
    passed = play(url, count, at_once, folder / "all")
    told = {
        "seconds": time.perf_counter() - started,
        "processor_seconds": time.process_time() - burnt,
        "passed": passed,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return int(passed != count)


if __name__ == "__main__":
    sys.exit(main())
