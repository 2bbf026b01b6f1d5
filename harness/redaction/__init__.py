"""The only maker of RedactedText, what secrets are taken out with, and the last look before bytes are written."""

from harness.redaction.changing import changed
from harness.redaction.guard import SecretGuard
from harness.redaction.local import (
    CREDENTIAL,
    LOCAL_PATH,
    credentials,
    local_paths,
    without_credentials,
    without_local_paths,
)
from harness.redaction.scrubbing import MASK, Scrubber
from harness.redaction.text import calls, missing, name, value, workspace_path

__all__ = [
    "CREDENTIAL",
    "LOCAL_PATH",
    "MASK",
    "Scrubber",
    "SecretGuard",
    "calls",
    "changed",
    "credentials",
    "local_paths",
    "missing",
    "name",
    "value",
    "without_credentials",
    "without_local_paths",
    "workspace_path",
]
