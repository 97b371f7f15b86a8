"""Say once to which cluster the parts of analyses go, instead of at every call (rule E5)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from verifyplan.errors import InputError, Problem

_connections: list[Connection] = []
_here = threading.local()


class Connection:
    """A cluster, or a number of processes, that analyses use until this is closed."""

    def __init__(self, client: Any) -> None:
        """Use `client` from now on; of several connections the last that is open counts."""
        self.client = client
        _connections.append(self)

    def close(self) -> None:
        """Go on without it; a second time does nothing."""
        if self in _connections:
            _connections.remove(self)

    def __enter__(self) -> Self:
        """Return the connection, which a `with` closes."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the connection."""
        self.close()

    def __repr__(self) -> str:
        """Return what is connected, and whether it is in use."""
        return f"Connection({self.client!r}{'' if self in _connections else ', closed'})"


def connect(client: Any) -> Connection:
    """Send the parts of analyses to a cluster from now on, until the connection is closed, as at the end of a `with`.

    Of a dataset, `classify_dataset`, `replay`, `replay_dataset`, `compare_dataset` and what reads votes part by part go
    there; of any runs the rules of `search_rules`; and whatever is given to `analysis.map_parts`. An argument `client`
    of a call comes first. Functions that are called there do not go on to further processes themselves.

    Args:
        client: a `distributed.Client` (pip install "verifyplan[dask]"), whose workers have this library and can read
            the addresses of the datasets; or a number of processes of this machine.

    Raises:
        InputError: for any other client.

    >>> with connect(2) as connection:
    ...     print(connection)
    Connection(2)
    >>> connection
    Connection(2, closed)
    """
    if client is None or not is_client(client):
        fix = "give a distributed.Client, or a number of processes from 1"
        raise InputError(Problem("client", f"{client!r:.80} cannot be given parts", fix))
    return Connection(client)


def is_client(client: Any) -> bool:
    """Return whether parts can be given to this: None, a number of processes, or a Dask client.

    >>> is_client(2), is_client(0), is_client(True)
    (True, False, False)
    """
    whole = isinstance(client, int) and not isinstance(client, bool) and client > 0
    return client is None or whole or (hasattr(client, "ncores") and hasattr(client, "submit"))


def connected() -> Any:
    """Return the client of the last open connection; None where there is none, and in what was sent there."""
    return None if not _connections or getattr(_here, "is_sent", False) else _connections[-1].client


def call_sent(function: Callable[[Any], Any], item: Any) -> Any:
    """Return what a function returns for an item; what it calls stays in this process and thread."""
    _here.is_sent = True
    try:
        return function(item)
    finally:
        _here.is_sent = False
