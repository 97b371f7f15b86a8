"""Batches answered from the scripts that `ScriptedBackend` takes: which turn is asked is told by the journal.

with ScriptedServer(Posted(Played(script()), folder)) as server:
    batch_verify([...], backend=speaking_to(server), log_dir=folder, **QUICK)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.live.scripted_asked import Asked
from tests.live.scripted_server import ScriptedServer
from verifyplan.runs.batch.journal import NAME, BatchedExchange, Journal

QUICK: dict[str, Any] = {"poll": 0.02, "settle": 0.15, "progress": False}
"""How long is waited: for what belongs together, so long that a busy machine does not tear it apart."""


class Posted:
    """Lets a script answer batched requests as it answers single ones, with the header that names the turn.

    `play` is one script, or scripts by the name of a run's log.
    """

    def __init__(self, play: Callable[[Asked], Any] | Mapping[str, Callable[[Asked], Any]], folder: Path) -> None:
        self._play, self._folder = play, folder

    def __call__(self, asked: Asked) -> Any:
        if not asked.in_batch:
            assert callable(self._play), "a single request names no run"
            return self._play(asked)
        entry = self.entry(asked)
        play = self._play if callable(self._play) else self._play[entry.run.split()[0]]
        return play(replace(asked, headers={"x-verifyplan-turn": quote(entry.turn)}))

    def entry(self, asked: Asked) -> BatchedExchange:
        """What the journal says of a request."""
        [path] = self._folder.rglob(NAME)
        return next(one[asked.custom_id] for one in entries(path) if asked.custom_id in one)


def entries(path: Path) -> list[Mapping[str, BatchedExchange]]:
    """What each batch of a journal holds, by custom id, in order."""
    return [intent.requests for intent in Journal(path).intents.values()]


def items(server: ScriptedServer, folder: Path) -> list[tuple[str, str]]:
    """Run and turn of all requests that reached the server in batches, in the order in which they came."""
    [path] = folder.rglob(NAME)
    known = {name: entry for one in entries(path) for name, entry in one.items()}
    return [(known[name].run.split()[0], known[name].turn) for batch in server.batches for name in batch.params]
