"""Hold the connections of a backend: one endpoint an address, in each event loop that drives a run (rule G3)."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from verifyplan.agents.anthropic.key import (
    BASE_URL_VARIABLE,
    PLACEHOLDER,
    Key,
    address_of,
    check_address,
    environment_key,
    find_key,
    hide_key,
    is_loopback,
    missing_key,
)
from verifyplan.agents.base import Address, Sending
from verifyplan.errors import Problem, SettingsError

if TYPE_CHECKING:
    from verifyplan.agents.anthropic.client import Endpoint

Keys = Mapping[str, str | Key]
"""Keys by the address of their endpoint."""


def check_logged(address: object) -> Problem | None:
    """Return why an endpoint that a log names may not have the key of this environment: it is another endpoint.

    A log may come from anybody, and another port of this machine may be anybody's program. Endpoints on this machine
    are allowed where the environment has no key, which could be sent there.
    """
    here = address_of()
    if address in (None, here):
        return None
    local = isinstance(address, str) and is_loopback(address)
    found = environment_key()
    if local and not found:
        return None
    fix = (
        f"if your key is for it, name it: base_url={address!r} or --base-url, or set {BASE_URL_VARIABLE} to it; "
        "or pass backend=agents.Anthropic(..., base_url=...)"
    )
    kept = f"; the key of {found} is not sent to another unasked" if found else ""
    return Problem(
        "backend", f"the log names the endpoint {address}, and that of this environment is {here}{kept}", fix
    )


class Endpoints:
    """Opens endpoints as they are needed during a run, and closes them with the last run of an event loop.

    The backend's own key goes to the backend's own address alone; other addresses have keys of their own in `keys`,
    or lie on this machine. SettingsError where a key is missing; the backend's own may be where `asked`, the addresses
    that requests go to, are others.
    """

    def __init__(
        self,
        address: Address,
        key: str | Key | None,
        keys: Keys,
        *,
        timeout: float,
        max_retries: int,
        asked: Collection[Address] = (None,),
    ) -> None:
        self.address, self.timeout, self.max_retries = address, timeout, max_retries
        self._key = find_key(key, base_url=address, needed=any(map(self._is_first, asked)))
        self._keys = {other: find_key(hide_key(own, "api_keys"), base_url=other) for other, own in keys.items()}
        self._open: dict[asyncio.AbstractEventLoop, dict[Address, Endpoint]] = {}
        self._holders: dict[asyncio.AbstractEventLoop, int] = {}

    @property
    def default_address(self) -> str:
        """The address for requests that name none, as the environment has it now."""
        return address_of(self.address)

    @property
    def key_origin(self) -> str:
        """The place where the key was found, in words; never the key."""
        return self._key.origin

    def check(self, address: Address) -> Problem | None:
        """Return why an address cannot be used: it has no key of its own."""
        if address is not None:
            check_address(address)
        if address is None or self._is_first(address) or address in self._keys or is_loopback(address):
            return None
        fix = "give its key in api_keys={address: key}; the key of one endpoint is not sent to another"
        return Problem("api_keys", f"{address} has no key", fix)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Hold the connections of this event loop; the last holder closes them."""
        loop = asyncio.get_running_loop()
        self._holders[loop] = self._holders.get(loop, 0) + 1
        try:
            yield
        finally:
            self._holders[loop] -= 1
            if not self._holders[loop]:
                del self._holders[loop]
                for endpoint in self._open.pop(loop, {}).values():
                    await endpoint.close()

    async def send(
        self, address: Address, turn: str, body: Mapping[str, Any], sending: Sending | None = None
    ) -> dict[str, Any]:
        """Return an endpoint's message, within a session or, at the cost of new connections, without one."""
        async with self.session():
            return await self.at(address).send(turn, body, sending)

    def at(self, address: Address) -> Endpoint:
        """Return the endpoint of an address in this event loop; SettingsError if it has no key."""
        if problem := self.check(address) or self.missing_key(address):
            raise SettingsError(problem)
        opened = self._open.setdefault(asyncio.get_running_loop(), {})
        if address not in opened:
            client = importlib.import_module("verifyplan.agents.anthropic.client")  # the SDK takes over a second
            opened[address] = client.Endpoint(
                address or self.default_address,
                self._key_of(address),
                timeout=self.timeout,
                max_retries=self.max_retries,
                first=self._is_first(address),
            )
        return opened[address]

    def missing_key(self, address: Address) -> Problem | None:
        """Return why nothing can be sent to an address: the backend was made without a key, and it needs one."""
        return missing_key(self._key_of(address), address or self.default_address)

    def _key_of(self, address: Address) -> Key:
        return self._key if self._is_first(address) else self._keys.get(str(address), Key(PLACEHOLDER, "no setting"))

    def _is_first(self, address: Address) -> bool:
        return address in (None, self.address)
