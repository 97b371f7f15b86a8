"""The scripted server as a process of its own, for tests that kill its client: `python serve.py SCRIPT.py --log LOG`.

SCRIPT.py defines `reply(asked)`, and in `OPTIONS` what else `ScriptedServer` takes; it can import
`tests.live.scripted_replies`. Unless OPTIONS name `models` it answers for any; its message ids are new at each start.
The first line of output is the address. It ends when its standard input does: with the process that started it, or by
Ctrl-D; in the background, `sleep infinity | python serve.py ... &` keeps that open.
"""

from __future__ import annotations

import argparse
import json
import runpy
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

from tests.live.scripted_server import ScriptedServer
from tests.processes import environment


class ServedScript:
    """That process, from `with` to its end; `requests` are the lines of its log, of all endpoints."""

    def __init__(self, script: Path, log: Path) -> None:
        self._command = [sys.executable, str(Path(__file__).resolve()), str(script), "--log", str(log)]
        self._log = log
        self.url = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> None:
        try:
            self._process.communicate(timeout=60)  # closes its input and waits
        finally:
            self._process.kill()
        if self._process.returncode and raised is None:
            raise AssertionError("the script of the server failed; it says above how")

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def count(self, path: str = "/v1/messages", method: str = "POST") -> int:
        """How many requests came to a path, which may hold `*`."""
        return sum(one["method"] == method and fnmatchcase(one["path"], path) for one in self.requests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("script", type=Path)
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    script = runpy.run_path(str(given.script))
    if "reply" not in script:
        parser.error(f"{given.script} defines no reply(asked); tests/live/anybody.py is an example of a script")
    options = {"models": (), "ids": f"{token_hex(4)}_", **script.get("OPTIONS", {})}
    with ScriptedServer(script["reply"], log=given.log, **options) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
