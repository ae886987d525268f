"""What lies in the folder of a run, and what the names mean.

``rows-….npz`` are chunks: rows of all chains, never changed once they have that name. ``commit-….npz`` is a
commit record: which chunks count, and snapshots of all chains after their last rows. A chunk that no record
names does not exist for a reader. Records are numbered, and their names end with a checksum of the content.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FORMAT = 7
DIGEST = 16  # letters of the checksum in a name
_COMMIT = re.compile(rf"commit-(\d{{8}})-([0-9a-f]{{{DIGEST}}})\.npz")
_CHUNK = re.compile(r"rows-(\d{8})-(\d{8})\.npz")


@dataclass(frozen=True)
class Chunk:
    """A file of rows: what it is called, how long it is, and which rows of which chain and phase it holds."""

    file: str
    size: int  # bytes
    rows: Mapping[str, tuple[int, int]]  # "0.sampling": (first, end)
    merged: int = 0  # how often rows were put together to make it

    def to_json(self) -> dict[str, Any]:
        """In plain words and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Chunk":
        """What `to_json` made."""
        rows = {key: (int(first), int(end)) for key, (first, end) in facts["rows"].items()}
        return cls(str(facts["file"]), int(facts["size"]), rows, int(facts["merged"]))


def chunk_name(first: int, last: int) -> str:
    """The name of the chunk with the rows of these commits."""
    return f"rows-{first:08d}-{last:08d}.npz"


def commit_name(number: int, content: bytes) -> str:
    """The name of a commit record."""
    return f"commit-{number:08d}-{digest(content)}.npz"


def digest(content: bytes) -> str:
    """The checksum that a name ends with."""
    return hashlib.sha256(content).hexdigest()[:DIGEST]


def last_number(names: Iterable[str]) -> int:
    """The highest number that any file has, good or not; zero without any."""
    matches = (re.fullmatch(_COMMIT, name) or re.fullmatch(_CHUNK, name) for name in names)
    return max((int(number) for match in matches if match for number in _numbers(match)), default=0)


def _numbers(match: re.Match[str]) -> tuple[str, ...]:
    return match.groups() if match.re is _CHUNK else match.groups()[:1]


def commits_in(names: Iterable[str]) -> list[tuple[int, str]]:
    """Number and name of each commit record, the newest first."""
    matches = (re.fullmatch(_COMMIT, name) for name in names)
    return sorted(((int(match[1]), match[0]) for match in matches if match), reverse=True)


def is_ours(name: str) -> bool:
    """Whether a file of this name was written by us, and may be taken away when no record needs it."""
    return bool(re.fullmatch(_COMMIT, name) or re.fullmatch(_CHUNK, name))


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    return folder.is_dir() and bool(commits_in(path.name for path in folder.iterdir()))
