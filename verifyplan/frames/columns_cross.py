"""The columns of runs and of votes: what runs of every kind and imported votes have in common (rule E4)."""

from __future__ import annotations

from typing import get_args

from verifyplan.frames.column import FINDING, ITERATION, ROUND, RUN, WORKER, Column, Columns
from verifyplan.frames.columns_debate import DEBATE_RUN
from verifyplan.protocol.artifact import DISPATCH_STATUSES, FINAL_STATES, ROUND2_REASONS, SCHEMA_VERSIONS
from verifyplan.protocol.event_run import ENDED_BY
from verifyplan.protocol.iteration import CONVERGENCE_STATUSES, PLAN_VERDICTS, PlanQuality, TeamMode
from verifyplan.protocol.settings import POLICIES
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, MODES, VERDICTS, VERIFICATION_MODES

_ANY_RUN: Columns = (
    RUN,
    Column("kind", ("cross", "votes", "plan", "debate"), "what was run; `votes` for a table of votes, imported"),
    Column("task_key", "text", "what the run is about"),
    Column("mode", MODES, "how votes were asked for; of a plan run, by its panel; missing where unknown"),
    Column("verification_mode", VERIFICATION_MODES, "whether workers opened the cited evidence"),
    Column("schema_version", SCHEMA_VERSIONS, "the artifact's schema; of a cross run's log, that of its export"),
    Column("enabled", "yesno", "whether findings, or a plan's challenges, were voted on at all"),
    Column("max_rounds", "whole", "rounds allowed by the settings; of a plan run, to its panel in an iteration"),
    Column("effective_max_rounds", "whole", "rounds allowed in fact; of an import, the highest recorded"),
    Column("total_rounds", "whole", "rounds executed; of a plan run, its panel's over all iterations"),
    Column("final_state", FINAL_STATES, "how the loop of a cross run ended"),
    Column("round2_skipped_reason", ROUND2_REASONS, "why round 2 did not run"),
    Column("n_findings", "whole", "findings of the run, plan items left out; of a plan run, challenges voted on"),
    Column("synthetic", "yesno", "whether findings or votes were generated, not observed"),
    Column("source", "text", "the file that the run was read from"),
)
_PLAN_RUN: Columns = (
    Column("plan_verdict", PLAN_VERDICTS, "what became of the plan; missing where the run gave no verdict"),
    Column("strong", "yesno", "whether a REVISE is REVISE (strong)"),
    Column("plan_status", CONVERGENCE_STATUSES, "how the plan run ended; while it goes on, its last ruling"),
    Column("ended_by", ENDED_BY, "what ended the plan run; missing while it goes on"),
    Column("trivial", "yesno", "whether sizing ended the run before any call"),
    Column("overridden", "text", "the challenge that a person overrode"),
    Column(
        "exit_reason",
        "text",
        "why there is no verdict, or why it is not what the counts gave; of a debate, why no status",
    ),
    Column("score", "whole", "the final quality score, 1-10; it decides nothing"),
    Column("team", get_args(TeamMode), "the team that looked at the plan; missing for a trivial plan"),
    Column("quality", get_args(PlanQuality), "how much the plan says"),
    Column("complexity", "whole", "the complexity, 0-16, that sized the team"),
    Column("policy", POLICIES, "the rule of convergence that was used"),
    Column("max_iterations", "whole", "iterations allowed"),
    Column("n_iterations", "whole", "iterations begun"),
    Column("plan_path", "text", "the plan that was verified"),
    Column("plan_name", "text", "the name under which places in the plan are cited"),
)
_LOGGED: Columns = (
    Column("backend", "text", "who spoke; artifacts do not tell"),
    Column("prompts", "text", "name, version and digest of each prompt; missing for agents that are no models"),
    Column("repetition", "whole", "which run of the same inputs and settings it is, from 1; artifacts do not tell"),
    Column("rules_version", "whole", "the version of the rules that decided it; artifacts do not tell"),
    Column("started_at", "time", "when the run began; artifacts do not tell"),
    Column("ended_at", "time", "when the last event was recorded; artifacts do not tell"),
    Column("finished", "yesno", "whether the run came to its end; missing in an import"),
    Column("log", "yesno", "whether the run was read from its log, which knows more than an artifact"),
)

CROSS_TABLES: dict[str, Columns] = {
    "runs": (*_ANY_RUN, *_PLAN_RUN, *DEBATE_RUN, *_LOGGED),
    "findings": (
        RUN,
        FINDING,
        Column("summary", "text", "the claim"),
        Column(
            "category",
            "text",
            "kind of finding; `plan-body` for the items of a plan, `challenge` in plan runs",
        ),
        Column("evidence", "text", "cited places and quoted text, as the discoverer gave them"),
        Column("ticket_ids", "names", "tickets that the finding belongs to"),
        Column("origin_worker", "text", "the first discoverer in roster order"),
        Column("discoverers", "names", "everyone who found it; they do not vote on it"),
        Column("classification", CLASSIFICATIONS, "the class that the run gave (last); missing in an import"),
        Column("consensus_workers", "names", "who stands for it at the end"),
        Column("dissenting_workers", "names", "who stands against it at the end"),
        Column("n_rounds", "whole", "rounds in which it was (last) voted on; 0 if it was settled before"),
        Column("lost_votes", "whole", "votes of its last round that were asked for and are errors"),
        Column("lost_refutes", "whole", "counter-evidences of earlier rounds whose author has no vote in the last"),
        Column("truth", "yesno", "whether it is true, where that is known; no worker sees it"),
    ),
    "votes": (
        RUN,
        ITERATION,
        FINDING,
        ROUND,
        WORKER,
        Column("verdict", VERDICTS, "what the worker said, as it counts"),
        Column("disagree_basis", BASES, "what an adversarial disagree rests on"),
        Column("explanation", "text", "the worker's words"),
        Column("is_origin", "yesno", "whether the worker is a discoverer, whose vote is not tallied"),
        Column(
            "basis_filled", "yesno", "whether `missing_basis` gave the basis, as the worker named none; logs alone tell"
        ),
        Column("uncited", "yesno", "a counter-evidence whose explanation cites no place"),
    ),
    "rounds": (
        RUN,
        ITERATION,
        ROUND,
        Column("input_queue_size", "whole", "findings waiting when the round began"),
        Column("resolved_count", "whole", "findings that the round's votes gave a class"),
        Column("carried_forward_count", "whole", "findings still waiting when the round ended"),
    ),
    "dispatches": (
        RUN,
        ITERATION,
        ROUND,
        WORKER,
        Column("status", DISPATCH_STATUSES, "how the call ended; missing where the worker was not called"),
        Column("duration_ms", "number", "wall time of the call in milliseconds"),
        Column("skipped_reason", "text", "why the worker gave no votes, if it gave none"),
    ),
}
"""The tables that every kind of run fills, and those that an artifact fills."""
