"""Read the columns of a table of other people's votes: names as text, words as verdicts and bases (rule E4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.frames.columns import as_text
from verifyplan.frames.own_words import plain_word
from verifyplan.frames.ties import TIE
from verifyplan.rules.answers import read_basis, read_verdict

_TEXTS = ("summary", "category", "mode")
"""Columns of words that are no names: 1 and True in them are different."""

_CODED = ("run_id", "finding_id", "worker", "verdict", "disagree_basis", *_TEXTS)
"""Columns whose values repeat: each different value is read once."""


def standard_columns(votes: pd.DataFrame, words: Mapping[str, str]) -> pd.DataFrame:
    """Return the standard columns of a table of votes with defaults, names as text, and words as verdicts and bases.

    Names and words are categories in order of appearance; `words` are the caller's own for verdicts, in plain writing.

    >>> votes = pd.DataFrame({"finding_id": [1.0, 1.0], "worker": ["a", " b"], "verdict": ["yes", "REFUTED"]})
    >>> read = standard_columns(votes, {"yes": "agree"})
    >>> read["finding_id"].tolist(), read["worker"].tolist(), read["verdict"].tolist()
    (['1', '1'], ['a', 'b'], ['agree', 'disagree'])
    """

    def verdict_of(word: str) -> str | None:
        plain = plain_word(word)
        known = words.get(plain) or read_verdict(word) or (TIE if plain == TIE else word)
        return known if word.strip() else words.get(plain)

    def basis_of(word: str) -> str | None:
        return read_basis(word) or word if word.strip() else None

    filled = votes.assign(**{str(name): _as_standard(str(name), votes[name]) for name in votes if name not in _CODED})
    for name in filled.columns.intersection(list(_CODED)):
        read = {"verdict": verdict_of, "disagree_basis": basis_of}.get(name)
        filled[name] = _coded(name, votes[name], read, words.get("") if name == "verdict" else None)
    defaults: dict[str, Any] = {"round": 1, "explanation": pd.Series(pd.NA, filled.index, dtype="str")}
    filled = filled.assign(**{name: default for name, default in defaults.items() if name not in filled})
    if "run_id" not in filled:
        filled["run_id"] = _repeated("votes", len(filled))
    if "disagree_basis" not in filled:
        filled["disagree_basis"] = _repeated(None, len(filled))
    return filled


def _repeated(text: str | None, n: int) -> pd.Categorical:
    """Return a column of one text, or of nothing, as categories."""
    code, texts = (-1, []) if text is None or not n else (0, [text])
    return pd.Categorical.from_codes(np.full(n, code, dtype=np.int8), categories=pd.Index(texts, dtype="str"))


def _coded(
    name: str, values: pd.Series[Any], read: Callable[[str], str | None] | None, if_missing: str | None
) -> pd.Categorical:
    """Return a column as categories in order of appearance: its texts, or what is read in them."""
    codes, different = _different(as_text(values) if name in _TEXTS and values.dtype == "object" else values)
    texts = _as_standard(name, different)
    if read is None and texts.equals(different):  # they are names as they are, and differ
        return pd.Categorical.from_codes(codes, categories=pd.Index(texts))
    texts = texts.astype("object")
    if read is not None:
        texts = texts.map(read, na_action="ignore")
    own, categories = pd.factorize(np.array([*texts, if_missing], dtype="object"))  # code -1 is the last
    return pd.Categorical.from_codes(own[codes], categories=pd.Index(categories, dtype="str"))


def _different(values: pd.Series[Any]) -> tuple[npt.NDArray[Any], pd.Series[Any]]:
    """Return the number of each value, in order of appearance, -1 where it is missing, and the different values."""
    try:
        codes, different = pd.factorize(values)
    except TypeError:  # lists, which are no names, but have a text
        codes, different = pd.factorize(as_text(values))
    return codes, pd.Series(different)


def _as_standard(name: str, values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as text; rounds, truth and discoverers as they are, ids and workers as names.

    A name is the text by which other tables know it: 1.0 is 1, spaces around it do not count.
    """
    if name in ("round", "truth", "discoverers"):
        return values
    if name in _TEXTS:
        texts = as_text(values)
        return texts.mask(texts.str.strip().eq("").fillna(False).astype(bool), None)
    if name not in ("run_id", "finding_id", "worker"):
        return as_text(values)
    if pd.api.types.is_float_dtype(values.dtype) and (values.dropna() % 1 == 0).all():
        return as_text(values.astype("Int64"))
    texts = as_text(values)
    known = texts.dropna()
    if known.str.strip().eq(known).all() and known.ne("").all():
        return texts
    names = texts.str.strip()
    return names.mask(names.eq("").fillna(False).astype(bool), None)
