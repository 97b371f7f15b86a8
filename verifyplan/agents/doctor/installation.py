"""What is installed on this machine, and whether run logs can be written."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from verifyplan.agents.doctor.check import Check
from verifyplan.files import try_to_write
from verifyplan.version import VERSION

EXTRAS = {
    "anthropic": ("anthropic", "agents that are models"),
    "bm25s": ("memory", "search in a folder of notes"),
    "keyring": ("keyring", "keys that are kept in the keyring of this machine"),
}
"""Optional packages: the extra that brings each, and what it is for."""

PROGRAMS = {
    "git": (("git",), "the history of a repository", "install git (Debian: apt-get install git)"),
    "ripgrep": (("rg",), "faster search in large repositories", "install ripgrep (Debian: apt-get install ripgrep)"),
    "Chromium": (
        ("chromium", "chromium-browser", "google-chrome"),
        "the browser tests of this package",
        "install Chromium (Debian: apt-get install chromium)",
    ),
}
"""Optional programs: their commands, what they are for, and how to get them."""

PLAYWRIGHT = "pip install 'verifyplan[dev]'"
PATIENCE = 10  # seconds for a program to say its version


def installation(log_dir: Path) -> Iterator[Check]:
    """Versions, optional packages and programs, and the folder of run logs."""
    yield Check(name="verifyplan", state="ok", message=f"{VERSION}, Python {platform.python_version()}")
    for package, (extra, purpose) in EXTRAS.items():
        yield _package(package, purpose, f"pip install 'verifyplan[{extra}]'")
    for name in PROGRAMS:
        yield _program(name)
    yield _package("playwright", "the browser tests of this package", PLAYWRIGHT)
    yield _folder(log_dir)


def is_installed(package: str) -> bool:
    """Whether a package is installed, told without loading it."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _package(package: str, purpose: str, command: str) -> Check:
    if is_installed(package):
        return Check(name=package, state="ok", message=version(package))
    return Check(name=package, state="missing", message=f"not installed; for {purpose}", fix=command)


def _program(name: str) -> Check:
    commands, purpose, fix = PROGRAMS[name]
    path = next(filter(None, map(shutil.which, commands)), None)
    if path is None:
        return Check(name=name, state="missing", message=f"not found; for {purpose}", fix=fix)
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name=name, state="wrong", message=f"{path} does not run ({type(error).__name__})", fix=fix)
    first = done.stdout.decode(errors="replace").strip().partition("\n")[0]
    return Check(name=name, state="ok", message=first[:100])


def _folder(log_dir: Path) -> Check:
    try:
        try_to_write(log_dir)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fix = "name another folder by --log-dir, or allow writing there"
        return Check(name="run logs", state="wrong", message=f"{log_dir} takes no files ({reason})", fix=fix)
    return Check(name="run logs", state="ok", message=f"{log_dir} can be written")
