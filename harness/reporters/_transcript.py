"""A recorded conversation on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from harness.reporters._console import indented, paper, safe, whole, written_on
from harness.schema.transcript import Passage, Speaker, Transcript
from harness.schema.verdict import Verdict

__all__ = ["mark", "tell"]

#: Characters of a text that are shown: what tools and control planes say is long, and mostly the same.
_SHORT, _LONG = 600, 4000
_FOLDED: frozenset[Speaker] = frozenset({"tool", "control plane", "provider"})
_JUDGED: dict[Verdict, str] = {
    "pass": "passed",
    "fail": "failed",
    "not_judged": "was not judged",
    "pending": "was left pending",
}
_STYLES: dict[Speaker, str] = {"model": "bold cyan", "control plane": "bold magenta", "tool": "bold magenta"}


def tell(transcript: Transcript, *, width: int, color: bool) -> str:
    """The conversation in ``width`` columns (at least 40), without a final newline.

    Of long texts the beginning is shown, with their size and where they are whole.
    """
    console = paper(width, color=color)
    whole(console, Text.assemble(("Recording", "bold"), f" {safe(transcript.file)}, {transcript.size:,} bytes"))
    if transcript.header is not None:
        header = transcript.header
        told = f"{header.scenario}, {header.actor.ref}, trial {header.trial}"
        plane = "" if header.plane is None else f"{header.plane.ref}, "
        indented(console, f"{told}, {plane}{header.provenance}, redacted when it was written", 3)
        indented(console, _judged(transcript), 3)
    if transcript.problem is not None:
        indented(console, transcript.problem, 3)
    for turn in transcript.turns:
        console.print()
        console.print(Text(f"Exchange {turn.number} of {len(transcript.turns)}", style="bold"))
        for passage in (*turn.asked, *turn.said, *turn.answers):
            _passage(console, passage, transcript.file)
    return written_on(console)


def _judged(transcript: Transcript) -> str:
    if transcript.verdict is not None:
        code = "" if transcript.failure_code is None else f" ({transcript.failure_code})"
        return f"when it was recorded the episode {_JUDGED[transcript.verdict]}{code}"
    if transcript.header is not None and transcript.header.scenario_digest is None:
        return "it is of no scenario: it cannot be judged, and not be replayed in one"
    name = transcript.file.rpartition("/")[2].removesuffix(".jsonl")
    again = ""
    if transcript.header is not None:
        again = f"; harness run {transcript.header.scenario} --actor recorded:{name} judges it"
    return f"whether the episode passed when it was recorded is not known here{again}"


def mark(passage: Passage, shown: int, file: str) -> str:
    """What is said below a text of which only ``shown`` bytes stand there."""
    return f"{shown:,} of {passage.size:,} bytes, whole text in {file}, line {passage.line}"


def _passage(console: Console, passage: Passage, file: str) -> None:
    about = f" {passage.about}" if passage.about else ""
    indented(console, f"{passage.speaker}{about}", 3, _STYLES.get(passage.speaker, "bold"))
    shown = passage.text[: _SHORT if passage.speaker in _FOLDED else _LONG]
    if shown:
        indented(console, shown.rstrip("\n"), 6)
    size = len(shown.encode("utf-8", "replace"))
    if size < passage.size:
        whole(console, Text(f"      ({safe(mark(passage, size, file))})", style="dim"))
