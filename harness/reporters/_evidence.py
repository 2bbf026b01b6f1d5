"""Why an episode ended as it did, in words: for every report the same."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from harness import config, recording
from harness.reporters._rows import Episode
from harness.schema.actor import ActorIdentity
from harness.schema.counting import counted
from harness.schema.receipt import Finding, Receipt
from harness.schema.recording import Drift
from harness.schema.run import DECIDED, RunLogEntry
from harness.schema.tool import ResultCode

__all__ = ["Told", "code_or_ending", "ending", "evidence", "told", "why"]

_CHECK_WORDS = {
    "order": "a call that the rules refuse here",
    "answer": "the answer",
    "content": "the content that was shown",
    "execution": "the call did not succeed",
    "silence": "the actor stopped calling",
    "boundary": "the workspace changed where it must not",
    "outcome": "how the loop ended",
    "end": "what was true at the end",
    "classifier": "what a classifier found",
    "packet": "the packet that was to be decided about",
}

_NOT_FOUND = 404

#: What to do about a failed model call, by its category.
_ADVICE = {
    "auth": "check the API key",
    "bad_response": "what answered does not speak this API: check the address",
    "connection_lost": "check the address and whether it is up",
    "invalid_request": "the provider refuses these settings or this model",
    "model_not_found": "check the model's name",
    "overloaded": "try again later",
    "quota_exhausted": "the account has nothing left",
    "rate_limited": "try again later, or fewer at a time with -n",
    "timeout": "try again, or give the scenario a longer deadline",
}

#: Expectations of an answer that are put in words and not values; a receipt holds both as JSON.
_PHRASE = re.compile(
    r'(?:no command )?contains "|one of \[|a number near |\d+ of kind |the value at #|'
    r"(?:empty|absent|an array of commands)\Z"
)


def ending(receipt: Receipt) -> str:
    """How the loop ended, with all that is known: ``limit_exceeded/tool_calls, limit 3, observed 2, attempted 2``.

    ``attempted`` is what was to come on top of what was observed.
    """
    outcome = receipt.outcome
    detail = outcome.detail if outcome.detail not in {None, receipt.failure_code} else None
    # what was observed alone may lie below the limit: what was to come on top of it went beyond
    measured = [("limit", outcome.limit), ("observed", outcome.observed), ("attempted", outcome.attempted)]
    parts = [outcome.name, detail, *(f"{word} {number}" for word, number in measured if number is not None)]
    return ", ".join(part for part in parts if part is not None)


def code_or_ending(receipt: Receipt) -> str:
    """The code, of an outage with its sort; how the loop ended where there is none."""
    if receipt.failure_code is None:
        return ending(receipt)
    outage = receipt.outcome.detail if receipt.cause == "provider" else None
    return receipt.failure_code if outage is None else f"{receipt.failure_code} ({outage})"


@dataclass(frozen=True, slots=True)
class Told:
    """One piece of evidence in words. ``code`` is None where it is that of the episode, ``step`` is an ordinal.

    ``sides`` are what ``expected`` and ``got`` are called: of a drift they are what was recorded and what is now.
    """

    where: str
    what: str
    code: str | None = None
    step: int | None = None
    pointer: str | None = None
    expected: str | None = None
    got: str | None = None
    sides: tuple[str, str] = ("expected", "got")


def told(row: Episode, drifts: tuple[Drift, ...] = ()) -> tuple[Told, ...]:
    """Why an episode ended as it did: the problem, the failed model call, every finding, calls turned away.

    ``drifts`` are told instead of those of the receipt, which hold no words.
    """
    receipt = row.receipt
    found: list[Told] = []
    if row.log is not None and row.log.problem is not None:
        found.append(Told("", row.log.problem))
    if receipt.cause == "provider":
        found += _last_call(row.log, receipt.actor)
    if receipt.outcome.reason == "operator_abort":
        found.append(Told("", "a person decided to give the episode up (--decide abort)"))
    # a finding that only says that the loop ended adds nothing to the ending itself
    found += _drifted(receipt, drifts or recording.drifts_in(receipt.findings))
    found += [_told(receipt, finding) for finding in receipt.findings if finding.check not in {"outcome", "drift"}]
    return (*found, *_turned_away(receipt))


def _drifted(receipt: Receipt, drifts: tuple[Drift, ...]) -> list[Told]:
    """What no longer fits the recording, causes first; the words of texts stand in no receipt."""
    if not drifts:
        return []
    story = recording.story(drifts)
    found: list[Told] = []
    for change in story.changes:
        found += _places(change) or [Told("", change.what)]
        if change.more:
            found.append(Told("", f"and {counted(change.more, 'more place')}"))
    if story.follows is not None:
        found.append(Told("", story.follows))
    if story.unworded:
        found.append(Told("", f"harness check {receipt.scenario} shows the words"))
    return found


def _places(change: recording.Change) -> list[Told]:
    """One piece for each place; only the first says what changed."""
    return [
        Told(
            "",
            change.what if number == 0 else "and",
            pointer=place.pointer,
            expected=sides.get("recorded"),
            got=sides.get("now"),
            sides=("recorded", "now"),
        )
        for number, place in enumerate(change.places)
        for sides in ({name: recording.short(text) for name, text in place.sides},)
    ]


def why(receipt: Receipt, log: RunLogEntry) -> str:
    """How an episode ended and all evidence of it, in one line."""
    pieces = told(Episode(1, receipt, log))
    return "; ".join([ending(receipt), *(line for piece in pieces for line in evidence(piece))])


#: Calls that never reached a rule: what is odd about them explains many an ending.
_TURNED_AWAY: dict[ResultCode, str] = {
    "parse_error": "did not run, its arguments could not be read",
    "invalid_arguments": "did not run, its arguments do not fit the tool",
    "unknown_tool": "did not run, there is no such tool",
    "denied_policy": "did not run, the scenario does not permit it",
}


def _turned_away(receipt: Receipt) -> list[Told]:
    """Calls of an episode that did not pass which were answered with an error instead of being run."""
    if receipt.verdict == "pass":
        return []
    found = {finding.step for finding in receipt.findings}
    return [
        Told(where=f"step {step.ordinal}, {step.kind or 'no kind'}", what=_TURNED_AWAY[step.result], step=step.ordinal)
        for step in receipt.steps
        if step.result in _TURNED_AWAY and step.ordinal not in found
    ]


def evidence(piece: Told) -> tuple[str, ...]:
    """A piece of evidence in lines: where it is and what it is, what was expected, what was there."""
    where = f"{piece.where}: " if piece.where else ""
    at = f" at {piece.pointer or '/'}" if piece.pointer is not None else ""
    code = f" ({piece.code})" if piece.code else ""
    lines = [f"{where}{piece.what}{at}{code}"]
    one, other = piece.sides
    if piece.expected is not None:
        lines.append(f"{one:<8} {piece.expected}")
    if piece.got is not None:
        lines.append(f"{other:<8} {piece.got}")
    return tuple(lines)


def _last_call(log: RunLogEntry | None, actor: ActorIdentity) -> list[Told]:
    calls = () if log is None else log.attempts
    if not calls or calls[-1].error is None:
        return []
    last = calls[-1]
    times = "" if last.attempt == 1 else f", attempt {last.attempt}"
    if last.error == DECIDED:
        return [
            Told(f"model call {last.operation}{times}", "a person decided that it failed (--decide record_failure)")
        ]
    parts = [last.error or "", "" if last.http_status is None else f"HTTP {last.http_status}"]
    parts += {"not_sent": ["nothing was sent"], "unknown": ["whether it was answered is unknown"]}.get(last.status, [])
    said = ", ".join(part for part in parts if part)
    advice = _ADVICE.get(last.error or "")
    if actor.provider is not None:
        preset = config.resolve(actor.provider)
        if last.error == "bad_response" and last.http_status == _NOT_FOUND:
            advice = f"nothing answers there: {config.nothing_answers(preset.codec)}"
        elif last.error == "auth":
            is_named = actor.ref != f"{actor.provider}/{actor.model}"
            named = f" ({preset.key_env} where harness.toml gives {actor.ref} no key_env)" if is_named else ""
            advice = f"check the API key{named or f' in {preset.key_env}'}"
    return [Told(f"model call {last.operation}{times}", said if advice is None else f"{said}; {advice}")]


def _told(receipt: Receipt, finding: Finding) -> Told:
    step = next((step for step in receipt.steps if step.ordinal == finding.step), None)
    expected, got = finding.expected, finding.got
    what = _CHECK_WORDS[finding.check]
    if finding.check in {"order", "silence"}:
        what = f"{what}; {_facts(receipt, None if step is None else step.ordinal)}"
    ours = finding.check in {"content", "execution", "classifier"}
    exit_codes = finding.check == "execution" and expected == "0"
    if step is not None and finding.check == "execution" and step.refused is not None:
        what, expected, got = f"was not run: {step.refused.replace('_', ' ')}", None, None
    if finding.check == "classifier" and finding.pointer is None:
        # of the episode as a whole: null is no value of anything here, only that there is nothing to be told
        expected, got = (None if side == "null" else side for side in (expected, got))
    return Told(
        where="" if step is None else f"step {step.ordinal}, {step.kind or 'no kind'}",
        what=what,
        code=None if finding.code == receipt.failure_code else finding.code,
        step=None if step is None else step.ordinal,
        pointer=finding.pointer,
        expected="exit code 0" if exit_codes else _words(expected, ours=ours),
        got=f"exit code {got}" if exit_codes and (got or "").isdecimal() else _words(got, ours=ours) if ours else got,
    )


def _facts(receipt: Receipt, before: int | None) -> str:
    """What was true before a step, or at the end."""
    facts = (
        receipt.facts
        if before is None
        else [fact for step in receipt.steps if step.ordinal < before and step.code is None for fact in step.sets]
    )
    return f"true by then: {', '.join(dict.fromkeys(facts))}" if facts else "no fact was true by then"


def _words(text: str | None, *, ours: bool) -> str | None:
    """Words of ours without the quotes that a receipt, which knows only JSON, puts around them."""
    if text is None or not text.startswith('"'):
        return text
    try:
        said: object = json.loads(text)
    except ValueError:
        return text
    return said if isinstance(said, str) and (ours or _PHRASE.match(said)) else text
