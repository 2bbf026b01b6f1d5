"""A scenario, policies, and requests for the simulated provider."""

from __future__ import annotations

import json

from toy import SCENARIO, merged

from harness import catalog
from harness.ports import Provider
from harness.providers.openai import build
from harness.rehearsal import Rehearsal
from harness.rehearsal.dialects import Endpoints
from harness.rehearsal.stage import Stage
from harness.schema.base import JsonValue
from harness.schema.rehearsal import PolicyFile, Visit
from harness.schema.scenario import Scenario

__all__ = ["CHAT", "CODEC", "CODECS", "ask", "header", "policy_file", "rehearsal", "scenario", "stage"]

CODEC: Provider = build()
#: Every dialect that is spoken, by the name of its provider; the plain one first.
CODECS: dict[str, Provider] = {
    codec.name: codec
    for codec in (CODEC, *(catalog.module("providers", name).build() for name in catalog.names("providers")))
}
CHAT = "/v1/chat/completions"

SCRIPTS: dict[str, JsonValue] = {
    "late": {"asked": {"prompt": "run `([^`]+)`"}},
    "script": {
        "reference": ["{asked}", {"command": "cat {named}", "assistant_content": "Reading {file}."}],
        "right": {"slowly": ["date", "{asked}", "cat {named}"]},
        "wrong": {
            "did_nothing": [{"content": "Nothing to do."}],
            "read_before_ask": ["cat {file}"],
            "odd": [
                {"raw_response": "<oops>"},
                {"raw_response": {"error": {"message": "no"}}},
                {"raw_message": {"role": "assistant", "content": "", "tool_calls": []}},
                {"raise": "TimeoutError"},
                {"raise": "ConnectionError"},
            ],
            "lost": ["cat {greeting}"],
            "worldly": ["cat {project_root}/a", "echo {turn_id}"],
            "replaced": [
                {"command": "{asked} {other}", "replace": [["ask", "tell"], ["plane", "{file}"]]},
                {"command": "cat {named}", "replace": [["nowhere", "x"]]},
            ],
            "called": [
                {
                    "calls": [
                        {"name": "exec", "arguments": {"cmd": "cat {file}", "deep": [{"x": "{asked}"}, 1, None]}},
                        {"name": "exec", "arguments": {}, "id": "mine"},
                    ],
                    "usage": {"input_tokens": 7},
                    "finish": "stop",
                }
            ],
        },
    },
}


def scenario(**change: JsonValue) -> Scenario:
    """The toy scenario with scripts of every form."""
    return Scenario.model_validate_json(json.dumps(merged(merged(SCENARIO, SCRIPTS), change)))


def policy_file(policies: dict[str, dict[str, JsonValue]], **model: JsonValue) -> PolicyFile:
    """Policies by name: each plays under a model of its own name, and all together as ``all``."""
    models = {name: {"policies": [name], **model} for name in policies}
    models["all"] = {"policies": list(policies), **model}
    return PolicyFile.model_validate_json(json.dumps({"schema": 1, "policy": policies, "model": models}))


def stage(script: str = "reference", seed: int = 0, **policy: JsonValue) -> Stage:
    """A stage on which one policy plays a script as model ``m``."""
    file = policy_file({"m": {"script": script, **policy}})
    return Stage([scenario()], file, seed, Endpoints([*CODECS.values()]))


def rehearsal(script: str = "reference", seed: int = 0, **policy: JsonValue) -> Rehearsal:
    """The same behind sockets, to be served."""
    return Rehearsal([scenario()], policy_file({"m": {"script": script, **policy}}), seed, *CODECS.values())


def header(turn: int = 1, trial: int = 1, attempt: int = 1, of: str = "toy/ask-then-read") -> str:
    """The header of a visit."""
    return Visit(scenario=of, trial=trial, turn=turn, attempt=attempt).header


def ask(*answers: str, model: str = "m", prompt: str = "Please run `toy ask plane` first.", **more: JsonValue) -> bytes:
    """The body of a request that shows a user message and these tool messages."""
    messages: list[JsonValue] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]
    for answer in answers:
        messages += [{"role": "assistant", "content": None}, {"role": "tool", "content": answer}]
    return json.dumps({"model": model, "messages": messages, "stream": False, **more}).encode()
