"""Git, run with fixed arguments and never through a shell; what a hostile repository configures does not run.

Only reading commands are used. Programs that a repository's configuration can name (file monitors, hooks,
signature checks, external diffs, fetching of missing objects) are switched off, and variables such as GIT_DIR,
which would point git elsewhere, are not passed on, nor are the keys of models.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from verifyplan.repository.records import Commit

TIMEOUT_S = 60.0
"""How long one git command may take."""

_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotepath=off",
    "core.pager=cat",
    "diff.external=",
    "diff.relative=false",
    "diff.submodule=short",
    "i18n.logOutputEncoding=UTF-8",
    "log.diffMerges=off",
    "log.follow=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
_COMMAND = (
    *("git", "--no-optional-locks", "--no-pager", "--no-replace-objects"),
    *(part for setting in _SETTINGS for part in ("-c", setting)),
)
_LOG = (
    *("log", "-z", "--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes"),
    "-O/dev/null",
)
_REASONS = {
    "dubious ownership": "git refuses the folder because it belongs to another user",
    "unsafe repository": "git refuses the folder because it belongs to another user",
    "must be run in a work tree": "the folder is a repository without a working tree",
    "cannot use bare repository": "the folder is a repository without a working tree",
}
_START = re.compile(r"\x01(?:[0-9a-f]{40}|[0-9a-f]{64})")


class GitError(Exception):
    """Git gave no answer; the text says why. It is empty where the folder is simply not a git repository."""


def head(root: Path) -> str | None:
    """Return the hash of the commit that is checked out; None if there is none yet."""
    try:
        return _git(root, "rev-parse", "--verify", "--end-of-options", "HEAD^{commit}").decode("ascii").strip() or None
    except (GitError, UnicodeDecodeError):
        return None


def tracked(root: Path) -> dict[str, bool]:
    """Return each path that git tracks under `root`, sorted, and whether it is a submodule; GitError if it cannot tell.

    Where git tracks something, new files that it does not ignore are listed, too: a plan may speak of work that is not
    committed yet. Names that are not UTF-8 come with surrogates, as the system's functions take them.
    """
    submodules: dict[str, bool] = {}
    for entry in _git(root, "ls-files", "-z", "--stage").split(b"\0"):
        about, _, path = entry.partition(b"\t")
        if path:
            submodules[os.fsdecode(path)] = about.startswith(b"160000")
    new = _git(root, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0") if submodules else []
    files = (path for path in new if path and not path.endswith(b"/"))  # no nested repositories
    submodules |= {os.fsdecode(path): False for path in files}
    return dict(sorted(submodules.items()))


def log(root: Path, paths: Sequence[str], limit: int) -> list[Commit]:
    """Return the latest commits that touch `paths` (empty: any file under `root`), newest first, merges left out.

    Each with all of its files under the root; GitError if git cannot tell.
    """
    options = ("--format=%x01%H%x00%cI%x00%s", "--name-only", "--full-diff", "--relative", f"--max-count={limit}")
    output = _git(root, "--literal-pathspecs", *_LOG, *options, "--", *(paths or (".",)))
    commits: list[tuple[list[str], set[str]]] = []
    for field in output.decode("utf-8", "backslashreplace").split("\0"):
        if _START.fullmatch(field):
            commits.append(([field[1:]], set()))
        elif commits and len(commits[-1][0]) < 3:
            commits[-1][0].append(field)
        elif commits:
            commits[-1][1].add(field.removeprefix("\n"))
    return [
        Commit(header[0], header[1], header[2].strip(), tuple(sorted(files - {""})))
        for header, files in commits
        if len(header) == 3
    ]


def ignores(root: Path, path: str) -> bool:
    """Whether git ignores a path under `root`; False where it cannot tell."""
    try:
        return bool(_git(root, "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--", path))
    except GitError:
        return False


def _git(root: Path, *arguments: str) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ANTHROPIC_"))}
    environment |= {
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    try:
        done = subprocess.run(
            [*_COMMAND, *arguments],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git took longer than {TIMEOUT_S:g} seconds") from None
    except (OSError, ValueError):
        raise GitError("git could not be run") from None
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace")
        if "not a git repository" in message:
            raise GitError("")
        known = (reason for words, reason in _REASONS.items() if words in message)  # git's own words hold paths
        raise GitError(next(known, "git could not read its repository"))
    return done.stdout
