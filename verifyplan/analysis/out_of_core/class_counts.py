"""Count the classes of findings over the parts of a dataset, under a mode or any rules (rules B6, R4, E5)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from html import escape
from io import BytesIO
from typing import Any, NamedTuple, cast, overload

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.classify import CLASS_TYPE, DEFAULT_ROUNDS, RULE_TYPE, classify_each
from verifyplan.analysis.named_rules import rules_by_name
from verifyplan.analysis.out_of_core.map_parts import map_parts
from verifyplan.analysis.parts_to_judge import cut_rows, needs_texts, parts_to_judge
from verifyplan.analysis.replay import ReplayMode, replay_under
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.cut_notes import note_replayed_cut_rounds
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.run_notes import note_mixed_modes
from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.vote import CLASSIFICATIONS, MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import counted, is_or_are

_COUNTED_BY = ["classification", "rule", "decided_round", "censored"]
_VOTES = ["run_id", "iteration", "finding_id", "round", "worker", "verdict", "disagree_basis", "is_origin"]

Address = str | os.PathLike[str]


@with_field_docs
@dataclass(frozen=True, eq=False)
class ClassCounts:
    """How many findings of a dataset come to which class, and where their table is if it was written."""

    counts: pd.DataFrame
    """`classification, rule, decided_round, censored, n`: how many findings are alike in all of these."""
    n_findings: int
    """The findings that are counted, a challenge once in each iteration."""
    n_open: int
    """Findings whose class votes that were never cast could change: `low` and `high` differ."""
    digest: str
    """A digest of the classes of all findings, in their order: equal digests are equal classes."""
    paths: tuple[str, ...] = ()
    """The Parquet files of the findings, one a part, in order; none where no `folder` was named."""
    notes: tuple[str, ...] = ()
    """What a reader must know: rounds cut off by a limit, censored findings, findings without votes, generated data."""

    @property
    def classes(self) -> pd.Series[Any]:
        """How many findings each class has, in the order of CLASSIFICATIONS."""
        sums = self.counts.groupby("classification", observed=False)["n"].sum()
        return sums.reindex(list(CLASSIFICATIONS), fill_value=0)

    def __str__(self) -> str:
        """Return the classes with their counts, and the notes."""
        lines = [counted(self.n_findings, "finding")]
        lines += [f"{name:>18}: {n:,} (n = {self.n_findings:,})" for name, n in self.classes.items()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words and the counts, as text."""
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>{self.counts.to_html(index=False)}"


class _PartCounts(NamedTuple):
    counts: pd.DataFrame
    n_open: int
    digest: bytes
    path: str
    n_unvoted: int
    """The findings of the part that are not counted, as the table of votes does not name them."""
    cut: pd.DataFrame
    """The findings whose last round a limit cut off, as `cut_rows` returns them."""


@overload
def classify_dataset(
    dataset: Dataset | Address,
    mode: Mode | None = None,
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    client: Any = None,
    folder: Address | None = None,
) -> ClassCounts: ...


@overload
def classify_dataset(
    dataset: Dataset | Address,
    mode: list[Mode],
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    client: Any = None,
) -> dict[str, ClassCounts]: ...


def classify_dataset(
    dataset: Dataset | Address,
    mode: Mode | list[Mode] | None = None,
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    client: Any = None,
    folder: Address | None = None,
) -> ClassCounts | dict[str, ClassCounts]:
    """Return how many findings of a dataset come to which class, by its votes alone (see `classify`).

    Each part is read once and classified by itself, so that memory holds a part for each process. Rules that stop
    within a round ask workers in the order in which they appear in a part. As in `classify`, findings without votes are
    not counted; a note says how many there are, and `replay_dataset` has them.

    Args:
        dataset: what `load` returns for the folder of a dataset, or its address.
        mode: see `classify`; or a list of modes, for a dictionary of the counts in each.
        rules: see `classify`; or a list or mapping of rules, for a dictionary of the counts under each, by name (see
            `compare`).
        max_rounds: see `classify`.
        missing_basis: see `classify`.
        client: where parts are classified (see `map_parts`): None for here, a number of processes, or a Dask client.
        folder: a folder, new or empty, for the findings with their classes: a Parquet file for each part. Of several
            modes or rules none are written.

    Raises:
        InputError: for what is no dataset, and a folder that holds something.
        SettingsError, TableError: as `classify`.

    >>> import verifyplan as vp
    >>> _ = vp.compile_dataset(vp.datasets.path("contract"), "memory://classified")
    >>> classify_dataset("memory://classified", "adversarial").classes["contested"]
    np.int64(6)
    >>> both = classify_dataset("memory://classified", ["adversarial", "collaborative"])
    >>> {mode: int(counts.classes["contested"]) for mode, counts in both.items()}
    {'adversarial': 6, 'collaborative': 9}
    """
    opened = as_dataset(dataset)
    named = _named(rules, mode, max_rounds, missing_basis)
    allowed = _rounds_in_words(
        named, f"{DEFAULT_ROUNDS} rounds, whatever its run allowed; `replay_dataset` takes each run's own number"
    )
    found = _counts_of(opened, partial(_classified, rules=named), opened.parts, client, folder, allowed, by_votes=True)
    return found if _are_several(rules, mode) else found[_ALONE]


@overload
def replay_dataset(
    dataset: Dataset | Address,
    mode: ReplayMode | None = None,
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    client: Any = None,
    folder: Address | None = None,
) -> ClassCounts: ...


@overload
def replay_dataset(
    dataset: Dataset | Address,
    mode: list[ReplayMode],
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    client: Any = None,
) -> dict[str, ClassCounts]: ...


def replay_dataset(
    dataset: Dataset | Address,
    mode: ReplayMode | list[ReplayMode] | None = None,
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    client: Any = None,
    folder: Address | None = None,
) -> ClassCounts | dict[str, ClassCounts]:
    """Return how many findings of a dataset come to which class (see `replay`), a part at a time.

    `replay` itself takes a dataset, too, and returns its table; this is for results that do not fit into memory.
    Arguments and errors are those of `replay` and `classify_dataset`.

    >>> import verifyplan as vp
    >>> _ = vp.compile_dataset(vp.datasets.path("contract"), "memory://replayed")
    >>> print(replay_dataset("memory://replayed", "adversarial"))  # doctest: +ELLIPSIS
    27 findings
        full-consensus: 0 (n = 27)
     partial-consensus: 14 (n = 27)
             contested: 6 (n = 27)
         worker-unique: 7 (n = 27)
    note: 4 of 27 findings are censored: each is judged with as many rounds as its run allowed.
    note: The runs are of both modes and are judged together. To compare the modes as they ran, ...
    note: Findings or votes were generated, not observed.
    """
    opened = as_dataset(dataset)
    named = _named(rules, mode, max_rounds, missing_basis)
    parts: tuple[Any, ...] = parts_to_judge(opened, *named.values())
    allowed = _rounds_in_words(named, "as many rounds as its run allowed")
    found = _counts_of(opened, partial(_replayed, rules=named), parts, client, folder, allowed)
    return found if _are_several(rules, mode) else found[_ALONE]


_ALONE = ""
"""The name of rules that have no others beside them."""


def _are_several(rules: object, mode: object) -> bool:
    """Return whether rules are a list or mapping of rules, or modes a list of modes."""
    fields = isinstance(rules, Mapping) and rules.keys() <= VotingRules.model_fields.keys()
    return isinstance(mode, list) or (isinstance(rules, Mapping) and not fields) or isinstance(rules, list | tuple)


def _named(
    rules: object, mode: str | Sequence[str] | None, max_rounds: int | None, missing_basis: MissingBasis
) -> dict[str, VotingRules]:
    """Return the rules that the arguments choose, by name."""
    if isinstance(mode, list):
        return {each: chosen_rules(rules, each, max_rounds, missing_basis) for each in mode}
    if not _are_several(rules, mode):
        return {_ALONE: chosen_rules(rules, cast(Any, mode), max_rounds, missing_basis)}
    named = rules_by_name(rules, max_rounds, missing_basis)
    return {name: chosen_rules(each, cast(Any, mode), None, each.missing_basis) for name, each in named.items()}


def _rounds_in_words(named: Mapping[str, VotingRules], default: str) -> dict[str, str]:
    """Return with how many rounds each of some rules judges a finding; `default` for rules that name no number."""
    return {
        name: f"{counted(each.max_rounds, 'round')}, whatever its run allowed" if each.max_rounds else default
        for name, each in named.items()
    }


def as_dataset(value: Runs) -> Dataset:
    """Return a dataset as it is, or the one at an address; InputError for any other runs."""
    runs = as_runs(value) if isinstance(value, str | os.PathLike) else value
    if isinstance(runs, Dataset) and runs.parts:
        return runs
    fix = "compile the runs first: verifyplan compile DIR --out DATASET"
    raise InputError(Problem("dataset", f"must be a dataset that is on disk, got {runs!r:.80}", fix))


Tables = Callable[[Dataset], Iterator[pd.DataFrame]]
"""Yields a table of the findings of a part, with their classes, for each set of rules."""


def _classified(part: Dataset, rules: Mapping[str, VotingRules]) -> Iterator[pd.DataFrame]:
    votes = part.coded_votes(_VOTES, texts=any(needs_texts(part, each) for each in rules.values()))
    yield from classify_each(votes, list(rules.values()))


def _replayed(part: Dataset, rules: Mapping[str, VotingRules]) -> Iterator[pd.DataFrame]:
    for each in rules.values():
        yield replay_under(part, each)


def _counts_of(
    dataset: Dataset,
    tables_of: Tables,
    parts: tuple[Any, ...],
    client: Any,
    folder: Address | None,
    allowed: Mapping[str, str],
    *,
    by_votes: bool = False,
) -> dict[str, ClassCounts]:
    """Return the counts of the tables of all parts, added up, by name; those of a single name go to `folder`.

    `allowed` says in words how many rounds a finding is judged with, by the name of the rules; `by_votes` whether the
    tables have only findings with votes.
    """
    storage = None if folder is None else Storage.at(folder)
    if storage is not None and len(allowed) > 1:
        raise InputError(
            Problem("folder", f"takes the findings under one set of rules, got {len(allowed)}", "leave it out")
        )
    if storage is not None and storage.names():
        raise InputError(Problem(storage.address, "holds files already", "name a folder that is new or empty"))
    count = partial(_count_part, tables_of=tables_of, storage=storage, by_votes=by_votes)
    found = zip(*map_parts(count, parts, client), strict=True)
    return {name: _added(list(each), dataset, allowed[name]) for name, each in zip(allowed, found, strict=True)}


def _added(parts: list[_PartCounts], dataset: Dataset, allowed: str) -> ClassCounts:
    together = pd.concat([part.counts for part in parts], ignore_index=True)
    counts = together.groupby(_COUNTED_BY, observed=True, sort=True)[["n"]].sum().reset_index()
    n_findings, n_censored = int(counts["n"].sum()), int(counts.loc[counts["censored"], "n"].sum())
    censored = f"{n_censored:,} of {counted(n_findings, 'finding')} {is_or_are(n_censored)} censored"
    cut = pd.concat([part.cut for part in parts], ignore_index=True)
    notes = [note] if (note := note_replayed_cut_rounds(cut, cut["limit"])) else []
    notes += [f"{censored}: each is judged with {allowed}."] if n_censored else []
    modes = {mode for part in dataset.statistics for mode in part.modes}
    if len(modes) > 1 and (mixed := note_mixed_modes(dataset.runs)):  # of a selection, a part may hold other runs
        notes.append(mixed)
    if n_unvoted := sum(part.n_unvoted for part in parts):
        words = f"{counted(n_unvoted, 'finding')} without votes {is_or_are(n_unvoted)} not counted"
        notes.append(f"{words}: `replay_dataset` has them, with the classes that their runs gave.")
    if any(part.synthetic for part in dataset.statistics):
        notes.append("Findings or votes were generated, not observed.")
    return ClassCounts(
        counts=counts,
        n_findings=n_findings,
        n_open=sum(part.n_open for part in parts),
        digest=sha256(b"".join(part.digest for part in parts)).hexdigest(),
        paths=tuple(part.path for part in parts if part.path),
        notes=tuple(notes),
    )


def _count_part(part: Dataset, tables_of: Tables, storage: Storage | None, by_votes: bool) -> list[_PartCounts]:
    cut, n_findings = cut_rows(part), part.n_findings if by_votes else None
    return [_count_table(table, part, storage, cut, n_findings) for table in tables_of(part)]


def _count_table(
    table: pd.DataFrame, part: Dataset, storage: Storage | None, cut: pd.DataFrame, n_findings: int | None
) -> _PartCounts:
    path = "" if storage is None else f"{part.statistics[0].name}.parquet"
    if storage is not None:
        data = BytesIO()
        table.to_parquet(data, index=False)
        storage.write(path, data.getvalue())
    size = len(CLASSIFICATIONS)
    classes, rules = (table[name].cat.codes.to_numpy() for name in ("classification", "rule"))
    rounds, censored = table["decided_round"].to_numpy(dtype=np.int32), table["censored"].to_numpy(dtype=bool)
    key = ((rounds * len(RULE_TYPE.categories) + rules) * size + classes) * 2 + censored
    found = np.bincount(key)
    values = np.flatnonzero(found)
    rest, classes_of = values // 2 // size, values // 2 % size
    counts = pd.DataFrame(
        {
            "classification": pd.Categorical.from_codes(classes_of, dtype=CLASS_TYPE),
            "rule": pd.Categorical.from_codes(rest % len(RULE_TYPE.categories), dtype=RULE_TYPE),
            "decided_round": rest // len(RULE_TYPE.categories),
            "censored": values % 2 == 1,
            "n": found[values],
        }
    )
    n_open = int((table["low"].cat.codes.to_numpy() != table["high"].cat.codes.to_numpy()).sum())
    digest = sha256(key.astype("<i4", copy=False).tobytes()).digest()
    has_iterations = table["iteration"].to_numpy().any()  # a challenge has a row in each
    n_judged = len(table) - (int(table.duplicated(FINDING).sum()) if has_iterations else 0)
    n_unvoted = 0 if n_findings is None else n_findings - n_judged
    return _PartCounts(counts, n_open, digest, "" if storage is None else storage.path(path), n_unvoted, cut)
