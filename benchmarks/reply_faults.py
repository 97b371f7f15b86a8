"""List the faults of replies: what an endpoint, a model or its tools do in place of an answer, on runs of each kind."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.fault_subjects import SUBJECTS
from benchmarks.fault_trials import ReplyFault, undisturbed
from tests.live.fault_list import (
    BAD_ARGUMENTS,
    DAMAGED_BLOCKS,
    OUTSIDE,
    REFUSED,
    RETRIED,
    SETTINGS,
    UNFINISHED,
    UNWRITABLE,
)
from tests.live.live_faults import message
from tests.live.live_runs import listed
from tests.live.live_scripts import VOTES
from tests.live.scripted_replies import (
    Answer,
    bomb,
    calls,
    drips,
    endless,
    error_in_200,
    hangs,
    raw,
    says,
    says_json,
    status,
)
from tests.runs.crossing import AGREE

PASSING_CODES = (408, 409, 429, 500, 502, 503, 504, 529)
SEED, LOST_SHARE = 17, 0.6
QUICK = {"max_retries": 1, "timeout": 0.6}
"""Of a backend that waits for nothing long."""


def reply_faults() -> Iterator[ReplyFault]:
    """Yield all of them."""
    for kind, subject in SUBJECTS.items():
        turn = f"{subject.call}/t1"
        yield from _of_http(kind, turn)
        yield from _of_messages(kind, subject.call)
        yield from _of_roles(kind)
    yield from _of_votes()
    yield from _of_tools()


def _of_http(kind: str, turn: str) -> Iterator[ReplyFault]:
    family = "HTTP"
    for name, fault in RETRIED.items():
        yield ReplyFault(family, f"{name}, once", kind, {turn: [fault.answer]}, "same")
        yield ReplyFault(family, f"{name}, every time", kind, {turn: fault.answer}, "failed", fault.reason)
    for code in PASSING_CODES:
        yield ReplyFault(family, f"{code} without retry-after, once", kind, {turn: [status(code)]}, "same")
        yield ReplyFault(family, f"{code}, retry-after 0.2 s, once", kind, {turn: [status(code, 0.2)]}, "same")
    yield ReplyFault(family, "no reply, once", kind, {turn: [hangs()]}, "same", backend=QUICK)
    yield ReplyFault(family, "no reply, every time", kind, {turn: hangs()}, "failed", "no answer in time", QUICK)
    for wish in ("nan", "-5", "soon"):
        once = [raw("{}", 429, **{"retry-after": wish})]
        yield ReplyFault(family, f"429, retry-after: {wish}, once", kind, {turn: once}, "same")
    for wish in ("3600", "inf"):
        asked = raw("{}", 429, **{"retry-after": wish})
        yield ReplyFault(family, f"429, retry-after: {wish}", kind, {turn: asked}, "failed", "answered 429")
    overloaded = error_in_200()
    yield ReplyFault(family, "an overload with status 200, once", kind, {turn: [overloaded]}, "same")
    yield ReplyFault(
        family, "an overload with status 200, every time", kind, {turn: overloaded}, "failed", "with an error"
    )
    slow = drips(says("slowly"), 0.2)
    yield ReplyFault(family, "a reply in slow pieces, once", kind, {turn: [slow]}, "same", backend=QUICK)
    yield ReplyFault(
        family, "a reply in slow pieces, every time", kind, {turn: slow}, "failed", "no answer in time", QUICK
    )
    for name, answer in (("an endless body", endless()), ("a compressed body of 1 GB in 1 MB", bomb())):
        yield ReplyFault(family, name, kind, {turn: answer}, "failed", "MAX_REPLY_BYTES")
    for name, fault in (REFUSED | UNWRITABLE).items():
        yield ReplyFault(family, name, kind, {turn: fault.answer}, "failed", fault.reason)
    for code, advice in SETTINGS.items():
        yield ReplyFault(family, code, kind, {turn: status(int(code))}, "stopped", advice)


def _of_messages(kind: str, call: str) -> Iterator[ReplyFault]:
    family, first, second = "messages", f"{call}/t1", f"{call}/t2"
    for name, fault in (UNFINISHED | DAMAGED_BLOCKS).items():
        yield ReplyFault(family, name, kind, {first: fault.answer}, "failed", fault.reason)
    for name, answer in OUTSIDE.items():
        yield ReplyFault(family, f"{name}, once", kind, {first: answer}, "same")
        yield ReplyFault(family, f"{name}, twice", kind, {first: answer, second: answer}, "failed", "AnswerError: ")


def _of_roles(kind: str) -> Iterator[ReplyFault]:
    """Each call of a run fails, one at a time, then many at once."""
    family, made = "roles", undisturbed(kind).calls
    for call in made:
        yield ReplyFault(family, "a call gets 500", kind, {f"{call}/t1": _soon(500)}, "failed", "answered 500")
    lost = random.Random(SEED).sample(made, round(LOST_SHARE * len(made)))
    outage = {f"{call}/t1": _soon(503) for call in lost}
    yield ReplyFault(family, "an outage: 60 % of calls get 503", kind, outage, "failed", "answered 503")
    everything = {f"{call}/t1": _soon(529) for call in made}
    yield ReplyFault(family, "an outage: every call gets 529", kind, everything, "failed", "answered 529")


def _soon(code: int) -> Answer:
    return RETRIED[str(code)].answer


def _of_votes() -> Iterator[ReplyFault]:
    """Answers of a worker that are nearly right."""
    votes = listed(VOTES[1]["bob"], "adversarial")
    made_up = listed({"F-99": AGREE}, "adversarial")
    texts = {
        "an answer in a fence": f"```json\n{says_json({'votes': votes}).content[0]['text']}\n```",
        "prose around the answer": f"My votes: {says_json({'votes': votes}).content[0]['text']} I hope this helps.",
    }
    same: Mapping[str, Answer] = {
        **{name: says(text) for name, text in texts.items()},
        "the same vote twice": says_json({"votes": [*votes, votes[0]]}),
        "an unknown key in a vote": says_json({"votes": [{**votes[0], "confidence": 3}, *votes[1:]]}),
        "an unknown key in the answer": says_json({"votes": votes, "summary": "fine"}),
        "an unknown label": says_json({"votes": [{**votes[0], "verdict": "MAYBE"}, *votes[1:]]}),
        "a reply of another model": message(*says_json({"votes": votes}).content, model="another-model"),
        "no usage": message(*says_json({"votes": votes}).content, usage=None),
    }
    for name, answer in same.items():
        yield ReplyFault("messages", name, "cross", {"r1/bob/t1": answer}, "same")
    read = {"made-up ids": votes + made_up, "a missing vote": votes[1:]}
    read["two different votes on a finding"] = _torn(votes)
    for name, given in read.items():
        yield ReplyFault("messages", name, "cross", {"r1/bob/t1": says_json({"votes": given})}, "read")


def _torn(votes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the votes with another one on the first finding."""
    return [*votes, {**votes[0], "verdict": "SURVIVES", "disagree_basis": None}]


def _of_tools() -> Iterator[ReplyFault]:
    """What models call."""
    wishes: Mapping[str, Answer] = {
        "an unknown tool": calls("Bash", command="ls") + calls("", x=1),
        "a path outside the repository": calls("Read", path="../../etc/passwd") + calls("Read", path="/etc/passwd"),
        "a secret file": calls("Read", path=".env"),
        "200 calls in one message": sum([calls("Read", path=f"x{n}.py") for n in range(199)], calls("Read", path="x")),
        **{f"arguments: {name}": calls("Read", **arguments) for name, arguments in BAD_ARGUMENTS.items()},
    }
    for name, wish in wishes.items():
        yield ReplyFault("tools", name, "plan", {"i1/challenger/t1": wish, "i1/challenger/t2": []}, "same")
        yield ReplyFault("tools", name, "debate", {"t1/implement/t1": wish}, "same")
    loop = {f"i1/challenger/t{n}": calls("Read", path="/etc/passwd") for n in range(1, 99)}
    yield ReplyFault(
        "tools", "an endless loop of calls", "plan", loop, "failed", "the model called tools to its last turn"
    )
    read = {"r1/bob/t1": calls("Read", path="a.py")}
    yield ReplyFault("tools", "a tool call by a worker, who has no tools", "cross", read, "same")
