"""Read the answers of agents: whole, entry by entry, or vote by vote, in any spelling; a fault costs the rest nothing.

Rules A11 (entries), B4 and B8 (votes).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from verifyplan.protocol.call import WorkerVote
from verifyplan.protocol.vote import BASES, MODES, VERDICT_OF_LABEL, VERDICTS, Basis, Mode, Verdict
from verifyplan.text import counted

A = TypeVar("A", bound=BaseModel)

RECEIVED_LENGTH = 60
"""Characters of a received value that a reason shows."""

NESTED = "challenge"
"""Refused parts of a context or a risk: the finding is kept, and the rules still raise its challenge."""


def parse_answer(schema: type[A], value: object) -> A | str:
    """Return a reply's value as the answer it should be, else what is wrong with it."""
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"]) or "the whole answer"
        return f"answer outside its schema, {error.error_count()} problems, the first at {place:.80}: {first['msg']}"


class RefusedEntry(NamedTuple):
    """An entry of a list, or its nested challenge, that is outside the schema; positions count from 1."""

    field: str
    position: int
    part: str
    reason: str


class ReadAnswer(NamedTuple):
    """The entries of an answer that count, and those that do not."""

    answer: Any
    refused: tuple[RefusedEntry, ...]


def read_entries(schema: type[A], value: object) -> ReadAnswer | None:
    """Read an answer and leave out the entries of its lists that are outside the schema.

    None where the rest is outside the schema, too, or where the answer has entries and none can be used: its first
    list decides, unless that is empty. A bad challenge within a context or a risk is refused alone.
    Source: rule A11.

    >>> from verifyplan.protocol.role_call import SynthesizerAnswer
    >>> read = read_entries(SynthesizerAnswer, {"promotions": ["C6", 7]})
    >>> read.answer.promotions, read.refused[0].reason
    (('C6',), 'Input should be a valid string, got 7')
    >>> read_entries(SynthesizerAnswer, {"promotions": [7]}) is None
    True
    """
    kept: Any = dict(value) if isinstance(value, dict) else value
    refused: list[RefusedEntry] = []
    usable: list[int] = []
    for field, adapter in _lists_of(schema).items() if isinstance(kept, dict) else ():
        entries = kept.get(field)
        if isinstance(entries, list | tuple):
            kept[field] = _usable(field, entries, adapter, refused)
            usable += [len(kept[field])] if entries else []
    if refused and (not usable[0] or not any(usable)):
        return None
    try:
        return ReadAnswer(schema.model_validate(kept), tuple(refused))
    except ValidationError:
        return None


@cache
def _lists_of(schema: type[BaseModel]) -> dict[str, TypeAdapter[Any]]:
    """Return the lists of an answer, in their order, and what reads one entry of each."""
    return {
        name: TypeAdapter(get_args(field.annotation)[0])
        for name, field in schema.model_fields.items()
        if get_origin(field.annotation) is tuple
    }


def _usable(field: str, entries: Any, adapter: TypeAdapter[Any], refused: list[RefusedEntry]) -> list[Any]:
    usable = []
    for position, entry in enumerate(entries, start=1):
        try:
            usable.append(adapter.validate_python(entry))
        except ValidationError as error:
            rest = _without_nested(entry, adapter)
            usable += [rest] if rest is not None else []
            refused.append(RefusedEntry(field, position, NESTED if rest is not None else "", _reason(error)))
    return usable


def _without_nested(entry: object, adapter: TypeAdapter[Any]) -> Any:
    """Return the entry without its nested challenge, if that alone is outside the schema; else None."""
    if not isinstance(entry, dict) or NESTED not in entry:
        return None
    try:
        return adapter.validate_python({key: part for key, part in entry.items() if key != NESTED})
    except ValidationError:
        return None


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = "/".join(str(part) for part in first["loc"])
    received = "" if first["type"] == "missing" else f", got {_shown(first['input'])}"
    return f"{place:.80}{': ' if place else ''}{first['msg']}{received}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= RECEIVED_LENGTH else f"{text[:RECEIVED_LENGTH]}..."


_SEPARATOR = re.compile(r"[\s_\u2010-\u2015-]+")
_NO_LETTER = re.compile(r"[\W_]+")


def spelling(text: str) -> str:
    """Return what two spellings of one word share: small letters without spaces, hyphens and underscores.

    >>> spelling(" Counter_Evidence "), spelling("disagreeBasis")
    ('counterevidence', 'disagreebasis')
    """
    return _SEPARATOR.sub("", text).lower()


_VERDICTS: dict[str, Verdict] = {
    **{spelling(label): verdict for label, verdict in VERDICT_OF_LABEL.items()},
    **{spelling(verdict): verdict for verdict in VERDICTS},
}
_BASES: dict[str, Basis] = {spelling(basis): basis for basis in BASES}
_MODES: dict[str, Mode] = {spelling(mode): mode for mode in MODES}


_REFUTATIONS: dict[str, Basis] = {
    spelling(label) + spelling(basis): basis
    for label, verdict in VERDICT_OF_LABEL.items()
    if verdict == "disagree"
    for basis in BASES
}
_MARKS = "*`'\".,;:()[]\u201c\u201d"


def read_refutation(text: object) -> Basis | None:
    """Return the basis that a verdict names beside its label, as the task words it; None for any other text.

    >>> read_refutation("REFUTED, burden-not-met"), read_refutation("disagree (counter-evidence)")
    ('burden-not-met', 'counter-evidence')
    >>> read_refutation("REFUTED")
    """
    return _REFUTATIONS.get(_NO_LETTER.sub("", text).lower()) if isinstance(text, str) else None


def read_verdict(text: object) -> Verdict | None:
    """Return the verdict that a word or a prompt label means, in any case, with space, hyphen or underscore.

    Marks around it, such as a full stop or Markdown's asterisks, do not count.
    None for a word that is not a verdict, and for anything but text. Source: rule B4.

    >>> read_verdict("Survives with caveat"), read_verdict("**REFUTED**."), read_verdict("perhaps")
    ('supplement', 'disagree', None)
    """
    return _VERDICTS.get(spelling(text.strip().strip(_MARKS))) if isinstance(text, str) else None


def read_basis(text: object) -> Basis | None:
    """Return the basis that a word means, in any case, with space, hyphen or underscore; None for other words.

    >>> read_basis("BURDEN_NOT_MET"), read_basis("counter evidence"), read_basis("")
    ('burden-not-met', 'counter-evidence', None)
    """
    return _BASES.get(spelling(text)) if isinstance(text, str) else None


def read_mode(text: object) -> Mode | None:
    """Return the mode that a word means, in any case; None for other words.

    >>> read_mode("Adversarial"), read_mode("recorded")
    ('adversarial', None)
    """
    return _MODES.get(spelling(text)) if isinstance(text, str) else None


MAX_SHOWN_CHARACTERS = 80
"""Characters of a finding's id or a verdict that a reason shows."""

Votes = dict[str, WorkerVote | str]
"""A worker's votes by finding id; in place of a vote that cannot be read, the reason."""


def read_votes(value: object) -> Votes | str:
    """Read a worker's answer, `{"votes": {finding_id: vote}}`, each vote alone; a text says why there is none.

    `votes` may also be a list of votes that each name their `finding_id`; two unlike ones on a finding cannot be read.
    A vote is an object with a `verdict` and, if it has them, a basis and an explanation, or the verdict alone; keys and
    words are read in any spelling, `basis` as `disagreeBasis`, a basis beside the label ("REFUTED, burden-not-met") as
    one; other keys are passed over. Of several keys for one thing the first that holds
    something counts. A basis that is not known is read as missing. Source: rules B4, B8.

    >>> read_votes({"votes": {"F-1": {"verdict": "REFUTED", "disagreeBasis": "Counter Evidence"}, "F-2": {}}})["F-2"]
    'its verdict is missing'
    """
    votes = value.get("votes") if isinstance(value, Mapping) else None
    if isinstance(votes, list) and any(map(finding_of, votes)):
        entries = [(finding_of(entry), entry) for entry in votes]
    elif isinstance(votes, Mapping):
        entries = list(votes.items())
    else:
        return "answer outside its schema: it holds no object `votes` with a vote for each finding id"
    read: Votes = {}
    for key, entry in entries:
        finding_id, vote = str(key).strip(), read_vote(entry)
        read[finding_id] = vote if read.get(finding_id, vote) == vote else "two votes on it, which are not alike"
    unread = unread_votes(read)
    return f"answer outside its schema: {unread}" if read and all(isinstance(v, str) for v in read.values()) else read


def finding_of(entry: object) -> object:
    """Return the finding that a vote of a list names, by its key in any spelling; blank if it names none.

    >>> finding_of({"findingId": "F-1", "verdict": "AGREE"})
    'F-1'
    """
    keys = entry.items() if isinstance(entry, Mapping) else ()
    return next((held for key, held in keys if spelling(str(key)) == spelling("finding_id")), "")


def read_vote(entry: object) -> WorkerVote | str:
    """Read one vote as `read_votes` does; a text says why it cannot be read."""
    fields: dict[str, object] = {} if isinstance(entry, Mapping) else {"verdict": entry}
    for key, held in entry.items() if isinstance(entry, Mapping) else ():
        if held is not None and held != "":
            fields.setdefault(spelling(str(key)), held)
    if "verdict" not in fields:
        return "its verdict is missing"
    named, explanation = read_refutation(fields["verdict"]), fields.get("explanation", "")
    verdict = "disagree" if named else read_verdict(fields["verdict"])
    if verdict is None or verdict == "verification-error":
        return f"its verdict {fields['verdict']!r:.{MAX_SHOWN_CHARACTERS}} is no verdict"
    return WorkerVote(
        verdict=verdict,
        disagree_basis=read_basis(fields.get("disagreebasis", fields.get("basis"))) or named,
        explanation=explanation if isinstance(explanation, str) else str(explanation),
    )


def unread_votes(votes: Votes) -> str | None:
    """Say how many votes of an answer cannot be read, and why the first cannot; None if all can be read."""
    unread = {finding_id: vote for finding_id, vote in votes.items() if isinstance(vote, str)}
    if not unread:
        return None
    finding_id, reason = next(iter(unread.items()))
    return (
        f"{len(unread)} of {counted(len(votes), 'vote')} cannot be read; {finding_id:.{MAX_SHOWN_CHARACTERS}}: {reason}"
    )
