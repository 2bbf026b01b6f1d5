"""Inspect AI's side of ``episodes.py``, run by the interpreter of a venv that has inspect-ai and nothing of ours.

``python inspect_side.py EPISODES CALLS FOLDER`` plays one task of so many samples and prints the seconds it took as JSON.
"""

from __future__ import annotations

import json
import sys
import time

from inspect_ai import Task, eval as run_eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageTool, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, ToolChoice, ToolInfo, tool
import inspect_ai

SYSTEM = "ask"


@tool
def execute() -> Tool:
    async def run(cmd: str) -> str:
        """Run one command.

        Args:
            cmd: The command.
        """
        return '{"target": "notes/a.json", "stamp": 17}'

    return run


def answer(
    messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
) -> ModelOutput:
    done = sum(isinstance(message, ChatMessageTool) for message in messages)
    if done < CALLS:
        made = ModelOutput.for_tool_call("mockllm/model", "execute", {"cmd": f"bench step {done + 1}"})
    else:
        made = ModelOutput.from_content("mockllm/model", "done")
    made.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    return made


EPISODES, CALLS, FOLDER = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
extra = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
played = Task(
    dataset=MemoryDataset([Sample(input="Do the steps.", target="done") for _ in range(EPISODES)]),
    solver=[use_tools(execute()), generate()],
    scorer=includes(),
)
started = time.perf_counter()
logs = run_eval(
    played,
    model=get_model("mockllm/model", custom_outputs=answer),
    display="none",
    log_dir=FOLDER,
    **extra,
)
spent = time.perf_counter() - started
import resource

log = logs[0]
if log.status != "success":
    print(log.error.message[:1500] if log.error else log.status)
print(
    json.dumps(
        {
            "s": spent,
            "status": log.status,
            "acc": log.results.scores[0].metrics["accuracy"].value,
            "v": inspect_ai.__version__,
            "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        }
    )
)
