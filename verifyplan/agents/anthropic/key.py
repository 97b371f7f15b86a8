"""The key of an endpoint: where it is found, and how it is kept from being written anywhere (rule G3)."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from ipaddress import IPv6Address, ip_address
from typing import NoReturn, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from verifyplan.errors import Problem, SettingsError
from verifyplan.redaction import redact, remember

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
HEADERS_VARIABLE = "ANTHROPIC_CUSTOM_HEADERS"
DEFAULT_URL = "https://api.anthropic.com"
OFFLINE_VARIABLE = "VERIFYPLAN_OFFLINE"
"""Where this variable is set, no endpoint is asked that is not on this machine."""
KEYRING = ("verifyplan", "anthropic")
"""Service and user name of the key in the keyring."""
PLACEHOLDER = "no-key-needed"
"""What a server on this machine is sent where no key was given: the SDK asks for some key."""

_UNFIT = re.compile(r"[^!-~]")
_KEYS = re.compile(r"(?i)key|token|auth|secret|password|signature|credential")
"""Names under which keys are given, in settings and in the query of a URL."""
_WAYS = (
    "give one as api_key=, set the environment variable ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or keep it in the "
    "keyring of this machine: pip install 'verifyplan[keyring]', then keyring set verifyplan anthropic"
)


class Key:
    """A key that is shown nowhere; only `reveal()` gives it, to the one who sends it.

    It is not in its repr, its attributes or its copies, it is not pickled, and texts that hold it are redacted.
    """

    __slots__ = ("__weakref__", "origin", "reveal")

    origin: str
    """Where it was found, in words."""
    reveal: Callable[[], str]
    """Gives the key itself."""

    def __init__(self, secret: str, origin: str) -> None:
        if secret != PLACEHOLDER:
            remember(secret)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "reveal", lambda: secret)

    def __repr__(self) -> str:
        """The origin of the key, and that it is hidden."""
        return f"Key(from {self.origin}, hidden)"

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise AttributeError(f"a Key never changes; {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Key never changes; {name} cannot be deleted")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("a Key is not pickled: look it up again where it is needed, by find_key()")


def find_key(given: str | Key | None = None, *, base_url: str | None = None) -> Key:
    """The key for an endpoint: the one given, else one of the environment, of the keyring, or none for this machine.

    Looked for in this order: `given`; ANTHROPIC_API_KEY; ANTHROPIC_AUTH_TOKEN; the keyring under verifyplan /
    anthropic, if the package keyring is installed; a placeholder, if `base_url` (or ANTHROPIC_BASE_URL) is on this
    machine. Blank variables count as not set. Every key that is found is redacted from all texts from then on.
    SettingsError if there is none, if it holds spaces, line breaks or characters outside ASCII, and if the address
    itself holds a user or a password; the key is in no message. Source: rule G3.

    >>> find_key("the-key-of-this-example")
    Key(from api_key, hidden)
    """
    given = None if given is None else hide_key(given)
    address = address_of(base_url)
    check_address(address)
    if given is not None:
        return _usable(given)
    if (told := _from_environment()) is not None:
        return _usable(told)
    kept, failure = _from_keyring()
    if kept is not None:
        return _usable(kept)
    if is_loopback(address):
        return Key(PLACEHOLDER, "no setting: a placeholder for this machine")
    raise SettingsError(Problem("api_key", f"no key was found{failure}", _WAYS))


def hide_key(given: str | Key, origin: str = "api_key") -> Key:
    """A key as a local name may hold it, which a traceback can show; SettingsError if it is no text.

    Whoever is given a key as a text puts this in its place before anything else.
    """
    if isinstance(given, Key):
        return given
    if not isinstance(given, str):
        raise SettingsError(Problem(origin, f"is a {type(given).__name__}, not a text", _WAYS))
    return Key(given, origin)


def custom_headers() -> tuple[str, ...]:
    """Names of the headers that ANTHROPIC_CUSTOM_HEADERS has the SDK add; keys in them are redacted from then on."""
    pairs = [line.partition(":") for line in os.environ.get(HEADERS_VARIABLE, "").split("\n")]
    for name, _, value in pairs:
        if _KEYS.search(name) and value.strip():
            remember(value.split()[-1])  # behind Bearer, where that stands
    return tuple(name.strip() for name, colon, _ in pairs if colon)


def misplaced_keys(**given: Mapping[str, object] | None) -> Iterator[Problem]:
    """Keys among the settings of single voices, by their names; what was given is not told, as an error may be kept."""
    for argument, voices in given.items():
        for name, own in (voices or {}).items():
            for setting in own if isinstance(own, Mapping) else ():
                if _KEYS.search(str(setting)) and setting != "max_tokens":
                    fix = "give the key as api_key=, or that of another endpoint in api_keys={address: key}"
                    yield Problem(
                        f"{argument}[{name!r}]: {setting}", "is no place for a key, as settings are logged", fix
                    )


def check_model(model: str) -> Problem | None:
    """What is wrong with the name of a model that is a key: somebody gave it first, as the SDK's clients take it."""
    return Problem("model", "looks like a key", "give the key as api_key=") if redact(model) != model else None


def address_of(base_url: str | None = None) -> str:
    """The address that is asked: the one given, else that of ANTHROPIC_BASE_URL, else Anthropic's own."""
    return base_url or os.environ.get(BASE_URL_VARIABLE) or DEFAULT_URL


def is_forbidden(address: str) -> bool:
    """Whether VERIFYPLAN_OFFLINE forbids to ask that address: it is set, and the address is not of this machine."""
    return bool(os.environ.get(OFFLINE_VARIABLE)) and not is_loopback(address)


def is_loopback(address: str) -> bool:
    """Whether a URL leads to this machine only; names are not looked up, so only localhost and its numbers do.

    >>> is_loopback("http://127.0.0.1:8000"), is_loopback("http://[::1]/v1"), is_loopback("http://127.0.0.1.example.com")
    (True, True, False)
    """
    try:
        host = urlsplit(address).hostname or ""
        number = ip_address(host)
    except ValueError:
        return _host(address) == "localhost"
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback


def check_address(address: str) -> None:
    """SettingsError if the address of an endpoint is no http URL, or holds a user, a password or a key.

    What the address holds as a password is redacted from then on, and the message does not show the address.
    """
    fix = "write it as https://host or http://localhost:8000"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise SettingsError(Problem("base_url", "is no address", fix)) from None
    keys = [value for name, value in parse_qsl(parts.query) if _KEYS.search(name)]
    for secret in filter(None, (parts.password, unquote(parts.password or ""), *keys)):
        remember(secret)
    if parts.username is not None or parts.password is not None:
        raise SettingsError(
            Problem(
                "base_url",
                "holds a user or a password, which would end up in logs",
                f"leave them out of it, and {_WAYS}",
            )
        )
    if keys:
        raise SettingsError(
            Problem("base_url", "holds a key, which would end up in logs", f"leave it out of it, and {_WAYS}")
        )
    if not usable or _UNFIT.search(address):
        shown = "what was given" if "@" in address else repr(address)  # before an @ stands a password, perhaps
        raise SettingsError(Problem("base_url", f"{shown} is no http address", fix))


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").removesuffix(".")
    except ValueError:
        return ""


def _usable(key: Key) -> Key:
    """The key if it can stand in a header; SettingsError, without the key, if not."""
    problems = tuple(_unfit(key.reveal(), key.origin))
    if problems:
        raise SettingsError(problems)
    return key


def _unfit(secret: str, origin: str) -> Iterator[Problem]:
    if not secret:
        yield Problem(origin, "is blank", _WAYS)
    elif secret != secret.strip():
        yield Problem(origin, "holds a key with spaces or line breaks around it", "give the key alone")
    elif unfit := _UNFIT.search(secret):
        kind = "a space or line break" if unfit[0].isspace() else "a character that no key has"
        yield Problem(origin, f"holds {kind} at place {unfit.start() + 1} of the key", "copy the key again, whole")


def _from_environment() -> Key | None:
    """The key of the first variable that is not blank; a function of its own, as tracebacks show what a line names."""
    names = (name for name in KEY_VARIABLES if os.environ.get(name, "").strip())
    return next((Key(os.environ[name], name) for name in names), None)


def _from_keyring() -> tuple[Key | None, str]:
    """The key of the keyring, and why there is none if it could not be asked; both blank if it has none."""
    try:
        if find_spec("keyring") is None:
            return None, ""
        kept = importlib.import_module("keyring").get_password(*KEYRING)
        return Key(kept, "the keyring") if kept else None, ""
    except Exception as error:  # backends are plugins and raise what they like; a run must not end by one
        return None, f" (the keyring could not be asked: {type(error).__name__})"
