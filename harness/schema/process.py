"""One process or operation to run, and what it did."""

from __future__ import annotations

from pydantic import Field

from harness.schema.base import Frozen, JsonValue, Plain, plain
from harness.schema.tool import ErrorClass

__all__ = ["Completed", "OperationAnswer", "PlaneIdentity", "ProcessCommand"]


class ProcessCommand(Frozen):
    """``argv`` without a shell, in ``cwd``, with exactly ``env``; bounds in seconds and bytes per stream.

    Where commands are confined it writes below ``folder`` only; None is ``cwd``. ``alone``: it sees nothing of the
    file system but that folder and the system's programs; where that cannot be held it is not run. ``loopback``: it
    talks to itself over a loopback of its own, and to nobody else; where that cannot be held it is not run.
    """

    argv: tuple[str, ...] = Field(min_length=1)
    cwd: str
    env: dict[str, str]
    timeout_s: float = Field(default=60.0, gt=0)
    output_bytes: int = Field(default=4_194_304, ge=1)
    folder: str | None = None
    alone: bool = False
    loopback: bool = False


@plain
class Completed(Plain):
    """How a process ended.

    ``exit_code`` is None where it was killed by ``signal`` or by our time-out. Streams are cut at the bound; the
    ``*_seen`` counts say how many bytes there really were as far as they were read.
    """

    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    stdout: bytes
    stderr: bytes
    stdout_seen: int
    stderr_seen: int


class OperationAnswer(Frozen):
    """What a control plane said to one operation. ``error`` is its code for not having done it, None where it did.

    ``error_class`` says what the error leaves open; one that did nothing leaves everything open.
    """

    document: dict[str, JsonValue]
    error: str | None = None
    error_class: ErrorClass = "recoverable"


class PlaneIdentity(Frozen):
    """Which control plane answered: the digest is that of the installed wheel, None for a built-in plane.

    The version of a built-in plane holds digits of its own sources' digest.
    """

    name: str
    version: str
    wheel_sha256: str | None = None

    @property
    def ref(self) -> str:
        """``loopx==0.4.8``, or the bare name of a built-in plane."""
        return f"{self.name}=={self.version}" if self.wheel_sha256 is not None else self.name
