"""The result of `compare_rules`: verdicts under several rules, their shares with bounds, and what turned them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.analysis.plan_shares import clustered_share
from verifyplan.analysis.result_columns_plans import PLAN_RESULT_TABLES
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.columns import fitted
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.text import counted, is_or_are, listed

MAX_TURNS_IN_WORDS = 8
"""So many kinds of turns are printed; `.turns` has all."""

MAX_NAMED_PLANS = 5
"""So many plans are named for each kind of turn."""

Row = dict[str, Any]


@with_field_docs
@dataclass(frozen=True, eq=False)
class RuleComparison:
    """Recorded plan runs under several rules: verdicts, which field turned which, and what each would have used."""

    table: pd.DataFrame
    """One row a run and rules: verdict, censoring, whether it changed, and calls; `documentation("compare_rules")`."""
    summary: pd.DataFrame
    """One row a rules: shares of runs whose verdict changed, and is as expected, with bounds and intervals; sums."""
    turns: pd.DataFrame
    """One row a verdict that turned and a field that alone turns it, or all the fields that do so only together."""
    fields: pd.DataFrame
    """One row a verdict that turned and a field of these rules: the verdict if it alone is changed."""
    rules: Mapping[str, PlanRules | None]
    """The rules by name, the baseline first; None for each run's own."""
    notes: tuple[str, ...] = ()
    """What a reader must know: synthetic or censored runs, replies to other requests, runs without a label."""

    def __str__(self) -> str:
        """Return one line a rules, then which fields turned verdicts, then the notes."""
        lines = [f"{row['rules']}: {'; '.join(self._words(row))}" for row in self.summary.to_dict("records")]
        if len(self.turns):
            lines += ["verdicts turned by:", *(f"  {line}" for line in self._turn_words())]
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__  # a console shows the words, not every table

    def _words(self, row: dict[Any, Any]) -> Iterator[str]:
        if row["rules"] != next(iter(self.rules)):
            yield f"{_shares(row, 'changed')} verdicts change"
        if row["as_expected_n"]:
            yield f"{_shares(row, 'as_expected')} verdicts as expected"
        if row["censored"]:
            yield f"{row['censored']} of {row['n_runs']} runs censored"
        at_least = "at least " if row["censored"] else ""
        tokens = f", {row['tokens']:,} tokens" if row["tokens"] else ""
        yield f"{at_least}{counted(int(row['calls']), 'call')}{tokens}"

    def _turn_words(self) -> Iterator[str]:
        """Yield the commonest kinds of turns with their counts and the first of their plans."""
        kinds = ["rules", "how", "field", "before", "after", "from_verdict", "to_verdict"]
        groups = self.turns.groupby(kinds, sort=False, observed=True)["plan"]
        counts = groups.agg(n="size", plans=lambda plans: listed(plans.unique(), MAX_NAMED_PLANS)).reset_index()
        counts = counts.sort_values("n", ascending=False, kind="stable")
        for kind in counts[:MAX_TURNS_IN_WORDS].to_dict("records"):
            change = f" {kind['before']} -> {kind['after']}" if kind["how"] == "alone" else f" ({kind['how']})"
            turn = f"{kind['from_verdict']} to {kind['to_verdict']} in {counted(kind['n'], 'run')}: {kind['plans']}"
            yield f"{kind['rules']}: {kind['field']}{change}: {turn}"
        if len(counts) > MAX_TURNS_IN_WORDS:
            yield f"and {len(counts) - MAX_TURNS_IN_WORDS} more kinds"

    def _repr_html_(self) -> str:
        return words_and_tables(str(self), self.summary)


def _shares(row: dict[Any, Any], name: str) -> str:
    """Return a share in words: both bounds where runs are censored, with the interval that holds them."""
    n, least, most = row[f"{name}_n"], row[f"{name}_least"], row[f"{name}_most"]
    upper = round(most * n)
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    count = f"{row[name]:,}" if upper == row[name] else f"{row[name]:,} to {upper:,}"
    rate = f"{least:.0%}" if upper == row[name] else f"{least:.0%} to {most:.0%}"
    return f"{count} of {n:,} ({rate} [{low:.0%}, {high:.0%}])"


def rule_comparison(
    rows: Sequence[Row],
    fields: Sequence[Row],
    rules: Mapping[str, PlanRules | None],
    expected: Mapping[str, str],
    notes: Sequence[str],
    *,
    labelled: bool,
    synthetic: bool,
) -> RuleComparison:
    """Return the result of rows of runs under rules, and of fields alone; `expected` are verdicts by plan."""
    table = pd.DataFrame(list(rows))
    table["expected"] = table["plan"].map(expected)
    given = table["verdict"].astype("object").str.removesuffix(" (strong)")
    agrees = pd.Series(given.eq(table["expected"]), dtype="boolean")
    table["as_expected"] = agrees.mask(table["expected"].isna() | table["censored"].notna())
    each = _table("compare_rules.fields", list(fields))
    turns = _table("compare_rules.turns", list(_turns(table, each, next(iter(rules)))))
    table = _table("compare_rules", table.drop(columns="ending"))
    summary = _table("compare_rules.summary", [_sums(name, value, table) for name, value in rules.items()])
    said = [*notes, *_notes(table, summary, labelled=labelled, synthetic=synthetic)]
    return RuleComparison(table, summary, turns, each, rules, tuple(said))


def _table(name: str, rows: pd.DataFrame | list[Row]) -> pd.DataFrame:
    columns = PLAN_RESULT_TABLES[name]
    table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=[column.name for column in columns])
    return fitted(columns, table, name)


def _turns(table: pd.DataFrame, fields: pd.DataFrame, baseline: str) -> Iterator[Row]:
    """Yield the fields that alone give each verdict that turned, else all fields together, or those not known."""
    endings = dict(zip(zip(table["run_id"], table["rules"], strict=True), table["ending"], strict=True))
    for (run_id, plan, name), each in fields.groupby(["run_id", "plan", "rules"], sort=False):
        ends = {"from_verdict": endings[run_id, baseline], "to_verdict": endings[run_id, name]}
        who = {"run_id": run_id, "plan": plan, "rules": name}
        alone = each[each["gives"].fillna(False)]
        for field in alone.to_dict("records"):
            yield {**who, **ends, "how": "alone", **{key: field[key] for key in ("field", "before", "after")}}
        if alone.empty:
            unknown = each[each["gives"].isna()]
            left = each if unknown.empty else unknown
            together = {key: ", ".join(left[key]) for key in ("field", "before", "after")}
            yield {**who, **ends, "how": "only together" if unknown.empty else "not known", **together}


def _sums(name: str, rules: PlanRules | None, table: pd.DataFrame) -> Row:
    """Return the row of one rules in the summary."""
    part = table[table["rules"] == name]
    labelled = part[part["expected"].notna()]
    return {
        "rules": name,
        "digest": rules.digest if rules is not None else None,
        "n_plans": part["plan"].nunique(),
        "n_runs": len(part),
        "censored": int(part["censored"].notna().sum()),
        **_bounds("changed", part),
        **_bounds("as_expected", labelled),
        "calls": part["calls"].sum(),
        "tokens": part["tokens"].sum(),
        "cost": part["cost"].sum(skipna=False),
    }


def _bounds(name: str, part: pd.DataFrame) -> Row:
    """Return a share with the runs of which it is not known taken as not among them, and as among them."""
    least = clustered_share(part.assign(hit=part[name].fillna(False).astype(bool)), "hit")
    most = clustered_share(part.assign(hit=part[name].fillna(True).astype(bool)), "hit")
    return {
        name: least.found,
        f"{name}_least": least.rate,
        f"{name}_most": most.rate,
        f"{name}_low": least.low,
        f"{name}_high": most.high,
        f"{name}_n": least.n,
    }


def _notes(table: pd.DataFrame, summary: pd.DataFrame, *, labelled: bool, synthetic: bool) -> Iterator[str]:
    if synthetic:
        yield "The runs are synthetic: what rules make of them says nothing of any model."
    if summary["censored"].any():
        yield (
            "A censored run needs a call that was never made: shares are given with it taken both ways, and the "
            "interval holds both."
        )
    if otherwise := int(table["asked_otherwise"].gt(0).sum()):
        yield (
            f"{counted(otherwise, 'replay')} of {len(table):,} {is_or_are(otherwise)} answered in part by replies to "
            "requests that these rules would word otherwise: agents might have answered otherwise."
        )
    if unscored := int(table["unscored"].notna().sum()):
        yield f"{counted(unscored, 'replay')} end where no score was asked for: one call for it, and its audit, more."
    without = table.loc[table["expected"].isna(), "plan"].nunique() if labelled else 0
    if without:
        yield f"{counted(without, 'plan')} without a label {is_or_are(without)} in no share of expected verdicts."
