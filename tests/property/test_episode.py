"""Whatever an actor says: bounds hold, a call has one result, there is one ending, the journal is all there is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from driving import Driving, Killed, kill_when
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import ReplyActor, Stage, answer, called

from harness import catalog
from harness.journal import Journal, fold, verify
from harness.ports import Executor
from harness.receipt import line
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Reply, Usage
from harness.schema.record import CallResulted, Closed, OpPlanned, OpStarted, Record
from harness.schema.tool import ToolCall

COMMANDS = (
    *("toy ask plane", "toy ask plane --fast", "cat notes/a.json", "cat b.json", "ls runtime", "date") * 8,
    "rm -rf /",
    "cat ../../etc/passwd",
    "toy ask plane; rm x",
    "",
    "'",
)
FINISHES: tuple[FinishReason | None, ...] = ("stop", "tool_calls", "length", "content_filter", None)

counted = st.builds(
    Usage, input_tokens=st.integers(0, 20), output_tokens=st.integers(0, 20), cache_read_tokens=st.integers(0, 5)
)
usages = st.integers(0, 40).flatmap(lambda number: counted if number else st.none())
calls = st.one_of(
    st.builds(called, st.sampled_from(COMMANDS), st.sampled_from(["exec", "exec", "exec", "Exec", "other"])),
    st.builds(
        lambda raw, id_: ToolCall(id=id_, name="exec", arguments_raw=raw, arguments=None),
        st.sampled_from(['{"cmd": ', "[]", "7", ""]),
        st.sampled_from(["c"] * 30 + ["twice"]),
    ),
)
#: Replies that let the conversation go on, most of the time.
going = st.builds(
    lambda text, made, usage: Reply(text=text, calls=tuple(made), finish="tool_calls", usage=usage),
    st.sampled_from([None, "", "Looking.", "\ud800"]),
    st.lists(calls, min_size=1, max_size=3),
    usages,
)
ending = st.builds(
    lambda text, made, finish, usage: Reply(text=text, calls=tuple(made), finish=finish, usage=usage),
    st.sampled_from([None, "", "Done."]),
    st.lists(calls, max_size=2),
    st.sampled_from(FINISHES),
    usages,
)
#: Loops are let go on in every second episode.
LOOPS = ("repetition", "same_action", "malformed", "similar_error")
detectors = st.sampled_from([{}, dict.fromkeys(LOOPS, False)])
limits = st.fixed_dictionaries(
    {
        "model_turns": st.sampled_from([0, 1, 3, 20, 200, 200, 200]),
        "tool_calls": st.sampled_from([0, 1, 7, 1_000, 1_000, 1_000]),
        "tool_calls_per_turn": st.sampled_from([1, 2, 3, 4, 4, 4]),
        "total_tokens": st.sampled_from([None, None, None, None, 0, 40, 400]),
        "tool_calls_by_name": st.sampled_from([{}, {}, {}, {"exec": 5}]),
        "last_turn_tools": st.sampled_from(["execute", "refuse"]),
    }
)


def conversation(replies: list[Reply]) -> list[Reply]:
    """The replies, each call with an id of its own unless it is to share one (id ``twice``)."""
    numbered = []
    for turn, reply in enumerate(replies):
        made = tuple(
            replace(call, id=f"{turn}-{place}") if call.id != "twice" else call
            for place, call in enumerate(reply.calls)
        )
        numbered.append(reply.model_copy(update={"calls": made}))
    return [*numbered, Reply(text="Bye.", finish="stop")]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    made: Executor = catalog.module("executors", "process").ProcessExecutor()
    yield made
    made.close()


class Folding:
    """An observer that folds the journal anew: always while it is short, then now and then."""

    def __init__(self) -> None:
        self.journal = Journal([self])

    def __call__(self, record: Record) -> None:
        if record.seq < 40 or record.seq % 97 == 0:
            assert fold(self.journal.records) == self.journal.state


@given(
    replies=st.sampled_from([0, 1, 2, 5, 10, 20, 60, 200])
    .flatmap(lambda turns: st.lists(going, min_size=turns, max_size=turns))
    .flatmap(lambda many: st.builds(lambda one: [*many, one], ending)),
    bounds=limits,
    loops=detectors,
)
@settings(max_examples=30)
def test_whatever_the_actor_says_the_bounds_hold_and_the_journal_is_all_there_is(
    replies: list[Reply], bounds: dict[str, JsonValue], loops: dict[str, JsonValue], executor: Executor
) -> None:
    plays(conversation(replies), bounds, loops, executor)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_so_does_a_conversation_of_two_hundred_turns(seed: int, executor: Executor) -> None:
    chance = Random(seed)  # noqa: S311  (what an actor says)
    asks = [[called(chance.choice(COMMANDS[:6])) for _ in range(chance.randint(1, 3))] for _ in range(199)]
    replies = [Reply(text="", calls=tuple(made), finish="tool_calls", usage=Usage()) for made in asks]
    bounds: dict[str, JsonValue] = {
        "model_turns": 200,
        "tool_calls": 600,
        "tool_calls_per_turn": 3,
        "tool_calls_by_name": {},
        "total_tokens": None,
        "last_turn_tools": "execute",
    }
    assert plays(conversation(replies), bounds, dict.fromkeys(LOOPS, False), executor) == 200


def plays(said: list[Reply], bounds: dict[str, JsonValue], loops: dict[str, JsonValue], executor: Executor) -> int:
    """Play it undisturbed, and with a driver that is killed at its end; returns the turns that it took."""
    change: dict[str, JsonValue] = {"limits": bounds, "kind": LENIENT, "detectors": loops}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stage = Stage(executor, Path(folder))
        folding = Folding()
        played = stage.play(actor=ReplyActor(list(said), kind="script"), change=change, journal=folding.journal)
        assert played.result.log.dropped_observers == ()
        records = folding.journal.records
        _holds(records, bounds)

        driving = Driving(stage, Path(folder) / "episode")
        kill_when(patch, "closed", after=False)
        with pytest.raises(Killed):
            driving.drive(actor=ReplyActor(list(said), kind="script"), change=change, says=answer)
        patch.undo()
        again = driving.drive(actor=ReplyActor(list(said), kind="script"), change=change, says=answer)
        assert line(again.receipt) == line(played.receipt)
        assert [r.payload for r in driving.records() if isinstance(r.payload, OpStarted)] == [
            r.payload for r in records if isinstance(r.payload, OpStarted)
        ]
        return played.receipt.counters.model_turns


#: Nothing ends the episode before its bounds or its actor do.
LENIENT: list[JsonValue] = [
    {"name": "ask", "call": ["ask plane"], "sets": "asked"},
    {"name": "clock", "read": "clock"},
    {"name": "read", "read": "content", "sets": "read"},
    {"name": "look", "read": "metadata"},
    {"name": "rest", "read": "other"},
]


def _holds(records: tuple[Record, ...], bounds: dict[str, JsonValue]) -> None:
    payloads = [record.payload for record in records]
    assert verify(records) is None
    assert [isinstance(one, Closed) for one in payloads].count(True) == 1
    planned = [one for one in payloads if isinstance(one, OpPlanned)]
    tools = [one.operation for one in planned if one.purpose == "tool"]
    turns = [one for one in payloads if isinstance(one, OpStarted) and one.operation.endswith("/main")]
    assert len(turns) <= int(str(bounds["model_turns"]))
    assert len(tools) <= int(str(bounds["tool_calls"]))
    by_turn = Counter(name.split("/")[0] for name in tools)
    assert max(by_turn.values(), default=0) <= int(str(bounds["tool_calls_per_turn"]))
    results = Counter(f"turn-{one.turn}/call-{one.call}" for one in payloads if isinstance(one, CallResulted))
    assert results == Counter(tools)
    names = json.loads(json.dumps(bounds["tool_calls_by_name"]))
    used = Counter(one.tool for one in planned if one.purpose == "tool")
    assert all(used[name] <= limit for name, limit in names.items())
