"""Keys that must stay where they are, what they are planted in, and the search for them.

LIVE, SECOND, RING and GATEWAY are in use; OTHERS are those of other people. LITTER holds OTHERS and LIVE on one line,
LINES a private key as well. `leaks(data)` names the keys that some bytes or a text hold, as they are or escaped.
"""

from __future__ import annotations

import base64
import html
import json
import random
import string
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, quote_plus

import pandas as pd

from tests.live.scripted_http import Reply as HttpReply
from tests.live.scripted_http import Request
from tests.live.scripted_replies import Answer, calls, fetches, says, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.plan.planning import AGREE, COUNTER, scores, script
from verifyplan.agents.base import ModelReply, Turns
from verifyplan.protocol.call import Reply, ToolUse, Usage
from verifyplan.protocol.event_run import TurnSent

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

SAID = ("concern", "failure_scenario", "alternative", "explanation", "resolution", "description", "suggested_query")
SAID += ("relevance", "cascade", "trigger", "question")
NOTES = f"# Orders\n\nThe orders were moved once before.\n\n{LINES}"
REFUSED = status(400, message=f"invalid x-api-key {LIVE}; known are {LITTER}")

_NAMED = {"live": LIVE, "second": SECOND, "ring": RING, "gateway": GATEWAY, "password": PASSWORD, **OTHERS} | {
    f"line {n} of the private key": line for n, line in enumerate(PEM.splitlines()[1:-1])
}


def leaks(data: bytes | str, allowed: tuple[str, ...] = ()) -> list[str]:
    """The names of the keys that stand in some bytes, in any of their forms."""
    text = data if isinstance(data, bytes) else data.encode(errors="surrogatepass")
    return [name for name, forms in _forms().items() if name not in allowed and any(form in text for form in forms)]


@cache
def _forms() -> dict[str, list[bytes]]:
    return {name: sorted(form.encode() for form in escaped(key) | coded(key)) for name, key in _NAMED.items()}


def escaped(key: str) -> set[str]:
    """A key as texts may hold it: as it is, in JSON, Python, HTML and URLs."""
    plain = {key, json.dumps(key)[1:-1], repr(key)[1:-1]}
    return plain | set(map(html.escape, plain)) | {quote(key), quote(key, safe=""), quote_plus(key)}


def coded(key: str) -> set[str]:
    """What base64 of a text that holds the key has in common, whatever stands around it, but for its ends."""
    return {base64.b64encode(b"\0" * n + key.encode()).decode()[-(-n * 8 // 6) : -4] for n in range(3)}


class Listening(ScriptedServer):
    """A scripted server that keeps what came as it came, headers with keys included."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.heard: list[Request] = []

    async def answer(self, request: Request) -> HttpReply:
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


def repository(folder: Path) -> Path:
    """A repository with keys in files, in names and in the history."""
    root = folder / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "keys.py").write_text(LINES)
    (root / "src" / "store.py").write_text(f"lock = 1  # {LITTER}\n" * 3)
    (root / f"{OTHERS['github']}.md").write_text("a file whose name is a key\n")
    (root / ".env").write_text(LINES)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", f"Move the orders: {LITTER}"]):
        subprocess.run([*git, *command], cwd=root, check=True, stdin=subprocess.DEVNULL)
    return root


def thinks(text: str) -> Answer:
    return Answer(({"type": "thinking", "thinking": text, "signature": "c2ln"},))


def answers() -> dict[str, Any]:
    """The answers of a plan run that blocks, with keys in all that the agents say."""
    said = littered(script(), *SAID) | {"i1/panel/r1/panel-3": "error", "i2/score": scores(7), "i2/audit": scores(7)}
    said["i3/score"] = littered(scores(7), "evidence")
    return said | {"i3/audit": littered(scores(7, risk_coverage=4), "evidence")}


def first() -> dict[str, Answer | list[Answer]]:
    """What models say before they answer: tools called for keys and with keys, prose, and errors that quote them."""
    reads = calls("Read", path="src/keys.py") + calls("Read", path=LITTER) + calls("Read", path=".env")
    odd = calls("Read", file=LITTER) + calls(f"Tool-{LIVE}", path="a") + calls("Grep", pattern=LITTER)
    web = calls("WebSearch", query="orders", serves="U1") + calls("memory_search", query="orders moved", serves=LITTER)
    asked = web + calls("WebFetch", url=f"https://x.example/?k={quote(LIVE, safe='')}", serves="U1")
    return {
        "i1/challenger/t1": thinks(LITTER)
        + says(LINES)
        + reads
        + odd
        + calls("Grep", pattern="key|BEGIN|AKIA|[a-z]{9}"),
        "i1/challenger/t2": says(f"I found {LINES}, and give no JSON"),
        "i1/domain-expert/t1": REFUSED,
        "i1/panel/r1/panel-3/t1": REFUSED,
        "i1/resolver/t1": asked,
        "i1/resolver/t1/w1": REFUSED,
        "i1/resolver/t1/w3": fetches("https://x.example", page=LINES, text=LINES),
        "i1/surface/t1": calls("git_log", paths=[]) + calls("memory_search", query="orders moved"),
    }


def agents_files(folder: Path) -> list[Path]:
    """Files for `--agents` with keys where none belongs."""
    texts = (
        f"model = 'm'\napi_key = '{RING}'\n",
        f"model = 'm'\n[workers.ann]\napi_key = '{RING}'\nbase_url = 'http://user:{PASSWORD}@localhost'\n",
        f"model = 'm'\n[models.worker]\nmodel = '{OTHERS['github']}'\nx_{RING} = 1\n",
        f"model = 'm'\n'{OTHERS['github']}' = 1\nsee {OTHERS['anthropic']}\n",
    )
    paths = [folder / f"agents-{number}.toml" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


class OwnBackend:
    """A backend of somebody's own, which shows keys in all that it tells."""

    def describe(self) -> dict[str, Any]:
        return {
            "name": "own",
            "headers": {"x-api-key": LIVE},
            "path": Path(f"/srv/{LIVE}"),
            "set": {LIVE},
            LITTER: LINES,
        }

    def check_worker(self, _: str) -> str | None:
        return None

    async def answer(self, request: Any) -> Reply:
        if request.worker == "ann":
            raise ValueError(f"cannot log in with {LIVE}", LITTER)
        votes = {item.finding_id: AGREE | {"explanation": LITTER} for item in request.items} | {LITTER: COUNTER}
        used = (ToolUse(tool="Read", argument=LITTER, refused=f"not with {LIVE}"),)
        return Reply(value={"votes": votes}, tools=used)


class OwnTalker(OwnBackend):
    """The same with calls of several turns, the first of which adds what it should not."""

    max_concurrency = 2

    def session(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def at(self, _: object) -> Self:
        return self

    def budget_problem(self, _: str) -> str | None:
        return None

    async def converse(self, request: Any, turns: Turns) -> Reply:
        used = (ToolUse(tool="Read", argument=LITTER, refused=f"not with {LIVE}"),)
        added = ({"type": "text", "text": LINES},)
        turn = TurnSent(call_id=f"{request.call_id}/t1", model=LITTER, request_sha256="", added=added, tools=used)

        async def sends() -> ModelReply:
            return ModelReply({"content": [{"type": "text", "text": LINES}], LITTER: 1}, Usage())

        await turns.exchange(turn, sends)
        return await self.answer(request)
