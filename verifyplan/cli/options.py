"""The options that several commands share, each declared once; options that belong together form a group.

No option takes the key of an endpoint: other users of the machine could see it in the list of processes, and it would
stay in the history of the shell. The key comes from ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from verifyplan.cli.option_groups import option_of
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.ties import Ties
from verifyplan.protocol.plan_rules import Policy
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.settings import PanelSettings
from verifyplan.protocol.vote import MissingBasis, Mode, VerificationMode

MODEL_VARIABLE = "VERIFYPLAN_MODEL"
"""Names the model where anthropic is the backend and nothing else names one; it does not select the backend."""
CALL_TIMEOUT_S = 600.0
"""Seconds that one call may take."""

BackendName = Literal["static", "anthropic"]
EffortName = Literal["low", "medium", "high", "xhigh", "max"]
MatcherName = Literal["claim", "likeness"]
FilledBasis = Literal["infer", "counter-evidence", "burden-not-met"]


# Limits and repetitions of runs
Timeout = Annotated[
    float, typer.Option(min=0.1, help="The seconds that one call may take, including retries and tool use.")
]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Send no more calls once a run has used this many tokens.")]
MaxCost = Annotated[
    str | None,
    typer.Option(
        metavar="DOLLARS", help="Send no more calls once a run has cost this many US dollars, by the price table."
    ),
]
Repetition = Annotated[
    int, typer.Option(min=1, help="The number of this run among runs with the same inputs and settings.")
]
Repetitions = Annotated[
    int, typer.Option(min=1, help="How often to run each input; each repetition is a separate run.")
]
Synthetic = Annotated[bool, typer.Option("--synthetic", help="Mark the plans, findings or tasks as generated.")]
LogDir = Annotated[Path, typer.Option(help="The folder for the run logs.")]
Preview = Annotated[
    bool,
    typer.Option("--preview", help="Print what the run would send first, secrets redacted, and send nothing."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ByVerdict = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 10 for REVISE, 20 for RETHINK, 1 if the run was aborted.")
]

# Plan runs
Report = Annotated[Path | None, typer.Option(help="Write a report to this file: .md or .html.")]
OnBlocked = Annotated[
    Literal["ask", "pause", "continue"] | None,
    typer.Option(
        help="What to do if a BLOCKING challenge remains. ask: ask here (the default in a terminal); pause: stop and "
        "wait for `verifyplan resume --answer`; continue: go on (the default elsewhere)."
    ),
]

# Cross runs
EvidenceRepo = Annotated[Path, typer.Option(help="The folder with the cited evidence; it is only read.")]

# Debates
Script = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take the answers from this JSON file, by call id (t1/propose), instead of from models; works offline.",
    ),
]
MaxTurns = Annotated[
    int, typer.Option(min=1, help="The last turn; more than 3 only if set here, because longer debates drift.")
]

# Recorded runs
RulesSource = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="FILE|PRESET|JSON",
        help="Judge by these rules: a file, a preset (`verifyplan rules show`), or JSON such as "
        """'{"quorum": 2}'. Votes are judged by voting rules, plan runs by plan rules.""",
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(help="Artifacts, folders, globs, saved tables, a bundled set, or a CSV or Parquet file of votes."),
]
ReplayRounds = Annotated[
    int | None, typer.Option("--max-rounds", min=1, help="The rounds that count. Default: the rounds of each run.")
]
FillMissingBasis = Annotated[
    MissingBasis, typer.Option(help="How to fill in the basis of a disagree that has none; raise reports an error.")
]
TiesReading = Annotated[
    Ties | None,
    typer.Option(help="For a table of votes: how a vote `tie`, or a word that means it (--verdicts T=tie), counts."),
]
ConcludedMetric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The metric to conclude on, named before you look: accuracy, held, precision, recall, f1, "
        "false-consensus-rate, false-demotion-rate or a class. Default: accuracy where truth is known, else held. "
        "All others are exploratory.",
    ),
]
PairBy = Annotated[
    Literal["finding", "category", "run_id", "summary", "none"],
    typer.Option(
        help="How several sets are paired: by finding (sets without a common one are not paired), by the means of "
        "the values of a column of findings, or none."
    ),
]
ClusterBy = Annotated[
    Literal["category", "run_id", "summary"] | None,
    typer.Option(help="The column of findings whose values are independent of each other, in place of runs."),
]
ComparedModes = Annotated[
    str | None,
    typer.Option(
        metavar="MODES",
        help="The modes to compare, separated by commas: collaborative, adversarial, recorded. With several sets, "
        "one mode for each. Default: collaborative,adversarial for one set, recorded for several.",
    ),
]
ComparedRules = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]FILE|PRESET",
        help="Voting rules to compare, instead of modes. Can be repeated. With several sets, give one for all sets "
        "or one for each.",
    ),
]
Truth = Annotated[Path | None, typer.Option(help="A CSV file with finding_id and truth.")]
AddedRuns = Annotated[
    str | None,
    typer.Option(
        metavar="RUNS",
        help="Supplementary runs (`crossverify --only`); their votes are added to those of the runs they name.",
    ),
]
TruthWords = Annotated[
    str | None,
    typer.Option(
        metavar="WORD=TRUTH,...",
        help="For a table of votes, or for --truth: what your words for truth mean, such as "
        "correct=true,wrong=false,unclear=unknown.",
    ),
]


@dataclass(frozen=True)
class VoteTableOptions:
    """The options that say how a table of votes is read."""

    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="For a table of votes: which column is which, such as item=claim,worker=judge,verdict=vote. Optional "
            "names: basis, round, run, truth, explanation, summary, category, discoverers, mode (a mode or a column), "
            "max_rounds (a number).",
        ),
    ] = None
    verdicts: Annotated[
        str | None,
        typer.Option(
            metavar="WORD=VERDICT,...",
            help="For a table of votes: what your words for verdicts mean, such as yes=agree,no=disagree. "
            "=verification-error says that empty cells are lost votes.",
        ),
    ] = None
    truths: TruthWords = None
    ties: TiesReading = None


@dataclass(frozen=True)
class RunOptions:
    """The limits of a run and the place of its log, by the names of the parameters of `verify` and `crossverify`."""

    timeout: Timeout = CALL_TIMEOUT_S
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    log_dir: LogDir = Path("runs")
    synthetic: Synthetic = False


@dataclass(frozen=True)
class PlanOptions:
    """The options that say how a plan is verified."""

    rules: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|PRESET|JSON",
            help="The rules that decide: a file, a preset (`verifyplan rules show`), or JSON.",
        ),
    ] = None
    policy: Annotated[
        Policy | None, typer.Option(help="deliberate keeps looking while evidence is pending. Default: from the rules.")
    ] = None
    team: Annotated[TeamMode | None, typer.Option(help="The team. Default: chosen by the plan's complexity.")] = None
    threshold: Annotated[
        int | None, typer.Option(min=0, help="The complexity that needs the scaled team. Default: from the rules.")
    ] = None
    max_iterations: Annotated[int | None, typer.Option(min=1, help="The last iteration. Default: from the rules.")] = (
        None
    )
    panel: Annotated[bool, typer.Option(help="Whether a panel votes on the challenges.")] = True
    panel_mode: Annotated[Mode, typer.Option(help="How the panel is asked to judge.")] = "adversarial"
    panel_workers: Annotated[
        str | None, typer.Option(metavar="NAMES", help="The names of the panel's workers, separated by commas.")
    ] = None
    weights: Annotated[
        Path | None,
        typer.Option(help="A weights file for the score. The score is for information and never decides the verdict."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of `verify`; SettingsError for workers without a panel."""
        panel = None
        if self.panel:
            workers = self.panel_workers
            names = {} if workers is None else {"workers": tuple(names_of(workers, "--panel-workers"))}
            panel = PanelSettings(mode=self.panel_mode, **names)
        elif self.panel_workers is not None:
            raise SettingsError(Problem("--panel-workers", "does not go with --no-panel", "leave one of them out"))
        settings = {name: value for name, value in vars(self).items() if not name.startswith("panel")}
        return settings | {"panel": panel}


@dataclass(frozen=True)
class VoteOptions:
    """The options that say how workers vote on findings, by the names of the parameters of `crossverify`."""

    mode: Annotated[
        Mode | None,
        typer.Option(
            help="adversarial: workers try to refute each claim; collaborative: workers agree unless something speaks "
            "against it. Default: from the task type."
        ),
    ] = None
    max_rounds: Annotated[
        int | None, typer.Option(min=1, max=3, help="The rounds of votes. Default: from the task type.")
    ] = None
    verification: Annotated[
        VerificationMode | None,
        typer.Option(
            help="full-reanalysis: workers open the cited evidence; lightweight: they see only what is quoted "
            "(collaborative runs only). Default: from the mode."
        ),
    ] = None
    task_type: Annotated[
        str | None,
        typer.Option(
            help="Selects the default settings. error-analysis and requirements-discovery are adversarial; "
            "implementation-planning, implementation, final-verification, release-handoff and your own types are "
            "collaborative."
        ),
    ] = None
    plan_items: Annotated[
        Path | None,
        typer.Option(help="A file with items of a plan body to vote on; needs --task-type implementation-planning."),
    ] = None
    gating: Annotated[
        bool | None,
        typer.Option(
            "--gating/--no-gating",
            help="Whether a failed vote on plan items stops the plan (the default) or only advises.",
        ),
    ] = None
    items_per_call: Annotated[
        int | None, typer.Option(min=1, help="How many findings one call asks about. Default: all of a round.")
    ] = None
    matcher: Annotated[
        MatcherName | None,
        typer.Option(
            help="Which findings are merged. claim (the default): the same places and the same claim; likeness: "
            "similar words."
        ),
    ] = None
    merges: Annotated[
        Path | None, typer.Option(help="A CSV file with finding_id and merged_into, used instead of a matcher.")
    ] = None
    missing_basis: Annotated[
        FilledBasis | None,
        typer.Option(
            help="The basis of an adversarial disagree that names none. infer (the default) derives it from what the "
            "vote cites."
        ),
    ] = None
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|PRESET|JSON",
            help="The rules that decide, and that say who is asked when: a file, a preset (`verifyplan rules show`), "
            "or JSON.",
        ),
    ] = None
    only: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Make only the calls in this CSV file with finding_id, round and worker."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options that are set, as arguments of `crossverify`."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class AgentOptions:
    """The options of agents; any of these but `--backend static` selects models."""

    backend: Annotated[
        BackendName | None,
        typer.Option(
            help="static: offline and deterministic (the default); anthropic: models (implied by the options below). "
            "The key comes from ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring, never from an option."
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(help=f"The model of all agents. With --backend anthropic, the default is {MODEL_VARIABLE}."),
    ] = None
    model_for: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=MODEL", help="The model of one role (challenger, ..., audit, worker). Can be repeated."
        ),
    ] = None
    worker_model: Annotated[
        list[str] | None, typer.Option(metavar="NAME=MODEL", help="The model of one worker. Can be repeated.")
    ] = None
    agents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A TOML or JSON file with arguments of agents.Anthropic, such as models, workers or thinking, but no "
            "key.",
        ),
    ] = None
    base_url: Annotated[str | None, typer.Option(help="The address of the endpoint. Default: ANTHROPIC_BASE_URL.")] = (
        None
    )
    effort: Annotated[EffortName | None, typer.Option(help="How much effort the models put into an answer.")] = None
    web: Annotated[
        bool,
        typer.Option("--web", help="Let the research roles search the web; their queries then leave this machine."),
    ] = False
    memory: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of notes that agents may search.")] = None
    allow_files: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Let models read files with this name or path even if they look secret. Can be repeated.",
        ),
    ] = None
    prices: Annotated[Path | None, typer.Option(metavar="FILE", help="Your own price table, in TOML.")] = None
    max_concurrency: Annotated[int | None, typer.Option(min=1, help="How many calls run at the same time.")] = None

    @property
    def set_options(self) -> dict[str, Any]:
        """The options that are set, by their names, without `--backend`."""
        return {option_of(name): value for name, value in vars(self).items() if value and name != "backend"}


NO_TABLE_OPTIONS, NO_AGENT_OPTIONS, NO_VOTE_OPTIONS = VoteTableOptions(), AgentOptions(), VoteOptions()
DEFAULT_PLAN_OPTIONS, DEFAULT_RUN_OPTIONS = PlanOptions(), RunOptions()
"""Where no option is set: static agents, and settings from the task type or the rules."""


def names_of(text: str, option: str) -> list[str]:
    """Return names separated by commas; SettingsError where there is none, or one is repeated."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        message = f"a name is repeated in {text!r}" if names else "no name is given"
        raise SettingsError(Problem(option, message, "name each worker once, separated by commas"))
    return names
