"""A scenario: what is asked, the world it starts in, limits, rules, scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from harness.schema.base import OF_ITS_TYPE, Digest, Frozen, JsonValue
from harness.schema.classifier import ClassifierName, ClassifierSpec
from harness.schema.closing import ClosingSpec
from harness.schema.command import CallSpec
from harness.schema.control import ControlSpec
from harness.schema.detectors import DetectorSpec
from harness.schema.fault import ActorFault
from harness.schema.following import FollowUp
from harness.schema.limits import Limits
from harness.schema.name import Code, KindName, Pointer, ScenarioId, ValueName, WorkspacePath
from harness.schema.packet import PacketSpec
from harness.schema.pair import PairSpec
from harness.schema.rules import AnswerCheck, CheckSpec, EndSpec, KindSpec, OutcomeRule
from harness.schema.script import ScriptSet
from harness.schema.waiver import WaiverSpec

__all__ = [
    "BoundarySpec",
    "CommandTool",
    "FileSpec",
    "LateValue",
    "LoadedScenario",
    "ObserveSpec",
    "PlaneTool",
    "PolicySpec",
    "PrepareStep",
    "PromptSpec",
    "Scenario",
    "StrictSpec",
    "Strictness",
    "Tool",
    "WorkspaceSpec",
]

RootName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class LateValue(Frozen):
    """A value computed while the episode runs, resolved once, on first use; exactly one source.

    ``plane``: the arguments of a control-plane call; ``at`` points into its answer. ``prompt``: a regular expression
    with one group, searched in the user message. ``answer``: a kind; ``at`` points into its first answer. ``shown``: a
    regular expression with one group, searched in the results as they were shown, newest first; it is looked for anew
    at each use, and is for scripts only. ``replace`` is applied to what was found, in order; a value in which an old
    text is not is none.
    """

    plane: tuple[str, ...] | None = None
    prompt: str | None = None
    answer: KindName | None = None
    shown: str | None = None
    at: Pointer | None = None
    replace: tuple[tuple[str, str], ...] = Field(default=(), max_length=64)


class FileSpec(Frozen):
    """One text in one or several places (``root/path``); ``mode`` is octal digits."""

    at: tuple[WorkspacePath, ...] = Field(min_length=1, max_length=64)
    text: str
    mode: Annotated[str, Field(pattern=r"^0?[0-7]{3}$")] = "644"


class PrepareStep(Frozen):
    """A control-plane call that makes part of the world before the prompt; it must exit 0."""

    plane: tuple[str, ...] = Field(min_length=1)


class WorkspaceSpec(Frozen):
    """The temporary world.

    ``roots`` are directories, each known as ``{NAME_root}``; those in ``absent`` are names only and are not created;
    those in ``git`` become repositories, with an ``origin`` where one is named, which nobody ever asks for anything.
    ``cwd`` is the root that commands run in.
    """

    roots: tuple[RootName, ...] = Field(min_length=1, max_length=32)
    cwd: RootName = "project"
    absent: tuple[RootName, ...] = ()
    git: tuple[RootName, ...] = ()
    origin: dict[RootName, Annotated[str, Field(pattern=r"^https://[A-Za-z0-9._/-]{1,200}$")]] = {}
    file: tuple[FileSpec, ...] = Field(default=(), max_length=512)
    prepare: tuple[PrepareStep, ...] = Field(default=(), max_length=64)


class PromptSpec(Frozen):
    """What the actor reads first; ``must_contain`` texts are looked for in the user message at open."""

    system: str | None = None
    user: str
    must_contain: tuple[str, ...] = Field(default=(), max_length=64)


class CommandTool(Frozen):
    """A tool with one required string argument that holds a command of a bounded grammar.

    ``content`` and ``metadata`` name the files (``root/path``) whose reads have those roles; a read of any other file
    has the role ``other``. ``readable`` are roots that listings may name besides the working directory. ``clock`` is
    what a question for the time is answered with (ISO 8601 with zone). ``result_chars`` is how much of a result of
    this tool is shown, in place of ``limits.tool_result_chars``.
    """

    about: str
    argument: str
    clock: str | None = None
    grammar: str
    content: tuple[WorkspacePath, ...] = Field(default=(), max_length=512)
    metadata: tuple[WorkspacePath, ...] = Field(default=(), max_length=512)
    readable: tuple[RootName, ...] = ()
    result_chars: Annotated[int, Field(ge=256, le=1_048_576)] | None = None


class PlaneTool(Frozen):
    """A tool that is one operation of the control plane, with the operation's own JSON Schema for its arguments.

    ``about`` is put in place of what the control plane says about the operation.
    """

    operation: str
    about: str | None = None


def _family(value: CommandTool | PlaneTool | Mapping[str, JsonValue]) -> str:
    """Which kind of tool a table is: what names an operation is one of the control plane."""
    named = "operation" in value if isinstance(value, Mapping) else isinstance(value, PlaneTool)
    return "plane_tool" if named else "command_tool"


Tool = Annotated[
    Annotated[CommandTool, Tag("command_tool")] | Annotated[PlaneTool, Tag("plane_tool")], Discriminator(_family)
]


class PolicySpec(Frozen):
    """Tools that are offered but refused: ``denied`` wins over ``allowed`` (None allows all)."""

    allowed: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()


Strictness = Literal["observe", "fail"]


class StrictSpec(Frozen):
    """What a call that cannot run means, per class: answered with an error (``observe``) or the end (``fail``).

    ``control`` is a ``finalize`` beside other calls, or one that does not fit its schema; ``finish`` a reply that
    calls tools though its finish reason does not say so, whose calls run otherwise, and so do those of ``ids``, a call
    with the id of one in an earlier turn: some servers number the calls of each turn anew. ``leftovers`` are answers of
    a script that nobody asked for: with ``fail`` its episode proves nothing.
    """

    parse: Strictness = "observe"
    unknown_tool: Strictness = "observe"
    policy: Strictness = "observe"
    arguments: Strictness = "observe"
    control: Strictness = "observe"
    finish: Strictness = "observe"
    ids: Strictness = "observe"
    leftovers: Strictness = "observe"


class ObserveSpec(Frozen):
    """What becomes of a result that is too long to be shown whole.

    ``spill`` keeps its full text in the workspace, outside of the roots, and offers the tool ``read_more``, which reads
    on in it. With ``require_artifact`` an episode whose text cannot be kept ends (``failed/artifact_persist_failed``).
    """

    spill: bool = False
    require_artifact: bool = False


class BoundarySpec(Frozen):
    """What may change in the workspace, as ``root/path``, ``root/dir/**`` or ``root/dir/*.log``.

    Anything else fails the episode.
    """

    plane_writes: tuple[WorkspacePath, ...] = Field(default=(), max_length=512)
    tool_writes: tuple[WorkspacePath, ...] = Field(default=(), max_length=512)


class Scenario(Frozen):
    """One scenario file. ``{name}`` is replaced in every string for declared names only, and never after ``$``.

    With a ``packet`` it may do without tools, kinds and ``end``: then the actor answers, and a classifier judges that.
    """

    schema_: Annotated[Literal[1], OF_ITS_TYPE] = Field(alias="schema")
    id: ScenarioId
    asks: str
    tags: tuple[str, ...] = Field(default=(), max_length=64)
    plane: str
    limits: Limits = Limits()
    outcomes: dict[str, Code | OutcomeRule] = {}
    values: dict[ValueName, str] = Field(default={}, max_length=512)
    late: dict[ValueName, LateValue] = Field(default={}, max_length=64)
    workspace: WorkspaceSpec
    prompt: PromptSpec
    packet: PacketSpec | None = None
    tool: dict[str, Tool] = Field(default={}, max_length=32)
    call: CallSpec | None = None
    kind: tuple[KindSpec, ...] = Field(default=(), max_length=256)
    end: EndSpec = EndSpec()
    check: tuple[CheckSpec, ...] = Field(default=(), max_length=256)
    after: tuple[FollowUp, ...] = Field(default=(), max_length=16)
    closing: ClosingSpec | None = None
    classify: tuple[ClassifierSpec, ...] = Field(default=(), max_length=32)
    boundary: BoundarySpec = BoundarySpec()
    policy: PolicySpec = PolicySpec()
    strict: StrictSpec = StrictSpec()
    detectors: DetectorSpec = DetectorSpec()
    fault: tuple[ActorFault, ...] = Field(default=(), max_length=64)
    control: ControlSpec = ControlSpec()
    observe: ObserveSpec = ObserveSpec()
    pair: tuple[PairSpec, ...] = Field(default=(), max_length=64)
    script: ScriptSet
    waiver: WaiverSpec = WaiverSpec()

    @property
    def command_tools(self) -> dict[str, CommandTool]:
        """The tools whose argument is a command, by name."""
        return {name: tool for name, tool in self.tool.items() if isinstance(tool, CommandTool)}

    @property
    def plane_tools(self) -> dict[str, PlaneTool]:
        """The tools that are operations of the control plane, by name."""
        return {name: tool for name, tool in self.tool.items() if isinstance(tool, PlaneTool)}

    def is_plane_call(self, kind: KindSpec) -> bool:
        """Whether calls of this kind reach the control plane: by a command, or as one of its operations."""
        return kind.is_call or kind.tool in self.plane_tools

    @property
    def codes(self) -> tuple[Code, ...]:
        """Every failure code the file declares, once, in order: kinds, checks, end, classifiers, outcomes."""
        found: list[Code | None] = []
        for kind in self.kind:
            found += [kind.fatal, kind.once, *kind.never.values(), *kind.needs.values()]
            found += [*(rule.code for rule in kind.options), kind.failed]
            checks = [check for spec in self.check if spec.kind == kind.name for check in spec.answer.values()]
            found += [check.code for check in checks if isinstance(check, AnswerCheck)]
            for follow in self.after:
                if follow.kind == kind.name:
                    checks = list(follow.answer.values())
                    found += [follow.failed, *(check.code for check in checks if isinstance(check, AnswerCheck))]
        found += [] if self.closing is None else [self.closing.failed, self.closing.called]
        found += [self.end.unexpected] if self.kind else []
        found += [rule.code for rule in self.end.silence]
        found += [check.code for check in self.end.check]
        for spec in self.classify:
            found += [spec.code, *spec.codes.values()]
        found += [rule.code if isinstance(rule, OutcomeRule) else rule for rule in self.outcomes.values()]
        return tuple(dict.fromkeys(code for code in found if code is not None))


class LoadedScenario(Frozen):
    """A scenario with where it came from.

    ``digest`` is over the canonical JSON of all that an episode can depend on, not its layout; ``parts`` are short
    digests of its parts by their dotted keys, where somebody made them. ``classifiers`` are the versions of those that
    it names, from 1.
    """

    scenario: Scenario
    digest: Digest
    parts: dict[str, str] = {}
    path: str
    classifiers: dict[ClassifierName, int] = {}

    @property
    def judged_by(self) -> int:
        """How far the versions of its classifiers are beyond the first, together: it grows with each of them."""
        return sum(version - 1 for version in self.classifiers.values())
