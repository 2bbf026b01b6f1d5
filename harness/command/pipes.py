"""One segment of a read plan: a simple command or the few pipes into ``head`` that are admitted."""

from __future__ import annotations

from collections.abc import Sequence

from harness.command.lexer import Word, program_name, whole_number
from harness.command.places import Places
from harness.command.programs import simple_command
from harness.schema.command import Segment

__all__ = ["segment"]

_FILTERS = (["python", "-m", "json.tool"], ["python3", "-m", "json.tool"])


def segment(words: Sequence[Word], places: Places) -> Segment | None:
    """The segment (joined by ``;``) that these words are, or None where they are not admitted."""
    *inner, last = _stages(words)
    if inner:
        return _pipe(inner, last, places)
    kept, quiet = _without_redirect(last)
    simple = simple_command(kept, places) if _plain(kept) else None
    if simple is None:
        return None
    return Segment(operator=";", argv=simple.argv, target=simple.target, role=simple.role, quiet=quiet)


def _stages(words: Sequence[Word]) -> list[list[Word]]:
    stages: list[list[Word]] = [[]]
    for word in words:
        if word.operator and word.text == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    return stages


def _without_redirect(words: list[Word]) -> tuple[list[Word], bool]:
    """The words without ``2>/dev/null`` at their end, and whether it was there."""
    match words[-3:]:
        case [Word(text="2", bare="2"), Word(text=">", operator=True, glued=True), Word(text="/dev/null")]:
            return words[:-3], True
        case _:
            return words, False


def _plain(words: Sequence[Word]) -> bool:
    """Whether there are words and no redirect is left among them."""
    return bool(words) and not any(word.operator and word.text == ">" for word in words)


def _pipe(inner: Sequence[list[Word]], last: list[Word], places: Places) -> Segment | None:
    trimmed = [_without_redirect(stage) for stage in inner]
    source, *filters = [words for words, _ in trimmed]
    lines = _head_lines(last, places)
    if lines is None or not all(map(_plain, (source, *filters))) or not _filter_only(filters):
        return None
    quiet = any(dropped for _, dropped in trimmed)
    match program_name(source[0].text), source[1:]:
        case "cat", [file]:
            return _first_lines(file, lines, places, formatted=bool(filters), quiet=quiet)
        case "find" | "rg", _:
            simple = simple_command(source, places)
            if simple is None:
                return None
            return Segment(operator=";", argv=simple.argv, role=simple.role, line_limit=lines, quiet=quiet)
        case _:
            return None


def _first_lines(file: Word, lines: int, places: Places, *, formatted: bool, quiet: bool) -> Segment | None:
    settled = places.piped(file)
    if settled is None:
        return None
    target = places.workspace_path(settled)
    return Segment(
        operator=";",
        argv=("cat", settled),
        target=target,
        role=places.role(target),
        line_limit=lines,
        formatted=formatted,
        quiet=quiet,
    )


def _filter_only(filters: Sequence[Sequence[Word]]) -> bool:
    """Whether nothing stands in the middle but one JSON formatter."""
    spelled = [[program_name(words[0].text), *(word.text for word in words[1:])] for words in filters]
    return not spelled or (len(spelled) == 1 and spelled[0] in _FILTERS)


def _head_lines(words: Sequence[Word], places: Places) -> int | None:
    """N of a last stage ``head -N`` or ``head -n N``."""
    texts = [word.text for word in words]
    if not texts or program_name(texts[0]) != "head":
        return None
    match texts[1:]:
        case ["-n", number]:
            return whole_number(number, 1, places.profile.pipe_lines)
        case [option] if option.startswith("-"):
            return whole_number(option[1:], 1, places.profile.pipe_lines)
        case _:
            return None
