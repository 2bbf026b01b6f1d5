"""May this call run? Pure questions, asked in the order of the runner specification 2.4."""

from harness.gate.arguments import check_decoded, check_schema, check_size
from harness.gate.policy import check_declared, check_permitted
from harness.gate.stop import GateStop

__all__ = ["GateStop", "check_declared", "check_decoded", "check_permitted", "check_schema", "check_size"]
