"""A value as JSON says each text and each name as it is, whatever has no UTF-8 form included, and is read back."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from harness.episode.settling import reply_bytes
from harness.journal import as_kept
from harness.schema.base import JsonValue, as_json
from harness.schema.message import Reply
from harness.schema.tool import ToolCall

#: Lone surrogates included: JSON can carry them as escapes. Two that make a pair are one character there.
texts = st.text(st.characters(exclude_categories=()), max_size=8).map(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
calls = st.builds(
    ToolCall,
    id=texts,
    name=texts,
    arguments_raw=texts,
    arguments=st.none() | st.dictionaries(texts, values, max_size=3),
)
replies = st.builds(
    Reply,
    text=texts,
    calls=st.lists(calls, max_size=2).map(tuple),
    reasoning=texts,
    refusal=texts,
    finish=st.just("stop"),
    finish_word=texts,
    usage=st.none(),
    quirks=st.just(()),
    opaque=values,
    model=texts,
    fingerprint=texts,
)


@given(replies)
@example(Reply(text="a\ud800", finish="stop", opaque={"b\ud800": [{"\udc00": "\udfff"}]}))
def test_a_reply_is_kept_verbatim(reply: Reply) -> None:
    assert Reply.of(as_json(reply)) == reply
    kept = as_kept(Reply, reply_bytes(reply), "a reply")
    assert kept == reply
    assert reply_bytes(kept) == reply_bytes(reply)
