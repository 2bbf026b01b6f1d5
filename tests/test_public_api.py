"""What a module offers is written in it, and every error can be found in the drawn tree."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from harness import errors
from harness.errors import HarnessError

HARNESS = Path(errors.__file__).parent
MODULES = sorted(
    path.relative_to(HARNESS).as_posix()
    for path in HARNESS.rglob("*.py")
    if "_bundled" not in path.parts and (path.name == "__init__.py" or not path.name.startswith("_"))
)
#: Exit codes of the command, of which errors use these.
EXIT_CODES = {4, 5, 70, 130}


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name: the order the linter gives ``__all__``."""
    return 0 if name.isupper() else 1 if name[:1].isupper() else 2, name


def offered(tree: ast.Module) -> list[str] | None:
    """The names in ``__all__``; None where there is none."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(value, ast.expr):
            return [str(name) for name in ast.literal_eval(value)]
    return None


def defined(tree: ast.Module) -> set[str]:
    """Public functions and classes of a module's own."""
    made = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in tree.body if isinstance(node, made) and not node.name.startswith("_")}


def bound(tree: ast.Module) -> set[str]:
    """Every name that a module binds at its top."""
    names = set(defined(tree))
    for_types = [inner for node in tree.body if isinstance(node, ast.If) for inner in node.body]
    for node in (*tree.body, *for_types):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            parts = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for part in parts if isinstance(part, ast.Name)}
    return names


def complaints(source: str) -> list[str]:
    tree = ast.parse(source)
    names = offered(tree)
    if names is None:
        return ["has no __all__"] if defined(tree) else []
    found = []
    if names != sorted(set(names), key=order):
        found.append(f"__all__ is not sorted: {sorted(set(names), key=order)}")
    found += [f"{name} is public and not in __all__" for name in sorted(defined(tree) - set(names))]
    found += [f"{name} is in __all__ and does not exist" for name in sorted(set(names) - bound(tree))]
    return found


@pytest.mark.parametrize("path", MODULES)
def test_a_module_lists_what_it_offers(path: str) -> None:
    assert complaints((HARNESS / path).read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def f(): ...", "has no __all__"),
        ("__all__ = ['g', 'f']\ndef f(): ...\ndef g(): ...", "__all__ is not sorted: ['f', 'g']"),
        ("__all__ = ['f', 'f']\ndef f(): ...", "__all__ is not sorted: ['f']"),
        ("__all__ = []\nclass C: ...", "C is public and not in __all__"),
        ("__all__: list[str] = ['f']", "f is in __all__ and does not exist"),
    ],
)
def test_a_wrong_list_is_seen(source: str, complaint: str) -> None:
    assert complaint in complaints(source)


def subclasses(parent: type[HarnessError]) -> list[type[HarnessError]]:
    return [parent, *(found for child in parent.__subclasses__() for found in subclasses(child))]


ERRORS = [found for found in subclasses(HarnessError) if found.__module__ == errors.__name__]


def drawn() -> dict[str, tuple[str | None, str]]:
    """Each class in the drawing: the class it hangs from, and the text beside it."""
    found: dict[str, tuple[str | None, str]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.fullmatch(r"    ((?:│   |    )*(?:├── |└── )?)(\w+)\s*(.*)", line)
        if match is None:
            continue
        depth = len(match[1]) // 4
        above[depth:] = [match[2]]
        found[match[2]] = (above[depth - 1] if depth else None, match[3])
    return found


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: str(error.__name__))
def test_an_error_is_explained_and_drawn_where_it_belongs(error: type[HarnessError]) -> None:
    assert inspect.getdoc(error)
    assert error.__doc__
    parent, text = drawn()[error.__name__]
    assert parent == (None if error is HarnessError else error.__bases__[0].__name__)
    told = re.match(r"exit (\d+)", text)
    assert told is None or int(told[1]) == error.exit_code


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: str(error.__name__))
def test_an_error_has_an_exit_code(error: type[HarnessError]) -> None:
    assert error.exit_code in EXIT_CODES


def test_nothing_is_drawn_that_does_not_exist() -> None:
    assert drawn().keys() == {error.__name__ for error in ERRORS}


def test_every_error_is_offered() -> None:
    assert {error.__name__ for error in ERRORS} <= set(errors.__all__)
