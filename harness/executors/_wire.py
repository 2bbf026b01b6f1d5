"""Commands as frames, and a server's frames as answers: what it sends is held against what it may send."""

from __future__ import annotations

import json
import os
import re
from typing import TypeGuard

from harness.errors import ControlPlaneError, MachineError
from harness.executors._frames import Header, frame
from harness.schema.process import Completed, ProcessCommand

__all__ = ["Answer", "completed", "read_answer", "request"]

#: Header and body.
Answer = tuple[dict[str, object], bytes]

#: What a server may say that it could not do; its own words are never passed on.
_STEPS = frozenset(("be confined", "be prepared", "be run", "enter the directory", "start"))
_NUMBER = re.compile("[0-9]{1,4}")


def request(number: int, command: ProcessCommand) -> bytes:
    """The command as a frame. Raises ControlPlaneError for texts that no process can be given."""
    names = [name for name in command.env if not name or "=" in name]
    if names:
        raise ControlPlaneError("an environment variable of the command has an empty name or '=' in its name")
    header: Header = {
        "id": number,
        "argv": [_bytes("an argument", text) for text in command.argv],
        "cwd": _bytes("the directory", command.cwd),
        "env": {_bytes("a name", name): _bytes("a value", value) for name, value in command.env.items()},
        "timeout_s": command.timeout_s,
        "output_bytes": command.output_bytes,
        "folder": _bytes("the folder", command.folder or command.cwd),
        "alone": command.alone,
        "loopback": command.loopback,
    }
    return frame(header)


def read_answer(head: bytes, body: bytes) -> Answer:
    """A frame as an answer. Raises ValueError where its header is not one JSON object."""
    try:
        header: object = json.loads(head)
    except RecursionError:
        raise ValueError(head[:1]) from None
    if not isinstance(header, dict):
        raise ValueError(type(header))  # noqa: TRY004  (whoever reads frames asks for one kind of error)
    return header, body


def completed(answer: Answer) -> Completed:
    """The answer as a value.

    Raises MachineError where the machine lacked what it takes to start a program; ControlPlaneError where it could
    not be started for another reason, or the answer is none.
    """
    header, body = answer
    note = header.get("note")
    problem = note.get("problem") if isinstance(note, dict) else header.get("problem")
    if problem is not None:
        raise _problem(problem)
    status, out, err = header.get("status"), header.get("out"), header.get("err")
    out_seen, err_seen, timed_out = header.get("out_seen"), header.get("err_seen"), header.get("timed_out")
    if not (_is_count(out) and _is_count(err) and _is_count(out_seen) and _is_count(err_seen)):
        raise _no_answer()
    if out + err != len(body):
        raise _no_answer()
    if not isinstance(timed_out, bool) or not (status is None or _is_count(status)):
        raise _no_answer()
    ended = None if timed_out else status
    signalled = os.WTERMSIG(ended) if ended is not None and os.WIFSIGNALED(ended) else None
    return Completed(
        exit_code=os.WEXITSTATUS(ended) if ended is not None and signalled is None else None,
        signal=signalled,
        timed_out=timed_out,
        stdout=body[:out],
        stderr=body[out:],
        stdout_seen=out_seen,
        stderr_seen=err_seen,
    )


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _problem(told: object) -> ControlPlaneError | MachineError:
    match told:
        case [str(step), str(text)] if step in _STEPS and _NUMBER.fullmatch(text):
            number = int(text)
            said = f"the command could not {step}: {os.strerror(number)}"
            return MachineError(said) if number in MachineError.NUMBERS else ControlPlaneError(said)
        case _:
            return _no_answer()


def _no_answer() -> ControlPlaneError:
    return ControlPlaneError("the process that runs the control plane sent something that is no answer")


def _bytes(what: str, text: str) -> str:
    if "\0" in text:
        raise ControlPlaneError(f"{what} of the command holds a NUL character, which no process can be given")
    try:
        return os.fsencode(text).decode("latin-1")
    except UnicodeEncodeError:
        raise ControlPlaneError(f"{what} of the command cannot be encoded as UTF-8") from None
