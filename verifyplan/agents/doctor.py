"""Check the installation, the key and the endpoint, and say what to do; the SDK is loaded only for the endpoint."""

from __future__ import annotations

import asyncio
import importlib
import platform
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from verifyplan.agents.anthropic.key import (
    OFFLINE_VARIABLE,
    PLACEHOLDER,
    Key,
    address_of,
    check_address,
    find_key,
    is_forbidden,
)
from verifyplan.agents.prices import price_fix, price_of, unknown_price
from verifyplan.errors import SettingsError, without_keys_in_tracebacks
from verifyplan.files import try_to_write
from verifyplan.protocol.base import Model
from verifyplan.redaction import redact, redacted
from verifyplan.version import VERSION

if TYPE_CHECKING:
    from verifyplan.agents.anthropic.client import ModelList

State = Literal["ok", "missing", "wrong", "skipped"]

PACKAGES = {
    "anthropic": ("verifyplan", "agents that are models"),
    "bm25s": ("'verifyplan[memory]'", "search in a folder of notes"),
    "keyring": ("'verifyplan[keyring]'", "keys that are kept in the keyring of this machine"),
    "crowd-kit": ("'verifyplan[crowd]'", "GLAD, MACE and M-MSR in aggregate"),
}
"""Packages that are loaded when they are first needed: what to install by pip, and what it is for."""

PROGRAMS = {
    "git": (("git",), "the history of a repository", "install git (Debian: apt-get install git)"),
    "Chromium": (
        ("chromium", "chromium-browser", "google-chrome"),
        "the browser tests of this package",
        "install Chromium (Debian: apt-get install chromium)",
    ),
}
"""Optional programs: their commands, their use, and how to get them."""

TIMEOUT_S = 10.0
"""Seconds that an endpoint has for its list of models."""
VERSION_TIMEOUT_S = 10
"""Seconds that a program has to print its version."""
MAX_SHOWN_MODELS = 20

TRIAL = (
    "to try runs without one, start the scripted server of a checkout and name its address by --base-url: "
    "python -m tests.live.serve tests/live/anybody.py (docs/live-agents.md)"
)
"""What to do without a key."""

_OBVIOUS_PLACES = ("api_key", "base_url")
"""Places of problems that the name of the check already shows."""


class Check(Model):
    """The state of one thing. Something missing may not be needed; something wrong has to be corrected."""

    name: str
    state: State
    message: str
    fix: str = Field(default="", description="What to do, as a sentence without its full stop; blank if nothing.")

    def __str__(self) -> str:
        """Return the check as one line; further lines of a fix follow, indented.

        >>> print(Check(name="git", state="missing", message="not found", fix="install git"))
        missing  git: not found. Fix: install git.
        """
        fix = f". Fix: {self.fix}." if self.fix else ""
        return f"{self.state:<8} {self.name}: {self.message}{fix}".replace("\n", "\n" + 9 * " ")


@without_keys_in_tracebacks
def diagnose(
    *,
    base_url: str | None = None,
    model: str | None = None,
    log_dir: str | Path = "runs",
    network: bool = True,
    timeout: float = TIMEOUT_S,
) -> tuple[Check, ...]:
    """Check everything that this package can use, and return the state of each thing and what to do.

    One request is sent over the network, for the list of the endpoint's models, unless `network` is False,
    VERIFYPLAN_OFFLINE forbids it, or there is no key. Nothing is raised or changed; no check contains the key.

    >>> diagnose()[0].name
    'verifyplan'
    """
    checks = (*_installation(Path(log_dir)), *_model_access(address_of(base_url), model, network, timeout))
    return tuple(redacted(check) for check in checks)


def _installation(log_dir: Path) -> Iterator[Check]:
    """Check versions, optional packages and programs, and the folder of run logs."""
    yield Check(name="verifyplan", state="ok", message=f"{VERSION}, Python {platform.python_version()}")
    for package, (requirement, purpose) in PACKAGES.items():
        yield _package(package, purpose, f"pip install {requirement}")
    for name in PROGRAMS:
        yield _program(name)
    yield _package("playwright", "the browser tests of this package", "pip install 'verifyplan[dev]'")
    try:
        try_to_write(log_dir)
        yield Check(name="run logs", state="ok", message=f"{log_dir} can be written")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fix = "name another folder by --log-dir, or allow writing there"
        yield Check(name="run logs", state="wrong", message=f"{log_dir} takes no files ({reason})", fix=fix)


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _package(package: str, purpose: str, command: str) -> Check:
    if _is_installed(package):
        return Check(name=package, state="ok", message=version(package))
    return Check(name=package, state="missing", message=f"not installed; for {purpose}", fix=command)


def _program(name: str) -> Check:
    commands, purpose, fix = PROGRAMS[name]
    path = next(filter(None, map(shutil.which, commands)), None)
    if path is None:
        return Check(name=name, state="missing", message=f"not found; for {purpose}", fix=fix)
    try:
        result = subprocess.run([path, "--version"], capture_output=True, timeout=VERSION_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name=name, state="wrong", message=f"{path} does not run ({type(error).__name__})", fix=fix)
    first = result.stdout.decode(errors="replace").strip().partition("\n")[0]
    return Check(name=name, state="ok", message=first[:100])


def _model_access(address: str, model: str | None, network: bool, timeout: float) -> Iterator[Check]:
    """Check the address, the key, the endpoint, and the price of the model."""
    try:
        check_address(address)
    except SettingsError as error:
        yield _of_error(error, "endpoint", "wrong")
        return
    key: Key | None = None
    try:
        key = find_key(base_url=address)
        is_set = key.reveal() != PLACEHOLDER
        words = (
            f"found: {key.origin}; it is not shown" if is_set else "none is set; a placeholder for this machine is sent"
        )
        yield Check(name="key", state="ok", message=words)
    except SettingsError as error:
        is_missing = error.problems[0].place == "api_key"
        found = _of_error(error, "key", "missing" if is_missing else "wrong")
        yield found.model_copy(update={"fix": f"{found.fix}; {TRIAL}"}) if is_missing else found
    reasons = {
        "--no-network": not network,
        f"{OFFLINE_VARIABLE} is set": is_forbidden(address),
        "there is no key": key is None,
        "the package anthropic is not installed": not _is_installed("anthropic"),
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason or key is None:
        yield Check(name="endpoint", state="skipped", message=f"{address} was not asked: {reason}")
    else:
        yield _endpoint(address, key, model, timeout)
    if model is not None:
        yield _price(model)


def _price(model: str) -> Check:
    try:
        price = price_of(model)
    except SettingsError as error:
        return _of_error(error, "prices", "wrong")
    if price is None:
        fix = f"{price_fix(model)}\n\nwithout it, runs work, but their cost is unknown"
        return _of_error(unknown_price(model), "prices", "missing").model_copy(update={"fix": fix})
    source = f", {price.source} of {price.date}" if price.source else ""
    message = f"{model}: ${price.input:f} in, ${price.output:f} out per million tokens{source}"
    return Check(name="prices", state="ok", message=message)


def _of_error(error: SettingsError, name: str, state: State) -> Check:
    first, *others = error.problems
    place = "" if first.place in _OBVIOUS_PLACES else f"{first.place}: "
    more = f" (and {len(others)} more)" if others else ""
    return Check(name=name, state=state, message=f"{place}{first.message}{more}", fix=first.fix)


def _endpoint(address: str, key: Key, model: str | None, timeout: float) -> Check:
    """Check the list of models of an endpoint, with one request; this ends in time whatever the endpoint does.

    A model that is not in the list is wrong, and the first models of the list are named. Of any other answer only the
    status is shown, and never the key.
    """
    client = importlib.import_module("verifyplan.agents.anthropic.client")  # the SDK takes over a second
    answers: list[ModelList] = []

    # A thread has no event loop of its own yet: this works in notebooks, too, whose loop is running.
    thread = Thread(target=lambda: answers.append(asyncio.run(client.list_models(address, key, timeout))), daemon=True)
    thread.start()
    thread.join(timeout + 5)
    if not answers:
        return _wrong(address, f"no answer within {timeout:g} s", client.fix_of_outage())
    [answer] = answers
    if answer.failure:
        return _wrong(address, answer.failure, answer.fix)
    if answer.status in (401, 403):
        refused = f"the key from {key.origin} was refused" if key.reveal() != PLACEHOLDER else "it asks for a key"
        return _wrong(address, f"{refused} ({answer.status})", answer.fix)
    if answer.status in (404, 405, 501):
        fix = client.fix_of_version(address)
        message = f"{address} answers, but has no list of models ({answer.status})"
        if fix:
            return Check(name="endpoint", state="missing", message=message, fix=fix)
        return Check(name="endpoint", state="skipped", message=f"{message}, which runs do not need")
    if answer.status != 200:
        return _wrong(address, f"it answered with status {answer.status}", answer.fix)
    if model is None or model in answer.ids:
        message = f"{address} answers and lists {len(answer.ids)} models"
        return Check(name="endpoint", state="ok", message=message)
    names = ", ".join(repr(redact(name))[:80] for name in answer.ids[:MAX_SHOWN_MODELS])
    return _wrong(address, f"answers, and {model!r} is not among its {len(answer.ids)} models", f"use one of {names}")


def _wrong(address: str, message: str, fix: str) -> Check:
    return Check(name="endpoint", state="wrong", message=f"{address}: {message}", fix=fix)
