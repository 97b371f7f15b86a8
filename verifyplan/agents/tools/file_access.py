"""Decide which files a model may open: listed ones inside the repository, none that look secret (rules G4, H3)."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from fnmatch import translate
from pathlib import Path

from verifyplan.agents.untrusted_text import is_one_line, one_line
from verifyplan.repository.reading import MAX_FILE_BYTES, UnreadableError, read_resolved, reason, text_of
from verifyplan.repository.repository import Repository
from verifyplan.text import counted

SECRET_NAMES: dict[str, tuple[str, ...]] = {
    "settings of an environment": (".env", ".env.*", "*.env", ".envrc"),
    "a private key or a store of keys": (
        *("*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.keytab", "*.gpg", "*.ovpn"),
        *("*.kdb", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519"),
    ),
    "somebody's credentials": (
        *(".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf"),
        *(".dockercfg", ".vault_pass*", ".vault-pass*", "credentials", "credentials.*", "token.json", "kubeconfig"),
        *("*.kubeconfig", "client_secret*.json", "service-account*.json", "service_account*.json"),
    ),
    "secrets by its name": ("secret.*", "secrets.*", "secrets-*.*", "secrets_*.*"),
    "the state or the settings of Terraform": ("*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json"),
    "what somebody typed": (".*_history",),
}
"""Names of files, as shells match them, by what such a file is."""

SECRET_FOLDERS: dict[str, tuple[str, ...]] = {
    "keys": (".ssh", ".gnupg", ".password-store"),
    "credentials": (".aws", ".azure", ".gcloud", ".kube", ".config/gcloud", ".docker/config.json"),
    "git's own files": (".git",),
}
"""Folders of which nothing is opened, and single files in others, by what they hold."""

_DATA = ("yml", "yaml", "json", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "csv", "db", "enc", "env")
"""Endings with which a file called `secrets` or `credentials` holds some; `secrets.py` is code."""

_EXAMPLE = re.compile(r"(?:^|[._-])(?:example|sample|template|tmpl|dist|defaults?)(?=[._-]|$)")
_COPY = re.compile(r"(?:\.(?:bak|backup|old|orig|save|copy|swp|tmp|[0-9]+)|~)+$")
_BY_WORD = re.compile(r"(?:credentials|secrets?)\b.*\.(\w+)$")
_PATTERNS = tuple((re.compile("|".join(map(translate, names))), content) for content, names in SECRET_NAMES.items())


MAX_NAMED_FILES = 20
"""Files that are named where a folder was asked for."""

_SYSTEM = ("/proc", "/sys")
_OUTSIDE = "it lies outside the folder that may be read"
_NOT_LISTED = (
    "it is not among the repository's files. Git ignores it, it stands in a folder that is left out (hidden ones,"
    " node_modules, build ...), or it is newer than this run"
)


class NotOpenedError(Exception):
    """A path is not opened; the text says why.

    `answers` is set where this is an answer about the repository (there is no such file, it is a folder), not a
    refusal; `results` counts the names in it.
    """

    def __init__(self, message: str, *, answers: bool = False, results: int = 0) -> None:
        super().__init__(message)
        self.answers = answers
        self.results = results


def looks_secret(path: str) -> str:
    """Return why a file is not opened, by its path; empty where nothing speaks against it.

    Case does not matter, nor the mark of a copy (`.env.bak`). Examples that are meant to be read (`.env.example`)
    and public keys (`id_rsa.pub`) are no secrets. A link is judged by its own name alone: ask for its target, too.

    >>> looks_secret("deploy/.env"), looks_secret(".env.example"), looks_secret("shop/secrets.py")
    ('it looks like settings of an environment', '', '')
    >>> looks_secret("home/.ssh/config")
    'it stands where keys are kept'
    """
    whole = "/" + path.replace("\\", "/").casefold().strip("/")
    for content, folders in SECRET_FOLDERS.items():
        if any(f"/{folder}/" in f"{whole}/" for folder in folders):
            return f"it stands where {content} are kept"
    name = _COPY.sub("", posixpath.basename(whole)) or posixpath.basename(whole)
    by_word = _BY_WORD.match(name)
    if name.endswith(".pub") or _EXAMPLE.search(name) or (by_word and by_word[1] not in _DATA):
        return ""
    return next((f"it looks like {content}" for pattern, content in _PATTERNS if pattern.match(name)), "")


def relative_path(repository: Repository, path: str) -> str:
    """Return a path as the repository lists it, whether it is there or not: `./` and `a/../` are folded.

    Looks at names only, never at the disk. NotOpenedError for a path that leads outside, holds control characters,
    or looks secret. A path that begins with `/` must lie under the root.
    """
    if not is_one_line(path):
        raise _refused(path, "its name holds control characters")
    plain = path if path in repository.files else path.replace("\\", "/")
    folded = posixpath.normpath(plain.removeprefix(f"{repository.root.as_posix()}/") or "/")
    if folded.startswith(("/", "../")) or folded == "..":
        raise _refused(path, _OUTSIDE)
    if secret := looks_secret(folded):
        raise _refused(path, secret)
    return folded


def read_listed(repository: Repository, path: str) -> str:
    """Return the text of a listed file, read now; `path` comes from `relative_path`.

    NotOpenedError says why there is none, with near names where no file has this one.
    """
    if path not in repository.files:
        raise _not_listed(repository, path)
    target = resolve_listed(repository, path)
    try:
        return text_of(read_resolved(target, path), path)
    except UnreadableError as error:
        raise _refused(path, f"it {str(error).removeprefix(f'{path} ')}") from None
    except (OSError, ValueError) as error:
        raise _refused(path, reason(error)) from None


def resolve_listed(repository: Repository, path: str) -> Path:
    """Return the path of a listed file after its links; NotOpenedError says why it may not be opened there.

    A file is not opened if it lies outside the root, looks secret under its real name, is not listed under it, or is
    larger than 2 MB. Nothing is read to decide that.
    """
    try:
        target = (repository.root / path).resolve(strict=True)
        size = target.stat().st_size if target.is_relative_to(repository.root) else 0
    except (OSError, RuntimeError, ValueError) as error:
        raise _refused(path, reason(error)) from None
    if not target.is_relative_to(repository.root):
        raise _refused(path, _OUTSIDE)
    real = target.relative_to(repository.root).as_posix()
    if secret := looks_secret(real):
        raise _refused(path, f"it is a link, and where it leads {secret}")
    if real != path and real not in repository.files:
        raise _refused(path, f"it is a link, and where it leads {_NOT_LISTED}")
    if any(target.is_relative_to(folder) for folder in _SYSTEM):
        raise _refused(path, "it is a file of the operating system")
    if size > MAX_FILE_BYTES:
        raise _refused(path, f"it is larger than {MAX_FILE_BYTES:,} bytes")
    return target


def is_searchable(repository: Repository, path: str) -> bool:
    """Return whether a listed file may be searched: up to 2 MB and no link, as a link's target is listed itself."""
    try:
        status = os.lstat(f"{repository.root}/{path}")
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES


def files_below(repository: Repository, folder: str) -> list[str]:
    """Return the listed files below a folder (`.` for the root) without those that look secret."""
    inside = "" if folder == "." else f"{folder}/"
    return [path for path in repository.files if path.startswith(inside) and may_be_named(path)]


def may_be_named(path: str) -> bool:
    """Return whether a listed path may be opened by its name."""
    return is_one_line(path) and not looks_secret(path)


def _refused(path: str, cause: str) -> NotOpenedError:
    return NotOpenedError(f"{one_line(path)} is not opened: {cause}")


def _not_listed(repository: Repository, path: str) -> NotOpenedError:
    """Return why a path is not opened that is none of the repository's files."""
    if path == "." or path in repository.folders:
        files = files_below(repository, path)
        named = files[:MAX_NAMED_FILES]
        more = f" and {counted(len(files) - len(named), 'other file')}" if len(files) > len(named) else ""
        content = f"{', '.join(named) or 'no file that may be read'}{more}"
        text = f"{one_line(path)} is a folder, not a file. It holds {content}."
        return NotOpenedError(text, answers=True, results=len(named))
    skipped = next((entry.reason for entry in repository.skipped if entry.path == path), None)
    if skipped is not None:
        return _refused(path, skipped)
    try:
        target = (repository.root / path).resolve()
        if not target.is_relative_to(repository.root):
            return _refused(path, _OUTSIDE)
        mode = target.stat().st_mode
    except FileNotFoundError:
        near = [name for name in repository.similar(path, 5) if may_be_named(name)][:3]
        hint = f" Near it: {', '.join(near)}." if near else ""
        return NotOpenedError(f"{one_line(path)} does not exist.{hint}", answers=True, results=len(near))
    except (OSError, RuntimeError, ValueError) as error:
        return _refused(path, reason(error))
    if stat.S_ISDIR(mode):
        return NotOpenedError(f"{one_line(path)} is a folder that holds no file of the repository", answers=True)
    return _refused(path, _NOT_LISTED if stat.S_ISREG(mode) else "it is no ordinary file")
