"""Inspect AI's side of ``episodes.py``: ``inspect_side.py SAMPLES FOLDER [--log-at-end]``, where it is installed.

One task: a mock model that makes five calls of a tool of this process and says a last word, a scorer, a log on disk.
Each answer comes with its usage, so that no tokens are counted. Its log can be looked at while it grows, as by default;
with ``--log-at-end`` that is switched off.
"""

from __future__ import annotations

import json
import resource
import sys
import time

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageTool, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolChoice, ToolDef, ToolInfo

CALLS = 5
MODEL = "mockllm/model"


async def execute(cmd: str) -> str:
    """Run one command.

    Args:
        cmd: The command.
    """
    return '{"target": "notes/a.json", "stamp": 17}'


def answer(
    messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
) -> ModelOutput:
    """The mock model's next reply."""
    made = sum(isinstance(message, ChatMessageTool) for message in messages)
    if made < CALLS:
        reply = ModelOutput.for_tool_call(MODEL, "execute", {"cmd": f"bench step --number {made + 1}"})
    else:
        reply = ModelOutput.from_content(MODEL, "done")
    reply.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    return reply


def play(count: int, folder: str, *, live: bool) -> int:
    """Run so many samples, with a log in ``folder``; returns how many were scored as right."""
    task = Task(
        dataset=MemoryDataset([Sample(input="Do the steps.", target="done") for _ in range(count)]),
        solver=[use_tools(ToolDef(execute).as_tool()), generate()],
        scorer=includes(),
    )
    model = get_model(MODEL, custom_outputs=answer)
    log = run_eval(task, model=model, display="none", log_dir=folder, log_realtime=live)[0]
    if log.status != "success" or log.results is None:
        return 0
    accuracy: float = log.results.scores[0].metrics["accuracy"].value
    return round(accuracy * count)


def main() -> int:
    """Play one that does not count, for what is loaded late; then all of them, and print."""
    count, folder, live = int(sys.argv[1]), sys.argv[2], sys.argv[3:] != ["--log-at-end"]
    play(1, folder, live=live)
    started, burnt = time.perf_counter(), time.process_time()
    passed = play(count, folder, live=live)
    told = {
        "seconds": time.perf_counter() - started,
        "processor_seconds": time.process_time() - burnt,
        "passed": passed,
        "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return int(passed != count)


if __name__ == "__main__":
    sys.exit(main())
