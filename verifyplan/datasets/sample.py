"""The sample repository that the labelled plans speak of, made with its git history, and with a `.planning` tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import AwareDatetime, Field, StrictStr

from verifyplan.datasets.bundled import planning_folder, plans_folder, read_data
from verifyplan.datasets.labels import Text
from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.protocol.base import Model


class _Draft(Model):
    now: Text
    then: StrictStr


class _SampleCommit(Model):
    at: AwareDatetime
    subject: Text
    body: StrictStr
    files: dict[str, StrictStr | tuple[_Draft, ...]] = Field(description="Whole text, or how it differed from now.")
    removed: tuple[StrictStr, ...]


class _GitHistory(Model):
    author: Text
    branch: Text
    commits: tuple[_SampleCommit, ...]


def sample_repository(folder: str | Path) -> Path:
    """Make the repository that the labelled plans speak of in `folder`, with its git history; return its path.

    Times and authors are fixed, so the commits have the same hashes everywhere. `folder` must not exist, or be empty,
    or hold this repository already, unchanged; it is filled whole or not at all. InputError for any other folder, and
    if git is missing or fails.

    >>> import tempfile
    >>> sorted(
    ...     path.name
    ...     for path in sample_repository(tempfile.mkdtemp() + "/waybill").iterdir()
    ... )[:3]
    ['.git', '.github', 'AGENTS.md']
    """
    target = Path(folder).absolute()
    full = target.exists() and (not target.is_dir() or any(target.iterdir()))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tmp-sample-", dir=target.parent) as temporary:
        made = Path(temporary) / "repository"
        history = read_data(_GitHistory, plans_folder() / "history.json")
        _git(made.parent, "init", "--quiet", "--template=", f"--initial-branch={history.branch}", made.name)
        _git(made, "fast-import", "--quiet", stdin=b"".join(_stream(history)))
        _git(made, "reset", "--quiet", "--hard")
        if full:
            _expect_same(made, target, folder)
            return target
        if target.exists():
            target.rmdir()  # replacing an empty folder is not possible everywhere
        made.rename(target)
    return target


def sample_planning(folder: str | Path) -> Path:
    """Make the sample repository in a folder that is new or empty, with a `.planning` tree; return the folder.

    The tree holds documents that agents would hand to each other, with flaws; they are synthetic, and not part of the
    repository's history. Raises InputError as `sample_repository` does.

    >>> import tempfile
    >>> (sample_planning(tempfile.mkdtemp() + "/parcels") / ".planning").is_dir()
    True
    """
    made = sample_repository(folder)
    shutil.copytree(planning_folder() / ".planning", made / ".planning")
    return made


def _expect_same(made: Path, target: Path, folder: str | Path) -> None:
    """Raise InputError unless `target` holds the repository that was just made, and nothing else."""
    try:
        heads = [_git(repository, "rev-parse", "HEAD") for repository in (made, target) if (target / ".git").is_dir()]
        if len(set(heads)) == 1 and not _git(target, "status", "--porcelain"):
            return
    except InputError:
        pass  # what git cannot read is not the sample repository
    fix = "give a new or an empty folder"
    raise InputError(Problem(str(folder), "is neither empty nor the sample repository, unchanged", fix))


def _stream(history: _GitHistory) -> Iterator[bytes]:
    """Yield the history in the format of git fast-import, which needs no working tree and no settings of the user."""
    for commit in history.commits:
        who = f"{history.author} {int(commit.at.timestamp())} {commit.at:%z}".encode()
        yield b"commit refs/heads/%s\nauthor %s\ncommitter %s\n" % (history.branch.encode(), who, who)
        yield _data("\n\n".join(filter(None, (commit.subject, commit.body))) + "\n")
        for path in commit.removed:
            yield b"D %s\n" % path.encode()
        for path, text in commit.files.items():
            mode = b"100755" if path.endswith(".sh") else b"100644"
            yield b"M %s inline %s\n" % (mode, path.encode())
            yield _data(text if isinstance(text, str) else _earlier(path, text))


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def _earlier(path: str, drafts: tuple[_Draft, ...]) -> str:
    text = decode((plans_folder() / "repository" / path).read_bytes(), path)
    for draft in drafts:
        if text.count(draft.now) != 1:
            raise InputError(Problem(f"history.json: {path}", f"{draft.now!r} is not there once", "mend the draft"))
        text = text.replace(draft.now, draft.then)
    return text


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git where neither the user's settings nor those of a surrounding git command can reach it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = kept | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "XDG_CONFIG_HOME": os.devnull}
    try:
        done = subprocess.run(
            ["git", "-c", "core.autocrlf=false", *arguments],
            cwd=folder, env=environment, input=stdin, capture_output=True, check=True,
        )  # fmt: skip
    except FileNotFoundError:
        raise InputError(Problem("git", "is not installed, or not on the PATH", "install git 2.28 or newer")) from None
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode(errors="replace").strip()
        raise InputError(Problem(f"git {arguments[0]}", message or "failed", "see that git works here")) from None
    return done.stdout
