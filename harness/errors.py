"""Everything this package raises on purpose.

::

    HarnessError                          exit 70, a bug of ours unless a subclass says better
    ├── InputError                        exit 4, something given to us cannot be used
    │   ├── UsageError                    options that contradict each other, a missing option
    │   ├── CatalogError                  an unknown name; lists what exists
    │   ├── ScenarioError                 a scenario file; file, line, key, what is allowed
    │   ├── ScriptError                   a script file or a script that cannot be used
    │   ├── ConfigError                   harness.toml or --set
    │   ├── MissingKeyError               an API key's environment variable is not set
    │   ├── PlaneMissingError             a control plane is not installed; carries the line to type
    │   ├── ProvisionError                a control plane cannot be installed or is damaged
    │   ├── EnvironmentProblem            a program, plug-in or platform feature is not there or cannot be used
    │   ├── DecisionRefusedError          nothing is to be decided there, or it is decided already
    │   ├── RecordingError                a recording that cannot be read; never taken for an absent one
    │   └── StoreError                    a run folder that cannot be written or read
    │       └── IndexDamagedError         the index of runs, which can be made anew from the folders
    ├── NothingSelectedError              exit 5
    ├── WorkerCrashError                  exit 70, a bug of ours in another process; where, without any value
    ├── WorkerGoneError                   ends one episode; its process was ended from outside
    ├── RedactionError                    exit 70, a text that must not be written was about to be
    └── EpisodeError                      ends one episode with an outcome; never ends a run
        ├── ProviderError                 failed/model_error (or a judged ending, by category)
        ├── ScriptExhaustedError          failed/script_exhausted
        ├── ReplayMismatchError           failed/replay_mismatch; a recording holds no answer to this request
        ├── SetupRejectedError            rejected/setup_rejected
        ├── OutOfTimeError                limit_exceeded/duration; the episode's time was over at its opening
        ├── AccountingError               failed/accounting_error; an attempt was entered twice
        ├── StorageError                  failed/storage_error; an episode's files could not be written
        ├── OpeningRefusedError           rejected/..., an episode on disk that this driver may not go on with
        ├── ControlPlaneError             failed/tool_error; the plane could not be run at all
        └── MachineError                  failed/tool_error/environment; room, descriptors or memory are wanting
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from harness.schema.finding import RawFinding
    from harness.schema.message import Reply
    from harness.schema.outcome import OpeningRefusal

__all__ = [
    "RETRYABLE",
    "AccountingError",
    "CatalogError",
    "ConfigError",
    "ControlPlaneError",
    "DecisionRefusedError",
    "EnvironmentProblem",
    "EpisodeError",
    "HarnessError",
    "IndexDamagedError",
    "InputError",
    "MachineError",
    "MissingKeyError",
    "NothingSelectedError",
    "OpeningRefusedError",
    "OutOfTimeError",
    "PlaneMissingError",
    "ProviderCategory",
    "ProviderError",
    "ProvisionError",
    "RecordingError",
    "RedactionError",
    "ReplayMismatchError",
    "ScenarioError",
    "ScriptError",
    "ScriptExhaustedError",
    "SetupRejectedError",
    "StorageError",
    "StoreError",
    "UsageError",
    "WorkerCrashError",
    "WorkerGoneError",
]

ProviderCategory = Literal[
    "rate_limited",
    "overloaded",
    "server_error",
    "connection_lost",
    "stream_incomplete",
    "timeout",
    "quota_exhausted",
    "auth",
    "invalid_request",
    "model_not_found",
    "bad_response",
    "content_filter",
    "malformed_tool_call",
]

#: What may be over when the same request is sent again; the rest is configuration, protocol or the model's own doing.
RETRYABLE: frozenset[ProviderCategory] = frozenset(
    {"rate_limited", "overloaded", "server_error", "connection_lost", "stream_incomplete", "timeout"}
)


class HarnessError(Exception):
    """Root of everything raised on purpose. ``str(error)`` is one clear line."""

    exit_code: ClassVar[int] = 70


class InputError(HarnessError):
    """Something given to us cannot be used."""

    exit_code = 4


class UsageError(InputError):
    """Options that contradict each other, or one that is missing."""


class CatalogError(InputError):
    """An unknown name. ``known`` lists what exists, in order."""

    def __init__(self, what: str, name: str, known: tuple[str, ...]) -> None:
        self.what, self.name, self.known = what, name, known
        listed = ", ".join(known) if known else "none"
        super().__init__(f"unknown {what} {name!r}; there are: {listed}")


class ScenarioError(InputError):
    """A scenario file that cannot be used: where (file, line, key), what, and what is allowed there."""

    def __init__(
        self, path: Path | str, problem: str, *, line: int | None = None, key: str = "", allowed: str = ""
    ) -> None:
        self.path, self.problem, self.line, self.key, self.allowed = str(path), problem, line, key, allowed
        place = self.path if line is None else f"{self.path}:{line}"
        text = f"{place}: {key}: {problem}" if key else f"{place}: {problem}"
        super().__init__(f"{text}; allowed: {allowed}" if allowed else text)


class ScriptError(InputError):
    """A script that cannot be used."""


class ConfigError(InputError):
    """``harness.toml`` or ``--set`` says something that cannot be used."""


class MissingKeyError(InputError):
    """The environment variable that should hold an API key is not set. Only its name is ever known here."""

    def __init__(self, actor: str, variable: str) -> None:
        self.actor, self.variable = actor, variable
        super().__init__(f"actor {actor!r} needs an API key: set the environment variable {variable}")


class PlaneMissingError(InputError):
    """A control plane that a scenario needs is not installed, or not whole: ``damage`` says what is wrong then."""

    def __init__(self, plane: str, home: Path | str, damage: str | None = None) -> None:
        self.plane = plane
        self.state = f"is not installed under {home}" if damage is None else f"under {home} is damaged ({damage})"
        self.to_type = f"harness plane install {plane}"
        super().__init__(f"control plane {plane} {self.state}; type: {self.to_type}")


class ProvisionError(InputError):
    """A control plane cannot be installed, or what is installed is damaged."""


class EnvironmentProblem(InputError):  # noqa: N818  (an everyday word reads better in the one line people see)
    """A program, plug-in or platform feature that is needed is not there, or cannot be used."""


class DecisionRefusedError(InputError):
    """A decision about an operation whose outcome is unknown that cannot be taken, or not any more."""


class StoreError(InputError):
    """A run folder cannot be written or read."""


class IndexDamagedError(StoreError):
    """The index of runs cannot be read; made anew from the run folders it can."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}; make it anew: harness history rebuild")


class RecordingError(InputError):
    """A recording that cannot be read: where (file, line), what was found, what to do. The file stays.

    ``supported`` is the format that is read, where another one is the problem; ``advice`` what to do with a good file.
    """

    def __init__(
        self, path: Path | str, problem: str, *, line: int | None = None, supported: int | None = None, advice: str = ""
    ) -> None:
        self.path, self.problem, self.line, self.supported = str(path), problem, line, supported
        place = self.path if line is None else f"{self.path}:{line}"
        read = "" if supported is None else f"; recordings of format {supported} are read"
        shelf, *scenario = ("", "", "", *Path(self.path).parts[-4:-1])[-3:]
        which = "/".join(scenario) if shelf == "recordings" else "SCENARIO"
        again = f"harness record {which} --actor ACTOR --replace --yes-spend"
        super().__init__(
            f"{place}: {problem}; {advice}"
            if advice
            else f"{place}: recording_unreadable: {problem}{read}; restore it from version control, or type: {again}"
        )


class NothingSelectedError(HarnessError):
    """The selection is empty."""

    exit_code = 5


class WorkerCrashError(HarnessError):
    """An episode met a bug of ours in a process of its own: its kind and its frames, without any value or message."""

    def __init__(self, kind: str, frames: tuple[str, ...]) -> None:
        self.kind, self.frames = kind, frames
        super().__init__(kind)


class WorkerGoneError(HarnessError):
    """The process that played an episode was ended from outside, and the episode with it."""


class RedactionError(HarnessError):
    """A text that must not be written was about to be written. The text itself is never part of the message."""


class EpisodeError(HarnessError):
    """Ends one episode with an outcome; never ends a run."""


class ProviderError(EpisodeError):
    """A model call that gave no usable reply.

    ``category`` decides what follows; ``retryable`` says whether the same request may be sent again (nothing was
    delivered); ``retry_after_s`` is in seconds. ``sent`` is False where the request provably never left, ``delivered``
    True where a part of a reply had arrived: then it was made, and is paid for, whether it is of use or not.
    ``partial`` is what had been said and counted by then, None where that is nothing: evidence, never an answer.
    ``message`` (``told`` is it without the category) is ours: no provider text, header or key enters it.
    """

    def __init__(
        self,
        category: ProviderCategory,
        message: str,
        *,
        retryable: bool = False,
        http_status: int | None = None,
        provider_code: str | None = None,
        retry_after_s: float | None = None,
        sent: bool = True,
        delivered: bool = False,
        partial: Reply | None = None,
    ) -> None:
        self.category: ProviderCategory = category
        self.partial = partial
        self.sent, self.delivered = sent, delivered
        self.retryable, self.http_status, self.provider_code = retryable, http_status, provider_code
        self.retry_after_s, self.told = retry_after_s, message
        super().__init__(f"{category}: {message}")


class ScriptExhaustedError(EpisodeError):
    """A scripted actor has no answer left, or one that cannot be made. ``position`` counts answers from 0."""

    def __init__(self, position: int, problem: str = "the script has no answer left") -> None:
        self.position = position
        super().__init__(f"answer {position + 1}: {problem}")


class ReplayMismatchError(EpisodeError):
    """A recording holds no answer to a request. ``exchange`` is the number of the nearest recorded one, from 1."""

    def __init__(self, exchange: int | None, problem: str = "this request was not recorded") -> None:
        self.exchange = exchange
        near = "" if exchange is None else f"; the nearest is exchange {exchange}"
        super().__init__(f"{problem}{near}")


class SetupRejectedError(EpisodeError):
    """The world of an episode could not be made, or a value of the scenario could not be resolved at open.

    ``by_plane``: the control plane failed at it, not the scenario. ``found`` is what is wrong, as far as that has codes
    of its own; the first is the code of the episode.
    """

    def __init__(self, problem: str, *, by_plane: bool = False, found: tuple[RawFinding, ...] = ()) -> None:
        self.by_plane, self.found = by_plane, found
        super().__init__(problem)


class AccountingError(EpisodeError):
    """The ledger does not add up."""


class StorageError(EpisodeError):
    """The journal, a text or a state of an episode could not be written; what was written before stays."""

    def __init__(self, what: str, error: OSError) -> None:
        super().__init__(f"{what} cannot be written: {error.strerror or type(error).__name__}")


class OpeningRefusedError(EpisodeError):
    """An episode on disk is not gone on with; its journal stays as it is.

    ``reason`` is that of the outcome ``rejected/REASON``, ``detail`` a code (the part of a definition that differs).
    """

    def __init__(self, reason: OpeningRefusal, problem: str, *, detail: str | None = None) -> None:
        self.reason: OpeningRefusal = reason
        self.detail = detail
        super().__init__(f"{reason}: {problem}")


class OutOfTimeError(EpisodeError):
    """The episode's time was over before it could begin."""


class ControlPlaneError(EpisodeError):
    """The control plane could not be run at all (not: it answered with an error)."""


class MachineError(EpisodeError):
    """The machine lacks what running takes: room on a disc, descriptors, processes, memory. Nobody's answer."""

    #: The system's numbers that tell of such a want, whoever asked for whatever.
    NUMBERS: ClassVar[frozenset[int]] = frozenset(
        (
            *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG),
            *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
            *(errno.EIO, errno.ESTALE, errno.ENOLCK),
        )
    )
