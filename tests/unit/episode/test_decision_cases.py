"""Cases of decisions, each an episode under the rules of the scenario that asks for such a decision.

Each was put to the reference implementation too (``tests/data/decisions``). Where that refused an answer, there is a
receipt with a code here; where it let one pass that its own packet forbids, that fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from toy import Stage, completed

from harness import wiring
from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario
from harness.schema.script import Action, ScriptCall
from harness.wiring.judges import CLASSIFIERS
from harness.wiring.places import load_scenario

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "decisions"
Table = dict[str, JsonValue]


class Case(NamedTuple):
    """A pair of a packet and an answer with some places changed, and what must come of it."""

    name: str
    scenario: str
    packet: Table
    answer: Table
    calls: list[str]
    verdict: str
    codes: list[str]


def cases() -> Iterator[Case]:
    for file in sorted(DATA.glob("*.json")):
        told = json.loads(file.read_text("utf-8"))
        for row in told["cases"]:
            pair = deepcopy(told["pairs"][row["of"]])
            for part in ("packet", "answer"):
                for at, value in row.get(part, {}).items():
                    parent, key = parent_of(pair[part], at)
                    parent[key] = value
            for at in row.get("gone", ()):
                part, _, place = at.rpartition(":")
                parent, key = parent_of(pair[part or "packet"], place)
                del parent[key]
            name = row["case"] or f"{file.stem}: {row['of']} as it is"
            calls, codes = row.get("calls", []), row.get("codes", [])
            yield Case(name, pair["scenario"], pair["packet"], pair["answer"], calls, row["verdict"], codes)


def parent_of(value: Table, at: str) -> tuple[Table, str]:
    *way, key = at.split("/")[1:]
    for step in way:
        value = cast("Table", value[step])
    return value, key


@cache
def rules_of(path: str) -> Table:
    """The rules of a scenario file about packets, in a world of the toy."""
    scenario: Scenario = load_scenario(wiring.settings(), str(ROOT / path)).scenario
    told: Table = scenario.model_dump(mode="json", exclude_unset=True, by_alias=True)
    packet: Table = {**cast("Table", told["packet"]), "plane": ["packet"]}
    packet.pop("without", None)
    kept: Table = {key: told[key] for key in ("limits", "outcomes", "classify")}
    return {
        **kept,
        "schema": 1,
        "id": "toy/decides",
        "asks": "Does it decide as the packet says?",
        "plane": "toy==1",
        "workspace": {"roots": ["project"]},
        "packet": packet,
        "prompt": {"user": "{packet}"},
        "script": {"reference": []},
    }


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in cases()])
def test_a_decision_comes_to_what_it_must(stage: Stage, case: Case) -> None:
    stage.scenario, stage.classifiers = rules_of(case.scenario), CLASSIFIERS
    if case.calls:
        action = Action(calls=tuple(ScriptCall(name=name, arguments={}) for name in case.calls))
    else:
        action = Action(content=json.dumps(case.answer))
    played = stage.play((action,), says=lambda *_: completed(json.dumps(case.packet)))
    receipt = played.receipt
    found = [one.code for one in receipt.findings if one.check in {"packet", "classifier"}]
    assert (receipt.verdict, receipt.failure_code) == (case.verdict, next(iter(case.codes), None))
    assert found == ([] if case.calls else case.codes)
    assert receipt.counters.model_turns == (0 if case.verdict == "not_judged" else 1)
    sent = "" if played.trace is None else str([request.messages for request in played.trace.requests])
    assert "/tmp/abc" not in sent  # noqa: S108  (a text of a packet)
