"""The checks of a scenario: each can be held, and has a code for when it does not."""

from __future__ import annotations

import json
from collections.abc import Iterator

from harness.documents.patterns import pattern_problem
from harness.errors import ScenarioError
from harness.scenario.placeholders import bind
from harness.scenario.problem import KeyPath, Problem, nearest
from harness.schema.rules import AnswerCheck, CheckSpec, Expectation
from harness.schema.scenario import Scenario

__all__ = ["check_problems", "expectation_problems"]


def check_problems(scenario: Scenario) -> Iterator[Problem]:
    """Everything in checks, ``where`` of kinds and errors, and ``completed_when`` that the schema alone cannot see."""
    for place, expectation in _of_other_places(scenario):
        yield from expectation_problems(scenario, expectation, place, of_answer=place[0] == "after")
    for index, check in enumerate(scenario.check):
        yield from _check(scenario, check, ("check", index))
    for index, end_check in enumerate(scenario.end.check):
        for at, expectation in end_check.holds.items():
            yield from _end_check(scenario, at, expectation, ("end", "check", index, "holds", at))
    for index in _shown_not_json(scenario):
        path: KeyPath = ("check", index, "shows", "file")
        yield Problem(path, "this file's text is no JSON, so nothing can show it", "a JSON file")


def _of_other_places(scenario: Scenario) -> Iterator[tuple[KeyPath, Expectation]]:
    """The expectations that stand neither in a check nor in the end."""
    for index, kind in enumerate(scenario.kind):
        yield from ((("kind", index, "where", at), wanted) for at, wanted in kind.where.items())
        for number, rule in enumerate(kind.errors):
            yield from ((("kind", index, "errors", number, "where", at), one) for at, one in rule.where.items())
    when = scenario.control.completed_when
    if when is not None:
        yield ("control", "completed_when", "value"), when.value
    for index, follow in enumerate(scenario.after):
        yield from ((("after", index, "answer", at), wanted) for at, wanted in follow.answer.items())


def _check(scenario: Scenario, check: CheckSpec, path: KeyPath) -> Iterator[Problem]:
    kind = next((kind for kind in scenario.kind if kind.name == check.kind), None)
    names = [kind.name for kind in scenario.kind]
    if kind is None:
        yield Problem((*path, "kind"), f"unknown kind {check.kind!r}{nearest(check.kind, names)}", ", ".join(names))
        return
    if check.shows is None and not check.answer:
        yield Problem(path, "nothing is checked", "shows, answer or both")
    if kind.fatal is not None:
        yield Problem((*path, "kind"), f"a call of {kind.name!r} has no result: it is fatal", "kinds that run")
    if check.occurrence not in (None, 1) and kind.once is not None:
        yield Problem((*path, "occurrence"), f"{kind.name!r} may run only once", "1")
    if check.shows is not None and (kind.read is None or kind.failed is None):
        yield Problem(
            (*path, "shows"), f"{kind.name!r} is no read with a code for its failure", "a kind with read, failed"
        )
    for at, expectation in check.answer.items():
        place: KeyPath = (*path, "answer", at)
        own = expectation.code if isinstance(expectation, AnswerCheck) else None
        if own is None and kind.failed is None:
            yield Problem(place, f"no code: {kind.name!r} has no failed", "code here, or failed there")
        yield from expectation_problems(scenario, expectation, place, of_answer=True)
    if check.answer and kind.read is not None:
        yield Problem((*path, "answer"), f"{kind.name!r} is a read and has no answer", "a kind that is a call")


def _end_check(scenario: Scenario, at: str, expectation: Expectation, path: KeyPath) -> Iterator[Problem]:
    if at.partition("/")[2].partition("/")[0] not in {"answer", "state"}:
        yield Problem(path, f"{at!r} points at nothing that is known at the end", "/answer… or /state…")
    yield from expectation_problems(scenario, expectation, path, of_answer=False)


def _shown_not_json(scenario: Scenario) -> Iterator[int]:
    """The checks that want a file shown which is no JSON; one that the world does not hold may become JSON later."""
    try:
        bound = bind(scenario, {})
    except ScenarioError:
        return
    texts = {place: file.text for file in bound.workspace.file for place in file.at}
    for index, check in enumerate(bound.check):
        if check.shows is not None and not _is_json(texts.get(check.shows.file, "null")):
            yield index


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def expectation_problems(
    scenario: Scenario, expectation: Expectation, path: KeyPath, *, of_answer: bool
) -> Iterator[Problem]:
    """No single test, or one that cannot stand there: codes and sources are for results of calls alone."""
    if not isinstance(expectation, AnswerCheck):
        return
    tests = expectation.tests
    main = [test for test in tests if test != "none_contains"]
    if len(main) > 1 or not tests or (tests[-1] == "none_contains" and main not in ([], ["commands"])):
        allowed = "equals, one_of, contains, same_as, empty, absent, near, matches, avoids, from, commands"
        yield Problem(path, f"{len(tests)} tests in one check", f"exactly one of {allowed} (with none_contains)")
    of_answers = (expectation.code, expectation.commands, expectation.from_)
    if not of_answer and any(one is not None for one in of_answers):
        yield Problem(path, "code, commands and from are for answers", "a test of one value")
    for test in ("matches", "avoids"):
        pattern = getattr(expectation, test)
        wrong = None if pattern is None else pattern_problem(pattern, groups=0)
        if wrong is not None:
            yield Problem((*path, test), *wrong)
    names = [kind.name for kind in scenario.kind]
    for name in expectation.commands or {}:
        if name not in names:
            text = f"unknown kind {name!r}{nearest(name, names)}"
            yield Problem((*path, "commands", name), text, ", ".join(names))
    if expectation.commands == {} and expectation.none_contains is None:
        yield Problem((*path, "commands"), "no kind is counted", "at least one kind")
