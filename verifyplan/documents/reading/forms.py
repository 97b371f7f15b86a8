"""The forms that the nine documents are known to have beside the contract's, as data; each was seen in real trees.

A form is told by its signs, in the order of the lists. A document that shows one of the contract's own marks is held to
the contract, whatever else it has; one that shows none of any form is of an `other` form, and named so once.
"""

from __future__ import annotations

from verifyplan.documents.reading.form import Form

OTHER = "other"

_OWN = "the contract's own form"
_OTHER = "a form of its own, with none of the contract's keys and sections"
_REQUIREMENTS = {"requirement_ids": ("requirements", "requirement", "implements")}

PLAN_FORMS = (
    Form(
        "quick",
        "a plan of a small task beside the phases, under quick/",
        seen_by=("folder:quick",),
        unless=("front:provides", "front:consumes"),
        aliases=_REQUIREMENTS,
    ),
    Form(
        "feature",
        "a plan of type tdd: one <feature> with <behavior> and <implementation> in the place of tasks",
        seen_by=("element:feature",),
        aliases=_REQUIREMENTS,
    ),
    Form(
        "objective",
        "a plan with <objective> and <tasks>, requirements, and artifacts and key links of several fields",
        seen_by=("element:objective", "element:execution_context"),
        aliases=_REQUIREMENTS,
    ),
    Form(
        "autonomous",
        "a plan with type and autonomous, whose ids are names, and whose tasks have no attributes",
        seen_by=("front:autonomous",),
        aliases=_REQUIREMENTS,
    ),
    Form(
        "headed",
        "a plan in Markdown alone, whose tasks stand under headings or in lists",
        seen_by=("prose",),
        unless=("element:task", "front:must_haves", "front:wave", "front:depends_on", "front:provides"),
        aliases=_REQUIREMENTS,
    ),
)

RESEARCH_NOTE_FORMS = (
    Form(
        "labelled",
        "a note without frontmatter: **Confidence:** in its head, sources by rank, and advice under its own headings",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={
            "confidence": ("Confidence", "Overall confidence"),
            "Gaps": ("Open Questions", "Gaps to Address"),
        },
    ),
    Form(
        OTHER,
        _OTHER,
        seen_by=("prose",),
        unless=(
            "front:sources_checked",
            "front:coverage",
            *(f"text:[S{level}]" for level in range(7)),
        ),
    ),
)

RESEARCH_SUMMARY_FORMS = (
    Form(
        "labelled",
        "a summary without frontmatter: **Confidence:** in its head, findings as prose, a table of confidence by area",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={
            "confidence": ("Confidence", "Overall confidence"),
            "Open Questions": ("Gaps to Address",),
        },
    ),
    Form(
        OTHER,
        _OTHER,
        seen_by=("prose",),
        unless=("front:confidence", "front:sources", "front:conflicts", "part:Resolved Decisions"),
    ),
)

SUMMARY_FORMS = (
    Form("contract", _OWN, seen_by=("front:must_haves", "front:commits")),
    Form(
        "get-shit-done",
        "a summary with subsystem, requirements-completed, accomplishments and a list of task commits",
        seen_by=("front:requirements-completed",),
        aliases={"Task Results": ("Task Commits",), "Deviations": ("Deviations from Plan",)},
    ),
    Form(
        "get-shit-done-metrics",
        "a summary with subsystem, a dependency graph, metrics and a table of tasks with their commits",
        seen_by=("front:metrics", "front:subsystem", "front:key-files", "front:tech-stack"),
        aliases={"Task Results": ("Tasks Completed",), "Deviations": ("Deviations from Plan",)},
    ),
    Form(
        "outcome",
        "a summary with its status, when the work started or ended, and what came of it",
        seen_by=("front:started", "front:completed", "front:tasks_completed"),
        aliases={"Task Results": ("Tasks Completed", "Results")},
    ),
    Form(
        "key-files",
        "a short summary with provides, requires, key_files and deferred",
        seen_by=("front:key_files", "front:deferred"),
    ),
    Form(
        "headed",
        "a summary without frontmatter: results under a heading for each task",
        seen_by=("part:Results",),
        aliases={"Task Results": ("Results",)},
    ),
    Form(OTHER, _OTHER, seen_by=("prose",), unless=("front:provides", "part:Task Results")),
)

VERIFICATION_FORMS = (
    Form("contract", _OWN, seen_by=("front:attempt", "front:overrides")),
    Form(
        "get-shit-done",
        "a verification with a score, observable truths, artifacts and key links under Goal Achievement",
        seen_by=("front:score", "front:re_verification", "part:Goal Achievement", "part:Observable Truths"),
        aliases={
            "Must-Have Verification": ("Observable Truths", "Goal Achievement"),
            "Must-Have": ("Truth", "Observable Truth"),
            "Status": ("Current Status", "Result"),
            "Evidence": ("Details", "Notes"),
            "Gaps": ("Gaps Summary",),
        },
    ),
    Form(
        "counted",
        "a verification that counts its must-haves, and tells neither attempt nor overrides",
        seen_by=("front:must_haves_total", "front:must_haves_passed", "front:must_haves_verified"),
        aliases={"Status": ("Current Status", "Result"), "Evidence": ("Details", "Notes")},
    ),
    Form(
        "short",
        "a verification with nothing but its phase and status",
        seen_by=("front:phase",),
    ),
    Form(OTHER, _OTHER, seen_by=("prose",), unless=("part:Must-Have Verification",)),
)

INTEGRATION_FORMS = (Form(OTHER, _OTHER, seen_by=("prose",), unless=("part:Integration Checks", "part:E2E Flows")),)

_MAP_SECTIONS = (
    "Tech Stack",
    "Package Manager",
    "Architecture Overview",
    "Key Components",
    "Code Conventions",
    "Concerns",
)

DEBUG_LOG_FORMS = (
    Form(
        "get-shit-done",
        "a log that names what triggered it, with what was eliminated in a section of its own",
        seen_by=("front:trigger", "part:Evidence"),
        unless=("front:mode", "part:Evidence Log"),
        aliases={"Evidence Log": ("Evidence",)},
    ),
    Form(
        OTHER,
        _OTHER,
        seen_by=("prose",),
        unless=("front:slug", "front:mode", "part:Current Focus", "part:Evidence Log", "part:Hypotheses"),
    ),
)

CODEBASE_MAP_FORMS = (
    Form(
        "get-shit-done",
        "a map that begins with the date of its analysis, with lists under headings of its own",
        seen_by=("label:Analysis Date",),
    ),
    Form(
        OTHER,
        _OTHER,
        seen_by=("prose",),
        unless=(
            *(f"part:{title}" for title in _MAP_SECTIONS),
            *(f"stem:{name}" for name in ("INTEGRATIONS", "STRUCTURE", "TESTING")),
        ),
    ),
)
