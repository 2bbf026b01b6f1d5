"""What a scenario's rules say about a call, a result, an ending: pure functions over bound values."""

from harness.rules.endings import accepts, silence
from harness.rules.expecting import examine
from harness.rules.graphing import graph
from harness.rules.judging import judge
from harness.rules.matching import match
from harness.rules.proposing import RuleState, propose
from harness.rules.vocabulary import codes, sayable

__all__ = ["RuleState", "accepts", "codes", "examine", "graph", "judge", "match", "propose", "sayable", "silence"]
