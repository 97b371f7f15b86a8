"""The columns of what analyses of plan runs return (rules A2, A3, A13, G2)."""

from __future__ import annotations

from verifyplan.analysis.result_columns_comparison import interval_ends
from verifyplan.columns import Column, Columns
from verifyplan.protocol.records import CONVERGENCE_STATUSES, PLAN_VERDICTS, SEVERITIES, STATUSES
from verifyplan.protocol.vote import CLASSIFICATIONS

VERDICT_WORDS = ("PROCEED", "REVISE", "REVISE (strong)", "RETHINK")
"""The verdicts of plan runs as people read them, the best first."""

PANEL_CLASSES = ("any", *CLASSIFICATIONS, "no vote")
"""The panel's last class of a challenge, of any class first."""

WEIGHTY = ("BLOCKING", "SIGNIFICANT")
"""The severities that decide a verdict (rule A3), the worse one first."""

_RUN = Column("run_id", "text", "the plan run", key=True)
_PLAN = Column("plan", "text", "the name of the plan's file, without folder and suffix")

SHARE: Columns = (
    Column("n_plans", "whole", "plans"),
    Column("n_runs", "whole", "runs of these plans"),
    Column("n", "whole", "what is counted"),
    Column("found", "whole", "those of `n` of which the measure is true"),
    Column("rate", "number", "`found` / `n`; missing where n is 0"),
    *interval_ends("", "clustered by plan (rule F1)"),
)
"""The columns of a share over plan runs."""


def _bounded(name: str, of: str) -> Columns:
    """Return the columns of a share of runs of which some are censored: bounds, and an interval that holds both."""
    return (
        Column(name, "whole", f"runs {of}, of those that are not censored"),
        Column(f"{name}_least", "number", "their share of all n, if no censored run were among them"),
        Column(f"{name}_most", "number", "their share of all n, if every censored run were among them"),
        Column(f"{name}_low", "number", "low end of the 95 % interval of the first, clustered by plan (rule F1)"),
        Column(f"{name}_high", "number", "high end of the 95 % interval of the second"),
        Column(f"{name}_n", "whole", "n of these shares: the runs that come into question"),
    )


_RULES = Column("rules", "text", "the rules, by the name that they were given", key=True)
_FIELD = (
    Column("field", "text", "the field of the rules", key=True),
    Column("before", "text", "its value in the baseline"),
    Column("after", "text", "its value in these rules"),
)
_COST: Columns = (
    Column("calls", "whole", "calls that replied, of censored runs up to the one that is missing"),
    Column("tokens", "whole", "tokens in and out of these calls; 0 for agents that are not models"),
    Column("cost", "number", "their dollars; missing where a price is not known"),
)
_RANKING: Columns = (
    Column("plan", "text", "the plan", key=True),
    Column("score", "number", "the weighted sum of its scores; missing where a score is"),
    Column("final", "whole", "`score` rounded half up, in exact arithmetic (rule A10)"),
    Column("rank", "whole", "its rank, 1 for the highest score; tied plans share the best; missing where a score is"),
    Column("was", "whole", "its rank under the weights that the tuner started at"),
    Column("missing", "text", "the dimensions whose score is missing; blank where none is"),
)

PLAN_RESULT_TABLES: dict[str, Columns] = {
    "ranking": _RANKING,
    "detection.by_kind": (
        Column("kind", "text", "the kind of the defects; `all kinds`: all of them", key=True),
        Column("held_out", "yesno", "whether their plans are held out", key=True),
        *SHARE,
        Column("in_trivial", "whole", "those of `n` in trivial plans: no agent looked at them, so none is found"),
        Column("seen_found", "whole", "those of `n` found in the plans that agents looked at"),
        Column("seen_rate", "number", "`seen_found` / (`n` - `in_trivial`); missing where that is 0"),
        *interval_ends("seen_rate", "clustered by plan (rule F1)"),
    ),
    "detection.verdicts": (
        _PLAN,
        Column("kind", "text", "the kind of the plan's first defect; `sound`; `not sound`: REVISE or RETHINK alone"),
        Column("held_out", "yesno", "whether the plan is held out"),
        Column("expected", PLAN_VERDICTS, "the verdict that the label asks for"),
        _RUN,
        Column("given", PLAN_VERDICTS, "the verdict of the run; missing where the run gave none"),
        Column("strong", "yesno", "whether a REVISE is REVISE (strong)"),
        Column("exit_reason", "text", "why there is no verdict, or why it is not what the counts gave"),
        Column("score", "whole", "the final quality score, 1-10; missing where there is none"),
        Column("trivial", "yesno", "whether the plan was trivial: it gets PROCEED, and no agent looks at it"),
        Column(
            "agrees",
            "yesno",
            "whether `expected` is `given`; false for a run without a verdict; missing for a sound plan that was "
            "trivial, since no agent looked for a defect. A trivial plan that is not sound counts: PROCEED is wrong",
        ),
    ),
    "detection.settlements": (
        _RUN,
        _PLAN,
        Column("challenge_id", "text", "the settled challenge", key=True),
        Column("severity", SEVERITIES, "its severity"),
        Column("status", STATUSES, "how it was settled: RESOLVED, WITHDRAWN or DEFERRED"),
        Column("by", "text", "who settled it: `synthesizer`, or a person (`user`), whose decisions are not judged"),
        Column("uncited", "yesno", "whether its last resolution cites nothing"),
        Column("panel", PANEL_CLASSES[1:], "the class that the panel gave it last; `no vote` where it gave none"),
        Column(
            "truth_from",
            ("challenge label", "defect", "sound plan", "labels disagree"),
            "where it is known from whether it is right: a label of challenges that it matches; a labelled defect that "
            "it matches (so it is right); a sound plan (so it is wrong, if BLOCKING or SIGNIFICANT); missing where not",
        ),
        Column("right", "yesno", "whether the challenge is right; missing where that is not known"),
        Column("answer", "text", "the place that answers it, by a label of challenges"),
        Column(
            "settled_rightly",
            "yesno",
            "of a right challenge: by RESOLVED if the label names its answer, by DEFERRED if it matches no BLOCKING or "
            "SIGNIFICANT defect, never by WITHDRAWN; of a wrong one: by RESOLVED and WITHDRAWN, not by DEFERRED, which "
            "keeps it; missing where not known, and where a person settled it",
        ),
        Column("reason", "text", "why it is right or not"),
    ),
    "detection.settlement_rates": (
        Column(
            "measure",
            "text",
            "`wrong RESOLVED`, `wrong WITHDRAWN`, `wrong DEFERRED`: of the settlements of that kind whose truth is "
            "known; `right and lost`: of all right challenges, open ones too, those that were settled wrongly",
            key=True,
        ),
        Column("panel", PANEL_CLASSES, "the panel's last class of the challenge; `any`: all of them", key=True),
        *SHARE,
    ),
    "compare_rules": (
        _RUN,
        _PLAN,
        _RULES,
        Column("verdict", VERDICT_WORDS, "the verdict under these rules; missing where there is none, or censored"),
        Column("status", CONVERGENCE_STATUSES, "how the run ends; missing where censored, or where it ends otherwise"),
        Column("ended_by", "text", "what ends it; `a question to a person` where it waits; missing where censored"),
        Column(
            "censored",
            "text",
            "the first call that these rules need and that was never made, or not about all of it",
        ),
        Column("changed", "yesno", "whether the verdict, or that there is none, differs from the baseline's"),
        Column("expected", VERDICT_WORDS, "the verdict that the plan deserves, by its label"),
        Column("as_expected", "yesno", "whether the verdict is that one, REVISE (strong) being a REVISE"),
        Column(
            "asked_otherwise", "whole", "calls answered by replies to requests that these rules would word otherwise"
        ),
        Column("unscored", "text", "the call for scores that was never made, where there is a verdict without one"),
        *_COST,
    ),
    "compare_rules.summary": (
        _RULES,
        Column("digest", "text", "the digest of the rules; missing for the rules of each run itself"),
        Column("n_plans", "whole", "plans"),
        Column("n_runs", "whole", "runs"),
        Column("censored", "whole", "runs that need a call that was never made"),
        *_bounded("changed", "whose verdict differs from the baseline's"),
        *_bounded("as_expected", "whose verdict is the label's"),
        *_COST,
    ),
    "compare_rules.turns": (
        _RUN,
        _PLAN,
        _RULES,
        Column(
            "how",
            ("alone", "only together", "not known"),
            "`alone`: this field gives the verdict if it alone is changed; `only together`: no field does, all of "
            "these do; `not known`: no field does as far as replies reach, and these alone are censored",
        ),
        *_FIELD,
        Column("from_verdict", "text", "the baseline's verdict, or `no verdict`"),
        Column("to_verdict", "text", "the verdict under these rules, or `no verdict`"),
    ),
    "compare_rules.fields": (
        _RUN,
        _PLAN,
        _RULES,
        *_FIELD,
        Column("verdict", VERDICT_WORDS, "the verdict if this field alone is changed from the baseline"),
        Column("censored", "text", "the first call that is missing for that"),
        Column("gives", "yesno", "whether this verdict is that of all fields together; missing where censored"),
    ),
}
"""Each table by the function that returns it."""
