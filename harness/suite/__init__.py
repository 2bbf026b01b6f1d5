"""Many episodes: what is run in which order, how many at once, and whether a scenario can be trusted."""

from harness.suite.care import REFUSALS, RETRIES, Care
from harness.suite.check import Deep, check_scenario
from harness.suite.conclude import conclude, is_stale
from harness.suite.control_run import offered_codes
from harness.suite.idle import IDLE_SCRIPTS, script_actor
from harness.suite.plan import plan, refuse_twins
from harness.suite.queue import answerer
from harness.suite.recordings import check_recording
from harness.suite.runner import Crash, SuiteEnd, run_suite
from harness.suite.sharding import parse_shard, slice_of
from harness.suite.walking import require_walker

__all__ = [
    "IDLE_SCRIPTS",
    "REFUSALS",
    "RETRIES",
    "Care",
    "Crash",
    "Deep",
    "SuiteEnd",
    "answerer",
    "check_recording",
    "check_scenario",
    "conclude",
    "is_stale",
    "offered_codes",
    "parse_shard",
    "plan",
    "refuse_twins",
    "require_walker",
    "run_suite",
    "script_actor",
    "slice_of",
]
