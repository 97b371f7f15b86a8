"""Where the key of an endpoint is found, in which order, and that nothing shows it."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import traceback
import types
from importlib.machinery import ModuleSpec

import pytest

from verifyplan import redaction
from verifyplan.agents.anthropic import key as key_module
from verifyplan.agents.anthropic.key import DEFAULT_URL as ANTHROPIC
from verifyplan.agents.anthropic.key import (
    KEY_VARIABLES,
    PLACEHOLDER,
    Key,
    address_of,
    check_address,
    find_key,
    is_forbidden,
    is_loopback,
)
from verifyplan.errors import SettingsError
from verifyplan.redaction import MARK, redact

SECRET = "planted-key-0f1e2d3c4b5a"
HOME = "http://127.0.0.1:8000"


class Ring(types.ModuleType):
    """A keyring that holds what a test puts in."""

    def __init__(self):
        super().__init__("keyring")
        self.__spec__ = ModuleSpec("keyring", None)
        self.kept = {}
        self.fails = None

    def get_password(self, service, user):
        if self.fails:
            raise self.fails
        return self.kept.get((service, user))


@pytest.fixture(autouse=True)
def ring(monkeypatch):
    """No key anywhere: neither in the environment nor in the keyring of this machine."""
    for name in (*KEY_VARIABLES, "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(redaction, "_forms", ())
    ring = Ring()
    monkeypatch.setitem(__import__("sys").modules, "keyring", ring)
    return ring


def test_the_order_is_argument_then_variables_then_keyring_then_this_machine(monkeypatch, ring):
    assert find_key(base_url=HOME).reveal() == PLACEHOLDER
    ring.kept["verifyplan", "anthropic"] = "of-the-keyring"
    assert find_key(base_url=HOME).reveal() == "of-the-keyring"
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "of-the-token")
    assert find_key(base_url=HOME).reveal() == "of-the-token"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-variable")
    assert find_key(base_url=HOME).reveal() == "of-the-variable"
    assert find_key("of-the-argument", base_url=HOME).reveal() == "of-the-argument"


@pytest.mark.parametrize(
    ("origin", "shown"),
    [
        ("argument", "Key(from api_key, hidden)"),
        ("ANTHROPIC_API_KEY", "Key(from ANTHROPIC_API_KEY, hidden)"),
        ("ANTHROPIC_AUTH_TOKEN", "Key(from ANTHROPIC_AUTH_TOKEN, hidden)"),
        ("keyring", "Key(from the keyring, hidden)"),
    ],
)
def test_a_key_says_where_it_comes_from_and_is_redacted_from_then_on(origin, shown, monkeypatch, ring):
    if origin == "keyring":
        ring.kept["verifyplan", "anthropic"] = SECRET
    elif origin != "argument":
        monkeypatch.setenv(origin, SECRET)
    key = find_key(SECRET if origin == "argument" else None)
    assert repr(key) == shown
    assert redact(f"a text with {SECRET}") == f"a text with {MARK}"


@dataclasses.dataclass
class Holder:
    key: Key


def test_nothing_shows_a_key():
    key = find_key(SECRET)
    shown = [
        repr(key), str(key), f"{key}", f"{key!r} {key!s:>9}", format(key), repr([key]), repr({"key": key}),
        json.dumps({"key": key}, default=str), json.dumps({"key": key}, default=repr),
        repr(dataclasses.asdict(Holder(key))), repr(Holder(key)), repr(copy.copy(key)), repr(copy.deepcopy({"k": key})),
        repr([getattr(key, name) for name in dir(key) if name not in ("reveal", "__weakref__")]), repr(key.reveal),
    ]  # fmt: skip
    assert not [text for text in shown if SECRET in text]
    with pytest.raises(TypeError, match="vars"):
        vars(key)


def test_a_key_is_redacted_however_it_was_made():
    Key(SECRET, "a test")
    assert redact(SECRET) == MARK


def test_copies_of_a_key_still_give_it():
    assert copy.deepcopy(Holder(find_key(SECRET))).key.reveal() == SECRET


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_key_is_not_pickled(protocol):
    with pytest.raises(TypeError, match="not pickled: look it up again"):
        pickle.dumps({"key": find_key(SECRET)}, protocol)


def test_a_key_never_changes():
    key = find_key(SECRET)
    with pytest.raises(AttributeError, match="never changes"):
        key.origin = "elsewhere"
    with pytest.raises(AttributeError, match="never changes"):
        del key.reveal
    assert find_key(key) is key


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (f"{SECRET}\n", "spaces or line breaks around it"),
        (f" {SECRET}", "spaces or line breaks around it"),
        (f"{SECRET} {SECRET}", "a space or line break at place 25"),
        (f"{SECRET}\nx-other: header", "a space or line break at place 25"),
        (f"{SECRET}é", "a character that no key has at place 25"),
        (f"“{SECRET}”", "a character that no key has at place 1"),
        (f"{SECRET}\x00", "a character that no key has at place 25"),
        ("", "is blank"),
    ],
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(bad, why):
    with pytest.raises(SettingsError, match=why) as caught:
        find_key(bad)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert caught.value.problems[0].place == "api_key"


def test_a_variable_with_a_bad_key_is_named(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", f"{SECRET}\n")
    with pytest.raises(
        SettingsError, match=r"^ANTHROPIC_AUTH_TOKEN: holds a key with spaces or line breaks around it\."
    ):
        find_key()


def test_blank_variables_count_as_not_set(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", " ")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", SECRET)
    assert find_key().origin == "ANTHROPIC_AUTH_TOKEN"


def test_without_a_key_every_way_to_give_one_is_said():
    with pytest.raises(SettingsError, match="no key was found") as caught:
        find_key()
    for way in (*KEY_VARIABLES, "api_key=", "keyring set verifyplan anthropic", "verifyplan[keyring]"):
        assert way in str(caught.value)


@pytest.mark.parametrize("error", [RuntimeError("locked"), OSError("no bus"), ValueError()])
def test_a_keyring_that_fails_ends_nothing(error, ring):
    ring.fails = error
    assert find_key(base_url=HOME).reveal() == PLACEHOLDER
    with pytest.raises(SettingsError, match=f"the keyring could not be asked: {type(error).__name__}"):
        find_key()


def test_a_keyring_that_is_not_installed_is_not_asked(monkeypatch):
    monkeypatch.setattr(key_module, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"no key was found\."):
        find_key()


@pytest.mark.parametrize(
    "host", ["https://api.anthropic.com", "http://10.0.0.1", "http://0.0.0.0", "http://127.0.0.1.example.com"]
)
def test_only_this_machine_needs_no_key(host):
    with pytest.raises(SettingsError, match="no key was found"):
        find_key(base_url=host)


def test_the_address_of_the_environment_counts(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:11434")
    assert find_key().reveal() == PLACEHOLDER
    with pytest.raises(SettingsError, match="no key was found"):
        find_key(base_url="https://api.anthropic.com")


def test_the_placeholder_is_an_ordinary_word():
    find_key(base_url=HOME)
    assert redact(PLACEHOLDER) == PLACEHOLDER


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost",
        "http://LOCALHOST:1/v1",
        "http://localhost.",
        "http://127.0.0.1",
        "http://127.9.8.7:80",
        "http://[::1]:8000/",
        "http://[::ffff:127.0.0.1]",
    ],
)
def test_addresses_of_this_machine(address):
    assert is_loopback(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "http://",
        "http://localhost.example.com",
        "http://example.com/localhost",
        "http://127.0.0.1@example.com",
        "http://[::2]",
        "http://[",
        "http://2130706433",
        "http://example.com#@localhost",
    ],
)
def test_addresses_of_others(address):
    assert not is_loopback(address)


@pytest.mark.parametrize(
    "address",
    [
        f"https://user:{SECRET}@example.com",
        f"http://:{SECRET}@127.0.0.1",
        "https://someone@example.com",
        f"http://a:{SECRET}@[::1]:80",
    ],
)
def test_a_user_or_password_in_an_address_is_refused_and_not_shown(address):
    with pytest.raises(SettingsError, match="holds a user or a password") as caught:
        find_key("another-key", base_url=address)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert "someone" not in str(caught.value)
    assert SECRET not in redact(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.com",
        "ftp://example.com",
        "https://",
        "http://[",
        "http://host:port",
        "http://host:99999",
        "http://a b",
        "http://hôst\n",
    ],
)
def test_what_is_no_http_address_is_refused(address):
    with pytest.raises(SettingsError, match=r"base_url: must be an http address.*\. Fix: write it as https://host"):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["https://api.anthropic.com", "http://localhost:8000/v1?x=1", "https://gateway.example/anthropic/"]
)
def test_addresses_that_may_be_asked(address):
    check_address(address)


def test_the_address_given_comes_before_that_of_the_environment(monkeypatch):
    assert address_of() == address_of("") == ANTHROPIC
    monkeypatch.setenv("ANTHROPIC_BASE_URL", HOME)
    assert address_of() == HOME
    assert address_of("https://gateway.example") == "https://gateway.example"


def test_a_variable_forbids_all_addresses_but_those_of_this_machine(monkeypatch):
    monkeypatch.setenv("VERIFYPLAN_OFFLINE", "1")
    assert (is_forbidden(ANTHROPIC), is_forbidden(HOME)) == (True, False)
    monkeypatch.delenv("VERIFYPLAN_OFFLINE")
    assert (is_forbidden(ANTHROPIC), is_forbidden(HOME)) == (False, False)
