"""The forms that reports are known to have: plan checks, summaries, verifications, integration reports, debug logs.

`get-shit-done` and its two older variants are seen in the tree of a real project, `key-files` and `short` in another
tool's example project. A document that has the fields by which the contract is known is held to the contract, whatever
else it has.
"""

from __future__ import annotations

from verifyplan.documents.contracts.form import Form

_OWN = "document 003's own form"

_NOTES = frozenset({"front:commits", "front:must_haves", "part:Task Results", "part:Deviations"})
_GSD = frozenset(
    {"front:status", "front:commits", "front:must_haves", "part:Task Results", "text:plan", "text:provides"}
)

SUMMARY_FORMS = (
    Form("contract", _OWN, seen_by=("front:must_haves", "front:commits")),
    Form(
        "get-shit-done",
        "a summary with subsystem, requirements-completed, accomplishments and a list of task commits",
        seen_by=("front:requirements-completed",),
        aliases={"Task Results": ("Task Commits",), "Deviations": ("Deviations from Plan",)},
        lacks=_GSD,
    ),
    Form(
        "get-shit-done-metrics",
        "a summary with subsystem, a dependency graph, metrics and a table of tasks with their commits",
        seen_by=("front:metrics", "front:subsystem"),
        aliases={"Task Results": ("Tasks Completed",), "Deviations": ("Deviations from Plan",)},
        lacks=_GSD | {"front:provides"},
    ),
    Form(
        "outcome",
        "a summary of a phase run by hand: status, started, completed, and what came of it",
        seen_by=("front:started", "front:completed", "front:tasks_completed"),
        aliases={"Task Results": ("Tasks Completed", "Results")},
        lacks=_NOTES | {"front:provides", "text:plan"},
    ),
    Form(
        "key-files",
        "a short summary with provides, requires, key_files and deferred",
        seen_by=("front:key_files", "front:deferred"),
        lacks=_NOTES,
    ),
    Form(
        "headed",
        "a summary without frontmatter: results under a heading for each task",
        seen_by=("part:Results",),
        aliases={"Task Results": ("Results",)},
        lacks=_NOTES | {"front:plan", "front:status", "front:provides"},
    ),
)

_COUNTS = frozenset(
    {"front:attempt", "front:must_haves_total", "front:must_haves_passed", "front:gaps", "front:overrides", "part:Gaps"}
)

VERIFICATION_FORMS = (
    Form("contract", _OWN, seen_by=("front:must_haves_total", "front:must_haves_passed", "front:attempt")),
    Form(
        "get-shit-done",
        "a verification with a score, observable truths, artifacts and key links under Goal Achievement",
        seen_by=("front:score",),
        aliases={
            "Must-Have Verification": ("Goal Achievement",),
            "Must-Have": ("Truth",),
            "Gaps": ("Gaps Summary",),
        },
        lacks=_COUNTS | {"column:Must-Have"},
    ),
    Form(
        "short",
        "a verification with nothing but its phase and status",
        seen_by=("front:phase",),
        lacks=_COUNTS | {"part:Must-Have Verification"},
    ),
)
