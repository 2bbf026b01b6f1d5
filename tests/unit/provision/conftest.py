import base64
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import pytest


class MakeWheel(Protocol):
    def __call__(
        self,
        version: str = ...,
        *,
        name: str = ...,
        filename: str | None = ...,
        files: dict[str, bytes] | None = ...,
        extra: dict[str, bytes] | None = ...,
        folder: str = ...,
    ) -> Path: ...


def _line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """Makes a small wheel that calls itself loopx; ``extra`` members are not in its RECORD."""

    def make(
        version: str = "9.9.9",
        *,
        name: str = "loopx",
        filename: str | None = None,
        files: dict[str, bytes] | None = None,
        extra: dict[str, bytes] | None = None,
        folder: str = "wheels",
    ) -> Path:
        info = f"{name}-{version}.dist-info"
        members = {
            f"{name}/__init__.py": b"",
            f"{name}/cli.py": b"if __name__ == '__main__':\n    print('it runs')\n",
            **(files or {}),
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(_line(*member) for member in members.items()) + f"{info}/RECORD,,\n"
        path = tmp_path / folder / (filename or f"{name}-{version}-py3-none-any.whl")
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            for member, data in {**members, f"{info}/RECORD": record.encode(), **(extra or {})}.items():
                archive.writestr(member, data)
        return path

    return make
