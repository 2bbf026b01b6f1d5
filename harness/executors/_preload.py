"""A Python module imported once, ready to be run as ``python -m`` in forked copies. Standard library only.

Everything of the module's file before ``if __name__ == "__main__":`` runs in the server; a worker runs that last
statement through ``runpy``, so that exit codes, usage texts and tracebacks are those of a fresh interpreter. What makes
the copy differ from a fresh one is tracked:

- *environment*: variables read while importing are recorded. A call must agree with the server on all of them but HOME
  (the owner sends others to a cold process); values below the server's HOME are moved below the call's HOME.
- *parser*: the result of the module's parser factory is kept and used only by calls that agree on each variable read
  while it was built (``COLUMNS`` among them, which shapes help texts); others build their own.
- *lazy imports*: a worker tells which modules it imported; the server imports them before the next fork.
"""

from __future__ import annotations
import __future__

import ast
import atexit
import functools
import gc
import importlib
import importlib.util
import json
import os
import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.executors import _supervise
    from harness.executors._rebase import Place

_RUNPY = runpy.run_module.__code__.co_filename


_FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


@contextmanager
def recorded_reads() -> Iterator[set[str]]:
    """The names looked up in ``os.environ`` meanwhile, found or not."""
    names: set[str] = set()
    mapping = type(os.environ)
    real = mapping.__getitem__

    def reading(self: os._Environ[str], key: str) -> str:
        names.add(str(key))
        return real(self, key)

    mapping.__getitem__ = reading  # type: ignore[method-assign]
    try:
        yield names
    finally:
        mapping.__getitem__ = real  # type: ignore[method-assign]


def parted(spec: ModuleSpec) -> tuple[CodeType, CodeType]:
    """The module's code before and from its ``if __name__ == "__main__":``. Raises ImportError where it has none."""
    source = getattr(spec.loader, "get_source", lambda _: None)(spec.name)
    tree = ast.parse(source or "", spec.origin or "")
    for index, statement in enumerate(tree.body):
        if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
            head, tail = ast.Module(tree.body[:index], []), ast.Module(tree.body[index:], [])
            code = compile(head, spec.origin or "", "exec", dont_inherit=True)
            return code, compile(tail, spec.origin or "", "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    raise ImportError(f"{spec.name} has no main statement to run later")


class Prepared:
    """The imported module and what a worker needs to be it. Raises ImportError where that is not possible."""

    def __init__(self, module: str, parser: str, rebase: ModuleType) -> None:
        self._name, self._parser, self._rebase = module, parser, rebase
        self._environ = dict(os.environ)
        self._home = self._environ.get("HOME", "")
        self._places: list[Place] = []
        self._kept: list[object] = []
        with recorded_reads() as self._reads:
            spec = importlib.util.find_spec(module)
            if spec is None or spec.origin is None:
                raise ImportError(f"there is no module {module}")
            self._spec = spec
            head, self._tail = parted(spec)
            self._main = ModuleType("__main__")
            self._globals = vars(self._main)
            self._globals.update(
                __file__=spec.origin, __spec__=spec, __loader__=spec.loader, __package__=spec.parent, __cached__=None
            )
            sys.modules["__main__"] = self._main
            sys.argv = [spec.origin]
            exec(head, self._globals)  # noqa: S102  (the plane's own module, as the interpreter runs it)
        self._build_parser()
        self._settle()

    @property
    def hello(self) -> dict[str, bool | list[str]]:
        """What the owner has to know."""
        return {"ready": True, "reads": sorted(self._reads - {"HOME"})}

    def learn(self, names: list[str]) -> dict[str, list[str]]:
        """Import what a worker had to import; returns what is new to the owner."""
        with recorded_reads() as reads:
            for name in names:
                try:
                    importlib.import_module(name)
                except ImportError:
                    continue
        self._reads |= reads
        self._settle()
        return {"reads": sorted(self._reads - {"HOME"})}

    def work(self, request: _supervise.Request, note: int) -> None:
        """The worker: be ``python -m MODULE`` with this request's arguments, directory and environment."""
        try:
            os.chdir(request.cwd)
        except OSError as error:
            sys.modules["_supervise"].tell_problem(note, "enter the directory", error)
            os._exit(127)
        before = set(sys.modules)
        os.environb.clear()
        os.environb.update(request.env)
        self._rebase.move(self._places, self._home, str(Path(os.environ["HOME"])))
        arguments = [os.fsdecode(text) for text in request.argv]
        sys.orig_argv[:] = arguments
        sys.argv = [self._spec.origin or "", *arguments[3:]]
        if not sys.flags.safe_path:
            sys.path.insert(0, str(Path.cwd()))
        gc.enable()
        code = self._run()
        learned = [name for name in sys.modules if name not in before]
        self._tell(note, {"learned": learned})
        os._exit(code)

    def _tell(self, note: int, told: dict[str, list[str]]) -> None:
        sys.modules["_frames"].write_all(note, json.dumps(told).encode("ascii"))

    def _build_parser(self) -> None:
        factory: Callable[[], object] | None = self._globals.get(self._parser)
        if factory is None:
            return
        real = factory
        with recorded_reads() as reads:
            kept = real()
        expected = {name: self._environ.get(name) for name in reads}
        self._kept = [kept]

        def build() -> object:
            agrees = all(os.environ.get(name) == value for name, value in expected.items())
            return kept if agrees else real()

        self._globals[self._parser] = build

    def _settle(self) -> None:
        """Find what depends on HOME, and keep the collector from touching what copies share."""
        if "HOME" in self._reads:
            self._places = self._rebase.places([*sys.modules.values(), *self._kept], self._home)
        gc.collect()
        gc.disable()
        gc.freeze()

    def _run(self) -> int:
        """Run the last statement as the interpreter would, then end as it would; the exit code."""
        runpy_names = vars(runpy)
        runpy_names["_get_module_details"] = lambda *_: (self._name, self._spec, self._tail)
        run_as_main: Callable[[str], object] = runpy_names["_run_module_as_main"]
        code = 0
        try:
            run_as_main(self._name)
        except SystemExit as stop:
            code = exit_code(stop.code)
        except BaseException as error:  # noqa: BLE001  (whatever a program dies of is shown as the interpreter does)
            error.__traceback__ = from_runpy(error.__traceback__)
            sys.excepthook(type(error), error, error.__traceback__)
            code = 1
        for finish in (vars(threading)["_shutdown"], vars(atexit)["_run_exitfuncs"]):
            finish()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return code


def exit_code(value: object) -> int:
    """What the interpreter exits with for ``SystemExit(value)``; a text goes to standard error."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    sys.stderr.write(f"{value}\n")
    return 1


def from_runpy(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that a fresh interpreter would have."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename != _RUNPY:
        found = found.tb_next
    return found or trace


def prepare(spec: dict[str, str], beside: str) -> Prepared:
    """Import as ``spec`` says: ``module``, ``parser`` (its factory's name), ``time`` (ISO 8601, or empty)."""
    load = sys.modules["__main__"].__dict__["load_beside"]
    rebase = load("_rebase")
    if spec["time"]:
        load("_timeshift").freeze(spec["time"])
    if not sys.flags.safe_path and sys.path and sys.path[0] == beside:
        del sys.path[0]
    return Prepared(spec["module"], spec["parser"], rebase)
