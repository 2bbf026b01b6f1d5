"""Rates that can be defended: intervals, repetition, spread over scenarios, and what may stand beside what."""

from harness.qualification.agreement import by_version, refuse_different, refuse_mixed
from harness.qualification.clustering import clustered_error, spread
from harness.qualification.figures import WIDEST, actor_figures, estimate, fewest_judged, latency
from harness.qualification.intervals import CONFIDENCE, clopper_pearson, wilson
from harness.qualification.repetition import in_a_row, mean_in_a_row, pass_at_k, pass_hat_k
from harness.qualification.trials import trials_of

__all__ = [
    "CONFIDENCE",
    "WIDEST",
    "actor_figures",
    "by_version",
    "clopper_pearson",
    "clustered_error",
    "estimate",
    "fewest_judged",
    "in_a_row",
    "latency",
    "mean_in_a_row",
    "pass_at_k",
    "pass_hat_k",
    "refuse_different",
    "refuse_mixed",
    "spread",
    "trials_of",
    "wilson",
]
