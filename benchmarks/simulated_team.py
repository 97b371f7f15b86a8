"""Models that are simulated: workers who vote as real ones did, and the team of a plan, drawn by a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from tests.live.live_runs import LABELS, findings_of, mode_of, turn_of
from tests.live.scripted_asked import Asked
from tests.live.scripted_replies import Answer, calls, says_json
from tests.live.scripted_usage import CHARACTERS_PER_TOKEN
from verifyplan.protocol.event_run import call_of
from verifyplan.protocol.records import DIMENSIONS

TEXT = """The order store keeps a row of each parcel until its carrier says that it was handed over, while another job
may read, lock, write or drop what the plan calls stale, and nothing in this file checks that, so that retries fail."""
WORDS = re.findall(r"\w+", TEXT.lower())
SENTENCE = (12, 25)
"""Words of a sentence, at least and at most."""
SETTLED = 0.6
"""The share of open challenges that a synthesizer settles in an iteration."""
EXPLANATION = (2, 3)
"""Sentences of a vote's explanation, where nobody's own length is known."""


def sentence(chance: random.Random) -> str:
    """Return a sentence of usual length."""
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(*SENTENCE))).capitalize() + "."


def field(chance: random.Random) -> str:
    """Return a sentence or two."""
    return " ".join(sentence(chance) for _ in range(chance.randint(1, 2)))


class Voters:
    """Votes as workers did whose votes are in a table: item, worker, round, agrees."""

    def __init__(self, votes: pd.DataFrame, lengths: Sequence[int]) -> None:
        keys = zip(votes["item"], votes["worker"], votes["round"], strict=True)
        self._agrees = dict(zip(keys, votes["agrees"].astype(bool), strict=True))
        self._chance, self._lengths = random.Random(17), lengths

    def __call__(self, asked: Asked) -> Answer:
        """Return the votes on what is asked for; of an item that a worker never saw, agreement."""
        place, worker = call_of(turn_of(asked)).split("/")[:2]
        mode = mode_of(asked)
        votes = []
        for name in findings_of(asked):
            agrees = self._agrees.get((name, worker, int(place[1:])), True)
            characters = CHARACTERS_PER_TOKEN * self._chance.choice(self._lengths)
            words = " ".join(sentence(self._chance) for _ in range(1 + characters // 80))[:characters]
            basis = {} if agrees or mode != "adversarial" else {"disagree_basis": "counter-evidence"}
            label = LABELS[mode]["agree" if agrees else "disagree"]
            votes.append({"finding_id": name, "explanation": words, "verdict": label, **basis})
        return says_json({"votes": votes})


class Team:
    """The roles of a plan run: what each looks up and says is drawn by a seed."""

    def __init__(self, files: Sequence[str], seed: int = 17) -> None:
        self._files, self._chance = files, random.Random(seed)
        self._open: list[str] = []
        self._raised = self._asked_for = 0
        self._left: dict[str, int] = {}  # tool calls that a call still makes

    def __call__(self, asked: Asked) -> Answer:
        """Return tool calls, one or two in a message, and then the answer of the role."""
        call = call_of(turn_of(asked))
        left = self._left.setdefault(call, self._chance.randint(0, 4))
        if left and {"Read", "Grep"} & set(asked.tools) and asked.body.get("tool_choice") is None:
            count = min(left, self._chance.randint(1, 2))
            self._left[call] -= count
            return sum((self._look() for _ in range(count - 1)), self._look())
        role = call.split("/")[1]
        if mode := mode_of(asked):
            return says_json({"votes": [self._vote(name, mode) for name in findings_of(asked)]})
        return says_json(getattr(self, "_" + role.replace("-", "_"))(int(call[1 : call.index("/")])))

    def _look(self) -> Answer:
        if self._chance.random() < 1 / 3:
            return calls("Grep", pattern=self._chance.choice(WORDS))
        return calls("Read", path=self._chance.choice(self._files))

    def _vote(self, name: str, mode: str) -> dict[str, Any]:
        agrees = self._chance.random() < 0.6
        basis = {} if agrees or mode != "adversarial" else {"disagree_basis": "counter-evidence"}
        label = LABELS[mode]["agree" if agrees else "disagree"]
        words = " ".join(sentence(self._chance) for _ in range(self._chance.randint(*EXPLANATION)))
        return {"finding_id": name, "explanation": words, "verdict": label, **basis}

    def _challenges(self, least: int, most: int) -> list[dict[str, Any]]:
        raised = []
        for _ in range(self._chance.randint(least, most)):
            self._raised += 1
            fields = ("claim", "concern", "failure_scenario", "alternative")
            words = {name: f"`part{self._raised}` {field(self._chance)}" for name in fields}
            place = f"{self._chance.choice(self._files)}:{self._chance.randint(1, 30)}"
            severity = self._chance.choice(("BLOCKING", "SIGNIFICANT", "SIGNIFICANT", "MINOR"))
            raised.append({**words, "severity": severity, "confidence": "HIGH", "evidence": place})
        self._open += [f"C{self._raised - n}" for n in range(len(raised))]
        return raised

    def _challenger(self, iteration: int) -> dict[str, Any]:
        unknowns = [
            {"description": field(self._chance), "type": "API_BEHAVIOR", "affects": None, "suggested_query": "x"}
            for _ in range(self._chance.randint(1, 3))
        ]
        self._asked_for = len(unknowns)
        return {"challenges": self._challenges(*((2, 4) if iteration == 1 else (0, 1))), "unknowns": unknowns}

    def _domain_expert(self, iteration: int) -> dict[str, Any]:
        return {"challenges": self._challenges(0, 2) if iteration == 1 else []}

    _devils_advocate = _domain_expert

    def _resolver(self, iteration: int) -> dict[str, Any]:  # noqa: ARG002
        finding = f"[VERIFIED: {self._chance.choice(self._files)}:3 | {field(self._chance)} | none]"
        named = [f"U{n}" for n in range(1, 1 + self._asked_for)]
        return {"answers": [{"id": name, "resolution": "CONFIRMED", "finding": finding} for name in named]}

    def _surface(self, iteration: int) -> dict[str, Any]:  # noqa: ARG002
        found = {"source": "codebase", "location": f"{self._files[0]}:1", "impact": "confirms_approach"}
        return {"contexts": [found | {"relevance": field(self._chance)} for _ in range(self._chance.randint(2, 5))]}

    def _probe(self, iteration: int) -> dict[str, Any]:  # noqa: ARG002
        known = {"probability": "MED", "severity": "MINOR", "evidence": f"{self._files[0]}:2"}
        words = ("risk", "trigger", "cascade")
        count = self._chance.randint(1, 4)
        return {"risks": [known | {name: field(self._chance) for name in words} for _ in range(count)]}

    def _synthesizer(self, iteration: int) -> dict[str, Any]:  # noqa: ARG002
        settled = [name for name in self._open if self._chance.random() < SETTLED]
        changes = [
            {
                "challenge": name,
                "status": "RESOLVED" if name in settled else "UNRESOLVED",
                "resolution": f"{field(self._chance)} See {self._files[0]}:3",
            }
            for name in self._open
        ]
        self._open = [name for name in self._open if name not in settled]
        return {"changes": changes}

    def _score(self, iteration: int) -> dict[str, Any]:  # noqa: ARG002
        return {"scores": {name: {"score": 7, "evidence": field(self._chance)} for name in DIMENSIONS}}

    _audit = _score
