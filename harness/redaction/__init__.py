"""The only maker of RedactedText, and the last look at bytes before they are written."""

from harness.redaction.guard import SecretGuard
from harness.redaction.text import missing, name, value, workspace_path

__all__ = ["SecretGuard", "missing", "name", "value", "workspace_path"]
