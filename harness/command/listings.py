"""``ls``, ``find`` and ``rg --files``, rebuilt so that they can only list inside the roots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from harness.command.lexer import Word, whole_number
from harness.command.places import Places
from harness.command.profile import Profile

__all__ = ["find", "ls", "rg"]

Argv = tuple[str, ...]


def ls(arguments: Sequence[Word], places: Places) -> Argv | None:
    """``ls`` with the options ``a`` and ``l`` and a few paths; options first, paths absolute."""
    options: list[str] = []
    paths: list[str] = []
    for word in arguments:
        if word.text == "-":
            # ls takes it for a file of that name; a link of that name could lead anywhere
            if places.in_cwd("-") != f"{places.here}/-":
                return None
            options.append("-")
        elif word.text.startswith("-"):
            if not set(word.text[1:]) <= {"a", "l"}:
                return None
            options.append(word.text)
        else:
            path = places.listable(word)
            if path is None:
                return None
            paths.append(path)
    return ("ls", *options, *paths) if len(paths) <= places.profile.list_paths else None


def find(arguments: Sequence[Word], places: Places) -> Argv | None:
    """``find ROOT`` with tests that only select and print; a depth limit is added where there is none."""
    root = places.listable(arguments[0]) if arguments else None
    if root is None:
        return None
    profile = places.profile
    tests = [word.text for word in arguments[1:]]
    limited = False
    at = 0
    while at < len(tests):
        used = _test_length(tests[at:], profile)
        if used == 0:
            return None
        limited |= tests[at] == "-maxdepth"
        at += used
    depth = () if limited else ("-maxdepth", str(profile.find_depth))
    return ("find", root, *depth, *tests)


def _test_length(tests: Sequence[str], profile: Profile) -> int:
    """How many words the first test takes; 0 where it is not admitted."""
    match tests:
        case ["-o" | "-print", *_]:
            length, fine = 1, True
        case ["-maxdepth", depth, *_]:
            length, fine = 2, whole_number(depth, 0, profile.find_depth) is not None
        case ["-type", kind, *_]:
            length, fine = 2, kind in ("d", "f")
        case ["-name", pattern, *_]:
            length, fine = 2, _is_name_pattern(pattern, profile)
        case ["-path", pattern, *_]:
            length, fine = 2, _is_path_pattern(pattern, profile)
        case ["-not", "-path", pattern, *_]:
            length, fine = 3, _is_path_pattern(pattern, profile)
        case _:
            length, fine = 0, False
    return length if fine else 0


def _is_name_pattern(text: str, profile: Profile) -> bool:
    return 0 < len(text.encode()) <= profile.pattern_bytes and "/" not in text and not text.startswith("-")


def _is_path_pattern(text: str, profile: Profile) -> bool:
    return (
        0 < len(text.encode()) <= profile.pattern_bytes
        and not text.startswith("/")
        and ".." not in PurePosixPath(text).parts
    )


def rg(arguments: Sequence[Word], places: Places) -> Argv | None:
    """``rg --files [--hidden] [PATH]``; any other option could run a program or read elsewhere."""
    match [word.text for word in arguments]:
        case ["--files", *rest] if rest in ([], ["--hidden"]):
            return ("rg", "--files", *rest)
        case ["--files", *options, path] if options in ([], ["--hidden"]) and not path.startswith("-"):
            settled = places.in_cwd(path)
            return None if settled is None else ("rg", "--files", *options, settled)
        case _:
            return None
