"""Text in which a model seems to have written a tool call instead of making one."""

from __future__ import annotations

import re

__all__ = ["looks_like_call"]

#: Marks of the chat templates of open models, and a bare call object as the whole text.
_MARKS = re.compile(
    r"""
    </?tool_calls?> | </?function_calls?> | <function= | <invoke\ name= | <[\w.-]+:tool_call>
    | <\|tool_call | <\|python_tag\|> | <\|plugin\|> | <\uff5ctool\u2581call
    | \[TOOL_CALLS\] | \[/?TOOL_CALL\] | \bto=functions\. | \bfunctions\.\w+:\d
    | ```tool_(?:call|code)\b
    | \A\s*(?:```(?:json)?\s*)?\[?\s*\{\s*"(?:name|function|tool|tool_name|tool_calls)"\s*:
      (?=.*"(?:arguments|parameters|tool_input|function)"\s*:)
    """,
    re.VERBOSE | re.DOTALL,
)


def looks_like_call(text: str | None) -> bool:
    """Whether a text holds the markup of a call. It stays a text either way; the quirk says that it was seen."""
    return text is not None and _MARKS.search(text) is not None
