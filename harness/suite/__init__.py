"""Many episodes: what is run in which order, how many at once, and whether a scenario can be trusted."""

from harness.suite.check import check_scenario
from harness.suite.conclude import conclude, is_stale
from harness.suite.idle import IDLE_SCRIPTS, script_actor
from harness.suite.plan import plan, refuse_twins
from harness.suite.recordings import check_recording
from harness.suite.runner import Crash, SuiteEnd, run_suite

__all__ = [
    "IDLE_SCRIPTS",
    "Crash",
    "SuiteEnd",
    "check_recording",
    "check_scenario",
    "conclude",
    "is_stale",
    "plan",
    "refuse_twins",
    "run_suite",
    "script_actor",
]
