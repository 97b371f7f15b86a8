"""No test reaches another machine: whatever tries fails at once, before a name is looked up or a packet is sent."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest

ADVICE = (
    "Tests reach loopback and UNIX sockets only. Ask a server on loopback instead: "
    "`with ScriptedServer(...) as server:` (tests/live/scripted_server.py), with base_url=server.url."
)
INTERNET = (socket.AF_INET, socket.AF_INET6)
SENDING = (
    "connect",
    "connect_ex",
    "sendto",
    "sendmsg",
)  # methods of sockets that take an address, as the last argument
LOOK_UPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr")  # functions that take a name first

attempts: list[str] = []  # all of a test: one that was caught on its way up makes the test fail, too
real: dict[str, Callable[..., Any]] = {}  # what the guard stands before


class NetworkForbidden(pytest.fail.Exception):  # type: ignore[misc]
    """Not an `Exception`: no client may take it for a fault to be repeated, no loop for a failed call."""


def forbid_network() -> None:
    """Stand before the sockets of this process, and tell those it starts; a second time changes nothing."""
    if real:
        return
    for name in SENDING:
        real[name] = getattr(socket.socket, name)
        setattr(socket.socket, name, _guarded_method(name))
    for name in LOOK_UPS:
        real[name] = getattr(socket, name)
        setattr(socket, name, _guarded_look_up(name))
    for name in [name for name in os.environ if name.upper().endswith("_PROXY") or name.startswith("ANTHROPIC_")]:
        del os.environ[name]  # a proxy on loopback would lead out; no test may hold a key that costs
    os.environ["VERIFYPLAN_OFFLINE"] = "1"  # our backend refuses other machines, in processes that tests start as well
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"  # nor find one in the keyring


def judge() -> None:
    """Fail if anything tried to leave since the last time, whoever caught the error."""
    tried, attempts[:] = list(attempts), []
    if tried:
        raise NetworkForbidden(f"the test tried to reach {', '.join(tried)}. {ADVICE}")


def _guarded_method(name: str) -> Callable[..., Any]:
    def method(self: socket.socket, *arguments: Any) -> Any:
        if self.family in INTERNET and arguments and isinstance(arguments[-1], tuple):
            _check(*arguments[-1][:2])
        return real[name](self, *arguments)

    return method


def _guarded_look_up(name: str) -> Callable[..., Any]:
    def look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        _check(host, *arguments[:1])
        return real[name](host, *arguments, **options)

    return look_up


def _check(host: Any, port: Any = None) -> None:
    if not is_here(host):
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        place = name if port is None else f"{name}:{port}"
        attempts.append(place)
        raise NetworkForbidden(f"{place} is another machine. {ADVICE}")


def is_here(host: str | bytes | None) -> bool:
    """Whether an address or a name is of this machine, told without looking it up."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
