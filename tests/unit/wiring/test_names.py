"""The names of wiring come on first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness import wiring


def test_every_name_of_wiring_is_there_and_any_other_is_told() -> None:
    assert [name for name in wiring.__all__ if getattr(wiring, name, None) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = getattr(wiring, "nothing")  # noqa: B009  (a name that types do not know)


@pytest.mark.parametrize("verb", ["run", "record", "check", "show"])
def test_a_verbs_help_waits_for_no_transport_and_no_schema_library(verb: str) -> None:
    program = f"import sys; import harness.cli.{verb}; print(sorted({{'httpx', 'jsonschema'}} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert ended.stdout == "[]\n"
