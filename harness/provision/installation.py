"""Installing: one at a time, whole or not at all, repaired where it was torn."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import venv
from pathlib import Path

from harness.errors import ProvisionError
from harness.provision.alone import alone, traceless
from harness.provision.fetching import obtain, pin, pinned
from harness.provision.inspection import (
    Marker,
    ensure_layout,
    find,
    packages,
    read_marker,
    tree_digest,
    verify,
    write_marker,
)
from harness.provision.node import NODE, needs_node, provide
from harness.provision.plane import VENV, InstalledPlane, parse_ref, plane_root
from harness.provision.wheel import file_sha256, unpack

__all__ = ["install"]

_COMPILE_LIMIT_S = 300.0


def install(ref: str, *, home: Path, wheel: Path | None = None, node: Path | None = None) -> InstalledPlane:
    """Install ``NAME==VERSION`` below ``home``, from ``wheel`` where given; what is there and whole is left alone.

    The Node.js that some versions need is laid out beside it first, from the wheel ``node`` where given.

    The wheel is kept in ``home/wheels``, so that installing again needs no network; its hash is pinned once what was
    made of it is whole. The files are made in a directory beside the final one and moved there in one step; what a
    crash leaves behind is removed by the next call, and what fails leaves nothing that was not there before. A second
    installer waits for the first. Raises ProvisionError.
    """
    name, version = parse_ref(ref)
    home = Path(os.path.abspath(home))  # noqa: PTH100  (resolve() would follow a link that the user chose)
    root = plane_root(home, name, version)
    try:
        with traceless(root.parent, home / "wheels"), alone(root.parent / f".{version}.lock"):
            marker = read_marker(root)
            if marker is not None and marker.node == NODE:
                provide(home, wheel=node)
            present = find(name, version, home)
            if present is not None and not verify(present):
                if wheel is not None:
                    _same(wheel, present)
                return present
            return _from_wheel(obtain(name, version, home=home, wheel=wheel), home, name, version, node)
    except OSError as error:
        place = error.filename or home
        raise ProvisionError(
            f"{ref} cannot be installed: {place}: {error.strerror}; choose another HARNESS_HOME"
        ) from None


def _from_wheel(kept: Path, home: Path, name: str, version: str, node: Path | None) -> InstalledPlane:
    """Install a kept wheel and pin it; one that cannot be installed and was never pinned is not kept."""
    try:
        sha256 = file_sha256(kept)
        _build(kept, home, name, version, node)
        made = _made(home, name, version)
    except Exception:
        if pinned(name, version, home) is None:
            kept.unlink(missing_ok=True)
        raise
    pin(name, version, home, sha256)
    return made


def _made(home: Path, name: str, version: str) -> InstalledPlane:
    made = find(name, version, home)
    problems = ("it cannot be found",) if made is None else verify(made)
    if made is None or problems:
        raise ProvisionError(f"{name}=={version} was installed, but {problems[0]}; install it again")
    return made


def _same(wheel: Path, present: InstalledPlane) -> None:
    if not wheel.is_file():
        raise ProvisionError(f"cannot read the wheel {wheel}: there is no such file")
    if file_sha256(wheel) != present.identity.wheel_sha256:
        raise ProvisionError(
            f"{present.identity.ref} is already installed from another wheel; remove {present.root} first"
        )


def _build(wheel: Path, home: Path, name: str, version: str, node: Path | None) -> None:
    root = plane_root(home, name, version)
    for leftover in root.parent.glob(f".{version}.*.part"):
        # a compiler whose installer was killed may still be writing there: what it leaves, the next call removes
        shutil.rmtree(leftover, ignore_errors=True)
    part = root.with_name(f".{version}.{os.getpid()}.part")
    part.mkdir()
    try:
        _unpack(part, wheel, root, name, version)
        needed = needs_node(packages(part), name)
        if needed:
            provide(home, wheel=node)
        _finish(part, wheel, root, name=name, version=version, node=NODE if needed else "")
        if root.is_dir() and not root.is_symlink():
            shutil.rmtree(root)
        elif os.path.lexists(root):
            root.unlink()
        part.rename(root)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _unpack(part: Path, wheel: Path, root: Path, name: str, version: str) -> None:
    """The environment that will lie in ``root``, with what the wheel holds."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(part / VENV)
    _correct_paths(part, root)
    site = packages(part)
    unpack(wheel, site, part / VENV)
    ensure_layout(site, name, version)


def _finish(part: Path, wheel: Path, root: Path, *, name: str, version: str, node: str) -> None:
    """What is left to do of an installation, the marker last."""
    site = packages(part)
    _compile(part / VENV / "bin" / "python", site, part, root)
    write_marker(
        part,
        Marker(
            name=name,
            version=version,
            wheel_sha256=file_sha256(wheel),
            python=platform.python_version(),
            tree=tree_digest(site),
            node=node,
        ),
    )


def _correct_paths(part: Path, root: Path) -> None:
    """The environment was made elsewhere: keep only what names no path of its own, and name the right one."""
    for program in (part / VENV / "bin").iterdir():
        if not program.name.startswith("python"):
            program.unlink()
    config = part / VENV / "pyvenv.cfg"
    config.write_text(config.read_text("utf-8").replace(str(part), str(root)), "utf-8")


def _compile(python: Path, site: Path, part: Path, root: Path) -> None:
    """Compile everything, naming the final place, to bytecode that is used without looking at its source.

    The sources never change (``verify`` proves it), while their times do when a directory is copied or restored, and
    then every call would compile 660 modules anew, which takes seconds.
    """
    argv = [str(python), "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    argv += ["-s", str(part), "-p", str(root), str(site)]
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_COMPILE_LIMIT_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        raise ProvisionError(
            f"the new interpreter {python} cannot be run; check the Python that harness runs on"
        ) from None
    if done.returncode != 0:
        raise ProvisionError("the control plane's files cannot be compiled by this Python; try another version of it")
