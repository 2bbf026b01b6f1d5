"""What a scenario's rules say about a call, a result, an ending: pure functions over bound values."""

from harness.rules.endings import accepts, closes, ending_findings, satisfies, silence
from harness.rules.erring import typed_error
from harness.rules.expecting import Known, examine
from harness.rules.graphing import graph
from harness.rules.judging import judge, judge_after
from harness.rules.matching import match
from harness.rules.packets import broken
from harness.rules.proposing import RuleState, propose
from harness.rules.vocabulary import codes, sayable, words

__all__ = [
    "Known",
    "RuleState",
    "accepts",
    "broken",
    "closes",
    "codes",
    "ending_findings",
    "examine",
    "graph",
    "judge",
    "judge_after",
    "match",
    "propose",
    "satisfies",
    "sayable",
    "silence",
    "typed_error",
    "words",
]
