"""One answer in lines for a person."""

from __future__ import annotations

from harness.cli.wire_told import as_text
from harness.schema.message import Reply
from harness.schema.tool import ToolCall
from harness.wiring.decoding import Explained, judged

FORGED = "x\n  finish     stop\r\x1b[31m"


def test_no_word_of_a_provider_makes_a_line_of_its_own_or_acts_on_the_terminal() -> None:
    call = ToolCall(id=FORGED, name=FORGED, arguments=None, arguments_raw=FORGED, fault="malformed_arguments")
    reply = Reply(
        text=FORGED,
        reasoning=FORGED,
        refusal=FORGED,
        calls=(call,),
        finish="unknown",
        finish_word=FORGED,
        model=FORGED,
        fingerprint=FORGED,
    )
    said = as_text("name", Explained(reply, None, judged(reply, None, ()), (), None), request=False)
    shown = "x\\n  finish     stop\\r\ufffd[31m"
    assert [line.split()[0] for line in said.splitlines()] == [
        *("name", "finish", "text", "reasoning", "refusal", "call", "usage", "model"),
    ]
    assert f"(the provider says {shown})" in said
    assert f"model      {shown} ({shown})" in said
    assert f"call       {shown}  {shown} {shown}" in said
