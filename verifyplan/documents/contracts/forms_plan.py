"""The forms that plans and research are known to have, as data; each was seen in real trees (SPEC D1)."""

from __future__ import annotations

from verifyplan.documents.contracts.form import Form

_REQUIREMENTS = ("requirements", "implements")
_UNNUMBERED = frozenset({"task:id", "task:type", "task:complexity", "task:tdd", "task:steps", "part:Summary"})
_UNQUOTED = frozenset({"text:phase", "text:plan", "plan:two-numbers"})

_OBJECTIVE = frozenset(
    {"front:provides", "front:consumes", "front:requirement_ids", "task:checkpoint-elements", "task:file-lines"}
    | {"must_haves:fields", "must_haves:paths"}
)

PLAN_FORMS = (
    Form(
        "feature",
        "an older plan of type tdd: one <feature> with <behavior> and <implementation> in the place of tasks",
        seen_by=("element:feature",),
        aliases={"requirement_ids": _REQUIREMENTS},
        lacks=_UNNUMBERED | _UNQUOTED | _OBJECTIVE | {"task:all"},
    ),
    Form(
        "objective",
        "an older plan with <objective> and <tasks>, requirements, and artifacts and key links of several fields",
        seen_by=("element:objective", "element:execution_context"),
        aliases={"requirement_ids": _REQUIREMENTS},
        lacks=_UNNUMBERED | _UNQUOTED | _OBJECTIVE,
    ),
    Form(
        "autonomous",
        "a plan with type and autonomous, whose ids are names, and whose tasks have no attributes",
        seen_by=("front:autonomous",),
        aliases={"requirement_ids": _REQUIREMENTS},
        lacks=_UNNUMBERED
        | _UNQUOTED
        | {"front:consumes", "front:requirement_ids", "task:file-lines", "must_haves:paths"},
    ),
)

_LABELLED = frozenset({"front:confidence"})

RESEARCH_NOTE_FORMS = (
    Form(
        "labelled",
        "a note without frontmatter: **Confidence:** in its head, sources by rank, and advice under its own headings",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={
            "confidence": ("Confidence", "Overall confidence"),
            "Gaps": ("Open Questions", "Gaps to Address"),
        },
        lacks=_LABELLED
        | {"front:sources_checked", "front:coverage", "part:Key Findings", "part:Gaps", "part:Sources"}
        | {"finding:level", "finding:confidence", "finding:version", "source:listed", "source:count"},
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
        lacks=_LABELLED
        | {"front:sources", "front:conflicts", "part:Resolved Decisions", "part:Open Questions", "part:Deferred Ideas"}
        | {"question:marked"},
    ),
)
