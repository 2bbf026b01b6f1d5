"""Names: declared, and permitted by the scenario."""

from __future__ import annotations

from collections.abc import Sequence

from harness.gate.stop import GateStop
from harness.schema.scenario import PolicySpec
from harness.schema.tool import ToolSpec

__all__ = ["check_declared", "check_permitted"]


def check_declared(name: str, tools: Sequence[ToolSpec]) -> GateStop | None:
    """C5: the name is one of the declared tools, exactly."""
    if any(tool.name == name for tool in tools):
        return None
    listed = ", ".join(tool.name for tool in tools)
    return GateStop("unknown_tool", "declared", f"error: there is no such tool; there are: {listed}")


def check_permitted(name: str, policy: PolicySpec) -> GateStop | None:
    """C6: denied wins over allowed; an absent allowed list allows all."""
    text = "error: this tool may not be used here; the call did not run"
    if name in policy.denied:
        return GateStop("denied_policy", "denied_list", text)
    if policy.allowed is not None and name not in policy.allowed:
        return GateStop("denied_policy", "allowed_list", text)
    return None
