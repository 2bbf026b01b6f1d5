"""The shape of the package, held: layers, rooms of effects, sizes, names.

Each check is a function from the modules to a list of complaints. All hold for the tree as it is, and each is shown to
see what it looks for: a module with the fault is planted.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

#: Units by layer; a module imports lower layers only. Units of one layer never import each other.
LAYERS = (
    ("schema",),
    ("errors",),
    ("ports", "redaction", "documents"),
    (
        *("clock", "collecting", "watching", "scenario", "workspace", "journal", "gate", "meter", "control", "command"),
        *("rules", "receipt", "provision", "detectors", "config", "environment", "recording", "transcript"),
        *("history", "observation", "qualification"),
    ),
    (
        *("episode", "rehearsal", "actors", "providers", "executors", "controlplanes", "classifiers", "reporters"),
        "pools",
    ),
    ("suite",),
    ("catalog",),
    ("wiring",),
    ("cli", "pytest_plugin"),
)
#: Folders of interchangeable entries: nobody else imports them by name.
PLURAL = {"actors", "classifiers", "providers", "executors", "controlplanes", "reporters", "pools"}
#: What ``catalog`` may know, though it lies above the rest.
NARROW = {"catalog": {"errors"}, "": {"errors", "schema"}}

_PROCESSES = ("executors/", "provision/")
_TIME = ("clock.py", "executors/", "episode/model_call.py", "workspace/ticks.py")
_ENVIRONMENT = ("wiring", "executors/_preload.py", "executors/_forkserver.py")
#: Each effect and the rooms it may be used in (files, or folders ending in a slash, below ``harness/``).
EFFECTS: dict[str, tuple[str, ...]] = {
    "httpx": (
        "providers/_http.py",
        "providers/_way.py",
        "providers/_direct.py",
        "providers/_connection.py",
        "recording/transport.py",
    ),
    "httptools": ("providers/_answer.py",),
    "socket": (
        "providers/_http.py",
        "providers/_connection.py",
        "rehearsal/server.py",
        "executors/sandbox.py",
        "executors/_probe.py",
    ),
    "socketserver": (),
    "http.server": ("rehearsal/server.py",),
    "urllib.request": ("providers/_surroundings.py",),
    "http.client": (),
    "subprocess": (*_PROCESSES, "workspace/removing.py"),
    "pty": _PROCESSES,
    "multiprocessing": (*_PROCESSES, "pools/"),
    **{f"os.{name}": _PROCESSES for name in ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp")},
    **{f"os.{name}": _PROCESSES for name in ("execv", "execve", "execvp", "execvpe", "spawnv", "spawnve")},
    "tempfile": ("workspace/",),
    "time": _TIME,
    **{f"datetime.{name}": _TIME for name in ("datetime.now", "datetime.utcnow", "datetime.today", "date.today")},
    "uuid": ("clock.py",),
    "secrets": ("clock.py",),
    "random": (),
    "yaml": ("documents/yaml_values.py",),
    "sqlite3": ("history/", "controlplanes/registry/"),
    **{f"os.{name}": _ENVIRONMENT for name in ("environ", "environb", "getenv", "getenvb", "putenv", "unsetenv")},
}
#: Where everything may be caught, and why. A handler that ends by raising again needs no place here.
CATCH_ALL = {
    "catalog.py": "importing a plug-in runs anybody's code",
    "episode/classifying.py": "a classifier may be anybody's code, and one that raises judges nothing",
    "cli/main.py": "the last handler: no user is shown a traceback",
    "pools/_ending.py": "carried from an episode's process to the one that began it",
    "pools/workers.py": "what a clerk raises is raised again where the episode's end is waited for",
    "suite/runner.py": "one episode's bug does not end the others",
    "suite/walking.py": "a crash is what a walk looks for",
    "watching.py": "one look's bug does not end the others",
    "episode/latch.py": "a failing probe is no cancellation",
    "episode/erring.py": "what a plane of anybody's raises ends its call, not the run",
    "episode/late.py": "whatever a sink raises, the next late reply is accounted for",
    "episode/model_call.py": "carried from the call's thread to its owner",
    "episode/measuring.py": "what a host's meter raises means that the cost is not known",
    "journal/chain.py": "telemetry never changes a decision",
    "executors/_preload.py": "a program's end is told in the control plane's own child",
}
FORBIDDEN_NAMES = {"utils", "util", "common", "core", "helpers", "helper", "misc", "types", "model", "models"}
MODULE_LINES, MEDIAN_LINES, FUNCTION_LINES, INIT_LINES = 350, 150, 60, 90


@dataclass(frozen=True)
class Module:
    """One source file below ``harness/``."""

    path: str
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def name(self) -> str:
        parts = ["harness", *self.path.removesuffix(".py").split("/")]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def unit(self) -> str:
        """The part of the package it belongs to; the package's own ``__init__`` has none."""
        return unit_of(self.name) if self.path != "__main__.py" else "cli"

    @property
    def is_init(self) -> bool:
        return self.path.endswith("__init__.py")

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What each imported name stands for, wherever in the file it is imported."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for item in node.names:
                    found[item.asname or item.name.split(".")[0]] = (
                        item.name if item.asname else item.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                for item in node.names:
                    found[item.asname or item.name] = f"{self._source_of(node)}.{item.name}"
        return found

    @cached_property
    def imported(self) -> frozenset[str]:
        """Absolute names of everything imported, in functions and for type checkers too."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {item.name for item in node.names}
            elif isinstance(node, ast.ImportFrom):
                source = self._source_of(node)
                found |= {source, *(f"{source}.{item.name}" for item in node.names)}
        return frozenset(found)

    @cached_property
    def used(self) -> frozenset[str]:
        """Imported names, and attributes of them as they are written."""
        chains = (self._dotted(node) for node in ast.walk(self.tree) if isinstance(node, ast.Attribute))
        return self.imported | {chain for chain in chains if chain}

    def _source_of(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.name.split(".") if self.is_init else self.name.split(".")[:-1]
        base = package[: len(package) - node.level + 1]
        return ".".join([*base, *([node.module] if node.module else [])])

    def _dotted(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            before = self._dotted(node.value)
            return f"{before}.{node.attr}" if before else ""
        return self.aliases.get(node.id, "") if isinstance(node, ast.Name) else ""


Modules = dict[str, Module]
Check = Callable[[Modules], list[str]]


def unit_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def targets(known: frozenset[str], module: Module) -> set[str]:
    """The modules of ours, by the names that are known, that a module imports."""
    ours = {name for name in module.imported if name == "harness" or name.startswith("harness.")}
    # "from harness.a import b" names the module harness.a.b where there is one, else something in harness.a
    whole = {name for name in ours if name in known}
    parents = {name.rpartition(".")[0] for name in ours - whole}
    return (whole | (parents & known)) - {module.name}


def known(modules: Modules) -> frozenset[str]:
    return frozenset(module.name for module in modules.values())


def rank(unit: str) -> int:
    return next((number for number, units in enumerate(LAYERS) if unit in units), -1)


def layers(modules: Modules) -> list[str]:
    """Imports go down, never sideways, and to no plural folder."""
    complaints = []
    ours = known(modules)
    for module in modules.values():
        if rank(module.unit) < 0 and module.unit:
            complaints.append(f"{module.path}: the unit {module.unit!r} has no layer: decide where it belongs")
            continue
        for name in sorted(targets(ours, module)):
            unit = unit_of(name)
            if unit in {module.unit, ""}:
                continue
            if unit not in NARROW.get(module.unit, {unit}):
                complaints.append(f"{module.path}: {module.unit or 'harness'} may not know {unit} ({name})")
            elif unit in PLURAL:
                complaints.append(f"{module.path}: imports the plural folder {unit} by name ({name}); ask the catalog")
            elif module.unit and rank(unit) >= rank(module.unit):
                way = "sideways" if rank(unit) == rank(module.unit) else "upwards"
                complaints.append(f"{module.path}: {module.unit} imports {unit} ({name}), {way}")
    return complaints


def cycles(modules: Modules) -> list[str]:
    """No module imports itself through others, imports in functions and for type checkers counted."""
    ours = known(modules)
    graph = {module.name: targets(ours, module) for module in modules.values()}
    complaints = set()
    for start, direct in graph.items():
        seen: set[str] = set()
        waiting = list(direct)
        while waiting:
            name = waiting.pop()
            if name == start:
                complaints.add(f"{start}: imports itself through {', '.join(sorted(seen))}")
                break
            if name not in seen:
                seen.add(name)
                waiting.extend(graph[name])
    return sorted(complaints)


def effects(modules: Modules) -> list[str]:
    """Each effect is used in its room only."""
    return sorted(
        f"{module.path}: uses {effect}, which belongs to {' '.join(rooms) or 'no room'}"
        for module in modules.values()
        for effect, rooms in EFFECTS.items()
        if not module.path.startswith(rooms)
        and any(name == effect or name.startswith(f"{effect}.") for name in module.used)
    )


def sizes(modules: Modules) -> list[str]:
    """Modules and functions stay small."""
    lines = {module.path: module.source.count("\n") for module in modules.values()}
    complaints = [f"{path}: {n} lines, more than {MODULE_LINES}" for path, n in lines.items() if n > MODULE_LINES]
    middle = statistics.median(n for path, n in lines.items() if not path.endswith("__init__.py"))
    if middle > MEDIAN_LINES:
        complaints.append(f"harness: the median module has {middle} lines, more than {MEDIAN_LINES}")
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES:
                    complaints.append(f"{module.path}:{node.lineno}: {node.name} has {length} lines")
    return complaints


def is_for_types(node: ast.stmt) -> bool:
    """Whether it is ``if TYPE_CHECKING:`` with nothing but imports."""
    if not isinstance(node, ast.If) or node.orelse or ast.unparse(node.test) != "TYPE_CHECKING":
        return False
    return all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body)


def thin_inits(modules: Modules) -> list[str]:
    """An ``__init__`` re-exports, at once or on first use; it does nothing."""
    complaints = []
    for module in modules.values():
        if not module.is_init:
            continue
        if module.source.count("\n") > INIT_LINES:
            complaints.append(f"{module.path}: more than {INIT_LINES} lines")
        body = module.tree.body[1:] if ast.get_docstring(module.tree) else module.tree.body
        for node in body:
            assigned = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [target.id for target in assigned if isinstance(target, ast.Name)]
            if is_for_types(node) or isinstance(node, ast.Import | ast.ImportFrom):
                continue
            if names not in (["__all__"], ["__version__"], ["__getattr__"]):
                complaints.append(f"{module.path}:{node.lineno}: holds code")
    return complaints


def names(modules: Modules) -> list[str]:
    """No file or folder has a name that says nothing."""
    return [
        f"{module.path}: {part!r} says nothing about what is in it"
        for module in modules.values()
        for part in module.path.removesuffix(".py").split("/")
        if part.strip("_") in FORBIDDEN_NAMES
    ]


def redacted_texts(modules: Modules) -> list[str]:
    """Only ``redaction`` makes a ``RedactedText``."""
    return [
        f"{module.path}:{node.lineno}: makes a RedactedText"
        for module in modules.values()
        if module.unit != "redaction"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[0] == "RedactedText"
    ]


def catch_alls(modules: Modules) -> list[str]:
    """Everything is caught only where that is the design."""
    complaints = []
    for module in modules.values():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ExceptHandler) or module.path in CATCH_ALL:
                continue
            caught = "everything" if node.type is None else ast.unparse(node.type)
            broad = {"everything", "Exception", "BaseException"} & set(re.findall(r"\w+", caught))
            raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if broad and not raises_again:
                complaints.append(f"{module.path}:{node.lineno}: catches {caught}")
    return complaints


def short_writes(modules: Modules) -> list[str]:
    """A full disk takes a part of what it is given and says how much: nobody leaves that unread.

    A signal's handler has nobody to tell it to.
    """
    return [
        f"{module.path}:{node.lineno}: does not look how much was written"
        for module in modules.values()
        if module.path != "cli/interrupt.py"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if ast.unparse(node.value.func) in {"os.write", "os.pwrite", "os.writev", "os.pwritev"}
    ]


def special_files(modules: Modules) -> list[str]:
    """What lies in the folder of a run may be a pipe or a device by now: it is read by what looks at that first.

    The system's own list of locks is no file of a run.
    """
    units = {"episode", "journal", "receipt", "recording", "history"}
    return [
        f"{module.path}:{node.lineno}: reads what may be no regular file"
        for module in modules.values()
        if unit_of(module.name) in units and module.path not in {"receipt/locking.py", "episode/world.py"}
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in {"read_bytes", "read_text"}
        or (node.func.attr == "open" and ast.unparse(node.func.value) not in {"os", "tarfile"})
    ]


CHECKS: tuple[Check, ...] = (
    *(layers, cycles, effects, sizes, thin_inits, names, redacted_texts, catch_alls, short_writes, special_files),
)


@pytest.fixture(scope="module")
def modules() -> Modules:
    folder = REPOSITORY / "harness"
    found = sorted(path for path in folder.rglob("*.py") if "_bundled" not in path.parts)
    return {
        path.relative_to(folder).as_posix(): Module(path.relative_to(folder).as_posix(), path.read_text("utf-8"))
        for path in found
    }


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: str(check.__name__))
def test_the_tree_keeps_its(check: Check, modules: Modules) -> None:
    assert check(modules) == []


LONG_FUNCTION = "def long() -> None:\n" + "    print()\n" * FUNCTION_LINES
PLANTED = [
    (layers, "gate/planted.py", "from harness.episode import loop", "gate imports episode (harness.episode"),
    (layers, "gate/planted.py", "from ..episode import loop", "upwards"),
    (
        layers,
        "gate/planted.py",
        "def f():\n    import harness.cli.main",
        "gate imports cli (harness.cli.main), upwards",
    ),
    (layers, "gate/planted.py", "from harness import journal", "gate imports journal (harness.journal), sideways"),
    (
        layers,
        "gate/planted.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from harness.meter import x",
        "gate imports meter (harness.meter), sideways",
    ),
    (
        layers,
        "wiring/planted.py",
        "from harness.providers import openai",
        "imports the plural folder providers by name",
    ),
    (layers, "catalog.py", "from harness.schema import base", "catalog may not know schema"),
    (layers, "__init__.py", "from harness.clock import SystemClock", "harness may not know clock"),
    (layers, "newcomer.py", "", "the unit 'newcomer' has no layer"),
    (cycles, "schema/base.py", "def f():\n    from harness.schema import run", "harness.schema.base: imports itself"),
    (
        effects,
        "reporters/planted.py",
        "import httpx",
        "uses httpx, which belongs to providers/_http.py providers/_way.py providers/_direct.py providers/_connection",
    ),
    (
        effects,
        "gate/planted.py",
        "from subprocess import run",
        "uses subprocess, which belongs to executors/ provision/",
    ),
    (effects, "gate/planted.py", "def f():\n    import os as o\n    o.fork()", "uses os.fork"),
    (effects, "gate/planted.py", "import os\nx = os.environ['A']", "uses os.environ, which belongs to wiring"),
    (effects, "gate/planted.py", "from os import getenv", "uses os.getenv"),
    (effects, "gate/planted.py", "import datetime as d\nd.datetime.now()", "uses datetime.datetime.now"),
    (effects, "episode/planted.py", "from time import sleep", "uses time, which belongs to clock.py"),
    (effects, "gate/planted.py", "import random", "uses random, which belongs to no room"),
    (sizes, "gate/planted.py", "x = 1\n" * (MODULE_LINES + 1), f"{MODULE_LINES + 1} lines, more than"),
    (sizes, "gate/planted.py", LONG_FUNCTION, f"planted.py:1: long has {FUNCTION_LINES + 1} lines"),
    (thin_inits, "gate/__init__.py", "def f():\n    pass", "gate/__init__.py:1: holds code"),
    (thin_inits, "gate/__init__.py", "if TYPE_CHECKING:\n    x = 1", "gate/__init__.py:1: holds code"),
    (thin_inits, "gate/__init__.py", "if TYPE_CHECKING:\n    import a\nelse:\n    import b", "holds code"),
    (thin_inits, "gate/__init__.py", "import os\n" * (INIT_LINES + 1), "more than"),
    (names, "gate/utils.py", "", "'utils' says nothing"),
    (names, "gate/_helpers/planted.py", "", "'_helpers' says nothing"),
    (redacted_texts, "receipt/planted.py", "x = RedactedText('a')", "makes a RedactedText"),
    (catch_alls, "gate/planted.py", "try:\n    f()\nexcept Exception:\n    pass", "planted.py:3: catches Exception"),
    (catch_alls, "gate/planted.py", "try:\n    f()\nexcept (OSError, BaseException):\n    pass", "BaseException)"),
    (catch_alls, "gate/planted.py", "try:\n    f()\nexcept:\n    pass", "catches everything"),
    (special_files, "journal/planted.py", "a = path.read_text()", "reads what may be no regular file"),
    (special_files, "receipt/planted.py", "with path.open('rb') as file:\n    pass", "may be no regular file"),
    (short_writes, "gate/planted.py", "import os\nos.pwrite(1, b'a', 0)", "does not look how much was written"),
]


@pytest.mark.parametrize(("check", "path", "source", "complaint"), PLANTED)
def test_a_planted_fault_is_seen(check: Check, path: str, source: str, complaint: str, modules: Modules) -> None:
    beside = modules if check in {layers, cycles} else {}  # the other checks look at one module at a time
    found = check(beside | {path: Module(path, source)})
    assert any(complaint in line for line in found), found


def test_a_heavy_median_is_seen() -> None:
    heavy = {name: Module(name, "x = 1\n" * (MEDIAN_LINES + 1)) for name in ("gate/a.py", "gate/b.py")}
    assert sizes(heavy) == [f"harness: the median module has {MEDIAN_LINES + 1}.0 lines, more than {MEDIAN_LINES}"]


def test_catching_everything_to_raise_it_again_is_no_fault() -> None:
    source = "try:\n    f()\nexcept BaseException:\n    g()\n    raise"
    assert catch_alls({"gate/planted.py": Module("gate/planted.py", source)}) == []


def test_the_document_draws_the_same_layers() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d) \|([^|]*)\|", text, re.MULTILINE)
    assert [(int(number), sorted(re.findall(r"`(\w+)`", units))) for number, units in rows] == [
        (number, sorted(units)) for number, units in enumerate(LAYERS)
    ]


def test_the_document_tells_what_each_unit_gives() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    told = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert told <= {unit for units in LAYERS for unit in units}


def test_every_room_of_an_effect_and_every_catch_all_can_exist() -> None:
    units = {unit for layer in LAYERS for unit in layer} | {"history"}
    rooms = {room for rooms in EFFECTS.values() for room in rooms} | set(CATCH_ALL)
    assert {room.split("/")[0].removesuffix(".py") for room in rooms} <= units


# The brackets keep this file from holding what it looks for.
UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")
MACHINE = re.compile(r"(?<![\w.])/([w]ork|[r]oot)/(main|shared|\.)|/tmp/[b]rief|the [b]rief\b", re.IGNORECASE)
TEXT_FILES = (".py", ".md", ".toml", ".yml", ".html", ".css", ".js", ".j2", ".txt", ".cfg", "")


def our_files() -> Iterator[tuple[str, str]]:
    places = [*(REPOSITORY / name for name in ("harness", "tests", "docs", "scenarios", ".ci", ".github"))]
    files = [path for place in places for path in place.rglob("*") if "__pycache__" not in path.parts]
    files += [path for path in REPOSITORY.glob("*") if path.name != "requirements.lock"]
    for path in sorted(files):
        if path.is_file() and path.suffix in TEXT_FILES and path.name != ".coverage" and "_bundled" not in path.parts:
            yield path.relative_to(REPOSITORY).as_posix(), path.read_text("utf-8", "replace")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return dict(our_files())


def test_nothing_is_marked_as_unfinished(texts: dict[str, str]) -> None:
    assert [path for path, text in texts.items() if path.endswith(".py") and UNFINISHED.search(text)] == []


def test_no_file_knows_the_machine_it_was_written_on(texts: dict[str, str]) -> None:
    here = [path for path, text in texts.items() if MACHINE.search(text) or str(REPOSITORY) in text]
    assert here == []


def test_unfinished_work_and_machine_paths_are_recognised() -> None:
    assert UNFINISHED.search(f"# {'to' + 'do'}: later".upper())
    assert MACHINE.search(f"open('{Path('/')}work/shared/a')")
    assert not MACHINE.search("/home/alice/work/shared")
