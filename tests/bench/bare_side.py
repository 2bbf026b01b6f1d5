"""A bare loop beside ``live_side.py``: ``python bare_side.py URL EPISODES AT_ONCE``, prints JSON.

AT_ONCE threads with an httpx client each post the same requests in the same order, and read the answers as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from itertools import count as counting

import httpx
from own_side import CALLS, SCENARIO
from server_side import MODEL

from harness.schema.base import JsonValue
from harness.schema.rehearsal import REHEARSAL_HEADER

TOOL: JsonValue = {
    "type": "function",
    "function": {
        "name": "exec",
        "description": "Run one command.",
        "parameters": {
            "type": "object",
            "properties": {"cmd": {"type": "string"}},
            "required": ["cmd"],
            "additionalProperties": False,
        },
    },
}


def one(client: httpx.Client, url: str, trial: int) -> None:
    """The calls of one episode."""
    messages: list[JsonValue] = [{"role": "user", "content": "Do the steps in /tmp/harness-abcdefgh/project."}]
    for turn in range(1, CALLS + 2):
        visit = f"scenario={SCENARIO['id']};trial={trial};turn={turn};attempt=1"
        asked = {"model": MODEL, "messages": messages, "tools": [TOOL], "max_tokens": 100}
        answer = client.post(url + "/chat/completions", json=asked, headers={REHEARSAL_HEADER: visit})
        said = answer.raise_for_status().json()["choices"][0]["message"]
        messages.append(said)
        for call in said.get("tool_calls") or ():
            result = '{"target": "notes/a.json", "stamp": 17}'
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    assert messages[-1] == {"role": "assistant", "content": "done"} or messages[-1]["content"] == "done"  # type: ignore[index,call-overload]


def play(url: str, count: int, at_once: int) -> int:
    """All of them; returns how many were played to their end."""
    trials, ended = counting(1), []
    tls = httpx.create_ssl_context()  # one for all: making it would be most of the work

    def work() -> None:
        with httpx.Client(timeout=60, verify=tls) as client:
            while (trial := next(trials)) <= count:
                one(client, url, trial)
                ended.append(trial)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(ended)


def main() -> int:
    """Play one that does not count; then all of them, and print."""
    url, count, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    play(url, 1, 1)
    started, burnt = time.perf_counter(), time.process_time()
    passed = play(url, count, at_once)
    told = {
        "seconds": time.perf_counter() - started,
        "processor_seconds": time.process_time() - burnt,
        "passed": passed,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return int(passed != count)


if __name__ == "__main__":
    sys.exit(main())
