"""Running a classified call: bounded reads, the clock, the control plane. What ran is told apart from what did not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from itertools import islice

from harness.episode.values import json_object
from harness.episode.world import World
from harness.schema.base import JsonValue, canonical_json
from harness.schema.command import CallPlan, ClockPlan, HelpPlan, ReadPlan, Segment
from harness.schema.observation import Channel, Observation, ReadObservation
from harness.schema.process import Completed, ProcessCommand
from harness.schema.tool import TypedError
from harness.workspace import NAMES_OF_FILTERS, git_environment, kept_outside

__all__ = ["answer_clock", "observed", "run_call", "run_help", "run_operation", "run_reads"]

#: Seconds for one read; they print files and listings of a small workspace.
READ_S = 10.0
#: Where a shell that is shut in finds programs.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
#: Longest list of a repository's filters that is told to git, in bytes; its environment is bounded too.
FILTERS_BYTES = 8192


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def answer_clock(plan: ClockPlan, clock: str | None) -> Observation:
    """The scenario's own time, never the machine's; ``-u`` gives the same instant in UTC."""
    if clock is None:
        return Observation(ran=False, ok=False, text="", refused="no_clock")
    text = clock
    if plan.utc:
        moment = datetime.fromisoformat(clock).astimezone(UTC)
        text = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Observation(ran=True, ok=True, exit_code=0, text=text + "\n")


def run_call(world: World, plan: CallPlan) -> Observation:
    """The rebuilt invocation of the control plane's program, or nothing where it was refused."""
    if plan.argv is None:
        return Observation(ran=False, ok=False, text="", refused=plan.refused or "unparseable")
    return observed(world.invoke_plane(plan.argv))


def run_help(world: World, plan: HelpPlan) -> Observation:
    """The help of a call path as far as it is wanted; whatever it looks like, it is no answer."""
    seen = observed(world.invoke_plane((*plan.path.split(), "--help")))
    text = "".join(islice(StringIO(seen.text, newline="\n"), plan.lines))
    return replace(seen, text=text, answer=None, sections=(len(text),))


def observed(completed: Completed) -> Observation:
    """What a call of the control plane came to."""
    ok = completed.exit_code == 0 and not completed.timed_out
    text, trouble = _text(completed.stdout), "" if ok else _trouble(completed)
    return Observation(
        ran=True,
        ok=ok,
        text=text + trouble,
        exit_code=completed.exit_code,
        timed_out=completed.timed_out,
        signal=completed.signal,
        answer=json_object(completed.stdout),
        stdout=Channel.counted(completed.stdout_seen, len(completed.stdout)),
        stderr=Channel.counted(completed.stderr_seen, len(completed.stderr)),
        sections=(len(text), len(trouble)),
    )


def run_operation(world: World, operation: str, arguments: dict[str, JsonValue], key: str) -> Observation:
    """One operation of the control plane; its answer is shown as JSON, whether it did it or not."""
    answered = world.call_plane(operation, arguments, key)
    text = canonical_json(answered.document) + "\n"
    size = len(text.encode("utf-8", "surrogatepass"))
    return Observation(
        ran=True,
        ok=answered.error is None,
        text=text,
        exit_code=0 if answered.error is None else 1,
        answer=answered.document,
        stdout=Channel.counted(size, size),
        error=None if answered.error is None else TypedError(class_=answered.error_class, code=answered.error),
    )


def _trouble(completed: Completed) -> str:
    """What a shell would show besides standard output when a command fails."""
    if completed.timed_out:
        return "[timed out]\n"
    errors = _text(completed.stderr)
    code = completed.exit_code if completed.exit_code is not None else f"signal {completed.signal}"
    return f"{errors}[exit code {code}]\n"


def _environment(world: World, filters: tuple[str, ...] = ()) -> dict[str, str]:
    return {
        "PATH": world.parts.search_path,
        "HOME": str(world.workspace.process_home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        **git_environment(world.workspace.cwd, filters),
    }


def _segment(world: World, segment: Segment) -> Completed:
    """One simple command. ``true``, ``echo`` and ``pwd`` need no process: their bytes are known."""
    if segment.free:
        return _shut_in(world, segment.argv)
    name = segment.argv[0]
    known = {"true": "", "pwd": f"{world.workspace.cwd}\n", "echo": " ".join(segment.argv[1:]) + "\n"}
    if name in known:
        data = known[name].encode("utf-8", "surrogateescape")
        return Completed(exit_code=0, stdout=data, stderr=b"", stdout_seen=len(data), stderr_seen=0)
    return _git(world, segment.argv) if name == "git" else _run(world, segment.argv, ())


def _git(world: World, argv: tuple[str, ...]) -> Completed:
    """Git with the repository's filters off; where they are too many to be told, it fails as on a broken one."""
    listed = _run(world, (argv[0], *NAMES_OF_FILTERS), ())
    names = tuple(dict.fromkeys(_text(listed.stdout).split("\0")[:-1]))
    if listed.timed_out:
        return listed
    if listed.stdout_seen > FILTERS_BYTES or len(listed.stdout) < listed.stdout_seen:
        said = b"fatal: the repository has too many filters\n"
        return Completed(exit_code=128, stdout=b"", stderr=said, stdout_seen=0, stderr_seen=len(said))
    return _run(world, kept_outside(argv), names)


def _run(world: World, argv: tuple[str, ...], filters: tuple[str, ...]) -> Completed:
    command = ProcessCommand(
        argv=argv,
        cwd=str(world.workspace.cwd),
        env=_environment(world, filters),
        timeout_s=max(min(READ_S, world.bounds.left()), 0.001),
        output_bytes=world.limits.tool_result_bytes + 1,
        folder=str(world.workspace.root),
    )
    return world.parts.executor.run(command)


def _shut_in(world: World, argv: tuple[str, ...]) -> Completed:
    """What nobody looked through runs with the workspace and the system's programs, and with nothing else."""
    home = str(world.workspace.process_home)
    command = ProcessCommand(
        argv=argv,
        cwd=str(world.workspace.cwd),
        env={"PATH": SYSTEM_PATH, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        timeout_s=max(min(world.limits.tool_call_s, world.bounds.left()), 0.001),
        output_bytes=world.limits.tool_result_bytes + 1,
        folder=str(world.workspace.root),
        alone=True,
    )
    return world.parts.executor.run(command)


def _exit_code(segment: Segment, done: Completed) -> int:
    """Of a pipe the last stage counts: ``head``, which does not fail."""
    if segment.line_limit is not None:
        return 0
    return done.exit_code if done.exit_code is not None else 128 + (done.signal or 0)


def _output(segment: Segment, done: Completed) -> tuple[str, str]:
    """Standard output after the pipe's other stages, and what they say on standard error."""
    text, errors = _text(done.stdout), _text(done.stderr)
    if segment.formatted:
        try:
            text = json.dumps(json.loads(text), indent=4) + "\n"
        except (ValueError, RecursionError):
            text, errors = "", errors + "the input is no JSON\n"
    if segment.line_limit is not None:
        text = "".join(islice(StringIO(text, newline="\n"), segment.line_limit))
    return text, errors


def _skipped(segment: Segment, *, ok: bool) -> bool:
    return (segment.operator == "&&" and not ok) or (segment.operator == "||" and ok)


def run_reads(world: World, plan: ReadPlan) -> Observation:
    """The segments in order; ``&&`` and ``||`` follow the last exit state, which must be 0 in the end.

    A segment that was skipped is reported as not run: a read that did not happen proves nothing. A refused plan runs
    nothing at all.
    """
    if plan.refused is not None:
        return Observation(ran=False, ok=False, text="", refused=plan.refused)
    ok, timed_out, exit_code = True, False, 0
    reads: list[ReadObservation] = []
    shown: list[str] = []
    printed, complained = Channel.counted(0, 0), Channel.counted(0, 0)
    for segment in plan.segments:
        if timed_out or (reads and _skipped(segment, ok=ok)):
            reads.append(ReadObservation(target=segment.target, role=segment.role, ran=False, exit_code=None, text=""))
            continue
        done = _segment(world, segment)
        exit_code, timed_out = _exit_code(segment, done), done.timed_out
        ok = exit_code == 0 and not timed_out
        text, errors = _output(segment, done)
        printed = printed.joined(Channel.counted(done.stdout_seen, len(done.stdout)))
        if not segment.quiet:
            complained = complained.joined(Channel.counted(done.stderr_seen, len(done.stderr)))
        reads.append(
            ReadObservation(target=segment.target, role=segment.role, ran=True, exit_code=exit_code, text=text)
        )
        shown.append(text)
        shown.append("" if segment.quiet else errors)
    if not ok:
        shown.append("[timed out]\n" if timed_out else f"[exit code {exit_code}]\n")
    return Observation(
        ran=True,
        ok=ok,
        text="".join(shown),
        exit_code=exit_code,
        timed_out=timed_out,
        reads=tuple(reads),
        stdout=printed,
        stderr=complained,
        sections=tuple(map(len, shown)),
    )
