"""Wheels into ``HOME/wheels``: from the package index by pip, or from a file; kept for use without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from harness.errors import ProvisionError
from harness.provision.plane import KNOWN
from harness.provision.wheel import check, file_sha256, read_wheel

__all__ = ["obtain", "pin", "pinned"]

_PIP = ("-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check")
_PATIENCE = ("--timeout", "15", "--retries", "1")
_LIMIT_S = 600.0


def obtain(
    name: str,
    version: str,
    *,
    home: Path,
    wheel: Path | None,
    pins: Collection[str] | None = None,
    option: str = "--from",
) -> Path:
    """The wheel's place below ``home``, its hash checked. Call it with the installation's lock held.

    ``wheel`` is a file to take it from, which is given with ``option``. One of ``pins`` is its hash (None: that of a
    control plane, where one is known). A version that was never seen is not pinned here: see ``pin``. Raises
    ProvisionError where there is no wheel or it is another one.
    """
    folder = home / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    if pins is None:
        known = pinned(name, version, home)
        pins = () if known is None else (known,)
    if wheel is not None:
        return _keep(wheel, name, version, folder, pins)
    for kept in sorted(folder.glob(f"{_in_file(name)}-{version}-*.whl")):
        if _is_usable(kept, pins):
            return kept
        _discard(kept)
    part = folder / f".{name}-{version}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        _download(name, version, part, option)
        files = sorted(part.glob("*.whl"))
        if len(files) != 1:
            raise ProvisionError(f"pip did not deliver one wheel for {name}=={version}; give one with {option} WHEEL")
        return _keep(files[0], name, version, folder, pins)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def pin(name: str, version: str, home: Path, sha256: str) -> None:
    """From now on this version's wheel must have this hash: to be called once it was installed and is whole."""
    if pinned(name, version, home) is None:
        part = _pin_file(name, version, home).with_suffix(".part")
        part.write_text(sha256 + "\n", "ascii")
        part.replace(_pin_file(name, version, home))


def _pin_file(name: str, version: str, home: Path) -> Path:
    return home / "wheels" / f"{name}-{version}.sha256"


def _in_file(name: str) -> str:
    """A project's name as names of wheels have it."""
    return name.replace("-", "_")


def _is_usable(kept: Path, pins: Collection[str]) -> bool:
    """Whether a kept wheel is a pinned one; whether it is whole, where none was pinned yet."""
    if pins:
        return kept.is_file() and file_sha256(kept) in pins
    try:
        check(kept)
    except ProvisionError:
        return False
    return True


def _discard(kept: Path) -> None:
    if kept.is_dir() and not kept.is_symlink():
        shutil.rmtree(kept)
    else:
        kept.unlink()


def pinned(name: str, version: str, home: Path) -> str | None:
    """The hash that this version's wheel must have; None where none was ever installed."""
    known = KNOWN.get(name, {}).get(version)
    if known is not None:
        return known
    try:
        return _pin_file(name, version, home).read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def _keep(wheel: Path, name: str, version: str, folder: Path, pins: Collection[str]) -> Path:
    """Check a wheel and put it in place, all at once."""
    facts = read_wheel(wheel)
    if (facts.name.lower().replace("_", "-"), facts.version) != (name, version):
        raise ProvisionError(f"{wheel.name} is {facts.name}=={facts.version}, not {name}=={version}")
    if pins and facts.sha256 not in pins:
        named = f"{next(iter(pins))[:12]}..." if len(pins) == 1 else f"{len(pins)} other hashes, one a platform"
        raise ProvisionError(
            f"{wheel.name} has the hash {facts.sha256[:12]}..., but {name}=={version} is pinned to {named}; "
            "do not use this file"
        )
    check(wheel)
    target = folder / wheel.name
    if not target.name.startswith(f"{_in_file(name)}-{version}-") or target.suffix != ".whl":
        target = folder / f"{_in_file(name)}-{version}-py3-none-any.whl"
    part = folder / f".{target.name}.part"
    shutil.copyfile(wheel, part)
    part.replace(target)
    return target


def _download(name: str, version: str, part: Path, option: str) -> None:
    """Let pip fetch the wheel. Its own words are not passed on: they can hold an index's credentials."""
    argv = [sys.executable, "-P", *_PIP, *_PATIENCE, "--dest", str(part), f"{name}=={version}"]
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_LIMIT_S, check=False, cwd=part, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        raise ProvisionError(
            f"pip could not be run to download {name}=={version}; give a file with {option} WHEEL"
        ) from None
    if done.returncode == 0:
        return
    said = done.stderr
    if b"No module named pip" in said:
        raise ProvisionError(
            f"this Python has no pip to download {name}=={version} with; install pip or give a file with {option} WHEEL"
        )
    if b"No matching distribution" in said and b"(from versions: none)" not in said:
        raise ProvisionError(f"the package index has no wheel of {name}=={version} for this Python; check the version")
    raise ProvisionError(
        f"{name}=={version} could not be downloaded: the package index was not reached; "
        f"connect once, or give a file with {option} WHEEL"
    )
