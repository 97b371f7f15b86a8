"""The columns of runs, votes, calls, turns, tools and debates, as data (rules A12, C1, E1, E4)."""

from __future__ import annotations

from typing import get_args

from verifyplan.columns import Column, Columns
from verifyplan.frames.ties import TIES
from verifyplan.protocol.artifact import DISPATCH_STATUSES, FINAL_STATES, ROUND2_REASONS, SCHEMA_VERSIONS
from verifyplan.protocol.call import TOOLS, ReplySource
from verifyplan.protocol.event_run import ENDED_BY, AnswerForm, DebateReason, DebateStatus
from verifyplan.protocol.message import DEBATE_ROLES, MESSAGE_TYPES
from verifyplan.protocol.plan_rules import POLICIES
from verifyplan.protocol.records import CONVERGENCE_STATUSES, PLAN_VERDICTS, PlanQuality, TeamMode
from verifyplan.protocol.role_call import ROLES
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, MODES, VERDICTS, VERIFICATION_MODES
from verifyplan.rules.failed_calls import FAILURE_KINDS

RUN = Column("run_id", "text", "the run: its file's path under the loaded folder, without suffix", key=True)
ITERATION = Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs", key=True, default=0)
ROUND = Column("round", "whole", "the round, from 1", key=True)
WORKER = Column("worker", "text", "the worker, as the roster names it", key=True)
FINDING = Column("finding_id", "text", "the finding, unique in its run; of a plan run, the challenge", key=True)
CHALLENGE = Column("challenge_id", "text", "the challenge: C1, C2 ..., counted over all iterations", key=True)

CALL_STATUSES = ("completed", "timeout", "error", "budget", "in-flight")
"""The ends of a call; `budget` where it could not be afforded, `in-flight` where the log ends before its reply."""

ANSWER_FORMS = get_args(AnswerForm)
"""`schema`: the endpoint was to hold the answer to it; `prompt`: the model was shown the form in words."""

TURN_STATUSES = ("completed", "failed", "in-flight")
"""The ends of a turn; `failed` where the call went on, or ended, without its reply."""

_CALL = Column("call_id", "text", "the call's place in the run, as i2/challenger, t2/critique or r1/worker-b", key=True)
_REOPENING = Column(
    "reopening", "whole", "the reopening of the run in which it was asked, from 1; 0 before any", key=True, default=0
)
_SOURCE = Column("source", get_args(ReplySource), "whether the reply was made then, read from a log, or from a cache")
_USED: Columns = (
    Column("input_tokens", "whole", "tokens in that were neither read from a cache nor put in one"),
    Column("output_tokens", "whole", "tokens out"),
    Column("cache_read_tokens", "whole", "tokens in that the endpoint had in its cache"),
    Column("cache_write_tokens", "whole", "tokens in that the endpoint put in its cache"),
    Column("web_searches", "whole", "searches that the endpoint made, which it bills apart"),
    Column("cost", "number", "US dollars by the table of prices; missing where no price is known, or no usage"),
)
"""The usage of a model; 0 for agents that are none. Of calls that failed or are in flight: what their turns used.

Missing where the usage of a reply is missing or cannot be read; a call with such a reply has the tokens of the others.
"""

_FLAGS: Columns = (
    Column(
        "id_repeated",
        "yesno",
        "whether a reply has the message id of a reply to another call of the run; missing without message ids",
    ),
    Column(
        "words_repeated",
        "yesno",
        "whether its explanations are, word for word, those of another worker on the same findings, 12 words or more "
        "outside quotes (24 if the whole answers are alike); missing for all but votes of models",
    ),
    Column(
        "run_repeated",
        "yesno",
        "whether a reply is a message of another run loaded with it, or its explanations are word for word those of "
        "the same call there; missing where no other run has the call, and in compiled datasets",
    ),
    Column(
        "other_model",
        "yesno",
        "whether a reply names another model than was asked, dated snapshots aside; missing where no reply names one",
    ),
)
"""The signs that a call's reply is not its own, by what models replied (rule G5)."""

CALL_TABLES: dict[str, Columns] = {
    "calls": (
        RUN,
        _CALL,
        _REOPENING,
        Column(
            "superseded",
            "yesno",
            "whether it counts no more, as a reopening asked it again or took another course; its cost counts",
            default=False,
        ),
        Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs and debates"),
        Column("role", (*ROLES, "worker", *DEBATE_ROLES), "what was asked of it; `worker` for a vote"),
        Column("worker", "text", "the agent or worker that was called"),
        Column("items", "names", "ids of the findings that a worker was asked about"),
        Column("status", CALL_STATUSES, "how the call ended; an answer outside its schema came in a completed call"),
        Column("duration_ms", "number", "wall time of the call in milliseconds"),
        *_USED,
        Column("model", "text", "the model that was asked, or several with commas; missing for agents that are none"),
        Column("n_turns", "whole", "its rows in the table `turns`; 0 for agents that do not speak in turns"),
        _SOURCE,
        Column("request_sha256", "text", "digest of the whole request; equal requests were asked the same"),
        Column("requested_at", "time", "when it was asked"),
        Column("replied_at", "time", "when it ended"),
        Column("reason", "text", "what was wrong with the call, or with its answer"),
        Column("failure", FAILURE_KINDS, "why it failed, by status and reason; missing where it did not"),
        Column("n_tools", "whole", "tool calls that the agent made, refused ones included"),
        Column(
            "n_opened", "whole", "excerpts that were opened for it beforehand, of the places that its findings cite"
        ),
        Column(
            "schema_ignored",
            "yesno",
            "whether an answer came as prose, or in a fence, though the request asked for JSON by a schema; missing "
            "where it did not",
        ),
        Column(
            "json_fenced",
            "yesno",
            "whether such an answer was JSON all the same, in a code fence, as by a prompt; false for prose",
        ),
        Column("tools_unused", "yesno", "whether tools were offered and none was called; missing where none were"),
        *_FLAGS,
    ),
    "turns": (
        RUN,
        Column("turn_id", "text", "its call and its turn, as i2/challenger/t3", key=True),
        _REOPENING,
        Column("call_id", "text", "the call that it belongs to, as the table `calls` names it"),
        Column("turn", "whole", "the turn in its call, from 1; of a look-up on the web, that of the turn it was for"),
        Column("model", "text", "the model that was asked"),
        Column("model_replied", "text", "the model that the reply names"),
        Column("status", TURN_STATUSES, "how it ended"),
        Column("answer_form", ANSWER_FORMS, "how the form of the answer was asked for: by a schema, or by the prompt"),
        Column("stop_reason", "text", "why the model stopped, in the endpoint's words"),
        *_USED,
        Column("duration_ms", "number", "wall time in milliseconds, retries included"),
        _SOURCE,
        Column("batch", "text", "the message batch that the reply came in, if it came in one"),
        Column("request_sha256", "text", "digest of the whole request as it was sent"),
        Column("message_id", "text", "the endpoint's name of the reply"),
        Column("reply_sha256", "text", "digest of the reply's texts and tool calls; equal digests say the same"),
        Column("requested_at", "time", "when it was sent"),
        Column("replied_at", "time", "when it came back"),
        Column("n_added", "whole", "blocks that it adds to the conversation: results of tools, a wish for repair"),
        Column("n_tools", "whole", "tool calls behind those blocks, refused ones included"),
        Column("n_opened", "whole", "excerpts that its first message shows, of the places that its findings cite"),
    ),
    "attempts": (
        RUN,
        Column("turn_id", "text", "its turn, as the table `turns` names it", key=True),
        Column("attempt", "whole", "the HTTP request, numbered from 1 in its turn", key=True),
        Column("call_id", "text", "the call that it belongs to, as the table `calls` names it"),
        Column("http_status", "whole", "the endpoint's status; missing where none came"),
        Column("error", "text", "the endpoint's name of the error, or the class of the fault; blank with a message"),
        Column("started_at", "time", "when it was sent"),
        Column("duration_ms", "number", "wall time of the request in milliseconds"),
        Column("waited_s", "number", "seconds of waits before it"),
        Column("asked_wait_s", "number", "seconds that the endpoint asks to wait; missing where it names none"),
        Column("retry_in_s", "number", "seconds after which the turn was to be sent again; missing where it was not"),
        Column("sent_bytes", "whole", "bytes of the request's body; 0 where they were not all sent"),
        Column("received_bytes", "whole", "bytes of the reply's body, as they came"),
        Column("request_id", "text", "the endpoint's name of the request"),
        Column("perhaps_billed", "yesno", "whether it was sent whole and its answer is lost"),
        Column(
            "cost_perhaps",
            "number",
            "US dollars that it may have cost without a reply, by the estimate of its turn; missing without a price",
        ),
    ),
    "tools": (
        RUN,
        _CALL,
        _REOPENING,
        Column("step", "whole", "the use of a tool, numbered from 1 in its call", key=True),
        Column("tool", TOOLS, "what was used"),
        Column("argument", "text", "what it was used with: a path, a pattern, a query, cited places"),
        Column("serves", "text", "the unknown or risk that it serves, if it names one"),
        Column("refused", "text", "why it was refused; blank if it was not"),
        Column("results", "whole", "lines or hits that came back"),
        Column(
            "opened",
            "yesno",
            "whether it was made beforehand, to open cited places; false where the agent called the tool",
        ),
    ),
}
"""The tables of who was called; they come from logs. `turns` are those of agents that are models."""


DEBATE_RUN: Columns = (
    Column(
        "debate_status", get_args(DebateStatus), "how the debate ended; missing where an agent or a budget ended it"
    ),
    Column("debate_reason", get_args(DebateReason), "what ended the debate; missing while it goes on"),
    Column("debate_turns", "whole", "turns of the debate; while it goes on, the one that it has come to"),
    Column("max_turns", "whole", "turns allowed to the debate"),
)
"""The columns of `runs` that debates fill; the reason for a missing status is in `exit_reason`."""

DEBATE_TABLES: dict[str, Columns] = {
    "messages": (
        RUN,
        Column("position", "whole", "the message, numbered from 1 in its debate", key=True),
        Column("turn", "whole", "the turn, from 1"),
        Column("role", DEBATE_ROLES, "who speaks"),
        Column("type", MESSAGE_TYPES, "what the message does"),
        Column("content", "text", "the message's words"),
        Column("reasons", "names", "why this step was taken"),
        Column("evidence", "names", "file paths and line hints"),
        Column("risks", "names", "short, actionable concerns"),
        Column("n_reasons", "whole", "how many reasons it gives"),
        Column("n_evidence", "whole", "how much evidence it gives"),
        Column("n_risks", "whole", "how many risks it names"),
        Column("input_tokens", "whole", "tokens in, where a model was called"),
        Column("output_tokens", "whole", "tokens out, where a model was called"),
        Column("diff_sha256", "text", "digest of the diff after the message; missing before the first"),
        Column("diff_lines", "whole", "lines of that diff"),
        Column("at", "time", "when it was published"),
    ),
}
"""The table of messages; it comes from the logs of debates."""


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
    Column("ties", TIES, "how ties among the votes of an import count; missing where there were none"),
    Column("source", "text", "the file that the run was read from"),
    Column(
        "rules",
        "text",
        "the voting rules that decided, as JSON: the fields that are not neutral, but mode and rounds, which have "
        "columns; {} for neutral ones; of a plan run, its panel's; missing where unknown",
    ),
    Column("rules_digest", "text", "tells these rules, with mode and rounds, from any others; missing where unknown"),
    Column(
        "supplementary",
        "yesno",
        "whether the run made listed calls alone (`only=`), so that its classes rest on these votes alone",
    ),
    Column("supplements", "text", "the run whose votes a supplementary run adds to, where its list named it"),
    Column("added_votes", "whole", "votes of supplementary runs that `add_votes` put beside the run's own"),
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
    Column(
        "n_settled_cited",
        "whole",
        "challenges settled whose last change cites something, or was a person's; with none, PROCEED rests on silence "
        "or on words that cite nothing (rule A13)",
    ),
    Column("n_settled_uncited", "whole", "challenges settled whose last change cites nothing"),
    Column(
        "plan_rules",
        "text",
        "the plan rules that decided, as JSON: the fields that are not neutral; {} for neutral ones; missing where "
        "unknown",
    ),
    Column("plan_rules_digest", "text", "tells these rules from any others; missing where unknown"),
    Column("plan_path", "text", "the plan that was verified"),
    Column("plan_name", "text", "the name under which places in the plan are cited"),
)
_LOGGED: Columns = (
    Column(
        "roster",
        "text",
        "everyone who could be asked to vote, in order, as a JSON list; of a plan run its panel; artifacts do not tell",
    ),
    Column("backend", "text", "who spoke; artifacts do not tell"),
    Column("prompts", "text", "name, version and digest of each prompt; missing for agents that are not models"),
    Column("repetition", "whole", "which run of the same inputs and settings it is, from 1; artifacts do not tell"),
    Column("rules_version", "whole", "the version of the rules that decided it; artifacts do not tell"),
    Column("cost", "number", "US dollars of all replies, as booked; missing where no price is known, or no usage"),
    Column(
        "cost_perhaps",
        "number",
        "US dollars that may be billed beside them: the estimates of requests whose answer is lost, or in flight; "
        "missing without a price",
    ),
    Column("started_at", "time", "when the run began; artifacts do not tell"),
    Column("ended_at", "time", "when the last event was recorded; artifacts do not tell"),
    Column("finished", "yesno", "whether the run came to its end; missing in an import"),
    Column(
        "broken_off",
        "text",
        "the last event of a run that neither came to its end nor waits, and how it goes on; also of one under way",
    ),
    Column("n_reopened", "whole", "how often the run was reopened to ask failed calls again; artifacts do not tell"),
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
        Column("consensus_workers", "names", "who is for it at the end"),
        Column("dissenting_workers", "names", "who is against it at the end"),
        Column("n_rounds", "whole", "rounds in which it was (last) voted on; 0 if it was settled before"),
        Column("votes_asked", "whole", "votes of its last round that were asked for, its discoverers' own left out"),
        Column("votes_valid", "whole", "votes among these that are not errors"),
        Column(
            "below_quorum", "yesno", "whether these are fewer than the quorum of the run's rules; missing where unknown"
        ),
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
