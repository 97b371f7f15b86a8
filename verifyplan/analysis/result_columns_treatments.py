"""The columns of searches over rules (rule R5)."""

from __future__ import annotations

from verifyplan.analysis.result_columns_comparison import interval_ends
from verifyplan.columns import Column, Columns
from verifyplan.protocol.voting_rules import VotingRules

_SEARCHED: Columns = (
    *(
        Column(name, "text", f"{field.description} Only there if it varies", key=True)
        for name, field in VotingRules.model_fields.items()
    ),
    Column("preset", "text", "the preset that has these rules, if there is one"),
    Column("digest", "text", "the digest of the rules, as in the logs of live runs under them"),
    Column("value", "number", "the quality of the search, by the votes that were cast; missing where its n is 0"),
    *interval_ends(),
    Column("low_bound", "number", "the lowest value that votes allow which the rules ask for and were never cast"),
    Column("high_bound", "number", "the highest value that they allow"),
    Column("lowest", "number", "low end of an interval that contains the 95 % intervals of value and bounds"),
    Column("highest", "number", "high end of it"),
    Column("n", "whole", "the denominator of `value`; of f1 the findings whose truth is known"),
    Column("censored", "whole", "findings that votes which were never cast could give another class"),
    Column("votes", "number", "votes that the rules would have asked for, lost ones included"),
    Column("calls", "number", "calls: a run, round and worker with such a vote; more where runs limit items a call"),
    Column("tokens", "number", "tokens of these calls; calls never made at the mean of worker and round, or run"),
    Column("dollars", "number", "US dollars of them likewise; missing where a run's usage is not known"),
    Column("cost_low", "number", "the cost of the search if no finding goes on to a round that need not"),
    Column("cost_high", "number", "the same if every finding goes on that may"),
    Column("n_same", "whole", "rules of the space, this one included, that judge every finding so at the same cost"),
    Column("on_frontier", "yesno", "whether no other rule is at least as good and cheaper"),
    Column("is_recorded", "yesno", "whether these are the rules that the runs were made under"),
)

_HALVES = "the median over halves of the findings that did not choose the rules"
_RECOMMENDED: Columns = (
    Column(
        "rule",
        ("cheapest", "best", "recorded"),
        "cheapest: the cheapest rules that at least 9 of 10 halves put near the best; best: those that are the best "
        "over all halves; recorded: those of the recorded runs. Votes that were never cast are the worst for each",
        key=True,
    ),
    Column("cost", "number", f"what the rules cost a finding, {_HALVES}, as all that follows"),
    *interval_ends("cost"),
    Column("value", "number", "the quality"),
    *interval_ends(),
    Column("n", "whole", "the denominator on a half; of f1 the findings whose truth is known"),
    Column(
        "loss", "number", "how far the quality is below that of the best rules, as each half chose these; at least 0"
    ),
    Column("loss_low", "number", "low end of the 95 % interval: of the paired difference from these"),
    Column("loss_high", "number", "high end of it: the highest against any rule that was compared"),
    Column("gain", "number", "how far the quality is above that of the rules of the recorded runs"),
    *interval_ends("gain"),
    Column("halves", "number", "the share of the halves that chose these rules; 1 for the recorded ones"),
)

_SETTLED: Columns = (
    Column("run_id", "text", "the run whose votes the vote would add to", key=True),
    Column("finding_id", "text", "the finding to ask about", key=True),
    Column("round", "whole", "the round; made only if the rounds before leave the finding open", key=True),
    Column("worker", "text", "whom to ask", key=True),
    Column(
        "narrows",
        "number",
        "its part of what its finding's votes are expected to narrow the bounds by: the mean width, high_bound - "
        "low_bound, over the rules of the frontier, in units of the quality: 0.01 is one point, and the sum over a "
        "plan is what all of its votes are expected to do",
    ),
)

TREATMENT_TABLES: dict[str, Columns] = {
    "search_rules": _SEARCHED,
    "search_rules.recommend": _RECOMMENDED,
    "search_rules.settle": _SETTLED,
}
"""Each table by the name of the function or attribute that gives it."""
