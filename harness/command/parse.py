"""The one entry: a text in, every way it can be read out."""

from __future__ import annotations

from dataclasses import replace

from harness.command.attempt import attempted
from harness.command.call import read_call
from harness.command.clock import read_clock
from harness.command.expansion import substitutes
from harness.command.help import read_help
from harness.command.known import KnownTexts
from harness.command.lexer import split_shell, split_strict, split_words
from harness.command.places import Places
from harness.command.profile import PROFILES, TEXT_BYTES
from harness.command.reads import read_plan
from harness.command.shape import UNREAD, command_shape, has_lines
from harness.schema.command import GrammarContext, ParsedCommand, ReadPlan, Segment

__all__ = ["BLANKS", "parse"]

#: What a shell takes for blanks; other white space, and a carriage return, are letters to it.
BLANKS = " \t\n"
_KNOWN = KnownTexts()


def parse(text: str, context: GrammarContext) -> ParsedCommand:
    """Read a command; blanks and line ends at its ends do not count. Total: any text gives a value.

    Nothing is run, and of the world only the links of paths under the roots are looked at. A text of more than 65,536
    bytes, with a lone surrogate, or under a profile that is not in ``GRAMMARS`` is not read at all; one with a NUL is
    no read, and as a call it is refused. ``context.cwd`` must be one of ``context.roots``.

    A text that was read without asking where the roots lie or what is in them is not read again in another workspace.
    """
    text = text.strip(BLANKS)
    profile = PROFILES.get(context.profile)
    if profile is None or not _is_bounded_text(text):
        return ParsedCommand(shape=UNREAD)
    known = _KNOWN.find(text, context)
    if known is None:
        places = Places(context, profile)
        known = _read(text, places)
        if not places.matter:
            _KNOWN.keep(text, context, known)
    return known


def _read(text: str, places: Places) -> ParsedCommand:
    context, profile = places.context, places.profile
    words, shell = split_words(text), split_shell(text)
    if words is None or shell is None:
        reads = _free(text) if profile.free and "\0" not in text else None
        return ParsedCommand(reads=reads, shape=replace(UNREAD, multiline=has_lines(text)))
    call = None if context.call is None else read_call(words, shell, context.call, places)
    if call is not None and _has_bare_return(text):
        call = replace(call, argv=None, refused=call.refused or "unparseable")
    clock = None if any(substitutes(word, profile.harmless) for word in words) else read_clock(shell)
    reads = None if "\0" in text else read_plan(text, shell, places)
    if profile.free:
        reads = None if call is not None or "\0" in text else _free(text)
    shape = command_shape(text, words, shell, context, call=call, clock=clock, reads=reads)
    asked = None if context.call is None or "\0" in text else read_help(shell, context.call, places)
    return ParsedCommand(
        call=None if asked is not None else call,
        clock=clock,
        reads=reads,
        help=asked,
        programs=attempted(shell, places),
        shape=shape,
    )


def _free(text: str) -> ReadPlan:
    """The whole text for a shell; it may read, and write, whatever it reaches."""
    return ReadPlan(segments=(Segment(operator=";", argv=("sh", "-c", text), role="other", free=True),), role="other")


def _has_bare_return(text: str) -> bool:
    """Whether a carriage return stands outside of quotes: the control plane's grammar takes it for a blank."""
    return "\r" in text and any("\r" in word.bare for word in split_strict(text) or ())


def _is_bounded_text(text: str) -> bool:
    try:
        return len(text) <= TEXT_BYTES and len(text.encode()) <= TEXT_BYTES
    except UnicodeEncodeError:
        return False
