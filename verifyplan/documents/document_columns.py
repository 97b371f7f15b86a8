"""The columns of the document tables, as data: name, type, meaning; a column is added by one line."""

from __future__ import annotations

from typing import get_args

from verifyplan.columns import Column, Columns
from verifyplan.documents.checks.catalogue import ViolationSeverity
from verifyplan.documents.kinds.execution_summary import CLAIM_STATES
from verifyplan.documents.kinds.plan import IMPLIED_MODEL, MUST_HAVES, TASK_TYPES
from verifyplan.documents.kinds.research_note import CONFIDENCES, KNOWN_LEVELS
from verifyplan.documents.reading.document import KINDS
from verifyplan.documents.reading.phrases import StatusMeaning

CONFIDENCE_ORDER = tuple(reversed(CONFIDENCES))
"""From the lowest to the highest, as tables are sorted."""

_PATH = Column("path", "text", "the document", key=True)
_POSITION = Column("position", "whole", "its place in the document, from 1", key=True)
_PHASE = Column("phase", "text", "the folder that the document lies in, as a rule the phase")
_MILESTONE = Column("milestone", "text", "the milestone that the phase was archived with; missing for current phases")
_PLAN = Column("plan_id", "text", "the id of the plan that it is or reports on, as the plan writes it")
_LINE = Column("line", "whole", "its line in the document")

DOCUMENT_TABLES: dict[str, Columns] = {
    "documents": (
        _PATH,
        Column("kind", KINDS, "which of the nine documents it is"),
        Column("form", "text", "the form it is held to: contract, or the name of another known form"),
        _PHASE,
        _MILESTONE,
        _PLAN,
        Column("status", "text", "the status that its frontmatter states"),
        Column("confidence", CONFIDENCE_ORDER, "of research: how sure it is as a whole"),
        Column("attempt", "whole", "of a verification: which attempt it is"),
        Column("n_lines", "whole", "lines of the file"),
        Column("n_tasks", "whole", "tasks; missing but in plans"),
        Column(
            "n_must_haves", "whole", "must-haves of a plan, of a summary those it reports, of a verification its rows"
        ),
        Column("n_findings", "whole", "findings; missing but in research notes"),
        Column("n_gaps", "whole", "gaps; missing but in research notes and verifications"),
        Column("n_errors", "whole", "violations that are errors"),
        Column("n_warnings", "whole", "violations that are warnings"),
        Column("n_infos", "whole", "violations that only inform"),
    ),
    "must_haves": (
        Column("path", "text", "the plan", key=True),
        _POSITION,
        _PHASE,
        _MILESTONE,
        _PLAN,
        Column("kind", tuple(MUST_HAVES.values()), "an observable truth, an artifact, or a connection"),
        Column("text", "text", "what must hold, as the plan says it"),
        Column("file", "text", "the file that it is about; missing where it names none"),
        _LINE,
        Column("summary_path", "text", "the summary of the plan; missing where there is none"),
        Column("claimed", CLAIM_STATES, "what the summary says of it; missing where it does not name it"),
        Column("verification_path", "text", "the verification that has a row for it; missing where none has"),
        Column("outcome", get_args(StatusMeaning), "what the verification found; missing where it has no row for it"),
        Column("evidence", "text", "the evidence that the verification gives"),
    ),
    "tasks": (
        Column("path", "text", "the plan", key=True),
        _POSITION,
        _PHASE,
        _MILESTONE,
        _PLAN,
        Column("task_id", "text", "the task's id; missing where it has none"),
        Column("name", "text", "what is to be done"),
        Column("type", TASK_TYPES, "one of the five types; missing where it states none of them"),
        Column("complexity", tuple(IMPLIED_MODEL), "simple, medium or complex; missing where it states none of them"),
        Column("model", tuple(IMPLIED_MODEL.values()), "the model that the complexity implies"),
        Column("tdd", "yesno", "whether tests come first; missing where it does not say"),
        Column("files", "names", "the files that the task names"),
        Column("verify", "text", "how it is verified; missing where it does not say"),
        Column("done", "text", "the observable outcome; missing where it does not say"),
        _LINE,
    ),
    "findings": (
        Column("path", "text", "the research note", key=True),
        _POSITION,
        _PHASE,
        _MILESTONE,
        Column("text", "text", "what was found"),
        Column("source_level", KNOWN_LEVELS, "where it is from, S0 the surest; missing where it does not say"),
        Column("confidence", CONFIDENCE_ORDER, "how sure it is; missing where it does not say"),
        Column("speculative", "yesno", "whether it is marked [SPECULATIVE]"),
        _LINE,
    ),
    "gaps": (
        Column("path", "text", "the verification or research note", key=True),
        _POSITION,
        _PHASE,
        _MILESTONE,
        Column("kind", ("verification", "research-note"), "what found the gap"),
        Column("text", "text", "what is missing"),
        Column("evidence", "text", "of a verification: what shows it"),
        Column("fix", "text", "of a verification: the suggested fix"),
        _LINE,
    ),
    "violations": (
        Column("path", "text", "the document"),
        _LINE,
        Column("rule", "text", "the rule that is broken"),
        Column("severity", get_args(ViolationSeverity), "how much it weighs"),
        Column("times", "whole", "how often; a rule that is broken many times in a document is reported once"),
        Column("message", "text", "what is wrong"),
        Column("fix", "text", "what to do"),
    ),
}
"""Every table of DocumentTables, by name."""
