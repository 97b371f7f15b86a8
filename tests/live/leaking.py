"""Keys that must stay where they are: those in use and those of others, planted in texts, and the search for them.

LIVE, SECOND, RING and GATEWAY are in use; OTHERS are those of other people. LITTER holds OTHERS and LIVE on one line,
LINES a private key as well. `leaks(data)` names the keys that some bytes or a text hold, as they are or escaped.
"""

from __future__ import annotations

import base64
import html
import json
import random
import string
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pandas as pd
from scripted_http import Reply, Request
from scripted_server import ScriptedServer

LIVE = "Live'key\"<0f>\\1e&2d+3c/4b5a6978"
"""The key in use: nothing about it tells that it is one, and it is escaped differently wherever it could stand."""
SECOND = "second-endpoint-7a6b5c4d3e2f"
"""The key of another endpoint."""
RING = "of-the-keyring-9f8e7d6c5b4a"
GATEWAY = "of-a-gateway-0a1b2c3d4e5f"
"""The key of a proxy before the first endpoint, in ANTHROPIC_CUSTOM_HEADERS."""


def made_up(length: int, alphabet: str = string.ascii_letters + string.digits, seed: int = 5) -> str:
    return "".join(random.Random(f"leak {seed} {length}").choices(alphabet, k=length))


PEM = "\n".join(
    ["-----BEGIN RSA PRIVATE KEY-----", *(made_up(64, seed=n) for n in range(60)), "-----END RSA PRIVATE KEY-----"]
)
HEADER, BEARER, PASSWORD = made_up(30, seed=1), made_up(32, seed=2), made_up(20, seed=3)
OTHERS: dict[str, str] = {
    "anthropic": f"sk-ant-api03-{made_up(93)}",
    "openai": f"sk-proj-{made_up(40)}",
    "github": f"ghp_{made_up(36)}",
    "aws": f"AKIA{made_up(16, string.ascii_uppercase + '234567')}",
    "header": HEADER,
    "bearer": BEARER,
}
"""Keys of other people, of kinds that are known by their form or by what stands before them."""

LITTER = " ".join(
    (
        *("see", OTHERS["anthropic"], "and", OTHERS["openai"], "and", OTHERS["github"], "and", OTHERS["aws"]),
        *(f"and x-api-key: {HEADER}", f"and Authorization: Bearer {BEARER}", "and", LIVE, "here"),
    )
)
"""All of them on one line, as a text may hold them."""
LINES = f"{PEM}\n\n{LITTER}\n"
"""The same, and a private key, on lines 1 to 64."""

_NAMED = {"live": LIVE, "second": SECOND, "ring": RING, "gateway": GATEWAY, "password": PASSWORD, **OTHERS} | {
    f"line {n} of the private key": line for n, line in enumerate(PEM.splitlines()[1:-1])
}


def leaks(data: bytes | str, allowed: tuple[str, ...] = ()) -> list[str]:
    """The names of the keys that stand in some bytes, in any of their forms."""
    text = data if isinstance(data, bytes) else data.encode(errors="surrogatepass")
    return [name for name, forms in _forms().items() if name not in allowed and any(form in text for form in forms)]


@cache
def _forms() -> dict[str, list[bytes]]:
    return {name: sorted(form.encode() for form in forms_of(key)) for name, key in _NAMED.items()}


def forms_of(key: str) -> set[str]:
    """A key as texts may hold it: as it is, in JSON, Python, HTML and URLs, and in base64 of what surrounds it."""
    coded = {base64.b64encode(b"\0" * n + key.encode()).decode()[-(-n * 8 // 6) : -4] for n in range(3)}
    plain = {key, json.dumps(key)[1:-1], repr(key)[1:-1], html.escape(key), html.escape(json.dumps(key)[1:-1])}
    return plain | coded | {quote(key), quote(key, safe=""), quote_plus(key)}


class Listening(ScriptedServer):
    """A scripted server that keeps what came as it came, headers with keys included."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.heard: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.heard.append(request)
        return await super().answer(request)


def littered(value: Any, *keys: str) -> Any:
    """An answer of a script with LITTER behind its sentences under these keys."""
    if isinstance(value, Mapping):
        return {
            key: f"{one} {LITTER}" if key in keys and isinstance(one, str) and " " in one else littered(one, *keys)
            for key, one in value.items()
        }
    return [littered(one, *keys) for one in value] if isinstance(value, list) else value


def written(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every path below a folder, and what stands there: of tables that are compressed, their cells as well."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        yield f"the name of {name}", name.encode(errors="surrogateescape")
        if path.is_file() and not path.is_symlink():
            yield name, path.read_bytes()
            if path.suffix == ".parquet":
                yield f"cells of {name}", pd.read_parquet(path).to_csv().encode()
