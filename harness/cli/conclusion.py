"""What a run comes to: the lines that say so on standard error, and its exit codes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.cli.exit_codes import BY_VERDICT, ExitCode
from harness.cli.output import note
from harness.receipt import last_attempts, provider_failure
from harness.schema.counting import counted, of_all, worded, worded_of
from harness.schema.quarantine import QuarantineEntry
from harness.schema.run import EpisodeResult, RunView
from harness.suite import SuiteEnd, conclude, is_stale

__all__ = ["of_receipts", "of_suite", "tell_beside", "tell_left_out", "why_stopped"]


def of_receipts(view: RunView, total: int) -> set[ExitCode]:
    """What the receipts of a run say, of ``total`` episodes; stale ones as its manifest says."""
    tolerate_stale = view.manifest.stale == "warn"
    different = sum(entry.shadow_differences for entry in view.log)
    if different:
        differ = worded(different, "differs", "differ")
        note(
            f"harness: {counted(different, 'warm call')} of the control plane {differ} from a cold one; "
            "use --executor cold"
        )
    aside = view.manifest.set_aside
    _tell_quarantined(view, aside)
    held = [receipt for receipt in view.receipts if (receipt.scenario, receipt.actor.ref) not in aside]
    stale = [receipt for receipt in held if is_stale(receipt)]
    codes = {BY_VERDICT[verdict] for verdict in conclude(view.receipts, set_aside=aside)}
    if different:
        codes.add(ExitCode.BUG)
    if stale and not tolerate_stale:
        codes.add(ExitCode.DRIFT)
    elif stale:
        prove = worded(len(stale), "fits; it proves", "fit; they prove")
        note(f"harness: {of_all(len(stale), total, 'recording')} no longer {prove} nothing until recorded anew")
    _tell_unusable(view)
    return codes


def _tell_quarantined(view: RunView, aside: Mapping[tuple[str, str], QuarantineEntry]) -> None:
    """A line for each entry of the quarantine that something did not pass under."""
    found: dict[QuarantineEntry, list[str]] = {}
    for receipt in last_attempts(view.receipts):
        entry = aside.get((receipt.scenario, receipt.actor.ref))
        if entry is not None and receipt.verdict != "pass":
            found.setdefault(entry, []).append(receipt.scenario)
    for entry, names in found.items():
        note(
            f"harness: {counted(len(names), 'episode')} of {entry.told} did not pass and "
            f"{worded(len(names), 'is', 'are')} not held against the run: in quarantine {entry.terms}"
        )


def _tell_unusable(view: RunView) -> None:
    """One line for each actor whose requests its provider cannot use, for going on alone never changes that."""
    last = {receipt.key for receipt in last_attempts(view.receipts)}
    found: dict[str, list[str]] = {}
    for receipt, log in zip(view.receipts, view.log, strict=True):
        if receipt.key in last and provider_failure(EpisodeResult(receipt=receipt, log=log)) == "unusable":
            found.setdefault(receipt.actor.ref, []).append(log.attempts[-1].error or "")
    for actor, errors in found.items():
        note(
            f"harness: {counted(len(errors), 'episode')} of {actor} not judged: the provider cannot use the request "
            f"({', '.join(sorted(set(errors)))}); --resume does not send it again: correct the model's name, its "
            "settings or the scenario, then go on with what is corrected, or begin a new run"
        )


def tell_left_out(view: RunView) -> None:
    """What of a run could not be read, and only adds to it."""
    for remark in view.remarks:
        note(f"harness: {remark}")


def tell_beside(view: RunView) -> None:
    """What went wrong beside episodes, and changed nothing in them."""
    for number, (receipt, log) in enumerate(zip(view.receipts, view.log, strict=True), start=1):
        for remark in log.remarks:
            note(f"harness: episode {number} ({receipt.scenario}): {remark}")


def why_stopped(end: SuiteEnd, reached: str | None, total: int) -> tuple[str, ...]:
    """Why some of ``total`` places of the plan were not played, a line each; ``reached`` as of ``of_suite``."""
    bugs = [f"a bug of harness in episode {crash.index + 1}" for crash in end.crashes]
    lost = [] if not end.lost else [_lost(end, total)]
    return (*([reached or "interrupted"] if end.stopped else ()), *_left_alone(end, total), *lost, *bugs)


def _lost(end: SuiteEnd, total: int) -> str:
    return (
        f"{of_all(end.lost, total, 'episode')} {worded_of(end.lost, total, 'was', 'were')} cut off: a process that "
        "played episodes was ended from outside, perhaps for want of memory"
    )


def _left_alone(end: SuiteEnd, total: int) -> tuple[str, ...]:
    return tuple(
        f"{provider} refused several episodes in a row (key or quota) and is left alone: {left_out} of "
        f"{total} {worded(left_out, 'was', 'were')} not begun"
        for provider, left_out in end.left_alone.items()
    )


def of_suite(end: SuiteEnd, reached: str | None, kept: int, total: int, folder: Path, *, command: str) -> set[ExitCode]:
    """What happened besides; ``kept`` of ``total`` episodes are finished and lie in ``folder``.

    ``reached`` is the ceiling that ended it, None where none did; ``command`` goes on with the run.
    """
    codes: set[ExitCode] = set()
    go_on = f"go on with: {command}"
    for crash in end.crashes:
        note(f"harness: a bug of harness in episode {crash.index + 1} of {total}: {crash.place}")
        codes.add(ExitCode.BUG)
    for told in _left_alone(end, total):
        note(f"harness: {told}, without a call; put that right, and {go_on}")
        codes.add(ExitCode.NOT_JUDGED)
    if end.lost:
        note(f"harness: {_lost(end, total)}; with fewer --jobs {go_on}")
        codes.add(ExitCode.NOT_JUDGED)
    if end.stopped:
        why = reached or "interrupted"
        note(
            f"harness: {why}; {of_all(kept, total, 'episode')} {worded_of(kept, total, 'is', 'are')} finished and kept "
            f"in {folder}; {go_on}"
        )
        codes.add(ExitCode.INTERRUPTED if reached is None else ExitCode.NOT_JUDGED)
    return codes
