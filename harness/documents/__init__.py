"""Files and texts that somebody else wrote, read within bounds: their kind, size, nesting and numbers."""

from harness.documents.files import SIZE_MAX, DocumentError, decoded, open_file, read_file
from harness.documents.folders import make_folder
from harness.documents.parsing import DEPTH_MAX, parse_json, parse_toml

__all__ = [
    "DEPTH_MAX",
    "SIZE_MAX",
    "DocumentError",
    "decoded",
    "make_folder",
    "open_file",
    "parse_json",
    "parse_toml",
    "read_file",
]
