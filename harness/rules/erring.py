"""Which error a result is, where the control plane or the scenario typed it."""

from __future__ import annotations

from harness.rules.expecting import examine
from harness.schema.observation import Observation
from harness.schema.rules import ErrorRule, KindSpec
from harness.schema.tool import TypedError

__all__ = ["is_no_answer", "typed_error"]


def typed_error(kind: KindSpec, observation: Observation) -> TypedError | None:
    """The scenario's word for a result (the first of the kind's ``errors`` that fits), else the control plane's own.

    None where nobody typed it, and for what did not run or was cut off: there is no result to type then.
    """
    if not observation.ran or observation.timed_out:
        return None
    rule = _rule(kind, observation)
    return observation.error if rule is None else TypedError(class_=rule.class_, code=rule.code)


def is_no_answer(kind: KindSpec, observation: Observation) -> bool:
    """Whether an error is one that the actor is not judged by: the scenario typed it, or nothing can come after it.

    What the control plane alone calls recoverable is judged like any call that did not end well.
    """
    error = typed_error(kind, observation)
    return error is not None and (error.class_ != "recoverable" or _rule(kind, observation) is not None)


def _rule(kind: KindSpec, observation: Observation) -> ErrorRule | None:
    return next((rule for rule in kind.errors if _fits(rule, observation)), None)


def _fits(rule: ErrorRule, observation: Observation) -> bool:
    if rule.exit is not None and rule.exit != observation.exit_code:
        return False
    if not rule.where:
        return True
    answer = observation.answer
    return answer is not None and all(not examine(answer, at, wanted) for at, wanted in rule.where.items())
