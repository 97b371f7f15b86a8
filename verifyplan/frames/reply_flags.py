"""Flag calls whose replies are not their own: repeated messages, copied words, another model's (rule G5).

What cannot be known stays missing: agents that are not models have neither message ids nor a model.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.frames.text_codes import first_rows, numbered_rows, rows_of

MIN_COPIED_WORDS = 12
"""An explanation of so many words or more counts as copied where another call has it to the letter. Shorter ones are
often alike by themselves; text in quotes or backticks, which several may cite, does not count."""

MIN_COPIED_ANSWER_WORDS = 24
"""A whole answer counts as copied where all its votes are those of another, and its explanations have so many words."""

CALL = ["run_id", "call_id", "reopening"]
"""The columns by which a turn finds its call."""
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_ROUND = re.compile(r"^(?:i\d{1,9}/panel/)?[rp](\d{1,9})/")
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»")
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DATE = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2})$")
_RELEASE = re.compile(r"-v\d+(:\d+)?$")


def with_flags(calls: pd.DataFrame, turns: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the calls with `id_repeated`, `words_repeated`, `run_repeated` and `other_model` of all these runs."""
    if not turns["source"].eq("live").any():
        return calls
    turn_call = _calls_of_turns(calls, turns)
    own = turns["source"].eq("live").to_numpy(dtype=bool) & (turn_call >= 0)
    turns, turn_call = turns[own], turn_call[own]
    cast = _votes_by_call(calls, votes, turn_call)
    flags = {
        "id_repeated": _ids_repeated(calls, turns, turn_call),
        "words_repeated": _flags(calls, cast["call"], copied(cast, ["run_id", "iteration", "round"])),
        "run_repeated": _runs_repeated(calls, turns, turn_call, cast),
        "other_model": _other_models(calls, turns, turn_call),
    }
    return calls.assign(**flags)


def _calls_of_turns(calls: pd.DataFrame, turns: pd.DataFrame) -> Ints:
    """Return the row of the call of each turn; -1 for one whose call is not there, or counts no more."""
    counted = np.flatnonzero(~calls["superseded"].fillna(False).to_numpy(dtype=bool))
    return np.append(counted, -1)[rows_of(turns, calls.iloc[counted], CALL)]


def _flags(calls: pd.DataFrame, known: Any, flagged: Any) -> Any:
    """Return a column that is true for the rows `flagged`, false for others that are `known`, and else missing."""
    values = np.zeros(len(calls), dtype=bool)
    unknown = np.ones(len(calls), dtype=bool)
    unknown[np.asarray(known, dtype=np.int64)] = False
    values[np.asarray(flagged, dtype=np.int64)] = True
    return pd.arrays.BooleanArray(values, unknown & ~values)


def _ids_repeated(calls: pd.DataFrame, turns: pd.DataFrame, turn_call: Ints) -> Any:
    """Flag calls that have a message id of another call of their run; a look at the web is of its call."""
    named = turns["message_id"].notna().to_numpy(dtype=bool)
    call = turn_call[named]
    message = numbered_rows([turns["run_id"][named], turns["message_id"][named]])
    return _flags(calls, call, call[_is_shared(message, call)])


def _is_shared(group: Ints, member: Ints) -> Bools:
    """Return which rows are of a group that has several members."""
    lowest = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    highest = np.full(len(lowest), -1)
    np.minimum.at(lowest, group, member)
    np.maximum.at(highest, group, member)
    return np.asarray((lowest < highest)[group])


def _runs_repeated(calls: pd.DataFrame, turns: pd.DataFrame, turn_call: Ints, cast: pd.DataFrame) -> Any:
    """Flag calls that have a message, id and words, of another run, or copied words of the same call in another."""
    run = numbered_rows([calls["run_id"]])
    same = _same_requests(calls)
    peers = np.flatnonzero(_is_shared(same, run) & np.isin(np.arange(len(calls)), turn_call))
    peers = peers[_is_shared(same[peers], run[peers])]
    named = turns["message_id"].notna().to_numpy(dtype=bool)
    call = turn_call[named]
    message = numbered_rows([turns["message_id"][named], turns["reply_sha256"][named].fillna("")])
    by_id = call[_is_shared(message, run[call])]
    of_peers = cast[cast["call"].isin(peers).to_numpy(dtype=bool)]
    by_words = copied(of_peers.assign(request=same[of_peers["call"].to_numpy(dtype=np.int64)]), ["request"])
    return _flags(calls, peers, np.append(by_id, by_words))


def _same_requests(calls: pd.DataFrame) -> Ints:
    """Return a number by call that calls of several runs share if they are the same call with the same request."""
    digest = calls["request_sha256"].fillna("")
    own = np.where(digest.eq(""), np.arange(len(calls)), -1)  # without a digest nobody knows
    return numbered_rows([calls["call_id"], digest, own])


def _votes_by_call(calls: pd.DataFrame, votes: pd.DataFrame, turn_call: Ints) -> pd.DataFrame:
    """Return the votes that models explained, with the row of their call; lost ones and discoverers' own left out."""
    key = ["run_id", "iteration", "finding_id", "round", "worker"]
    replied = np.isin(np.arange(len(calls)), turn_call) & calls["status"].eq("completed").to_numpy(dtype=bool)
    asked = _items_asked(calls, np.flatnonzero(replied & calls["role"].eq("worker").to_numpy(dtype=bool)))
    known = votes["verdict"].ne("verification-error") & votes["explanation"].notna()
    known &= ~votes["is_origin"].fillna(False).astype(bool)
    kept = known & votes["run_id"].isin(asked["run_id"].unique())
    cast = votes.loc[kept.to_numpy(dtype=bool), [*key, "verdict", "explanation"]]
    row = rows_of(cast, asked, key)
    return cast[row >= 0].assign(call=asked["call"].to_numpy()[row[row >= 0]])


def _items_asked(calls: pd.DataFrame, rows: Ints) -> pd.DataFrame:
    """Return a row for each item of some calls in a round: the row of its call, and the key of the vote on it."""
    ids, items = calls["call_id"].take(rows).tolist(), calls["items"].take(rows).tolist()
    rounds = [int(found[1]) if (found := _ROUND.match(call_id)) else None for call_id in ids]
    asked = [
        (call, number, item)
        for call, number, names in zip(rows.tolist(), rounds, items, strict=True)
        if number is not None and isinstance(names, list)
        for item in names
        if item is not None
    ]
    of_call = np.array([call for call, _, _ in asked], dtype=np.int64)
    columns = {name: calls[name].array.take(of_call) for name in ("run_id", "iteration", "worker")}
    columns["round"] = np.array([number for _, number, _ in asked], dtype=np.int64)
    columns["finding_id"] = pd.array([item for _, _, item in asked], dtype="str")
    return pd.DataFrame(columns | {"call": of_call})


def copied(cast: pd.DataFrame, context: list[str]) -> Ints:
    """Return the calls whose explanations are, word for word, those of another call in the same context.

    `cast` has a row a vote: its `call`, `finding_id`, `verdict`, `explanation`, and the columns of the context. A call
    is copied where one explanation of 12 words or more is that of another call on the same finding, or where all its
    votes are those of another call, and their different explanations have 24 words or more together.
    """
    if cast.empty:
        return np.zeros(0, dtype=np.int64)
    call = cast["call"].to_numpy(dtype=np.int64)
    text = numbered_rows([cast["explanation"].str.strip()])
    entry = numbered_rows([*(cast[name] for name in context), cast["finding_id"], pd.Series(text)])
    shared = _is_shared(entry, call)
    if not shared.any():
        return np.zeros(0, dtype=np.int64)
    words = np.zeros(len(cast), dtype=np.int64)
    words[shared] = _own_words(cast["explanation"], text, shared)
    vote = numbered_rows([pd.Series(entry), cast["verdict"]])
    whole = _whole_answers(call, vote, text, words)
    return np.unique(np.append(call[shared & (words >= MIN_COPIED_WORDS)], whole))


def _own_words(explanations: pd.Series[Any], text: Ints, chosen: Bools) -> Ints:
    """Return the words outside quotes of each chosen explanation; of scripts without spaces two letters are one."""
    codes = np.unique(text[chosen])
    different = explanations.iloc[first_rows(text)[codes]].str.replace(_QUOTED, " ", regex=True)
    spaced = different.str.replace(_WITHOUT_SPACES, " ", regex=True).str.count(r"\S+")
    count = spaced + different.str.count(_WITHOUT_SPACES.pattern) // 2
    return np.asarray(count.to_numpy(dtype=np.int64)[np.searchsorted(codes, text[chosen])])


def _whole_answers(call: Ints, vote: Ints, text: Ints, words: Ints) -> Ints:
    """Return the calls that have just the votes of another call, with enough words in different explanations."""
    names, answer = np.unique(call, return_inverse=True)
    digest = np.zeros(len(names), dtype=np.uint64)
    np.add.at(digest, answer, pd.util.hash_array(vote))
    _, group, size = np.unique(digest, return_inverse=True, return_counts=True)
    first = ~pd.DataFrame({"answer": answer, "text": text}).duplicated().to_numpy()
    total = np.bincount(answer[first], weights=words[first], minlength=len(names))
    return np.asarray(names[(size[group] > 1) & (total >= MIN_COPIED_ANSWER_WORDS)])


def _other_models(calls: pd.DataFrame, turns: pd.DataFrame, turn_call: Ints) -> Any:
    """Flag calls of which a reply names another model than was asked."""
    named = (turns["model"].notna() & turns["model_replied"].notna()).to_numpy(dtype=bool)
    pairs = turns.loc[named, ["model", "model_replied"]]
    number = numbered_rows([pairs["model"], pairs["model_replied"]])
    different = pairs.iloc[first_rows(number)]
    is_other = [is_other_model(asked, came) for asked, came in different.itertuples(index=False)]
    other = np.array(is_other, dtype=bool)[number] if len(number) else np.zeros(0, dtype=bool)
    return _flags(calls, turn_call[named], turn_call[named][other])


def is_other_model(asked: str, replied: str) -> bool:
    """Return whether a reply's model is another than was asked; an alias and its dated snapshot are the same.

    So are the names under which gateways and clouds sell one model: `anthropic/claude-x`, `us.anthropic.claude-x-v1:0`,
    `claude-x@20260101`, `claude-x-latest`. Two different dates are two models.

    >>> is_other_model("claude-x", "claude-x-20260101"), is_other_model("claude-x", "claude-y")
    (False, True)
    """
    name, date = _model_name(asked)
    other_name, other_date = _model_name(replied)
    return name != other_name or bool(date and other_date and date != other_date)


def _model_name(model: str) -> tuple[str, str]:
    """Return a model's name without provider, release and date, and the date's digits; none if it names no date."""
    name = _RELEASE.sub("", model.strip().casefold().rpartition("/")[2])
    name = name.rpartition("anthropic.")[2].removesuffix("-latest")
    date = _DATE.search(name)
    return _DATE.sub("", name), date[1].replace("-", "") if date else ""
