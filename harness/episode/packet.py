"""The packet that an episode is about: taken from the control plane, held against its invariants, shown in the prompt.

All of it happens before anybody is asked: who decides about a broken packet, or is handed what the decision is graded
on, proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from harness import redaction, rules
from harness.documents import DocumentError, parse_json
from harness.episode.classifying import prepared
from harness.episode.prompting import deliver_prompt, value_call
from harness.episode.world import World
from harness.errors import SetupRejectedError
from harness.scenario import substitute
from harness.schema.base import JsonValue, canonical_json
from harness.schema.counting import counted
from harness.schema.finding import RawFinding
from harness.schema.packet import PACKET_NAME, PacketSpec, Preparation
from harness.schema.pointer import MISSING, pointer, without

__all__ = ["PACKET_CODES", "deliver_with_packet"]

UNAVAILABLE, UNREADABLE, ABSENT = "packet_unavailable", "packet_unreadable", "packet_absent"
CREDENTIAL, LOCAL_PATH = "packet_holds_credential", "packet_holds_local_path"
UNFIT, GIVEN_AWAY = "packet_unfit", "packet_given_away"

#: What can be wrong with a packet whatever its scenario; its invariants have codes of their own.
PACKET_CODES: Final = (UNAVAILABLE, UNREADABLE, ABSENT, CREDENTIAL, LOCAL_PATH, UNFIT, GIVEN_AWAY)

#: What may not stand beside an id for it to be a word of its own.
_WORD: Final = r"[A-Za-z0-9_]"


def deliver_with_packet(world: World) -> None:
    """Deliver the prompt, with the packet in it where the scenario has one.

    Raises SetupRejectedError where none can be had, or it is broken (then everything that is wrong is told), or where
    the prompt cannot be made.
    """
    spec = world.scenario.packet
    if spec is None:
        deliver_prompt(world)
        return
    packet = _sound(world, spec)
    made = tuple(prepared(world.scenario, world.parts.classifiers, packet))
    unfit = [at for one in made for at in one.unfit]
    if unfit:
        found = tuple(RawFinding(code=UNFIT, check="packet", pointer=at, missing=True) for at in unfit)
        problem = f"packet: it does not tell what the answer must be at {', '.join(unfit)}"
        raise SetupRejectedError(problem, by_plane=True, found=found)
    world.packet = packet
    world.values.put(PACKET_NAME, canonical_json(packet))
    deliver_prompt(world)
    _hold_back(world, made)


def _sound(world: World, spec: PacketSpec) -> JsonValue:
    """The packet as it may be shown, once its invariants hold."""
    hidden = world.placeholders.hide_json(_taken(world, spec))
    secret = tuple(redaction.credentials(hidden))
    if secret:
        # neither the name of the field nor its value may be told
        raise _refusal(CREDENTIAL, f"holds what looks like a credential ({counted(len(secret), 'time')})")
    foreign = tuple(redaction.local_paths(hidden))
    if foreign and spec.paths == "refuse":
        raise _refusal(LOCAL_PATH, f"holds a path of a machine ({counted(len(foreign), 'time')})")
    packet = redaction.without_local_paths(hidden)
    broken = rules.broken(spec, packet)
    if broken:
        codes = ", ".join(dict.fromkeys(one.code for one in broken))
        raise SetupRejectedError(f"packet: breaks its invariants: {codes}", by_plane=True, found=broken)
    return packet


def _hold_back(world: World, prepared: Iterable[Preparation]) -> None:
    """Raises SetupRejectedError where something that is to be read out of the packet stands beside it in the prompt."""
    prompt = world.scenario.prompt
    beside = [substitute(text, partial(_beside, world)) for text in (prompt.system, prompt.user) if text is not None]
    found = tuple(
        RawFinding(code=GIVEN_AWAY, check="packet", pointer=at)
        for one in prepared
        for at, texts in one.withheld.items()
        if any(_stands_in(text, beside) for text in texts)
    )
    if found:
        places = ", ".join(str(one.pointer) for one in found)
        raise SetupRejectedError(f"prompt: it tells beside the packet what is graded at {places}", found=found)


def _beside(world: World, name: str) -> str | None:
    return "" if name == PACKET_NAME else world.values.lookup(name)


def _taken(world: World, spec: PacketSpec) -> JsonValue:
    done = value_call(world, spec.plane)
    if done.timed_out or done.exit_code != 0:
        how = "timed out" if done.timed_out else f"ended with exit code {done.exit_code}"
        raise _refusal(UNAVAILABLE, f"its control-plane call {how}")
    try:
        answered = parse_json(done.stdout.decode("utf-8"))
    except (DocumentError, ValueError):
        raise _refusal(UNREADABLE, "the control plane's answer is no JSON value that can be read") from None
    found = pointer(answered, spec.at)
    if found is MISSING or not isinstance(found, dict) or not found:
        raise _refusal(ABSENT, f"the control plane's answer has no object at {spec.at or 'its root'}")
    return without(found, spec.without)


def _refusal(code: str, problem: str) -> SetupRejectedError:
    return SetupRejectedError(f"packet: {problem}", by_plane=True, found=(RawFinding(code=code, check="packet"),))


def _stands_in(text: str, prompt: Sequence[str]) -> bool:
    """Whether it stands there as a word of its own, in whatever case."""
    word = re.compile(rf"(?<!{_WORD}){re.escape(text)}(?!{_WORD})", re.IGNORECASE)
    return any(word.search(one) for one in prompt)
