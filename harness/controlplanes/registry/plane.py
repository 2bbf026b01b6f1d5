"""The registry as a control plane: operations as tools, and as calls with their arguments in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from harness.controlplanes.registry.operations import perform, perform_once, state
from harness.controlplanes.registry.refusal import Refusal
from harness.controlplanes.registry.store import LOCK_S, Rows, create, transaction
from harness.controlplanes.registry.tools import OPERATIONS, validated
from harness.errors import ControlPlaneError
from harness.schema.base import JsonValue
from harness.schema.classifier import ReceivedCall
from harness.schema.process import Completed, OperationAnswer, PlaneIdentity

__all__ = ["ENVIRONMENT", "FILE", "IDENTITY", "RegistryPlane", "open_plane"]

#: What the registry's file is called, in the folder that the workspace works in.
FILE: Final = "registry.sqlite"
#: It has no process, so no variable reaches it.
ENVIRONMENT: Final[tuple[str, ...]] = ()

_VERSION: Final = "1"
_DIGITS: Final = 12


def _sources() -> str:
    """A digest over the registry's own code, so that another registry has another version."""
    content = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return content.hexdigest()


#: Version of the rules, and digits of the digest of the code that holds them.
IDENTITY: Final = PlaneIdentity(name="registry", version=f"{_VERSION}+{_sources()[:_DIGITS]}")


class RegistryPlane:
    """The registry of one workspace. Each operation is one transaction on a connection of its own."""

    def __init__(self, file: Path) -> None:
        self._file, self._open = file, True

    @property
    def identity(self) -> PlaneIdentity:
        """Version and digest of its sources."""
        return IDENTITY

    @property
    def confined_to_fixture(self) -> bool:
        """All it writes is its file."""
        return True

    @property
    def store(self) -> Path:
        """The registry's file."""
        return self._file

    @property
    def idempotent(self) -> frozenset[str]:
        """All of them: the answer to a key is kept with what was done."""
        return frozenset(OPERATIONS)

    def call(
        self, operation: str, arguments: Mapping[str, JsonValue], *, timeout_s: float, key: str | None = None
    ) -> OperationAnswer:
        """One operation. Raises ControlPlaneError where the registry cannot be read, MachineError without room."""
        asked = dict(arguments)

        def done(rows: Rows) -> OperationAnswer:
            answer = _answer(rows, operation, asked, key)
            rows.add_received(key, operation, json.dumps(asked, sort_keys=True), answer.error)
            return answer

        return self._inside(done, timeout_s)

    def _inside(self, done: Callable[[Rows], OperationAnswer], timeout_s: float) -> OperationAnswer:
        if not self._open:
            raise ControlPlaneError("the control plane is closed")
        try:
            with transaction(self._file, timeout_s=timeout_s) as rows:
                return done(rows)
        except Refusal as refusal:  # somebody else was writing
            return OperationAnswer(document=refusal.document, error=refusal.code)

    def snapshot(self) -> dict[str, JsonValue]:
        """All tasks, ids by status, watchers. Raises ControlPlaneError where that cannot be read."""
        try:
            with transaction(self._file, timeout_s=LOCK_S) as rows:
                return state(rows)
        except Refusal as refusal:
            raise ControlPlaneError(f"the registry cannot be read: {refusal.text}") from refusal

    def received(self) -> tuple[ReceivedCall, ...]:
        """Every call of an operation, a refused one too; but for what came while somebody else was writing."""
        try:
            with transaction(self._file, timeout_s=LOCK_S) as rows:
                return tuple(
                    ReceivedCall(operation=operation, arguments=json.loads(arguments), error=error)
                    for operation, arguments, error in rows.received()
                )
        except Refusal as refusal:
            raise ControlPlaneError(f"the registry cannot be read: {refusal.text}") from refusal

    def invoke(self, args: Sequence[str], *, timeout_s: float, output_bytes: int) -> Completed:
        """``OPERATION JSON``: prints the answer; exit code 0, or 1 for a refusal. For scenarios that make a world."""
        operation, _, text = "\0".join(args).partition("\0")
        try:
            arguments: JsonValue = json.loads(text or "{}")
        except (ValueError, RecursionError):
            arguments = None
        answered = (
            self._inside(partial(_answer, operation=operation, arguments=arguments, key=None), timeout_s)
            if isinstance(arguments, dict)
            else OperationAnswer(document={"ok": False}, error="invalid_arguments")
        )
        out = json.dumps(answered.document).encode("ascii") + b"\n"
        error = b"" if answered.error is None else f"{answered.error}\n".encode("ascii")
        return Completed(
            exit_code=0 if answered.error is None else 1,
            stdout=out[:output_bytes],
            stderr=error[:output_bytes],
            stdout_seen=len(out),
            stderr_seen=len(error),
        )

    def close(self) -> None:
        """Nothing is open between operations; none is done any more. Idempotent."""
        self._open = False


def _answer(rows: Rows, operation: str, arguments: dict[str, JsonValue], key: str | None) -> OperationAnswer:
    try:
        taken = validated(operation, arguments)
        with rows.whole():
            done = perform(rows, operation, taken) if key is None else perform_once(rows, key, operation, taken)
    except Refusal as refusal:
        return OperationAnswer(document=refusal.document, error=refusal.code)
    return OperationAnswer(document=done)


def open_plane(cwd: Path) -> RegistryPlane:
    """Open the registry that lies in ``cwd``, an empty one where there is none.

    Raises ControlPlaneError where something else lies in its place, MachineError without room.
    """
    file = cwd / FILE
    try:
        create(file)
    except Refusal as refusal:
        raise ControlPlaneError(f"the registry cannot be opened: {refusal.text}") from refusal
    return RegistryPlane(file)
