"""A captured answer of a provider as a file holds it: what was declared and asked, and the bytes that came."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.schema.base import JsonValue
from harness.schema.limits import COUNT_MAX
from harness.schema.tool import ToolSpec

__all__ = ["API_CODECS", "DeclaredTool", "WireAnswer", "WireContext", "WireFile"]

#: Dialect as files name it -> the codec that speaks it.
API_CODECS: Final = {
    "openai-chat": "openai",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


class _Open(BaseModel):
    """Frozen; keys that nobody knows are passed over, since other tools write such files too."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class DeclaredTool(_Open):
    """A tool that the request declared; ``parameters`` is a JSON Schema object."""

    name: str
    description: str = ""
    parameters: dict[str, JsonValue] = {"type": "object"}

    @property
    def spec(self) -> ToolSpec:
        """As a request declares it."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)


class WireContext(_Open):
    """What stood around an answer.

    ``tools`` None is not known: then no call is said to name an unknown one. ``tool_results`` are what the calls that
    run return, in order, and ``pending_user_text`` follows them; ``now`` is the time from which a date in a header
    counts: an HTTP date, ISO 8601, or seconds since 1970.
    """

    tools: tuple[DeclaredTool, ...] | None = None
    tool_results: tuple[JsonValue, ...] = ()
    pending_user_text: str | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=COUNT_MAX)] | None = None
    now: str | float | None = None


class WireAnswer(_Open):
    """One HTTP answer. ``body_text``, or lines of an event stream that each end in ``newline``.

    ``end`` ``reset`` says that the connection broke, after ``reset_after_lines`` lines where that is given.
    """

    status: Annotated[int, Field(ge=100, le=999)]
    headers: dict[str, str] = Field(default_factory=dict)
    body_text: str | None = None
    body_sse_lines: tuple[str, ...] | None = None
    newline: Literal["\n", "\r\n", "\r"] = "\n"
    end: Literal["clean", "reset"] = "clean"
    reset_after_lines: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if (self.body_text is None) == (self.body_sse_lines is None):
            raise ValueError("exactly one of body_text and body_sse_lines is needed")
        return self

    @property
    def is_cut(self) -> bool:
        """Whether the connection broke before the end."""
        return self.end == "reset" or self.reset_after_lines is not None

    @property
    def body(self) -> bytes:
        """The bytes that came; a lone surrogate becomes the bytes that it would have been sent as."""
        if self.body_sse_lines is None:
            return (self.body_text or "").encode("utf-8", "surrogatepass")
        lines = self.body_sse_lines[: self.reset_after_lines]
        return "".join(line + self.newline for line in lines).encode("utf-8", "surrogatepass")


class WireFile(_Open):
    """One file: an answer in dialect ``api``, and the answers that followed it."""

    id: str
    api: Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
    provider: str = ""
    stream: bool = False
    context: WireContext = WireContext()
    http: WireAnswer
    then: tuple[WireAnswer, ...] = ()
