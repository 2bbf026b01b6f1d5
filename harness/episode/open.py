"""Opening an episode: the world, the frozen definition, the prompt (runner specification 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256

from harness.control import control_tools
from harness.episode.classifying import look_before
from harness.episode.declaring import tool_spec
from harness.episode.durable import DurableEpisode
from harness.episode.encoding import EncodedMessages
from harness.episode.erring import in_our_words
from harness.episode.external import not_done_yet
from harness.episode.latch import Bounds
from harness.episode.operations import with_operations
from harness.episode.packet import deliver_with_packet
from harness.episode.parts import EpisodeParts
from harness.episode.prompting import prompt_texts, value_call
from harness.episode.reading_on import READ_MORE_SPEC
from harness.episode.stopwatch import Stopwatch
from harness.episode.values import LateValues
from harness.episode.world import World
from harness.errors import EnvironmentProblem, MachineError, OpeningRefusedError, SetupRejectedError
from harness.journal import Journal, Spool
from harness.observation import FOLDER
from harness.ports import ControlPlane
from harness.scenario import UNPLAYED, bind
from harness.schema.base import Digest, JsonValue, digest_json, digest_text
from harness.schema.command import GrammarContext
from harness.schema.control import CONTROL_NAMES
from harness.schema.evidence import StateDigest
from harness.schema.process import PlaneIdentity
from harness.schema.record import FixtureBound, Opened, OpPlanned, OpReceipt, OpStarted
from harness.schema.remembering import remembered
from harness.schema.scenario import PlaneTool, Scenario, Tool
from harness.schema.tool import ToolSpec
from harness.workspace import Fingerprinter, Placeholders, Workspace, populate, reserve, shortage

__all__ = ["fixed_values", "grammar_contexts", "open_world", "tool_specs", "turn_id"]


def turn_id(scenario: str, trial: int) -> str:
    """The turn id of a scenario and trial: the same wherever and whenever it is run."""
    return "qualification-" + sha256(f"{scenario}#{trial}".encode()).hexdigest()[:16]


def fixed_values(workspace: Workspace, turn: str) -> dict[str, str]:
    """The names that every scenario may use."""
    roots = {f"{name}_root": str(path) for name, path in workspace.roots.items()}
    return {**roots, "fixture_root": str(workspace.root), "turn_id": turn}


def tool_specs(scenario: Scenario, operations: Mapping[str, ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools as they are declared to the actor. Raises SetupRejectedError for an operation that is not there."""
    return tuple(_tool_spec(name, tool, operations) for name, tool in scenario.tool.items()) + (
        (READ_MORE_SPEC,) if scenario.observe.spill else ()
    )


def _tool_spec(name: str, tool: Tool, operations: Mapping[str, ToolSpec]) -> ToolSpec:
    if isinstance(tool, PlaneTool):
        known = operations.get(tool.operation)
        if known is None:
            raise SetupRejectedError(f"tool.{name}: the control plane has no operation {tool.operation!r}")
        return known.model_copy(update={"name": name, "description": tool.about or known.description})
    return tool_spec(name, tool.about, tool.argument)


def grammar_contexts(scenario: Scenario, workspace: Workspace) -> dict[str, GrammarContext]:
    """What each command tool's grammar must know of this world."""
    roots = {name: str(path) for name, path in workspace.roots.items()}
    return {
        name: GrammarContext(
            profile=tool.grammar,
            roots=roots,
            cwd=scenario.workspace.cwd,
            readable=tool.readable,
            content=tool.content,
            metadata=tool.metadata,
            call=scenario.call,
        )
        for name, tool in scenario.command_tools.items()
    }


def open_world(
    parts: EpisodeParts, journal: Journal, spool: Spool, stack: ExitStack, durable: DurableEpisode | None = None
) -> World:
    """Build the world and freeze the definition; a ``durable`` one that was begun is built as it was then.

    ``stack`` undoes what was made. Raises SetupRejectedError; MachineError where it is the machine that lacks
    something; OpeningRefusedError where what was begun cannot be gone on with.
    """
    job = parts.job
    raw = job.loaded.scenario
    stopwatch = Stopwatch(parts.clock)
    bounds = _bounds(parts, journal, durable)
    workspace = _reserved(parts, stack, None if durable is None else durable.workspace)
    if durable is not None:
        durable.settle_in(workspace.root.name, apart=(FOLDER,) if raw.observe.spill else ())
    fixed = fixed_values(workspace, turn_id(raw.id, job.trial))
    scenario = bind(raw, fixed, source=job.loaded.path)
    tools = (*tool_specs(scenario, parts.operations), *control_tools(scenario.control.offer))
    _permitted(scenario, tools, parts.host_denied)
    placeholders = Placeholders(workspace)
    opened = Opened(
        scenario=raw.id,
        definition=_definition(parts, tools),
        actor=job.actor.identity.digest,
        trial=job.trial,
        attempt=job.attempt,
        parts=_parts(parts),
    )
    _same_definition(journal, opened)
    journal.append(opened)
    plane, fingerprinter, baseline = _built(parts, scenario, workspace, placeholders, journal, stack, durable)
    journal.append(FixtureBound(fingerprint=baseline.digest))
    world = World(
        parts=parts,
        key=job.key,
        journal=journal,
        spool=spool,
        bounds=bounds,
        stopwatch=stopwatch,
        scenario=scenario,
        limits=scenario.limits,
        workspace=workspace,
        placeholders=placeholders,
        fingerprinter=fingerprinter,
        plane=plane,
        values=LateValues(scenario, {**scenario.values, **fixed}, lambda args: value_call(world, args)),
        tools=tools,
        contexts=grammar_contexts(scenario, workspace),
        baseline=baseline,
        latest=baseline,
        encoded=EncodedMessages(placeholders.hide_json, placeholders.touches),
        durable=durable,
    )
    look_before(world)
    deliver_with_packet(world)
    not_done_yet(world)
    _witnessed(world)
    return world


def _witnessed(world: World) -> None:
    witness = world.parts.witness
    if witness is not None:
        told = [digest_text(world.placeholders.hide(text)) for text in prompt_texts(world)]
        declared: list[JsonValue] = [_declared(tool) for tool in world.tools]
        world.drifts.extend(witness.opened(digest_json(list(told)), digest_json(declared)))


def _reserved(parts: EpisodeParts, stack: ExitStack, name: str | None) -> Workspace:
    """A new place, or that of ``name``: texts of an earlier driver tell of it."""
    spec = parts.job.loaded.scenario.workspace
    try:
        return stack.enter_context(
            reserve(
                roots=spec.roots,
                absent=spec.absent,
                cwd=spec.cwd,
                base=parts.temporary,
                keep=parts.job.options.keep_workspace,
                name=name,
                later=None if parts.durable is not None else parts.remove_later,
            )
        )
    except EnvironmentProblem as error:
        if name is None:
            raise
        raise OpeningRefusedError("setup_rejected", str(error)) from error


def _built(  # noqa: PLR0917  (what a fixture is made of)
    parts: EpisodeParts,
    scenario: Scenario,
    workspace: Workspace,
    placeholders: Placeholders,
    journal: Journal,
    stack: ExitStack,
    durable: DurableEpisode | None,
) -> tuple[ControlPlane, Fingerprinter, StateDigest]:
    """E7: the fixture made anew, or put back and held against what it was; its plane, and its first state."""
    bound = None if durable is None else durable.bound
    if durable is not None and bound is not None:
        durable.put_back(workspace.root, bound)
    else:
        populate(workspace, scenario.workspace)
    plane = parts.open_plane(workspace)
    stack.callback(plane.close)
    _prepare(scenario, plane, journal, workspace)
    telling = with_operations(plane)
    meanings = {} if telling is None else {telling.store: telling.snapshot}
    fingerprinter = Fingerprinter(placeholders.hide, meanings)
    baseline = fingerprinter.take(workspace.root, exclude=(FOLDER,) if scenario.observe.spill else ())
    if bound is not None and baseline.digest != bound:
        raise OpeningRefusedError("fixture_mismatch", "the kept workspace is not what it was")
    if durable is not None and bound is None:
        durable.keep_state(workspace.root, baseline.digest)
    return plane, fingerprinter, baseline


def _bounds(parts: EpisodeParts, journal: Journal, durable: DurableEpisode | None) -> Bounds:
    """E6: the deadline of an episode is set when it is first opened."""
    deadline_s = parts.job.loaded.scenario.limits.deadline_s
    left = deadline_s if durable is None else durable.left(deadline_s, parts.clock.now())
    if left <= 0:
        raise OpeningRefusedError("deadline_passed_before_start", "its time was over while nobody drove it")
    return Bounds(parts.cancelled, parts.clock, left, lambda: journal.ahead is not None, parts.shutdown)


def _parts(parts: EpisodeParts) -> dict[str, Digest]:
    """The digests of what is frozen, by the name that a person gives it."""
    job = parts.job
    return {
        **_parts_of_scenario(job.loaded.scenario),
        "scenario": digest_json(job.loaded.digest),
        "actor": digest_json(job.actor.identity.digest),
        "control_plane": _digest_of_plane(job.plane),
        "classifier": digest_json(parts.classifier_version),
    }


@remembered(64)
def _digest_of_plane(plane: PlaneIdentity) -> Digest:
    return digest_json(plane.model_dump(mode="json"))


@remembered(256)
def _declared(tool: ToolSpec) -> JsonValue:
    """As it stands in the definition; not to be changed."""
    told: JsonValue = tool.model_dump(mode="json")
    return told


@remembered(64)
def _parts_of_scenario(scenario: Scenario) -> dict[str, Digest]:
    said = scenario.model_dump(mode="json", exclude=set(UNPLAYED))
    return {"tools" if name == "tool" else name: digest_json(value) for name, value in said.items()}


def _same_definition(journal: Journal, now: Opened) -> None:
    """E5: what is frozen is what was frozen, compared before anything is written; the part is named."""
    before = journal.ahead
    if not isinstance(before, Opened) or before == now:
        return
    names = [name for name in now.parts if now.parts[name] != before.parts.get(name)]
    named = next(iter(names), "definition")
    raise OpeningRefusedError("definition_mismatch", f"{named} changed since it was opened", detail=named)


def _permitted(scenario: Scenario, tools: tuple[ToolSpec, ...], denied: frozenset[str]) -> None:
    """E8: the names of control tools are free, and every declared tool is one that this machine permits."""
    taken = [name for name in scenario.tool if name in CONTROL_NAMES]
    if taken:
        raise SetupRejectedError(f"tool {taken[0]!r} has the name of a control tool")
    refused = [tool.name for tool in tools if tool.name in denied]
    if refused:
        raise SetupRejectedError(f"tool {refused[0]!r} is not permitted on this machine")


def _definition(parts: EpisodeParts, tools: tuple[ToolSpec, ...]) -> str:
    """E1: what is frozen before anything runs; the prompt's texts follow as delivered inputs."""
    job = parts.job
    frozen: dict[str, JsonValue] = {
        "scenario": job.loaded.digest,
        "actor": job.actor.identity.digest,
        "plane": job.plane.model_dump(mode="json"),
        "tools": [_declared(tool) for tool in tools],
        "classifier": parts.classifier_version,
        "trial": job.trial,
    }
    return digest_json(frozen)


def _prepare(scenario: Scenario, plane: ControlPlane, journal: Journal, workspace: Workspace) -> None:
    """E7: the steps that only the control plane itself can do."""
    limits = scenario.limits
    for number, step in enumerate(scenario.workspace.prepare):
        operation = f"prepare:{number + 1}"
        journal.append(OpPlanned(operation=operation, purpose="preparation", digest=digest_text("\0".join(step.plane))))
        journal.append(OpStarted(operation=operation, attempt=1))
        before = journal.ahead
        if isinstance(before, OpReceipt) and before.status == "succeeded":
            journal.append(before)  # what it did is in the workspace that was put back
            continue
        with in_our_words():
            done = plane.invoke(step.plane, timeout_s=limits.tool_call_s, output_bytes=limits.tool_result_bytes)
        ok = done.exit_code == 0 and not done.timed_out
        journal.append(OpReceipt(operation=operation, attempt=1, status="succeeded" if ok else "failed"))
        lacking = None if ok else shortage(workspace.root)
        if lacking is not None:
            raise MachineError(f"workspace.prepare[{number}]: failed, and the machine lacks something: {lacking}")
        if not ok:
            how = "timed out" if done.timed_out else f"exit code {done.exit_code}"
            problem = f"workspace.prepare[{number}]: the control plane's call failed ({how})"
            raise SetupRejectedError(problem, by_plane=True)
