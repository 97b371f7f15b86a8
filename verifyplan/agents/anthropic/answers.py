"""From what a model wrote to an answer, or to words that say all that is wrong with it (rules A11, G3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from verifyplan.agents.anthropic.api_schema import api_schema
from verifyplan.agents.anthropic.json_text import JsonCandidate, UnusableValue, find_object
from verifyplan.agents.anthropic.wire import MISSING_BASIS, VERDICT_LABELS, answer_model, protocol_value
from verifyplan.agents.base import Request
from verifyplan.errors import AgentError, Problem
from verifyplan.protocol.call import WorkerRequest, WorkerVote
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.message_schema import MessageError, check_answer
from verifyplan.protocol.plan_call import RoleRequest
from verifyplan.protocol.vote import BASES
from verifyplan.rules.ballots import read_vote, read_votes
from verifyplan.rules.entries import read_entries

_SHOWN = 60
_MOST = 1_000
"""Problems of a kind that are told: an answer with more is no better understood by all of them."""
_WHOLE = "the answer"


class AnswerError(AgentError):
    """What a model wrote is no answer; the text tells it what is wrong, for the one turn in which to repair it."""

    shown_problems = 50


def answer_schema(request: Request) -> dict[str, Any]:
    """The JSON Schema that the API is to hold the answer to: of `wire_schema`, without what the API does not take."""
    return api_schema(answer_model(request))


def parse_answer(request: Request, text: str) -> dict[str, Any]:
    """The answer in a model's text as the JSON values that the loop expects; AnswerError listing all that is wrong.

    The text may hold prose or a fence around the JSON; of several objects the last that looks like an answer is taken.
    Two votes on a finding, two grants of a tool, and an adversarial REFUTED without a basis are errors, which a repair
    turn can mend; what it does not mend is left to `repaired`. Votes on findings that were not asked about are kept,
    and so are left-out ones left out: the loop tells the one as refused and the other as verification errors (rule
    B8). Scores must be six, whole and with evidence: unlike the rules, which would refuse a score, a repair turn can
    still mend it.
    """
    schema, piece = answer_model(request), _object(request, text)
    if piece.problem:
        raise AnswerError(Problem(_WHOLE, piece.problem, "answer with one JSON object and nothing else"))
    problems = [*islice(_repeated(piece.value), _MOST)]
    try:
        answer = schema.model_validate(piece.value)
    except ValidationError as error:
        problems += [_problem(one, request) for one in error.errors(include_url=False)[:_MOST]]
    if problems:
        raise AnswerError([*_of_message(request, piece.value), *problems])
    return protocol_value(answer)


def _of_message(request: Request, value: Any) -> Iterator[Problem]:
    """What of a debate's answer breaks the schema of messages, as programs read it (rule C1); nothing of others."""
    if isinstance(request, DebateRequest):
        try:
            check_answer(value, request.role)
        except MessageError as error:
            yield Problem(_WHOLE, str(error), "mend what is listed")


def _object(request: Request, text: str) -> JsonCandidate:
    keys = list(answer_model(request).model_fields)
    return find_object(text, keys[0], keys)


def merge_repair(request: Request, first: str, second: str) -> dict[str, Any] | None:
    """An answer and the one that repairs it as one, for the loop to read entry by entry (rules A11, B8).

    Of a worker's votes the second answer's count, but that a refutation of the first stands where the second gives
    none: only its form was asked about (rule B4). Of a role's two answers the one with more usable entries counts, its
    bad ones included, for the loop to refuse; of equals the second. None where neither can be used, and in debates.
    """
    if isinstance(request, RoleRequest):
        read = [found for text in (second, first) if (found := _entries(request, text)) is not None]
        return max(read, key=lambda found: found[0])[1] if read else None
    return _repaired_votes(request, first, second) if isinstance(request, WorkerRequest) else None


def _entries(request: RoleRequest, text: str) -> tuple[int, dict[str, Any]] | None:
    """How many entries of an answer can be used, and the answer with the others as they stand."""
    written = _object(request, text).value
    read = read_entries(answer_model(request), written)
    if read is None:
        return None
    value = protocol_value(read.answer)
    usable = sum(len(entries) for entries in value.values() if isinstance(entries, list))
    for one in read.refused:
        entries, at = value[one.field], one.position - 1
        entries[at : at + bool(one.part)] = [written[one.field][at]]
    return usable, value


def _repaired_votes(request: WorkerRequest, first: str, second: str) -> dict[str, Any] | None:
    before, after = _votes(request, first), _votes(request, second)
    stands = {name: entry for name, entry in before.items() if _stands(entry, after.get(name))}
    votes = {"votes": before | after | stands}
    return votes if votes["votes"] and isinstance(read_votes(votes), dict) else None


def _stands(first: object, second: object) -> bool:
    """Whether the first vote on a finding counts: the second cannot be read, or takes a refutation back."""
    before, after = read_vote(first), read_vote(second)
    if isinstance(before, str) or isinstance(after, str):
        return isinstance(before, WorkerVote)
    return before.verdict == "disagree" != after.verdict


def _votes(request: Request, text: str) -> dict[str, Any]:
    """The entries of an answer by finding, as they stand; of two on one finding, what says so."""
    value = _object(request, text).value
    entries = value.get("votes") if isinstance(value, dict) else None
    if isinstance(entries, dict):
        return entries
    votes: dict[str, Any] = {}
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("finding_id") if isinstance(entry, dict) else None
        if isinstance(name, str):
            votes[name] = entry if name not in votes or votes[name] == entry else "given twice, and not alike"
    return votes


def _repeated(value: Any) -> Iterator[Problem]:
    """Ids and tools that stand twice in lists of which the protocol makes mappings."""
    if not isinstance(value, dict):
        return
    yield from _twice(value.get("votes"), "finding_id", "votes", "give one vote for each finding")
    directives = value.get("directives")
    for at, one in enumerate(directives if isinstance(directives, list) else ()):
        if isinstance(one, dict):
            yield from _twice(one.get("tools"), "tool", f"directives[{at}].tools", "name each tool once")


def _twice(entries: Any, key: str, place: str, fix: str) -> Iterator[Problem]:
    if not isinstance(entries, list):
        return
    names = Counter(name for one in entries if isinstance(one, dict) and isinstance(name := one.get(key), str))
    for name, count in names.items():
        if count > 1:
            yield Problem(place, f"{_cut(name)} stands {count} times", fix)


def _problem(error: ErrorDetails, request: Request) -> Problem:
    """One misfit in words that a model understands without knowing what checks it."""
    place, kind, given = _place(error["loc"]), error["type"], error["input"]
    if isinstance(given, UnusableValue):
        return Problem(place, given.reason, "write plain JSON")
    if kind in _DUE:
        return Problem(place, f"is {_kind(given)}, not {_DUE[kind]}", f"give {_DUE[kind]}")
    match kind:
        case "missing":
            return Problem(place, "is missing", "add it")
        case "extra_forbidden":
            return Problem(place, "is no key of this answer", "leave it out")
        case "string_too_short":
            return Problem(place, "is blank", "write it")
        case "literal_error":
            return Problem(place, f"{_cut(given)} is not allowed", f"write {_allowed(error, request)}")
        case "string_pattern_mismatch":
            return Problem(place, *_FORMS.get(str(error["loc"][-1]), ("does not fit", error["msg"])))
        case _ if kind == MISSING_BASIS:
            return Problem(
                place, "refutes without a basis", f"keep it, and add the disagree_basis: {' or '.join(BASES)}"
            )
        case "value_error":
            return Problem(place, str(error["ctx"]["error"]), "give it, or change what calls for it")
        case _:
            due = error["msg"].replace("Input should be", "give what is")
            return Problem(place, f"{_cut(given)} does not fit", due)


def _allowed(error: ErrorDetails, request: Request) -> str:
    """What may stand at a place: of a worker's verdict the labels that it was offered."""
    if isinstance(request, WorkerRequest) and error["loc"][-1] == "verdict":
        return " or ".join(VERDICT_LABELS[request.mode])
    return str(error["ctx"]["expected"])


_DUE: dict[str, str] = {
    "model_type": "an object",
    "tuple_type": "a list",
    "string_type": "a text",
    "int_type": "a whole number",
}
"""What is due where pydantic speaks of a type."""

_FORMS: dict[str, tuple[str, str]] = {
    "finding": (
        "does not have the form [VERIFIED: source | finding | impact]",
        "write exactly that on one line, with all three parts",
    ),
    "evidence": ("is blank", "say what it rests on"),
}
"""The fields that have a form, what is wrong where they do not have it, and what to do."""


def _place(loc: tuple[int | str, ...]) -> str:
    """A place in the answer as a model would write it, such as `challenges[0].severity`."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:_SHOWN]}" for part in loc)
    return path.removeprefix(".") or _WHOLE


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _cut(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float) else _kind(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
