"""What hangs on a call: options that it must have, facts that it proves, hints, calls of the harness's own, the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.scenario.problem import KeyPath, Problem, nearest
from harness.schema.following import FollowUp
from harness.schema.rules import AnswerCheck, Expectation, KindSpec
from harness.schema.scenario import Scenario
from harness.schema.source import ValueSource

__all__ = ["following_problems"]


def following_problems(scenario: Scenario) -> Iterator[Problem]:
    """Everything in ``[[after]]``, and in ``options``, ``proves``, ``hint`` and ``help`` of kinds, that cannot hold."""
    for index, kind in enumerate(scenario.kind):
        path: KeyPath = ("kind", index)
        yield from _texts(scenario, kind, path)
        yield from _options(scenario, kind, path)
        yield from _hint(scenario, kind, path)
    for index, check in enumerate(scenario.check):
        yield from _sources(scenario, check.answer, ("check", index, "answer"))
    for index, follow in enumerate(scenario.after):
        yield from _after(scenario, follow, ("after", index))


def _texts(scenario: Scenario, kind: KindSpec, path: KeyPath) -> Iterator[Problem]:
    """Matchers of texts, and what a result must show."""
    others = kind.is_call or kind.read is not None or kind.tool in scenario.plane_tools
    if kind.help is not None:
        paths = () if scenario.call is None else scenario.call.help
        if kind.help not in paths:
            text = f"the help of {kind.help!r} may not be asked for{nearest(kind.help, paths)}"
            yield Problem((*path, "help"), text, f"paths of call.help: {', '.join(paths)}")
        if others or kind.programs:
            yield Problem((*path, "help"), "a question for help and something else at once", "help alone")
    if kind.alternative is not None and kind.read in {None, "clock"}:
        yield Problem((*path, "alternative"), f"{kind.name!r} is no read of files", "beside read")
    if kind.proves and (kind.read is None or kind.read == "clock"):
        yield Problem((*path, "proves"), f"{kind.name!r} is no read of files", "a kind with read")
    for fact, place in kind.proves.items():
        yield from _place(scenario, place, (*path, "proves", fact))


def _options(scenario: Scenario, kind: KindSpec, path: KeyPath) -> Iterator[Problem]:
    known = sorted({name for listed in (scenario.call.allow if scenario.call else {}).values() for name in listed})
    if kind.options and not kind.is_call:
        yield Problem((*path, "options"), f"{kind.name!r} is no call with options", "a kind with call, with or word")
        return
    for number, rule in enumerate(kind.options):
        for name, wanted in rule.with_.items():
            place: KeyPath = (*path, "options", number, "with", name)
            if name not in known:
                yield Problem(place, f"no path allows the option {name!r}{nearest(name, known)}", ", ".join(known))
            if wanted == ():
                yield Problem(place, "no value is allowed", "at least one value")
            if isinstance(wanted, ValueSource):
                yield from _source(scenario, wanted, place)


def _hint(scenario: Scenario, kind: KindSpec, path: KeyPath) -> Iterator[Problem]:
    if kind.hint is None:
        return
    idle = [key for key in ("once", "errors", "failed", "proves") if getattr(kind, key)]
    for key in idle:
        yield Problem((*path, key), f"a call of {kind.name!r} is answered with a hint and never runs", "no hint")
    if kind.tool in scenario.plane_tools:
        yield Problem((*path, "hint"), f"{kind.name!r} is an operation of the control plane", "a kind of commands")
    watched = [index for index, check in enumerate(scenario.check) if check.kind == kind.name]
    for index in watched:
        yield Problem(("check", index, "kind"), f"a call of {kind.name!r} never runs: it has a hint", "kinds that run")


def _after(scenario: Scenario, follow: FollowUp, path: KeyPath) -> Iterator[Problem]:
    kinds = {kind.name: kind for kind in scenario.kind}
    kind = kinds.get(follow.kind)
    if kind is None:
        yield Problem((*path, "kind"), f"unknown kind {follow.kind!r}{nearest(follow.kind, kinds)}", ", ".join(kinds))
    elif kind.fatal is not None or kind.hint is not None:
        yield Problem((*path, "kind"), f"a call of {follow.kind!r} never runs", "kinds that run")
    yield from _sources(scenario, follow.answer, (*path, "answer"))


def _sources(scenario: Scenario, answer: Mapping[str, Expectation], path: KeyPath) -> Iterator[Problem]:
    for at, expectation in answer.items():
        if isinstance(expectation, AnswerCheck) and expectation.from_ is not None:
            yield from _source(scenario, expectation.from_, (*path, at, "from"))


def _source(scenario: Scenario, source: ValueSource, path: KeyPath) -> Iterator[Problem]:
    if (source.file is None) is (source.answer is None):
        yield Problem(path, "a value of no place, or of two", "exactly one of file, answer")
        return
    if source.file is not None:
        yield from _place(scenario, source.file, (*path, "file"))
        return
    calls = [kind.name for kind in scenario.kind if scenario.is_plane_call(kind)]
    if source.answer not in calls:
        text = f"no kind {source.answer!r} that calls the control plane{nearest(source.answer or '', calls)}"
        yield Problem((*path, "answer"), text, ", ".join(calls))


def _place(scenario: Scenario, place: str, path: KeyPath) -> Iterator[Problem]:
    root, _, rest = place.partition("/")
    if root not in scenario.workspace.roots or not rest:
        yield Problem(
            path, f"{place!r} is no path below a root", f"root/path with {', '.join(scenario.workspace.roots)}"
        )
