"""Reading single commands the way an episode would, on a world that is opened once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from harness import command, rules
from harness.clock import SystemClock
from harness.episode import World, json_object, open_world
from harness.errors import CatalogError, ScriptExhaustedError, SetupRejectedError
from harness.journal import Journal, MemorySpool
from harness.rules import RuleState
from harness.schema.base import JsonValue
from harness.schema.command import ParsedCommand
from harness.schema.run import EpisodeJob
from harness.schema.scenario import LoadedScenario
from harness.wiring.actors import actor_specs
from harness.wiring.places import Settings
from harness.wiring.planes import plane_identity
from harness.wiring.session import Session

__all__ = ["Classification", "classifier"]


@dataclass(frozen=True, slots=True)
class Classification:
    """One command: its kind, the code it would have there, every way it can be read, or why it could not be made."""

    kind: str | None
    code: str | None
    parsed: ParsedCommand | None = None
    problem: str | None = None


@contextmanager
def classifier(
    place: Settings, loaded: LoadedScenario, after: Sequence[str] = ()
) -> Iterator[Callable[[str], Classification]]:
    """A function from command texts (script placeholders allowed) to classifications; nothing is executed by it.

    ``after`` are kinds taken as accepted and succeeded, in order. Raises CatalogError for a kind that does not exist,
    SetupRejectedError where the world cannot be opened.
    """
    state = _after(loaded, after)
    spec = actor_specs(place, "script", loaded, ())[0]
    job = EpisodeJob(loaded=loaded, actor=spec, plane=plane_identity(place, loaded.scenario.plane))
    with Session(place) as session, ExitStack() as stack:
        world = open_world(session.parts(job, clock=SystemClock()), Journal(), MemorySpool(), stack)
        yield lambda text: _classify(world, state, text)


def _after(loaded: LoadedScenario, after: Sequence[str]) -> RuleState:
    kinds = {kind.name: kind for kind in loaded.scenario.kind}
    facts: set[str] = set()
    counts: dict[str, int] = {}
    for name in after:
        if name not in kinds:
            raise CatalogError("kind", name, tuple(kinds))
        counts[name] = counts.get(name, 0) + 1
        facts |= set(kinds[name].facts)
    return RuleState(facts=frozenset(facts), counts=counts)


def _classify(world: World, state: RuleState, text: str) -> Classification:
    try:
        filled = world.values.fill(text)
    except (ScriptExhaustedError, SetupRejectedError) as error:
        return Classification(kind=None, code=None, problem=str(error))
    missing = world.values.missing(text)
    if missing:
        return Classification(kind=None, code=None, problem=f"the value {missing[0]!r} cannot be resolved here")
    called = _as_call(world, filled)
    if called is None:
        return Classification(kind=None, code=None, problem="no tool here takes a command; write TOOL {ARGUMENTS}")
    name, arguments, parsed = called
    kind = rules.match(world.scenario, tool=name, arguments=arguments, parsed=parsed)
    proposal = rules.propose(world.scenario, state, kind)
    return Classification(kind=proposal.kind, code=proposal.code, parsed=parsed)


def _as_call(world: World, text: str) -> tuple[str, dict[str, JsonValue], ParsedCommand | None] | None:
    """A text as a call of a tool: ``TOOL {ARGUMENTS}`` of one of the control plane's, else a command."""
    name, _, rest = text.strip().partition(" ")
    arguments = json_object(rest.encode("utf-8", "surrogatepass")) if name in world.scenario.plane_tools else None
    if arguments is not None:
        return name, arguments, None
    command_tool = next(iter(world.scenario.command_tools.items()), None)
    if command_tool is None:
        return None
    name, tool = command_tool
    return name, {tool.argument: text}, command.parse(text, world.contexts[name])
