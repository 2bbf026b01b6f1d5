"""Wheels into ``HOME/wheels``: from the package index by pip, or from a file; kept for use without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from harness.errors import ProvisionError
from harness.provision.plane import KNOWN
from harness.provision.wheel import check, file_sha256, read_wheel

__all__ = ["obtain", "pin", "pinned"]

_PIP = ("-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check")
_PATIENCE = ("--timeout", "15", "--retries", "1")
_LIMIT_S = 600.0


def obtain(name: str, version: str, *, home: Path, wheel: Path | None) -> Path:
    """The wheel's place below ``home``, its hash checked. Call it with the installation's lock held.

    ``wheel`` is a file to take it from. A version that was never seen is not pinned here: see ``pin``. Raises
    ProvisionError where there is no wheel or it is another one.
    """
    folder = home / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    if wheel is not None:
        return _keep(wheel, name, version, home)
    for kept in sorted(folder.glob(f"{name}-{version}-*.whl")):
        if _is_usable(kept, pinned(name, version, home)):
            return kept
        _discard(kept)
    part = folder / f".{name}-{version}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        _download(name, version, part)
        files = sorted(part.glob("*.whl"))
        if len(files) != 1:
            raise ProvisionError(f"pip did not deliver one wheel for {name}=={version}; give one with --from WHEEL")
        return _keep(files[0], name, version, home)
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


def _is_usable(kept: Path, expected: str | None) -> bool:
    """Whether a kept wheel is the pinned one; whether it is whole, where none was pinned yet."""
    if expected is not None:
        return kept.is_file() and file_sha256(kept) == expected
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


def _keep(wheel: Path, name: str, version: str, home: Path) -> Path:
    """Check a wheel and put it in place, all at once."""
    facts = read_wheel(wheel)
    if (facts.name.lower().replace("_", "-"), facts.version) != (name, version):
        raise ProvisionError(f"{wheel.name} is {facts.name}=={facts.version}, not {name}=={version}")
    expected = pinned(name, version, home)
    if expected is not None and facts.sha256 != expected:
        raise ProvisionError(
            f"{wheel.name} has the hash {facts.sha256[:12]}..., but {name}=={version} is pinned to {expected[:12]}...; "
            "do not use this file"
        )
    check(wheel)
    folder = home / "wheels"
    target = folder / wheel.name
    if not target.name.startswith(f"{name}-{version}-") or target.suffix != ".whl":
        target = folder / f"{name}-{version}-py3-none-any.whl"
    part = folder / f".{target.name}.part"
    shutil.copyfile(wheel, part)
    part.replace(target)
    return target


def _download(name: str, version: str, part: Path) -> None:
    """Let pip fetch the wheel. Its own words are not passed on: they can hold an index's credentials."""
    argv = [sys.executable, "-P", *_PIP, *_PATIENCE, "--dest", str(part), f"{name}=={version}"]
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_LIMIT_S, check=False, cwd=part, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        raise ProvisionError(
            f"pip could not be run to download {name}=={version}; give a file with --from WHEEL"
        ) from None
    if done.returncode == 0:
        return
    said = done.stderr
    if b"No module named pip" in said:
        raise ProvisionError(
            f"this Python has no pip to download {name}=={version} with; install pip or give a file with --from WHEEL"
        )
    if b"No matching distribution" in said and b"(from versions: none)" not in said:
        raise ProvisionError(f"the package index has no wheel of {name}=={version} for this Python; check the version")
    raise ProvisionError(
        f"{name}=={version} could not be downloaded: the package index was not reached; "
        "connect once, or give a file with --from WHEEL"
    )
