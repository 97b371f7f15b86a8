"""Small repositories made for tests, with real git and fixed dates."""

import os
import subprocess
from pathlib import Path

from verifyplan.repository.repository import Repository

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_AUTHOR_NAME": "Ada Secret",
    "GIT_AUTHOR_EMAIL": "ada@secret.example",
    "GIT_COMMITTER_NAME": "Ada Secret",
    "GIT_COMMITTER_EMAIL": "ada@secret.example",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path, *arguments: str, day: int = 1) -> None:
    date = f"2024-01-{day:02}T12:00:00+00:00"
    environment = ENVIRONMENT | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, capture_output=True)


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(root: Path, subject: str, files: dict[str, str | bytes], day: int = 1) -> None:
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", subject, day=day)


def tracked(root: Path, files: dict[str, str | bytes]) -> Repository:
    """A repository in which these files are committed."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    commit(root, "Begin", files)
    return Repository.open(root)


def walked(root: Path, files: dict[str, str | bytes]) -> Repository:
    """The same files without git."""
    root.mkdir(parents=True, exist_ok=True)
    write(root, files)
    return Repository.open(root)
