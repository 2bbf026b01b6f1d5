"""What of a long conversation is sent: whole exchanges, newest first, within an exact number of bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import case
from toy import Played, ReplyActor, Stage, answer, called, completed, said

from harness.episode import encoding
from harness.episode.encoding import OPEN, EncodedMessages
from harness.episode.projecting import CHECKPOINT_BYTES, choose, request_digest
from harness.journal import Journal
from harness.schema.base import JsonValue, canonical_json, digest_json, fields_of
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    Message,
    ModelRequest,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from harness.schema.process import Completed
from harness.schema.record import BudgetStop, OpStarted, Projection
from harness.schema.tool import ToolSpec
from harness.workspace import Placeholders, Workspace, reserve

_KINDS: JsonValue = [
    {"name": "ask", "call": ["ask plane"], "sets": "asked"},
    {"name": "read", "read": "content", "sets": "done"},
]


def size_of(request: ModelRequest) -> int:
    """Bytes of a request in canonical JSON, all at once."""
    return len(canonical_json(json.loads(json.dumps(request, default=fields_of))).encode("utf-8", "surrogatepass"))


def talks(
    stage: Stage, sizes: Sequence[int], limit: int, journal: Journal | None = None
) -> tuple[Played, list[ModelRequest]]:
    """One question to the plane per turn, answered with so many characters each; then the end."""
    left = list(sizes)

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        return completed(json.dumps({"target": "notes/a.json", "more": "x" * left.pop(0)}))

    replies = [said("", called("toy ask plane", id_=str(number))) for number in range(len(sizes))]
    actor = ReplyActor([*replies, said("Bye.")])
    bounds: JsonValue = {"context_bytes": limit, "model_turns": 20}
    change: dict[str, JsonValue] = {"limits": bounds, "kind": _KINDS, "detectors": {"same_action": False}}
    return stage.play(actor=actor, says=says, change=change, journal=journal), actor.requests


def sent(request: ModelRequest) -> list[str]:
    """The ids of the calls whose exchanges a request holds."""
    return [message.call_id for message in request.messages if isinstance(message, ToolMessage)]


@case(141)
def test_a_request_of_exactly_the_bytes_is_sent_and_one_byte_less_ends_the_episode(stage: Stage) -> None:
    _, (first, *_) = talks(stage, [], 2_097_152)
    exact = size_of(first)
    journal = Journal()
    played, requests = talks(stage, [], exact, journal)
    assert (played.receipt.outcome.name, requests) == ("completed/final_response", [first])
    journal = Journal()
    played, requests = talks(stage, [], exact - 1, journal)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.limit, outcome.observed, outcome.overshoot) == (
        "limit_exceeded/context_bytes",
        exact - 1,
        exact,
        1,
    )
    assert (played.receipt.verdict, played.receipt.cause, requests) == ("not_judged", "harness", [])
    assert played.receipt.counters.model_turns == 0
    kinds = [type(record.payload) for record in journal.records[-4:]]
    assert BudgetStop in kinds
    assert Projection not in kinds


def test_the_newest_exchange_must_fit_too(stage: Stage) -> None:
    _, requests = talks(stage, [3_000, 9_000], 2_097_152)
    newest = size_of(replace(requests[2], messages=(*requests[2].messages[:2], *requests[2].messages[4:])))
    played, requests = talks(stage, [3_000, 9_000], newest)
    assert [sent(request) for request in requests] == [[], ["0"], ["1"]]
    played, requests = talks(stage, [3_000, 9_000], newest - 1)
    assert played.receipt.outcome.name == "limit_exceeded/context_bytes"
    assert (len(requests), played.receipt.counters.model_turns) == (2, 2)


@case(142)
def test_no_exchange_behind_one_that_does_not_fit_is_sent(stage: Stage) -> None:
    journal = Journal()
    played, requests = talks(stage, [100, 9_000, 9_000], 11_500, journal)
    last = requests[-1]
    assert sent(last) == ["2"]
    oldest = replace(last, messages=(*last.messages[:2], *requests[1].messages[2:], *last.messages[2:]))
    assert size_of(oldest) <= 11_500
    projections = [record.payload for record in journal.records if isinstance(record.payload, Projection)]
    assert [(one.messages, one.omitted) for one in projections] == [(2, 0), (4, 0), (6, 0), (4, 4)]
    assert played.receipt.verdict == "fail"
    context = played.result.log.channels["context"]
    assert (context.truncated, context.unit) == (True, "bytes")
    assert context.retained == sum(map(size_of, requests))


def test_the_digest_is_that_of_what_was_sent(stage: Stage) -> None:
    journal = Journal()
    _, requests = talks(stage, [100, 9_000, 9_000], 11_500, journal)
    told = [record.payload.request for record in journal.records if isinstance(record.payload, Projection)]
    assert told == [digest_json(json.loads(json.dumps(request, default=fields_of))) for request in requests]


@case(220)
def test_a_request_that_is_too_large_to_be_kept_is_not_made(stage: Stage) -> None:
    large = said("y" * CHECKPOINT_BYTES, called("toy ask plane"))
    actor = ReplyActor([large, said("Bye.")])
    journal = Journal()
    played = stage.play(actor=actor, change={"limits": {"context_bytes": 1 << 26}}, journal=journal)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.limit) == ("limit_exceeded/checkpoint_size", CHECKPOINT_BYTES)
    assert (outcome.observed or 0) - (outcome.overshoot or 0) == CHECKPOINT_BYTES
    assert (played.receipt.verdict, len(actor.requests)) == ("not_judged", 1)
    started = [record.payload.operation for record in journal.records if isinstance(record.payload, OpStarted)]
    assert "turn-2/main" not in started


def test_each_message_is_encoded_once_however_often_it_is_sent(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[object] = []
    before = encoding._canonical

    def counting(value: object) -> str:
        encoded.append(value)
        return before(value)

    monkeypatch.setattr(encoding, "_canonical", counting)
    _, requests = talks(stage, [10] * 10, 2_097_152)
    messages = [value for value in encoded if not isinstance(value, ModelRequest)]
    assert len(messages) == len(requests[-1].messages) == 22


def _message(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Message]:
    return st.one_of(
        texts.map(lambda text: AssistantMessage(text=text, opaque={"b": text, "a": 1})),
        texts.map(lambda text: UserMessage(text=text)),
        texts.map(lambda text: ToolMessage(call_id="1", name="exec", text=text)),
    )


_ANY = st.text(st.one_of(st.characters(), st.just("\ud83d")), max_size=20)


@given(st.lists(_message(_ANY), max_size=12), st.integers(0, 3_000))
def test_what_is_chosen_is_the_largest_end_of_the_conversation_that_fits(tail: list[Message], limit: int) -> None:
    messages: list[Message] = [SystemMessage(text="s"), UserMessage(text="u"), *tail]
    tools = (ToolSpec(name="exec", description="x", parameters={"type": "object"}),)
    whole = ModelRequest(model="m", messages=tuple(messages), tools=tools)
    encoded = EncodedMessages(lambda value: value)
    frame, parts = encoded.frame(whole), encoded.parts(messages)
    chosen, size = choose(messages, [len(part) for part in parts], len(OPEN) + len(frame), limit)
    request = replace(whole, messages=tuple(messages[at] for at in chosen))
    assert size == size_of(request)
    assert request_digest(frame, [parts[at] for at in chosen]) == digest_json(
        json.loads(json.dumps(request, default=fields_of))
    )
    starts = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    head = starts[0] if starts else len(messages)
    ends = [[*range(head), *range(start, len(messages))] for start in starts] or [[*range(len(messages))]]
    assert chosen in ends
    at = ends.index(chosen)
    fits = [size_of(replace(whole, messages=tuple(messages[n] for n in end))) <= limit for end in ends]
    assert fits[at] or at == len(ends) - 1
    assert at == 0 or not fits[at - 1]


def test_messages_that_are_others_now_are_encoded_anew() -> None:
    encoded = EncodedMessages(lambda value: value)
    first, second, third = (UserMessage(text=text) for text in "abc")
    before = encoded.parts([first, second])
    after = encoded.parts([first, third])
    assert (after[0], after[1] == before[1]) == (before[0], False)
    assert len(encoded.parts([first])) == 1


def test_the_frame_is_encoded_anew_only_where_it_is_another() -> None:
    hidden: list[JsonValue] = []

    def hide(value: JsonValue) -> JsonValue:
        hidden.append(value)
        return value

    encoded = EncodedMessages(hide)
    tools = (ToolSpec(name="exec", description="x", parameters={"type": "object"}),)
    request = ModelRequest(model="m", messages=(UserMessage(text="u"),), tools=tools)
    longer = replace(request, messages=(UserMessage(text="u"), UserMessage(text="v")))
    assert encoded.frame(request) == encoded.frame(longer)
    assert len(hidden) == 1
    others = (replace(request, model="n"), replace(request, tools=()))
    for changed in (*others, replace(request, settings=GenerationSettings(seed=1))):
        assert encoded.frame(changed) == EncodedMessages(hide).frame(changed) != encoded.frame(request)


_SPELLED = st.lists(
    st.sampled_from(["{project_root}", "_root", "}", "WORKSPACE", "WORKSPACE/project", "/", "\\", '"', "é"])
)


@given(st.lists(_SPELLED, max_size=4))
def test_a_message_without_a_path_or_a_name_is_what_hiding_would_make_of_it(
    tmp_path_factory: pytest.TempPathFactory, spelled: list[list[str]]
) -> None:
    base = tmp_path_factory.getbasetemp()
    with reserve(roots=("project",), base=base) as workspace:
        hide = Placeholders(workspace)
        texts = ["".join(parts).replace("WORKSPACE", str(workspace.root)) for parts in spelled]
    messages: list[Message] = [ToolMessage(call_id="1", name="exec", text=text) for text in texts]
    messages += [AssistantMessage(text=None, opaque={text: text}) for text in texts]
    asked = EncodedMessages(hide.hide_json, hide.touches)
    assert asked.parts(messages) == EncodedMessages(hide.hide_json).parts(messages)
