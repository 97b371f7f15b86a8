"""Turn a model's text into an answer, or into words that say all that is wrong with it (rules A11, G3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from verifyplan.agents.anthropic.answer_schemas import MISSING_BASIS, VERDICT_LABELS, answer_model, protocol_value
from verifyplan.agents.anthropic.json_text import JsonCandidate, UnusableValue, find_entries, find_object
from verifyplan.agents.base import Request
from verifyplan.errors import AgentError, MessageError, Problem
from verifyplan.protocol.call import WorkerRequest, WorkerVote
from verifyplan.protocol.message import check_answer
from verifyplan.protocol.role_call import DebateRequest, RoleRequest
from verifyplan.protocol.vote import BASES
from verifyplan.rules.answers import finding_of, read_entries, read_vote, read_votes
from verifyplan.text import truncate

_MAX_VALUE_CHARACTERS = 60
_MAX_PROBLEMS = 1_000
"""Problems of a kind that are reported: an answer with more is no better understood by all of them."""
MAX_SHOWN_IDS = 50
"""Findings without a vote that a repair names."""
_WHOLE = "the answer"

_TYPES: dict[str, str] = {
    "model_type": "an object",
    "tuple_type": "a list",
    "string_type": "a text",
    "int_type": "a whole number",
}
"""The expected value by pydantic's name of the error."""

_PLAIN_ERRORS: dict[str, tuple[str, str]] = {
    "missing": ("is missing", "add it"),
    "extra_forbidden": ("is no key of this answer", "leave it out"),
    "string_too_short": ("is blank", "write it"),
}
"""The message and the fix by pydantic's name of the error."""

_FORMS: dict[str, tuple[str, str]] = {
    "finding": (
        "does not have the form [VERIFIED: source | finding | impact]",
        "write exactly that on one line, with all three parts",
    ),
    "evidence": ("is blank", "say what it rests on"),
}
"""The message and the fix for each field that must have a form."""


class AnswerError(AgentError):
    """A model's text is no answer; the message says what is wrong, for the one turn in which to repair it."""

    shown_problems = 50


def parse_answer(request: Request, text: str) -> dict[str, Any]:
    """Return the answer in a model's text as the JSON values that the loop expects; AnswerError lists all problems.

    The text may hold prose or a fence around the JSON; of several objects the last that looks like an answer is taken.
    Two votes on a finding, two grants of a tool, and an adversarial REFUTED without a basis are errors, which a repair
    turn can correct; `merge_repair` handles the rest. Votes on findings that were not in the request are kept, and
    missing ones stay missing: the loop records the first as refused and the others as verification errors (rule B8).
    Scores must be six, whole and with evidence: unlike the rules, which would refuse a score, a repair turn can still
    correct it.
    """
    candidate = _object(request, text)
    if candidate.problem:
        raise AnswerError(Problem(_WHOLE, candidate.problem, "answer with one JSON object and nothing else"))
    problems = [*islice(_repeated(candidate.value), _MAX_PROBLEMS)]
    try:
        answer = answer_model(request).model_validate(candidate.value)
    except ValidationError as error:
        problems += [_problem(details, request) for details in error.errors(include_url=False)[:_MAX_PROBLEMS]]
    if problems and isinstance(request, DebateRequest):
        try:
            check_answer(candidate.value, request.role)  # the schema of messages, as programs read it (rule C1)
        except MessageError as error:
            problems.insert(0, Problem(_WHOLE, str(error), "mend what is listed"))
    if problems:
        raise AnswerError(problems)
    return protocol_value(answer)


def merge_repair(request: Request, first: str, second: str) -> dict[str, Any] | None:
    """Return an answer and its repair as one, for the loop to read entry by entry (rules A11, B8).

    Of a worker's votes the second answer's count, except that a refutation of the first counts where the second gives
    none: the repair was about its form only (rule B4). Of a role's two answers the one with more usable entries
    counts, its bad ones included, for the loop to refuse; of equals the second. None where neither can be used, and
    in debates.
    """
    if isinstance(request, RoleRequest):
        answers = [entries for text in (second, first) if (entries := _usable_entries(request, text)) is not None]
        return max(answers, key=lambda entries: entries[0])[1] if answers else None
    if not isinstance(request, WorkerRequest):
        return None
    before, after = _votes(request, first), _votes(request, second)
    kept = {name: entry for name, entry in before.items() if _keeps_first(entry, after.get(name))}
    votes = {"votes": before | after | kept}
    return votes if votes["votes"] and isinstance(read_votes(votes), dict) else None


def _object(request: Request, text: str) -> JsonCandidate:
    keys = list(answer_model(request).model_fields)
    return find_object(text, keys[0], keys)


def _usable_entries(request: RoleRequest, text: str) -> tuple[int, dict[str, Any]] | None:
    """Return the number of entries of an answer that can be used, and the answer with the others as written."""
    written = _object(request, text).value
    read = read_entries(answer_model(request), written)
    if read is None:
        return None
    value = protocol_value(read.answer)
    usable = sum(len(entries) for entries in value.values() if isinstance(entries, list))
    for refused in read.refused:
        entries, at = value[refused.field], refused.position - 1
        entries[at : at + bool(refused.part)] = [written[refused.field][at]]
    return usable, value


def _keeps_first(first: object, second: object) -> bool:
    """Return whether the first vote on a finding counts: the second is unreadable, or takes a refutation back."""
    before, after = read_vote(first), read_vote(second)
    if isinstance(before, str) or isinstance(after, str):
        return isinstance(before, WorkerVote)
    return before.verdict == "disagree" != after.verdict


def _votes(request: Request, text: str) -> dict[str, Any]:
    """Return the entries of an answer by finding, as written; of two unequal ones on one finding, a text.

    Of an answer that is cut off or damaged these are the entries that came whole.
    """
    value = _object(request, text).value
    entries = value.get("votes") if isinstance(value, dict) else None
    if isinstance(entries, dict):
        return entries
    votes: dict[str, Any] = {}
    for entry in entries if isinstance(entries, list) else find_entries(text):
        name = finding_of(entry)
        if isinstance(name, str) and name:
            votes[name] = entry if name not in votes or votes[name] == entry else "given twice, and not alike"
    return votes


def check_ids(request: Request, value: Mapping[str, Any]) -> None:
    """Raise AnswerError where votes are on findings that the request does not have, and some of its own have none.

    Models that are held to no schema make up ids, such as numbers; one turn may put that right.
    """
    votes = value.get("votes")
    if not isinstance(request, WorkerRequest) or not isinstance(votes, Mapping):
        return
    asked = {item.finding_id: None for item in request.items}
    missing = ", ".join(map(_short, islice((name for name in asked if name not in votes), MAX_SHOWN_IDS)))
    strays = [name for name in votes if name not in asked] if missing else []
    fix = f"spell the ids as they are in the marks of the findings; these have no vote yet: {missing}"
    if strays:
        problems = (Problem("votes", f"{_short(name)} is no finding of this request", fix) for name in strays)
        raise AnswerError(islice(problems, _MAX_PROBLEMS))


def _repeated(value: Any) -> Iterator[Problem]:
    """Yield ids and tools that are twice in lists of which the protocol makes mappings."""
    if not isinstance(value, dict):
        return
    yield from _duplicates(value.get("votes"), "finding_id", "votes", "give one vote for each finding")
    directives = value.get("directives")
    for at, directive in enumerate(directives if isinstance(directives, list) else ()):
        if isinstance(directive, dict):
            yield from _duplicates(directive.get("tools"), "tool", f"directives[{at}].tools", "name each tool once")


def _duplicates(entries: Any, key: str, place: str, fix: str) -> Iterator[Problem]:
    if not isinstance(entries, list):
        return
    names = Counter(name for entry in entries if isinstance(entry, dict) and isinstance(name := entry.get(key), str))
    for name, count in names.items():
        if count > 1:
            yield Problem(place, f"{_short(name)} stands {count} times", fix)


def _problem(error: ErrorDetails, request: Request) -> Problem:
    """Return one error in words that a model understands without knowing what checks it."""
    kind, value = error["type"], error["input"]
    keys = (f"[{part}]" if isinstance(part, int) else f".{part[:_MAX_VALUE_CHARACTERS]}" for part in error["loc"])
    place = "".join(keys).removeprefix(".") or _WHOLE  # as a model would write it: `challenges[0].severity`
    if isinstance(value, UnusableValue):
        return Problem(place, value.reason, "write plain JSON")
    if kind in _TYPES:
        return Problem(place, f"is {_kind(value)}, not {_TYPES[kind]}", f"give {_TYPES[kind]}")
    if kind in _PLAIN_ERRORS:
        return Problem(place, *_PLAIN_ERRORS[kind])
    match kind:
        case "literal_error":
            expected = str(error["ctx"]["expected"])
            if isinstance(request, WorkerRequest) and error["loc"][-1] == "verdict":
                expected = " or ".join(VERDICT_LABELS[request.mode])
            return Problem(place, f"{_short(value)} is not allowed", f"write {expected}")
        case "string_pattern_mismatch":
            return Problem(place, *_FORMS.get(str(error["loc"][-1]), ("does not fit", error["msg"])))
        case _ if kind == MISSING_BASIS:
            fix = f"keep it, and add the disagree_basis: {' or '.join(BASES)}"
            return Problem(place, "refutes without a basis", fix)
        case "value_error":
            return Problem(place, str(error["ctx"]["error"]), "give it, or change what calls for it")
        case _:
            fix = error["msg"].replace("Input should be", "give what is")
            return Problem(place, f"{_short(value)} does not fit", fix)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float) else _kind(value)
    return truncate(text, _MAX_VALUE_CHARACTERS)
