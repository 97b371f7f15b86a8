"""Flag calls whose replies are not their own: repeated messages, copied words, another model's (rule G5).

What cannot be known stays missing: agents that are not models have neither message ids nor a model.
Texts become numbers once, equal ones alike in all tables; then only numbers are compared.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.frames.codes import first_rows, row_numbers, shared_numbers
from verifyplan.frames.copied_words import CastVotes, Ints, copied, is_shared

CALL = ["run_id", "call_id", "reopening"]
"""The columns by which a turn finds its call."""

_ROUND = re.compile(r"^(?:i\d{1,9}/panel/)?[rp](\d{1,9})/")
_DATE = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2})$")
_RELEASE = re.compile(r"-v\d+(:\d+)?$")


class _Calls(NamedTuple):
    """Parts of the identity of each call, as numbers; -1 for a missing one."""

    run: Ints
    name: Ints
    request: Ints
    """Its digest; another one for each call without one, of which nobody knows."""


class _LiveTurns(NamedTuple):
    """The exchanges that were made live: the row of the call of each, and the numbers of what came back."""

    call: Ints
    message: Ints
    reply: Ints
    rows: Ints
    """Their rows in the table."""


def with_flags(calls: pd.DataFrame, turns: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the calls with `id_repeated`, `words_repeated`, `run_repeated` and `other_model` of all these runs."""
    live = turns["source"].eq("live").to_numpy(dtype=bool)
    if not live.any():
        return calls
    call_run, turn_run, vote_run = shared_numbers(calls["run_id"], turns["run_id"], votes["run_id"])
    name, turn_name = shared_numbers(calls["call_id"], turns["call_id"])
    counted = np.flatnonzero(~calls["superseded"].fillna(False).to_numpy(dtype=bool))
    known = [column[counted] for column in (call_run, name, _whole(calls["reopening"]))]
    turn_call = _found([turn_run, turn_name, _whole(turns["reopening"])], known, counted)
    of = _Calls(call_run, name, _requests(calls["request_sha256"]))
    rows = np.flatnonzero(live & (turn_call >= 0))
    message, reply = shared_numbers(turns["message_id"], turns["reply_sha256"].fillna(""))
    own = _LiveTurns(turn_call[rows], message[rows], reply[rows], rows)
    cast = _votes_by_call(calls, votes, own.call, call_run, vote_run)
    flags = {
        "id_repeated": _ids_repeated(of, own),
        "words_repeated": _flags(len(calls), cast.call, copied(cast, cast.round)),
        "run_repeated": _runs_repeated(of, own, cast),
        "other_model": _other_models(len(calls), turns, own),
    }
    return calls.assign(**flags)


def _whole(numbers: pd.Series[Any]) -> Ints:
    """Return whole numbers, -1 where one is missing."""
    return numbers.to_numpy(dtype=np.int64, na_value=-1)


def _found(columns: list[Ints], known: list[Ints], rows: Ints) -> Ints:
    """Return for each row of some columns which of `rows` has the same known ones, of several the last; -1 for none."""
    together = row_numbers(*(np.append(*both) for both in zip(known, columns, strict=True)))
    row = np.full(int(together.max(initial=-1)) + 1, -1, dtype=np.int64)
    row[together[: len(rows)]] = rows
    return row[together[len(rows) :]]


def _requests(digests: pd.Series[Any]) -> Ints:
    """Return the numbers of requests; without a digest nobody knows, and each is another."""
    texts = digests.fillna("")
    (number,) = shared_numbers(texts)
    return np.where(texts.eq("").to_numpy(dtype=bool), len(number) + np.arange(len(number)), number)


def _flags(n_calls: int, known: Ints, flagged: Ints) -> Any:
    """Return a column that is true for the calls `flagged`, false for others that are `known`, and else missing."""
    values = np.zeros(n_calls, dtype=bool)
    unknown = np.ones(n_calls, dtype=bool)
    unknown[known] = False
    values[flagged] = True
    return pd.arrays.BooleanArray(values, unknown & ~values)


def _ids_repeated(calls: _Calls, turns: _LiveTurns) -> Any:
    """Flag calls that have a message id of another call of their run; a look at the web is of its call."""
    named = turns.message >= 0
    call = turns.call[named]
    message = row_numbers(calls.run[call], turns.message[named])
    return _flags(len(calls.run), call, call[is_shared(message, call)])


def _runs_repeated(calls: _Calls, turns: _LiveTurns, cast: CastVotes) -> Any:
    """Flag calls that have a message, id and words, of another run, or copied words of the same call in another."""
    same = row_numbers(calls.name, calls.request)
    has_turns = np.zeros(len(same), dtype=bool)
    has_turns[turns.call] = True
    peers = np.flatnonzero(is_shared(same, calls.run) & has_turns)
    peers = peers[is_shared(same[peers], calls.run[peers])]
    named = turns.message >= 0
    call = turns.call[named]
    message = row_numbers(turns.message[named], turns.reply[named])
    by_id = call[is_shared(message, calls.run[call])]
    of_peers = cast.of(np.isin(cast.call, peers))
    by_words = copied(of_peers, same[of_peers.call])
    return _flags(len(same), peers, np.append(by_id, by_words))


def _votes_by_call(
    calls: pd.DataFrame, votes: pd.DataFrame, turn_call: Ints, call_run: Ints, vote_run: Ints
) -> CastVotes:
    """Return the votes that models explained, with the row of their call; lost ones and discoverers' own left out."""
    replied = calls["status"].eq("completed").to_numpy(dtype=bool) & calls["role"].eq("worker").to_numpy(dtype=bool)
    live = np.zeros(len(calls), dtype=bool)
    live[turn_call] = True
    call, number, items = _items_asked(calls, np.flatnonzero(replied & live))
    known = votes["verdict"].ne("verification-error").to_numpy(dtype=bool) & votes["explanation"].notna().to_numpy()
    known &= ~votes["is_origin"].to_numpy(dtype=bool, na_value=False) & np.isin(vote_run, call_run[call])
    rows = np.flatnonzero(known)
    finding, item = shared_numbers(votes["finding_id"].take(rows), pd.Series(items, dtype="str"))
    worker, call_worker = shared_numbers(votes["worker"].take(rows), calls["worker"])
    run, iteration, round_number = vote_run[rows], _whole(votes["iteration"])[rows], _whole(votes["round"])[rows]
    asked = [call_run[call], _whole(calls["iteration"])[call], item, number, call_worker[call]]
    row = _found([run, iteration, finding, round_number, worker], asked, call)
    own = np.flatnonzero(row >= 0)
    context = row_numbers(run, iteration, round_number)[own]
    words = votes[["verdict", "explanation"]].take(rows[own])
    return CastVotes.of_table(words, row[own], finding[own], context)


def _items_asked(calls: pd.DataFrame, rows: Ints) -> tuple[Ints, Ints, list[str]]:
    """Return the row of the call, the round and the id of each item that some calls were asked about in a round."""
    ids, items = calls["call_id"].take(rows).tolist(), calls["items"].take(rows).tolist()
    rounds = [int(found[1]) if (found := _ROUND.match(call_id)) else None for call_id in ids]
    asked = [
        (call, number, item)
        for call, number, names in zip(rows.tolist(), rounds, items, strict=True)
        if number is not None and isinstance(names, list)
        for item in names
        if item is not None
    ]
    call, number, names = zip(*asked, strict=True) if asked else ((), (), ())
    return np.array(call, dtype=np.int64), np.array(number, dtype=np.int64), list(names)


def _other_models(n_calls: int, turns: pd.DataFrame, own: _LiveTurns) -> Any:
    """Flag calls of which a reply names another model than was asked."""
    model, replied = (numbers[own.rows] for numbers in shared_numbers(turns["model"], turns["model_replied"]))
    named = (model >= 0) & (replied >= 0)
    number = row_numbers(model[named], replied[named])
    different = turns[["model", "model_replied"]].take(own.rows[named][first_rows(number)])
    is_other = [is_other_model(asked, came) for asked, came in different.itertuples(index=False)]
    other = np.array(is_other, dtype=bool)[number] if len(number) else np.zeros(0, dtype=bool)
    return _flags(n_calls, own.call[named], own.call[named][other])


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
