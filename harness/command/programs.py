"""One simple command of a read plan: the program by its name, its operands rebuilt, what it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.command.lexer import Word, program_name
from harness.command.listings import find, ls, rg
from harness.command.places import Places
from harness.schema.command import TargetRole

__all__ = ["Simple", "simple_command"]


@dataclass(frozen=True, slots=True)
class Simple:
    """A rebuilt command: ``target`` is the workspace path of the one file it reads, ``role`` None reads nothing."""

    argv: tuple[str, ...]
    target: str | None = None
    role: TargetRole | None = None


_NOTHING = Simple(("true",))
Builder = Callable[[Sequence[Word], Places], Simple | None]


def simple_command(words: Sequence[Word], places: Places) -> Simple | None:
    """The command that these words are (none of them an operator of meaning), or None where it is not admitted."""
    builder = _BUILDERS.get(program_name(words[0].text))
    return None if builder is None else builder(words[1:], places)


def _listing(build: Callable[[Sequence[Word], Places], tuple[str, ...] | None]) -> Builder:
    def listing(arguments: Sequence[Word], places: Places) -> Simple | None:
        argv = build(arguments, places)
        return None if argv is None else Simple(argv, role="metadata")

    return listing


def _reading(argv: tuple[str, ...], file: str, places: Places) -> Simple | None:
    settled = places.in_cwd(file)
    if settled is None:
        return None
    target = places.workspace_path(settled)
    return Simple((*argv, settled), target, places.role(target))


def _cat(arguments: Sequence[Word], places: Places) -> Simple | None:
    return _reading(("cat",), arguments[0].text, places) if len(arguments) == 1 else None


def _head(arguments: Sequence[Word], places: Places) -> Simple | None:
    match [word.text for word in arguments]:
        case [file]:
            return _reading(("head",), file, places)
        case ["-n", lines, file] if lines.isdigit():
            return _reading(("head", "-n", lines), file, places)
        case _:
            return None


def _sed(arguments: Sequence[Word], places: Places) -> Simple | None:
    match [word.text for word in arguments]:
        case ["-n", script, file] if script.endswith("p") and all(c.isdigit() or c in ",p" for c in script):
            return _reading(("sed", "-n", script), file, places)
        case _:
            return None


def _pwd(arguments: Sequence[Word], _places: Places) -> Simple | None:
    return None if arguments else Simple(("pwd",), role="metadata")


def _echo(arguments: Sequence[Word], _places: Places) -> Simple | None:
    return Simple(("echo", arguments[0].text)) if len(arguments) == 1 else None


def _cd(arguments: Sequence[Word], places: Places) -> Simple | None:
    stays = len(arguments) == 1 and places.in_cwd(arguments[0].text) == places.here
    return _NOTHING if stays else None


def _export(arguments: Sequence[Word], places: Places) -> Simple | None:
    profile = places.profile
    match [word.text for word in arguments]:
        case [text] if text.startswith(f"{profile.turn_variable}=") and len(text) <= profile.export_chars:
            return _NOTHING
        case _:
            return None


_BUILDERS: dict[str, Builder] = {
    "cat": _cat,
    "cd": _cd,
    "echo": _echo,
    "export": _export,
    "find": _listing(find),
    "head": _head,
    "ls": _listing(ls),
    "pwd": _pwd,
    "rg": _listing(rg),
    "sed": _sed,
}
