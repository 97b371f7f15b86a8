"""Forbidding the network in tests is the default: what would leave this machine fails at once, and says what to do."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import urllib.request

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import network_guard
from tests.network_guard import NetworkForbidden, is_here

ELSEWHERE = "192.0.2.1"  # of a net that is reserved for documents


@pytest.fixture
def reached(monkeypatch):
    """The names of the real functions that the guard let through; they do nothing. What it stopped is expected."""
    seen: list[str] = []
    for name in network_guard.real:
        monkeypatch.setitem(network_guard.real, name, lambda *_, name=name, **__: seen.append(name))
    yield seen
    network_guard.attempts.clear()


async def ask_the_real_api() -> None:
    async with anthropic.AsyncAnthropic(api_key="not a key", max_retries=0) as client:
        await client.messages.create(
            model="claude-opus-5-5", max_tokens=1, messages=[{"role": "user", "content": "Are you there?"}]
        )


def test_the_sdk_at_its_own_address_fails_before_the_name_is_looked_up(reached):
    with pytest.raises(NetworkForbidden, match=r"api\.anthropic\.com:443 is another machine.*base_url=server\.url"):
        asyncio.run(ask_the_real_api())
    assert reached == []
    assert network_guard.attempts == ["api.anthropic.com:443"]


def test_the_sdk_does_not_repeat_it(reached):
    client = anthropic.Anthropic(api_key="not a key", max_retries=5)
    with client, pytest.raises(NetworkForbidden, match="another machine"):
        client.models.list()
    assert (reached, len(network_guard.attempts)) == ([], 1)


@pytest.mark.parametrize(
    "leave",
    [
        lambda: socket.create_connection((ELSEWHERE, 443), 1),
        lambda: socket.create_connection(("example.org", 443), 1),
        lambda: socket.getaddrinfo(host="example.org", port=443),
        lambda: socket.gethostbyname("example.org"),
        lambda: urllib.request.urlopen("http://example.org/", timeout=1),
        lambda: asyncio.run(asyncio.open_connection("example.org", 80)),
        lambda: asyncio.run(asyncio.open_connection(ELSEWHERE, 80)),
    ],
    ids=["address", "name", "look-up", "old look-up", "urllib", "asyncio by name", "asyncio by address"],
)
def test_no_way_leads_out(leave, reached):
    with pytest.raises(NetworkForbidden, match=r"(example\.org|192\.0\.2\.1).* is another machine"):
        leave()
    assert reached == []


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("method", ["connect", "connect_ex", "sendto", "sendmsg"])
def test_no_method_of_a_socket_leads_out(family, method, reached):
    address = (ELSEWHERE if family == socket.AF_INET else "2001:db8::1", 53)
    arguments = {"sendto": [b"x"], "sendmsg": [[b"x"], [], 0]}.get(method, [])
    with socket.socket(family, socket.SOCK_DGRAM) as own, pytest.raises(NetworkForbidden, match=":53 is another"):
        getattr(own, method)(*arguments, address)
    assert reached == []


@pytest.mark.usefixtures("reached")
def test_an_attempt_that_was_caught_fails_the_test_at_its_end():
    async def swallow() -> list[object]:
        return await asyncio.gather(ask_the_real_api(), return_exceptions=True)

    assert len(asyncio.run(swallow())) == 1
    with pytest.raises(NetworkForbidden, match=r"the test tried to reach api\.anthropic\.com:443\. Tests reach"):
        network_guard.judge()
    network_guard.judge()  # told once


def test_no_client_takes_it_for_a_fault():
    assert not issubclass(NetworkForbidden, Exception)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_works(host):
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection((host, server.getsockname()[1]), 5) as own,
        server.accept()[0] as other,
    ):
        own.sendall(b"hello")
        assert other.recv(5) == b"hello"


def test_unix_sockets_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # their names must be short
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as own:
        server.bind("here")
        server.listen()
        own.connect("here")
        server.accept()[0].close()


@pytest.mark.parametrize("host", [None, "", "localhost", b"localhost", "127.0.0.9", "::1", "0.0.0.0", "::", "::1%lo"])
def test_this_machine(host):
    assert is_here(host)


@pytest.mark.parametrize("host", ["localhost.example.org", "127.0.0.1.example.org", ELSEWHERE, "fe80::1", b"\xff", "1"])
def test_other_machines(host):
    assert not is_here(host)


@given(st.ip_addresses() | st.text(min_size=1))
def test_any_name_is_told_without_a_look_up(host):
    assert is_here(str(host)) in (True, False)


def test_processes_that_tests_start_know_it_too():
    assert os.environ["VERIFYPLAN_OFFLINE"] == "1"
    names = subprocess.run(
        [sys.executable, "-c", "import os; print(*os.environ)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [name for name in names if name.upper().endswith("_PROXY") or name.startswith("ANTHROPIC_")] == []
    assert "VERIFYPLAN_OFFLINE" in names
