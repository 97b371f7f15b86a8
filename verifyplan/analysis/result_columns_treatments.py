"""The columns of what is made of rules: what conclusions rest on, what stopping saves, and searches (rules R2-R5)."""

from __future__ import annotations

from verifyplan.analysis.result_columns_comparison import interval_ends
from verifyplan.columns import Column, Columns
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.protocol.voting_rules import VotingRules

_CHANGE: Columns = (
    Column(
        "kind",
        "text",
        "the votes that are changed: `failed`; `uncited`, counter-evidences that cite no place; `filled-in`, disagrees "
        "whose basis was filled in; any `single` vote; the votes of a `worker`",
        key=True,
    ),
    Column(
        "taken_as",
        "text",
        "what they are changed to: `agree`, `counter-evidence`, `anything` (each its own, and no vote at all); the "
        "`other basis`; the `opposite` (agree becomes counter-evidence, a disagree agree); `left out`",
        key=True,
    ),
)


def _share(name: str, meaning: str) -> Columns:
    return (
        Column(f"{name}_share", "number", f"share of all findings {meaning}"),
        *interval_ends(name),
    )


_CHANGED_SHARES: Columns = (
    *_share("class", "whose class changes"),
    *_share("held", "that are held and were not, or the reverse"),
    Column("n", "whole", "all findings"),
)
_CHANGED: Columns = (
    Column("n_class_changed", "whole", "findings whose class is another with the change"),
    Column("n_held_changed", "whole", "those of them that are then held and were not, or the other way"),
)

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
    "fragility": (
        *_CHANGE,
        Column("n_votes", "whole", "votes of this kind that the rules ask for; of workers, voters over all findings"),
        Column("n_findings", "whole", "findings with such a vote"),
        Column(
            "n_deciding",
            "whole",
            "those of the votes on which a class rests: single votes and workers each by themselves, else all such "
            "votes of a finding together",
        ),
        *_CHANGED,
        *_CHANGED_SHARES,
        Column("n_goes_on", "whole", "changes by which the rules would go on to a round that was never held"),
    ),
    "fragility.metrics": (
        *_CHANGE,
        Column("metric", "text", "the metric; those of truth where some findings' truth is known", key=True),
        Column("value", "number", "the metric by the votes as they were cast"),
        Column(
            "low", "number", "low end of an interval that contains the 95 % intervals of value and bounds (rule F1)"
        ),
        Column("high", "number", "high end of it"),
        Column(
            "low_bound",
            "number",
            "its lowest value: over findings changed or not where each may change by itself (`anything`, `opposite`); "
            "over workers; else with all votes changed or none",
        ),
        Column("high_bound", "number", "its highest value"),
        Column("n", "whole", "the denominator of `value`"),
    ),
    "fragility.findings": (
        Column("run_id", "text", "the run", key=True),
        Column("iteration", "whole", "the iteration of a plan run's panel; 0 in cross runs", key=True),
        Column("finding_id", "text", "the finding", key=True),
        Column("summary", "text", "what it claims"),
        Column("truth", "yesno", "whether it is right, where known"),
        *_CHANGE,
        Column("n_deciding", "whole", "the votes, or workers, on which its class rests, as in the table"),
        Column("classification", CLASSIFICATIONS, "its class by the votes as they were cast"),
        Column("worst", CLASSIFICATIONS, "the worst class with the change or without"),
        Column("best", CLASSIFICATIONS, "the best class with the change or without"),
        Column("held_changes", "yesno", "whether that decides if it is held"),
        Column("goes_on", "yesno", "whether a change would go on to a round that was never held"),
    ),
    "fragility.workers": (
        Column("worker", "text", "who is left out", key=True),
        Column("n_findings", "whole", "the findings that this worker voted on, or was asked about in vain"),
        *_CHANGED,
        *_CHANGED_SHARES,
    ),
    "stopping": (
        Column("stop", "text", "what stops; `all votes`: the rules without a stop", key=True),
        Column("lead_for", "whole", "votes by which agree and supplement lead that end a round; missing without"),
        Column("lead_against", "whole", "votes by which disagree leads that end a round"),
        Column("votes", "whole", "votes that the rules ask for, lost ones too"),
        Column("calls", "whole", "calls that ask for them: of a worker in a round, about at least one finding"),
        Column("saved", "number", "share of the votes of `all votes` that are not asked for"),
        *interval_ends("saved"),
        Column("calls_saved", "number", "share of the calls of `all votes` that are not made"),
        Column("n_class_changed", "whole", "findings whose class differs from that of all votes"),
        Column("n_held_changed", "whole", "those of them that are held and were not, or the other way"),
        *_share("held", "that are held and were not, or the reverse"),
        Column("n", "whole", "all findings"),
        Column("n_censored", "whole", "findings whose class votes that were never cast leave open (rule R4)"),
    ),
    "stopping.metrics": (
        Column("stop", "text", "what stops", key=True),
        Column("metric", "text", "the metric; those of truth where some findings' truth is known", key=True),
        Column("value", "number", "the metric under this stop"),
        *interval_ends(),
        Column("difference", "number", "`value` minus that of all votes"),
        *interval_ends("difference"),
        Column("n", "whole", "the denominator of `value`"),
    ),
}
"""Each table by the name of the function or attribute that gives it."""
