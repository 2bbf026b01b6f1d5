"""The rules of a scenario: kinds that can match, facts that can come true, calls that can run."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.problem import KeyPath, Problem, nearest
from harness.schema.command import CallSpec
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

__all__ = ["rule_problems"]


def rule_problems(scenario: Scenario) -> Iterator[Problem]:
    """Everything in kinds, end and call that the schema alone cannot see."""
    for index, kind in enumerate(scenario.kind):
        yield from _kind(scenario, kind, index)
    yield from _facts(scenario)
    yield from _end(scenario)
    yield from _runnable(scenario)
    if scenario.call is not None:
        yield from _options(scenario.call)


def _kind(scenario: Scenario, kind: KindSpec, index: int) -> Iterator[Problem]:
    path: KeyPath = ("kind", index)
    earlier = scenario.kind[:index]
    if kind.name in (other.name for other in earlier):
        yield Problem((*path, "name"), f"the kind {kind.name!r} is declared twice", "each kind once")
    single = (kind.read, kind.tool, kind.help)
    if not (kind.is_call or kind.where or kind.programs or any(one is not None for one in single)):
        allowed = "one of call, with, word, read, help, programs, tool, where"
        yield Problem(path, f"the kind {kind.name!r} matches by nothing", allowed)
        return
    yield from _matchers(scenario, kind, path)
    for name in kind.with_:
        if name.startswith("-"):
            yield Problem((*path, "with", name), "an option with dashes", "its name without dashes")
    asked = ("once", "never", "needs", "options", "errors", "failed", "sets", "proves", "hint")
    ruled = [key for key in asked if getattr(kind, key)]
    if kind.fatal is not None and ruled:
        yield Problem((*path, ruled[0]), "fatal ends the episode before this is asked", "fatal alone")
    yield from _errors(kind, path)
    for other in earlier:
        if _covers(other, kind):
            yield Problem(path, f"the kind {kind.name!r} is never reached: {other.name!r} before it matches all of it")
            return


def _errors(kind: KindSpec, path: KeyPath) -> Iterator[Problem]:
    for number, rule in enumerate(kind.errors):
        place: KeyPath = (*path, "errors", number)
        if rule.exit is None and not rule.where:
            yield Problem(place, "this error is told by nothing", "exit, where or both")
        if rule.where and kind.read is not None:
            yield Problem((*place, "where"), f"{kind.name!r} is a read and has no answer", "exit")
        for before in kind.errors[:number]:
            if before.exit in {None, rule.exit} and before.where.items() <= rule.where.items():
                yield Problem(place, f"never asked: the error {before.code!r} before it takes all of it")
                break


def _matchers(scenario: Scenario, kind: KindSpec, path: KeyPath) -> Iterator[Problem]:
    """Ways of matching that no call can fit together."""
    if kind.is_call and kind.read is not None:
        yield Problem((*path, "read"), "a call and a read at once", "one of the two")
    if kind.tool is not None and kind.tool not in scenario.tool:
        text = f"unknown tool {kind.tool!r}{nearest(kind.tool, scenario.tool)}"
        yield Problem((*path, "tool"), text, ", ".join(scenario.tool))
    elif kind.tool in scenario.plane_tools and (kind.is_call or kind.read is not None):
        text = f"the tool {kind.tool!r} takes no command"
        yield Problem((*path, "tool"), text, "tool and where, without call, with, word and read")


def _covers(earlier: KindSpec, later: KindSpec) -> bool:
    """Whether every call of ``later`` is matched by ``earlier``, as far as the matchers alone tell."""
    words = not earlier.call or (bool(later.call) and set(later.call) <= set(earlier.call))
    options = all(_option_covers(wanted, later.with_.get(name)) for name, wanted in earlier.with_.items())
    single = all(
        getattr(earlier, key) is None or getattr(earlier, key) == getattr(later, key)
        for key in ("word", "alternative", "help", "tool")
    )
    reads = earlier.read in {None, later.read} or (earlier.read == "any" and later.read not in {None, "clock"})
    programs = not earlier.programs or (bool(later.programs) and set(later.programs) <= set(earlier.programs))
    arguments = all(at in later.where and later.where[at] == wanted for at, wanted in earlier.where.items())
    is_call = not earlier.is_call or later.is_call
    return words and options and single and reads and programs and arguments and is_call


def _option_covers(earlier: str | bool, later: str | bool | None) -> bool:
    if earlier == "*":
        return isinstance(later, str) and later != "" and not later.startswith("--")
    return earlier is later if isinstance(earlier, bool) else earlier == later


def _facts(scenario: Scenario) -> Iterator[Problem]:
    facts = sorted({fact for kind in scenario.kind for fact in kind.facts})
    used: list[tuple[KeyPath, str]] = []
    for index, kind in enumerate(scenario.kind):
        used += [(("kind", index, key, fact), fact) for key in ("never", "needs") for fact in getattr(kind, key)]
    used += [(("end", "accept", index), fact) for index, fact in enumerate(scenario.end.accept)]
    for number, rule in enumerate(scenario.end.silence):
        for key in ("has", "lacks"):
            used += [(("end", "silence", number, key, at), fact) for at, fact in enumerate(getattr(rule, key))]
    for outcome, ending in scenario.outcomes.items():
        needs = () if isinstance(ending, str) else ending.needs
        used += [(("outcomes", outcome, "needs", at), fact) for at, fact in enumerate(needs)]
    for path, fact in used:
        if fact not in facts:
            yield Problem(path, f"no kind sets the fact {fact!r}{nearest(fact, facts)}", ", ".join(facts))


def _end(scenario: Scenario) -> Iterator[Problem]:
    if bool(scenario.tool) is not bool(scenario.kind):
        what = ("tools", "kinds") if scenario.tool else ("kinds", "tools")
        yield Problem((what[0][:-1],), f"{what[0]} without {what[1]}", "both, or none where the actor only answers")
        return
    if not scenario.kind:
        yield from _answering(scenario)
        return
    for key in ("accept", "silence"):
        if not getattr(scenario.end, key):
            told = "an array of 0" if key in scenario.end.model_fields_set else "missing"
            yield Problem(("end", key), told, "an array of at least 1")
            return
    yield from _endings(scenario)


def _answering(scenario: Scenario) -> Iterator[Problem]:
    """Where there are no tools the answer is all there is."""
    if scenario.end.silence:
        yield Problem(("end", "silence"), "nobody is ever silent where there are no tools", "a [[classify]]")
    if not (scenario.end.check or scenario.classify):
        yield Problem(("end",), "whatever is answered passes", "a [[classify]] or an [[end.check]]")


def _endings(scenario: Scenario) -> Iterator[Problem]:
    reached: set[str] = set()
    for _ in scenario.kind:
        ready = [kind for kind in scenario.kind if reached.issuperset(kind.needs)]
        reached.update(fact for kind in ready for fact in kind.facts)
    settable = {fact for kind in scenario.kind for fact in kind.facts}
    for index, fact in enumerate(scenario.end.accept):
        if fact in settable and fact not in reached:
            yield Problem(("end", "accept", index), f"the fact {fact!r} can never come true: see what its kind needs")
    rules = scenario.end.silence
    for number, rule in enumerate(rules):
        always = not rule.has and not rule.lacks
        if always and number < len(rules) - 1:
            yield Problem(
                ("end", "silence", number), "this rule always fits, so no later one is asked", "it as the last"
            )
    if rules[-1].has or rules[-1].lacks:
        yield Problem(
            ("end", "silence", len(rules) - 1), "silence may be without a code", "a last rule with a code only"
        )


def _runnable(scenario: Scenario) -> Iterator[Problem]:
    allowed = () if scenario.call is None else tuple(scenario.call.allow)
    for index, kind in enumerate(scenario.kind):
        if not kind.is_call or kind.fatal is not None:
            continue
        if scenario.call is None:
            yield Problem(("kind", index), "no call may run: there is no [call]", "a table call with allow")
            return
        for number, words in enumerate(kind.call):
            if not any(f" {' '.join(words.split())} " in f" {path} " for path in allowed):
                text = f"a call of {words!r} is never allowed to run"
                yield Problem(("kind", index, "call", number), text, f"paths of call.allow: {', '.join(allowed)}")


def _options(call: CallSpec) -> Iterator[Problem]:
    options = sorted({option for listed in call.allow.values() for option in listed})
    for key in ("set", "many", "flags", "inside", "add"):
        for position, option in enumerate(getattr(call, key)):
            if option not in options:
                path: KeyPath = ("call", key, option if key in {"set", "add"} else position)
                yield Problem(
                    path, f"no path allows the option {option!r}{nearest(option, options)}", ", ".join(options)
                )
    for option in call.flags:
        if option in {*call.set, *call.many, *call.inside, *call.add}:
            yield Problem(
                ("call", "flags"), f"the flag {option!r} takes no value", "an option once: flag or with a value"
            )
