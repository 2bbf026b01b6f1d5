"""A recorded failure may be tried again only where the recording goes on with the same request."""

from __future__ import annotations

import pytest
from toy import ReplyActor, said

from harness.errors import ProviderError
from harness.ports import TurnContext
from harness.schema.message import ModelRequest, Reply, UserMessage
from harness.schema.rehearsal import Visit
from harness.wiring.replayed import ReplayedActor

REQUEST = ModelRequest(model="m", messages=(UserMessage(text="go"),), tools=())
CONTEXT = TurnContext(
    turn=1,
    deadline_s=1.0,
    cancelled=lambda: False,
    substitute=str,
    visit=Visit(scenario="a/b", trial=1, turn=1, attempt=1),
)


def busy(_: ModelRequest, __: TurnContext) -> Reply:
    raise ProviderError("rate_limited", "made up", retryable=True, http_status=429)


@pytest.mark.parametrize("again", [True, False])
def test_the_recording_says_whether_a_failure_was_tried_again(*, again: bool) -> None:
    actor = ReplayedActor(ReplyActor([busy], kind="recorded"), lambda: again)
    with pytest.raises(ProviderError) as error:
        actor.reply(REQUEST, CONTEXT)
    assert error.value.retryable is again


def test_it_is_the_actor_otherwise() -> None:
    inner = ReplyActor([said("here")], kind="recorded")
    actor = ReplayedActor(inner, lambda: False)
    assert (actor.identity, actor.reply(REQUEST, CONTEXT)) == (inner.identity, said("here"))
    assert actor.is_immediate
    actor.close()
