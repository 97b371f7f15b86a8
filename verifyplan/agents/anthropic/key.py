"""Find the key of an endpoint, and keep it from being written anywhere (rule G3)."""

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
from verifyplan.rules.going_on import DEFAULT_URL

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
HEADERS_VARIABLE = "ANTHROPIC_CUSTOM_HEADERS"
OFFLINE_VARIABLE = "VERIFYPLAN_OFFLINE"
"""While this variable is set, only endpoints on this machine are used."""
KEY_HEADER_VARIABLE = "VERIFYPLAN_KEY_HEADER"
"""Names the header in which keys are sent: `authorization`, as the SDK sends them, or `x-api-key`."""
KEY_HEADERS = ("authorization", "x-api-key")
KEYRING = ("verifyplan", "anthropic")
"""Service and user name of the key in the keyring."""
PLACEHOLDER = "no-key-needed"
"""The key for a server on this machine where none was given: the SDK needs some key."""

_INVALID = re.compile(r"[^!-~]")
_KEY_NAME = re.compile(r"(?i)key|token|auth|secret|password|signature|credential")
"""Names of keys in settings and in the query of a URL."""
_FIX = (
    "give one as api_key=, set the environment variable ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or keep it in the "
    "keyring of this machine: pip install 'verifyplan[keyring]', then keyring set verifyplan anthropic"
)


class Key:
    """A key that is shown nowhere; only `reveal()` returns it, for the sender of requests.

    It is not in its repr, its attributes or its copies, it is not pickled, and texts that hold it are redacted.
    """

    __slots__ = ("__weakref__", "origin", "reveal")

    origin: str
    """The place where it was found, in words."""
    reveal: Callable[[], str]
    """Returns the key itself."""

    def __init__(self, secret: str, origin: str) -> None:
        if secret != PLACEHOLDER:
            remember(secret)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "reveal", lambda: secret)

    def __repr__(self) -> str:
        """Return the origin of the key."""
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


def find_key(given: str | Key | None = None, *, base_url: str | None = None, needed: bool = True) -> Key:
    """Return the key for an endpoint: `given`, else that of the environment or the keyring, else one for this machine.

    Looked for in this order: `given`; ANTHROPIC_API_KEY; ANTHROPIC_AUTH_TOKEN; the keyring under verifyplan /
    anthropic, if the package keyring is installed; a placeholder, if `base_url` (or ANTHROPIC_BASE_URL) is on this
    machine, or if nobody asks this endpoint, so that no key is `needed`. Blank variables count as not set. Every key
    that is found is redacted from all texts from then on. SettingsError if there is none, if it holds spaces, line
    breaks or characters outside ASCII, if the address itself holds a user or a password, and if VERIFYPLAN_KEY_HEADER
    names no header; the key is in no message. Source: rule G3.

    >>> find_key("the-key-of-this-example")
    Key(from api_key, hidden)
    """
    given = None if given is None else hide_key(given)
    address = address_of(base_url)
    check_address(address)
    key_header()
    if given is not None:
        return _usable(given)
    if (key := _from_environment()) is not None:
        return _usable(key)
    key, failure = _from_keyring()
    if key is not None:
        return _usable(key)
    if is_loopback(address):
        return Key(PLACEHOLDER, "no setting: a placeholder for this machine")
    if not needed:
        return Key(PLACEHOLDER, "no setting: none is needed")
    raise SettingsError(Problem("api_key", f"no key was found{failure}", _FIX))


def key_header() -> str:
    """Return the header in which keys are sent: `authorization`, unless VERIFYPLAN_KEY_HEADER is `x-api-key`."""
    name = os.environ.get(KEY_HEADER_VARIABLE, "").strip().lower() or KEY_HEADERS[0]
    if name not in KEY_HEADERS:
        fix = f"set it to {' or '.join(KEY_HEADERS)}, or unset it"
        raise SettingsError(Problem(KEY_HEADER_VARIABLE, f"names no header for a key, got {name!r}", fix))
    return name


def fix_of_refused_key(key: Key, address: str) -> str:
    """Return what helps where an endpoint refuses a key, or asks for one: the key itself, or how it is sent."""
    if key.reveal() == PLACEHOLDER:
        return f"no key is set; {_FIX}"
    fix = f"check the key from {key.origin}"
    if is_own(address):
        return fix
    if key_header() == "x-api-key":
        change = f"for an endpoint that reads `Authorization`, unset {KEY_HEADER_VARIABLE}"
        return f"{fix}; it goes out as `x-api-key`: {change}"
    change = f"for an endpoint that reads `x-api-key`, set {KEY_HEADER_VARIABLE}=x-api-key"
    return f"{fix}; it goes out as `Authorization: Bearer`: {change}"


def environment_key() -> str:
    """Return where this environment has a key for its endpoint, in words; blank where it has none."""
    if (key := _from_environment()) is not None:
        return key.origin
    headers = [line.partition(":") for line in os.environ.get(HEADERS_VARIABLE, "").split("\n")]
    if any(_KEY_NAME.search(name) and value.strip() for name, _, value in headers):
        return HEADERS_VARIABLE
    return "the keyring" if _from_keyring()[0] is not None else ""


def hide_key(given: str | Key, origin: str = "api_key") -> Key:
    """Return a key as a local name may hold it, which a traceback can show; SettingsError if it is no text.

    A function that takes a key as a text replaces it by this before anything else.
    """
    if isinstance(given, Key):
        return given
    if not isinstance(given, str):
        raise SettingsError(Problem(origin, f"is a {type(given).__name__}, not a text", _FIX))
    return Key(given, origin)


def custom_headers() -> tuple[str, ...]:
    """Return the names of the headers that ANTHROPIC_CUSTOM_HEADERS adds; keys in them are redacted from then on."""
    pairs = [line.partition(":") for line in os.environ.get(HEADERS_VARIABLE, "").split("\n")]
    for name, _, value in pairs:
        if _KEY_NAME.search(name) and value.strip():
            remember(value.split()[-1])  # after Bearer, if that is there
    return tuple(name.strip() for name, colon, _ in pairs if colon)


def misplaced_keys(**given: Mapping[str, object] | None) -> Iterator[Problem]:
    """Yield keys in the settings of roles and workers, by their names; values are not shown, as errors may be kept."""
    for argument, configs in given.items():
        for name, own in (configs or {}).items():
            for setting in own if isinstance(own, Mapping) else ():
                if _KEY_NAME.search(str(setting)) and setting != "max_tokens":
                    fix = "give the key as api_key=, or that of another endpoint in api_keys={address: key}"
                    yield Problem(
                        f"{argument}[{name!r}]: {setting}", "must not hold a key, because settings are logged", fix
                    )


def check_model(model: str) -> Problem | None:
    """Return the problem of a model's name that is a key: a key in the first place, as the SDK's clients take it."""
    return Problem("model", "looks like a key", "give the key as api_key=") if redact(model) != model else None


def address_of(base_url: str | None = None) -> str:
    """Return the address for requests: `base_url`, else that of ANTHROPIC_BASE_URL, else Anthropic's own."""
    return base_url or os.environ.get(BASE_URL_VARIABLE) or DEFAULT_URL


def is_forbidden(address: str) -> bool:
    """Return whether VERIFYPLAN_OFFLINE forbids that address: it is set, and the address is not of this machine."""
    return bool(os.environ.get(OFFLINE_VARIABLE)) and not is_loopback(address)


def is_loopback(address: str) -> bool:
    """Return whether a URL leads to this machine only; names are not looked up, so only localhost and its numbers do.

    >>> is_loopback("http://127.0.0.1:8000"), is_loopback("http://[::1]/v1"), is_loopback("http://127.0.0.1.example.com")
    (True, True, False)
    """
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    try:
        number = ip_address(host)
    except ValueError:
        return host.removesuffix(".") == "localhost"
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback


def is_own(address: str) -> bool:
    """Return whether a URL, as `check_address` lets it pass, leads to Anthropic, which answers nobody without a key.

    >>> is_own(DEFAULT_URL), is_own("https://api.anthropic.com.example.org"), is_own("http://localhost:8000")
    (True, False, False)
    """
    host = urlsplit(address).hostname or ""
    return f".{host.removesuffix('.')}".endswith(".anthropic.com")


def missing_key(key: Key, address: str) -> Problem | None:
    """Return why nothing is sent to an address: the key is a placeholder, and Anthropic's own host takes none."""
    if key.reveal() != PLACEHOLDER or not is_own(address):
        return None
    return Problem("api_key", f"no key: this backend was made without, and {address} answers none", _FIX)


def check_address(address: str) -> None:
    """Raise SettingsError if the address of an endpoint is no http URL, or holds a user, a password or a key.

    A password in the address is redacted from then on, and the message does not show the address.
    """
    fix = "write it as https://host or http://localhost:8000"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise SettingsError(Problem("base_url", "must be an http address", fix)) from None
    keys = [value for name, value in parse_qsl(parts.query) if _KEY_NAME.search(name)]
    for secret in filter(None, (parts.password, unquote(parts.password or ""), *keys)):
        remember(secret)
    if parts.username is not None or parts.password is not None:
        message = "holds a user or a password, which would end up in logs"
        raise SettingsError(Problem("base_url", message, f"leave them out of it, and {_FIX}"))
    if keys:
        message = "holds a key, which would end up in logs"
        raise SettingsError(Problem("base_url", message, f"leave it out of it, and {_FIX}"))
    if not usable or _INVALID.search(address):
        received = "" if "@" in address else f", got {address!r}"  # a password may be before an @
        raise SettingsError(Problem("base_url", f"must be an http address{received}", fix))


def _usable(key: Key) -> Key:
    """Return the key if it can be in a header; SettingsError, without the key, if not."""
    if problem := _key_problem(key.reveal(), key.origin):
        raise SettingsError(problem)
    return key


def _key_problem(secret: str, origin: str) -> Problem | None:
    if not secret:
        return Problem(origin, "is blank", _FIX)
    if secret != secret.strip():
        return Problem(origin, "holds a key with spaces or line breaks around it", "give the key alone")
    if match := _INVALID.search(secret):
        kind = "a space or line break" if match[0].isspace() else "a character that no key has"
        return Problem(origin, f"holds {kind} at place {match.start() + 1} of the key", "copy the key again, whole")
    return None


def _from_environment() -> Key | None:
    """Return the key of the first variable that is not blank; a function of its own, as tracebacks show its values."""
    names = (name for name in KEY_VARIABLES if os.environ.get(name, "").strip())
    return next((Key(os.environ[name], name) for name in names), None)


def _from_keyring() -> tuple[Key | None, str]:
    """Return the key of the keyring, and why there is none if reading it failed; both blank if it has none."""
    try:
        if find_spec("keyring") is None:
            return None, ""
        secret = importlib.import_module("keyring").get_password(*KEYRING)
        return Key(secret, "the keyring") if secret else None, ""
    except Exception as error:  # backends are plugins and raise what they like; a run must not end by one
        return None, f" (the keyring could not be asked: {type(error).__name__})"
