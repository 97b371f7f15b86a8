"""The options that several commands share, each declared once; some are groups, one value each.

The key of an endpoint is no option: on the command line it would be seen by everybody who lists the processes of the
machine, and stay in the history of the shell. It comes from ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from verifyplan.cli.choices import (
    BackendName,
    EffortName,
    FilledBasisName,
    MatcherName,
    MissingBasisName,
    ModeName,
    OnBlockedName,
    PolicyName,
    TeamName,
    VerificationName,
)
from verifyplan.cli.option_groups import option_of

MODEL_VARIABLE = "VERIFYPLAN_MODEL"
"""Names the model where anthropic is the backend and nothing else names one; it does not make it the backend."""
CALL_TIMEOUT_S = 600.0
"""Seconds that one call may take."""


# Limits and repetitions of runs
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that one call may take, retries and tools included.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Tokens of a run or debate after which it sends no call.")]
MaxCost = Annotated[
    str | None,
    typer.Option(metavar="DOLLARS", help="US dollars of a run after which it sends no call, by the table of prices."),
]
Repetition = Annotated[int, typer.Option(min=1, help="Which run of the same inputs and settings this is.")]
Repetitions = Annotated[int, typer.Option(min=1, help="So many runs of each input, each a run of its own.")]
Synthetic = Annotated[bool, typer.Option("--synthetic", help="Mark generated plans, findings or tasks as such.")]
LogDir = Annotated[Path, typer.Option(help="The folder of the run logs.")]
Preview = Annotated[
    bool, typer.Option("--preview", help="Print all that the run would send first, redacted, and send nothing.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ByVerdict = Annotated[bool, typer.Option("--exit-code", help="Exit with 10 for REVISE, 20 for RETHINK, 1 if aborted.")]
ByRevisedVerdict = Annotated[bool, typer.Option("--exit-code", help="Exit with 10 for REVISE, 20 for RETHINK.")]

# Plan runs
PlanRulesSource = Annotated[
    str | None,
    typer.Option(
        "--rules", metavar="FILE|PRESET|JSON", help="The rules: a file, a preset (`verifyplan rules show`), or JSON."
    ),
]
Policy = Annotated[
    PolicyName | None,
    typer.Option(help="deliberate keeps looking while evidence is pending; that of the rules if left out."),
]
OnBlocked = Annotated[
    OnBlockedName | None,
    typer.Option(
        help="ask asks here, the default in a terminal; pause stops and waits for `verifyplan resume --answer`; "
        "continue goes on, the default elsewhere."
    ),
]
Team = Annotated[TeamName | None, typer.Option(help="The team; sized by a plan's complexity if left out.")]
Threshold = Annotated[
    int | None, typer.Option(min=0, help="The complexity that asks for the scaled team; that of the rules if left out.")
]
MaxIterations = Annotated[int | None, typer.Option(min=1, help="The last iteration; that of the rules if left out.")]
Panel = Annotated[bool, typer.Option(help="Whether a panel votes on the challenges.")]
PanelMode = Annotated[ModeName, typer.Option(help="How the panel is asked.")]
PanelWorkers = Annotated[str | None, typer.Option(metavar="NAMES", help="The panel's workers, by comma.")]
Weights = Annotated[
    Path | None, typer.Option(help="A weights file for the score, which informs and never decides the verdict.")
]
Report = Annotated[Path | None, typer.Option(help="Write the report here: .md or .html.")]

# Cross runs
EvidenceRepo = Annotated[Path, typer.Option(help="The folder that cited evidence lies in; it is only read.")]
TaskType = Annotated[
    str | None,
    typer.Option(
        help="Chooses the settings: error-analysis and requirements-discovery are adversarial; "
        "implementation-planning, implementation, final-verification, release-handoff and your own are not."
    ),
]
Mode = Annotated[
    ModeName | None,
    typer.Option(
        help="adversarial: workers try to break each claim; collaborative: they agree where nothing speaks against it. "
        "The task type's if left out."
    ),
]
MaxRounds = Annotated[
    int | None, typer.Option(min=1, max=3, help="Rounds of votes; as many as the task type has if left out.")
]
Verification = Annotated[
    VerificationName | None,
    typer.Option(
        help="full-reanalysis: workers open the cited evidence; lightweight: they see what is quoted of it, in "
        "collaborative runs only. By the mode if left out."
    ),
]
Gating = Annotated[
    bool | None,
    typer.Option(
        "--gating/--no-gating",
        help="Of plan items: whether a failed gate stops the plan, as it does if left out, or only advises.",
    ),
]
PlanItems = Annotated[
    Path | None, typer.Option(help="Items of a plan body to vote on (rule B10), for implementation-planning.")
]
ItemsPerCall = Annotated[
    int | None, typer.Option(min=1, help="Findings that one call asks about; all of a round if left out.")
]
Matcher = Annotated[
    MatcherName | None,
    typer.Option(
        help="Which findings count as one: claim (same places and claim), as if left out, or likeness (like words)."
    ),
]
Merges = Annotated[
    Path | None, typer.Option(help="CSV with finding_id and merged_into, followed in place of a matcher.")
]
FilledBasis = Annotated[
    FilledBasisName | None,
    typer.Option(
        help="The basis of an adversarial disagree without one: infer (from what it cites), as if left out, "
        "counter-evidence, or burden-not-met."
    ),
]

VotingRulesSource = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="FILE|PRESET|JSON",
        help="What decides, and who is asked when: a file, a preset (`verifyplan rules show`), or JSON.",
    ),
]
OnlyCalls = Annotated[
    Path | None,
    typer.Option("--only", metavar="FILE", help="CSV with finding_id, round and worker: the only calls to make."),
]

# Debates
Script = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="JSON with the answer to each call, by its id (t1/propose), instead of models; offline."
    ),
]
MaxTurns = Annotated[
    int, typer.Option(min=1, help="The last turn; more than 3 only if you say so here: longer debates drift.")
]

# Recorded runs
RulesSource = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="FILE|PRESET|JSON",
        help="The rules that judge: a file, a preset (`verifyplan rules show`), or JSON, such as "
        """'{"quorum": 2}'; of votes voting rules, of a plan run plan rules.""",
    ),
]
NamedRules = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="[NAME=]FILE|PRESET",
        help="Voting rules to compare, in place of modes; repeat it. Of several sets, once for all, or for each.",
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(help="Artifacts, folders, globs, saved tables, a bundled set, or a CSV or Parquet of votes."),
]
ReplayRounds = Annotated[
    int | None, typer.Option("--max-rounds", min=1, help="Rounds allowed; each run's own if left out.")
]
MissingBasis = Annotated[MissingBasisName, typer.Option(help="How a missing basis of a disagree is filled in.")]
Truth = Annotated[Path | None, typer.Option(help="CSV with finding_id and truth.")]
AddedRuns = Annotated[
    str | None,
    typer.Option(
        metavar="RUNS",
        help="Supplementary runs (`crossverify --only`): their votes are put beside those of the runs that they name.",
    ),
]
VoteColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="For a table of votes: which column is what, as item=claim,worker=judge,verdict=vote and, if there, "
        "basis=, round=, run=, truth=, explanation=, summary=, category=, discoverers=, mode= (a mode or a column), "
        "max_rounds= (a number).",
    ),
]
VerdictWords = Annotated[
    str | None,
    typer.Option(
        "--verdicts",
        help="For a table of votes: its own words for verdicts, as yes=agree,no=disagree; "
        "=verification-error says that empty cells are lost votes.",
    ),
]
TruthWords = Annotated[
    str | None,
    typer.Option(
        "--truths",
        help="For a table of votes, or of --truth: its own words for truth, as correct=true,wrong=false and, if there, "
        "unclear=unknown.",
    ),
]


@dataclass(frozen=True)
class PlanOptions:
    """The options that say how a plan is verified, by the names of the parameters of `verify`."""

    rules: PlanRulesSource = None
    policy: Policy = None
    team: Team = None
    threshold: Threshold = None
    max_iterations: MaxIterations = None
    panel: Panel = True
    panel_mode: PanelMode = ModeName.adversarial
    panel_workers: PanelWorkers = None
    weights: Weights = None


@dataclass(frozen=True)
class VoteOptions:
    """The options that say how workers vote on findings, by the names of the parameters of `crossverify`."""

    mode: Mode = None
    max_rounds: MaxRounds = None
    verification: Verification = None
    task_type: TaskType = None
    plan_items: PlanItems = None
    gating: Gating = None
    items_per_call: ItemsPerCall = None
    matcher: Matcher = None
    merges: Merges = None
    missing_basis: FilledBasis = None
    rules: VotingRulesSource = None
    only: OnlyCalls = None

    def arguments(self) -> dict[str, Any]:
        """Return the options that are set, as arguments of `crossverify`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}
        return {name: value for name, value in plain.items() if value is not None}


@dataclass(frozen=True)
class AgentOptions:
    """The options of agents; any of these but `--backend static` makes models of them."""

    backend: Annotated[
        BackendName | None,
        typer.Option(
            help="static: offline and deterministic, the default; anthropic: models, implied by the options below. "
            "Their key comes from ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring, never from an option."
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(help=f"The model of everybody; with --backend anthropic else that of {MODEL_VARIABLE}."),
    ] = None
    model_for: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=MODEL", help="The model of a role (challenger, ..., audit, worker). Repeatable."),
    ] = None
    worker_model: Annotated[
        list[str] | None, typer.Option(metavar="NAME=MODEL", help="The model of one worker. Repeatable.")
    ] = None
    agents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML or JSON with arguments of agents.Anthropic, such as models, workers, thinking; no key.",
        ),
    ] = None
    base_url: Annotated[str | None, typer.Option(help="The endpoint; else that of ANTHROPIC_BASE_URL.")] = None
    effort: Annotated[EffortName | None, typer.Option(help="How much the models do for an answer.")] = None
    web: Annotated[
        bool, typer.Option("--web", help="Let the research roles search the web; what they look for leaves here.")
    ] = False
    memory: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of notes that agents may search.")] = None
    allow_files: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Let models read files of this name or path although they look secret. Repeatable.",
        ),
    ] = None
    prices: Annotated[Path | None, typer.Option(metavar="FILE", help="A price table of your own, in TOML.")] = None
    max_concurrency: Annotated[int | None, typer.Option(min=1, help="Calls under way at once.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that are set, by their names, without `--backend`."""
        values = {option_of(field.name): getattr(self, field.name) for field in fields(self) if field.name != "backend"}
        return {option: value for option, value in values.items() if value}


NO_AGENT_OPTIONS, NO_VOTE_OPTIONS, DEFAULT_PLAN_OPTIONS = AgentOptions(), VoteOptions(), PlanOptions()
"""Where no option is set: the command's own default plays the agents, and the task type says how workers vote."""
