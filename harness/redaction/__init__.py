"""The only maker of RedactedText, what secrets are taken out with, and the last look before bytes are written."""

from harness.redaction.changing import changed
from harness.redaction.guard import SecretGuard
from harness.redaction.scrubbing import MASK, Scrubber
from harness.redaction.text import calls, missing, name, value, workspace_path

__all__ = ["MASK", "Scrubber", "SecretGuard", "calls", "changed", "missing", "name", "value", "workspace_path"]
