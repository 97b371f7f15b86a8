"""Estimate the tokens of one call of a model, from its first request and the allowances that this page lists."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any, Literal, NamedTuple

from pydantic_core import to_json

from verifyplan.protocol.call import Tool, Usage
from verifyplan.protocol.role_call import Role
from verifyplan.rules.guards import MAX_ACTIVE

CaseName = Literal["low", "expected", "high"]
PlayedRole = Role | Literal["worker"]
"""A role of a plan run; `worker` is the role of all who vote, in panels and in cross runs."""

CHARACTERS_PER_TOKEN = 4
"""The usual rule of thumb for English and code; tokenizers of models differ by up to a third."""

ANSWER_TOKENS: Mapping[Role, int] = {
    "challenger": 950,  # three challenges of 240, three unknowns of 75
    "resolver": 300,  # three findings of 100
    "surface": 400,  # four contexts of 100
    "probe": 450,  # three risks of 150
    "domain-expert": 240,  # a challenge
    "devils-advocate": 240,  # a challenge
    "synthesizer": 400,  # three resolutions of 100, a directive
    "score": 350,  # six scores of 55, with what they rest on
    "audit": 350,  # the same
}
"""Tokens of an answer of typical length: some more than half of the entries that a role may give, a sentence or two in
each field."""

VOTE_TOKENS = 130
"""Tokens of one vote: 20 of id, verdict and basis, and an explanation of 110, as much as models that do not think wrote
for an answer in recorded debates (`datasets.votes("debate-rounds")`: 133 and 87)."""

CHALLENGE_TOKENS = 240
"""Tokens of a challenge as a panel reads it: claim, concern, scenario and evidence of a sentence or two each."""

TOOL_CALL_TOKENS = 80
"""Tokens in which a model calls one tool, with a word on why."""

THOUGHT_TOKENS = 4_000
"""Tokens that a model may think in a turn where it is left to it how long; a request with its own budget uses that."""

EFFORTS: Mapping[str | None, float] = {"low": 0.5, "medium": 0.75, None: 1.0, "high": 1.0, "xhigh": 1.5, "max": 2.0}
"""How long answers and thoughts are by effort; that of no effort named is high, the default of the API."""

MIN_CACHED_TOKENS = 1_024
"""The shortest beginning of a request that is put in a cache; some models keep only longer ones, of up to 4,096."""

RESULT_TOKENS: Mapping[Tool, tuple[int, int]] = {
    "Read": (1_500, 5_000),  # a file of 120 lines; the 400 lines that one call shows
    "Grep": (400, 4_000),  # 20 hits; the 200 that one search shows, of 80 characters
    "memory_search": (600, 5_000),  # two passages of 300; the five that one search shows, of 4,000 characters
    "git_log": (400, 1_500),  # six commits; the 20 that one call shows, with their files
    "WebSearch": (500, 4_000),  # a short report; the longest that is asked for
    "WebFetch": (500, 4_000),
}
"""Tokens of a tool's result: a usual one, and about the largest that the tools give."""

LOOKED_UP_TOKENS = 20_000
"""Tokens of web pages that an endpoint reads for one look-up: what is allowed of a fetched page."""


MAX_READS = 16
"""Reads of one call at most: the eight of rule A12, which a synthesizer may double."""


class Case(NamedTuple):
    """How far runs go in one case, and how much models say and look up on the way."""

    meaning: str
    """The assumptions about plan runs, in words."""
    votes: str
    """The assumptions about cross runs, in words."""
    iterations: float
    """The share of a plan run's iterations that are made, rounded up; at least one."""
    challenges: int
    """Challenges that a panel votes on in an iteration; with none, no unknown is listed either."""
    exhaustive: bool
    """Whether every role is called in each iteration, and tools give the most that they can."""
    carried: float
    """The share of a round's findings that are voted on again in the next."""
    asked: float
    """The share of the workers that are asked whom a stop within a round may spare."""
    tools: float
    """The share of the tool calls of a role that are made."""
    tools_per_message: int
    """Tool calls that a model makes in one message."""
    length: float
    """Answers, in typical lengths."""
    thinking: float
    """The share of the thoughts that are allowed."""


CASES: Mapping[CaseName, Case] = {
    "low": Case(
        meaning="nothing is challenged, one iteration or round, no tool calls, answers that say little",
        votes="there is one round, only the workers that no stop may spare are asked, answers are short",
        iterations=0.0, challenges=0, exhaustive=False, carried=0.0, asked=0.0,
        tools=0.0, tools_per_message=1, length=0.05, thinking=0.0,
    ),
    "expected": Case(
        meaning="a third of the iterations (two thirds by the policy deliberate), 3 challenges in the first and fewer "
        "later, 45 % of the findings voted on again, half of the workers whom a stop may spare, a fifth of the tool "
        "calls, answers of typical length",
        votes="45 % of the findings are voted on again in the next round, half of the workers that a stop may spare "
        "are asked, answers have typical length",
        iterations=1 / 3, challenges=3, exhaustive=False, carried=0.45, asked=0.5,
        tools=1 / 5, tools_per_message=2, length=1.0, thinking=0.5,
    ),
    "high": Case(
        meaning="nothing is settled before the last iteration or round, every tool call is made, answers are long",
        votes="every worker votes on every finding of others in every round, answers are long",
        iterations=1.0, challenges=MAX_ACTIVE, exhaustive=True, carried=1.0, asked=1.0,
        tools=1.0, tools_per_message=1, length=2.0, thinking=1.0,
    ),
}  # fmt: skip
"""The three cases. Runs of scripted and of static agents lie between low and high on all bundled plans and claims. The
expected case was fitted to simulated models (`benchmarks/estimates.py`): no runs of models were at hand."""


class FileTokens(NamedTuple):
    """The tokens of the files that can be read."""

    usual: int
    """Of a file, in the mean."""
    parts: tuple[int, ...]
    """Of the largest parts that one call shows, the largest first: as many as there are, or as anybody reads."""

    @classmethod
    def of(cls, sizes: Iterable[int]) -> FileTokens:
        """Return those of files of so many bytes.

        >>> FileTokens.of([44_000, 4_000])
        FileTokens(usual=6000, parts=(5000, 5000, 1000, 1000))
        """
        tokens, shown = [size // CHARACTERS_PER_TOKEN for size in sizes], RESULT_TOKENS["Read"][1]
        largest = nlargest(MAX_READS, tokens)
        parts = (
            min(shown, size - start) for size in largest for start in range(0, min(size, MAX_READS * shown), shown)
        )
        return cls(sum(tokens) // max(len(tokens), 1), tuple(nlargest(MAX_READS, parts)))


class CallUse(NamedTuple):
    """The use of one call: each request to the endpoint, and the tokens of the answer without thoughts."""

    model: str
    requests: tuple[Usage, ...]
    answer: int
    cut: bool
    """Whether the answer is likely to be cut off, being longer than `max_tokens`."""


def call_use(
    body: Mapping[str, Any],
    case: Case,
    answer: int,
    added: int = 0,
    tools: Mapping[Tool, int] | None = None,
    files: FileTokens | None = None,
    kept: KeptBeginnings | None = None,
) -> CallUse:
    """Return the use of a call with this first request, of a typical answer of so many tokens.

    `added` are tokens that the prompt has beside what the body holds, such as the record of a run so far; `tools` the
    calls that the role has of each tool, of which those count that the body offers; `files` those that can be read;
    `kept` what calls before it left in the cache. With tools, every turn reads what was said before from the cache, if
    the body marks anything to be cached.
    """
    effort = EFFORTS[body.get("output_config", {}).get("effort")]
    thoughts = round(case.thinking * effort * _allowed_thoughts(body))
    said = round(case.length * effort * answer)
    limit = int(body["max_tokens"])
    offered = {tool["name"] for tool in body.get("tools", ())}
    calls = [tool for tool, most in (tools or {}).items() if tool in offered for _ in range(int(case.tools * most))]
    results = _results(calls, case, files)
    prompt, marked = prompt_tokens(body)
    prompt += added
    marked = prompt if marked and offered else marked
    marked = marked if marked >= MIN_CACHED_TOKENS else 0
    requests: list[Usage] = []
    read = kept.read(body) if kept is not None and not case.exhaustive else 0
    step = case.tools_per_message
    for first in range(0, len(calls), step):
        out = min(len(calls[first : first + step]) * TOOL_CALL_TOKENS + thoughts, limit)
        requests.append(_usage(prompt, marked, read, out))
        read = marked
        prompt += out + sum(results[first : first + step])
        marked = prompt if marked else 0
    requests.append(_usage(prompt, marked, read, min(said + thoughts, limit)))
    return CallUse(
        str(body["model"]),
        (*requests, *(_look_up(tool, case) for tool in calls if tool.startswith("Web"))),
        min(said, limit),
        said + thoughts > limit,
    )


class KeptBeginnings:
    """The beginnings of requests that the calls of a run so far left in the endpoint's cache.

    Calls that are made at once each write theirs, and a beginning is dropped after minutes: neither is counted, but
    that the high case reads none.
    """

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def read(self, body: Mapping[str, Any]) -> int:
        """Return the tokens of the longest kept beginning of a request, and keep those that it marks."""
        digest, length, read = hashlib.sha256(to_json(body["model"])), 0, 0
        marks: set[bytes] = set()
        for text, characters, marked in _blocks(body):
            digest.update(text)
            length += characters
            if marked and length >= MIN_CACHED_TOKENS * CHARACTERS_PER_TOKEN:
                marks.add(digest.digest())
                read = length // CHARACTERS_PER_TOKEN if digest.digest() in self._kept else read
        self._kept |= marks
        return read


def _results(calls: Sequence[Tool], case: Case, files: FileTokens | None) -> list[int]:
    """Return the tokens of the results: no read is longer than what files have, no part of one is read twice."""
    results = [RESULT_TOKENS[tool][case.exhaustive] for tool in calls]
    if files is None:
        return results
    parts = iter(files.parts)
    return [
        size if tool != "Read" else next(parts, 0) if case.exhaustive else min(size, files.usual)
        for tool, size in zip(calls, results, strict=True)
    ]


def prompt_tokens(body: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens of a request, and those up to its last mark for the cache.

    The schema of the answer counts, too: an endpoint tells a model of it in its own words.

    >>> mark = {"cache_control": {"type": "ephemeral"}}
    >>> prompt_tokens({"system": [{"text": "x" * 80} | mark], "messages": [{"content": [{"text": "y" * 40}]}]})
    (30, 20)
    """
    total = marked = 0
    for _, length, is_marked in _blocks(body):
        total += length
        marked = total if is_marked else marked
    return total // CHARACTERS_PER_TOKEN, marked // CHARACTERS_PER_TOKEN


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[bytes, int, bool]]:
    """Yield each block that a model reads, in its order, its characters, and whether it is marked for the cache."""
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    for definition in ([schema] if schema else []) + list(body.get("tools", ())):
        written = to_json(definition)
        yield written, len(written), False
    for block in [*body["system"], *(block for message in body["messages"] for block in message["content"])]:
        yield block["text"].encode(), len(block["text"]), "cache_control" in block


def _usage(prompt: int, marked: int, read: int, output: int) -> Usage:
    """Return the use of a request that marks so many tokens of its prompt, of which some are in the cache already."""
    return Usage(
        input_tokens=prompt - marked,
        cache_read_tokens=read,
        cache_write_tokens=marked - read,
        output_tokens=output,
    )


def _look_up(tool: Tool, case: Case) -> Usage:
    """Return the use of one look at the web, which is a separate request."""
    report = RESULT_TOKENS[tool][case.exhaustive]
    return Usage(input_tokens=LOOKED_UP_TOKENS, output_tokens=report, web_searches=int(tool == "WebSearch"))


def _allowed_thoughts(body: Mapping[str, Any]) -> int:
    """Return the tokens that a model may think in one turn: none where it is not asked to."""
    asked: Mapping[str, Any] = body.get("thinking") or {}
    return int(asked.get("budget_tokens", THOUGHT_TOKENS if asked.get("type") == "adaptive" else 0))
