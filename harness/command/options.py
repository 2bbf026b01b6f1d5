"""Rebuilds the arguments of a call from its allow-list: nothing that is not named there gets through."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.command.expansion import expands, is_one_word
from harness.command.lexer import Word
from harness.command.places import Places
from harness.schema.command import CallSpec, Refusal

__all__ = ["RefusedError", "rebuild"]


#: What argparse takes for an option and not for the value of one: a dash, then no number and no blank.
_OPTION = re.compile(r"-(?!\d+\Z|\d*\.\d+\Z)[^ ]+", re.DOTALL)


class RefusedError(Exception):
    """Why the arguments are not run; never leaves this unit."""

    def __init__(self, reason: Refusal) -> None:
        self.reason: Refusal = reason
        super().__init__(reason)


def rebuild(words: Sequence[Word], spec: CallSpec, places: Places) -> tuple[str, tuple[str, ...]]:
    """Call path and arguments to run, order and form as typed. Raises RefusedError.

    Options may stand before the path words too, and ``add`` ones do. Values of ``set`` are replaced whatever they are,
    those of ``inside`` by their settled paths.
    """
    path: list[str] = []
    argv: list[str] = []
    seen: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word.text.startswith("-"):
            name, rebuilt, used = _option(words[at : at + 2], spec, places)
            if name in seen and name not in spec.many:
                raise RefusedError("repeated_option")
            seen.append(name)
            argv.extend(rebuilt)
            at += used
        else:
            path.append(_literal(word))
            argv.append(word.text)
            at += 1
    allowed = spec.allow.get(" ".join(path))
    if allowed is None:
        raise RefusedError("unknown_path")
    if not set(seen) <= set(allowed):
        raise RefusedError("unknown_option")
    added = ((f"--{name}", value) for name, value in spec.add.items() if name in allowed and name not in seen)
    return " ".join(path), (*(part for pair in added for part in pair), *argv)


def _option(words: Sequence[Word], spec: CallSpec, places: Places) -> tuple[str, list[str], int]:
    """Name, rebuilt words and number of words used of the option that the first word starts."""
    first = words[0]
    dashed, equals, joined = first.text.partition("=")
    name = dashed[2:]
    if not dashed.startswith("--") or all(name not in names for names in spec.allow.values()):
        raise RefusedError("unknown_option")
    if name in spec.flags:
        if equals:
            raise RefusedError("unknown_option")
        return name, [first.text], 1
    if equals:
        return name, [f"{dashed}={_value(name, first, joined, spec, places)}"], 1
    if len(words) == 1:
        raise RefusedError("missing_value")
    return name, [first.text, _value(name, words[1], words[1].text, spec, places)], 2


def _value(name: str, word: Word, text: str, spec: CallSpec, places: Places) -> str:
    """The value to pass for a value typed; ``word`` is where it stood."""
    if text.startswith("--") or word.lead.startswith("#"):
        raise RefusedError("missing_value")  # another option, or a comment, to whoever reads the words
    if name in spec.set:
        if text == word.text and _OPTION.fullmatch(text):
            raise RefusedError("missing_value")
        if not is_one_word(word, places.profile.harmless):
            raise RefusedError("expansion")
        return spec.set[name]
    _literal(word)
    if name not in spec.inside:
        return text
    settled = places.anywhere(text)
    if settled is None:
        raise RefusedError("path_outside")
    return settled


def _literal(word: Word) -> str:
    if expands(word):
        raise RefusedError("expansion")
    return word.text
