"""Write violations for other programs: as SARIF 2.1.0, or as plain JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from verifyplan.documents.checks.catalogue import RULES, Violation, ViolationSeverity
from verifyplan.documents.checks.check import Report
from verifyplan.version import VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "%SRCROOT%"
_INVISIBLE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, marks of direction and half characters that JSON allows in a text."""

_LEVEL: dict[ViolationSeverity, str] = {"error": "error", "warning": "warning", "info": "note"}
_SCOPES = {"D2": "one document", "D3": "several documents, or versions of one", "H3": "damaged or hostile input"}


def to_sarif(report: Report, root: str | Path = ".") -> str:
    """Return a report as one SARIF 2.1.0 log, which editors and code hosts show at the lines; it ends with a newline.

    Paths under `root` are written relative to it, others as `file:` addresses; a violation of a whole tree has no line.
    Source: OASIS SARIF 2.1.0.
    """
    used = sorted({violation.rule for violation in report.violations})
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].meaning},
            "defaultConfiguration": {"level": _LEVEL[RULES[name].severity]},
            "properties": {"scope": _SCOPES[RULES[name].protocol_rule]},
        }
        for name in used
    ]
    run = {
        "tool": {"driver": {"name": "verifyplan", "version": VERSION, "rules": rules}},
        "invocations": [{"executionSuccessful": True}],
        "originalUriBaseIds": {BASE: {"description": {"text": "The folder that paths are relative to."}}},
        "results": [_result(violation, used.index(violation.rule), root) for violation in report.violations],
    }
    return _json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def to_json(report: Report, root: str | Path = ".") -> str:
    """Return a report as JSON: whether it is `ok`, counts, the tally by rule, and every violation; with a newline."""
    return _json(
        {
            "ok": report.ok,
            "documents": len(report.documents),
            "others": [shown(path, root) for path in report.others],
            "tally": report.tally,
            "violations": [
                {
                    "path": shown(violation.path, root),
                    "line": violation.line,
                    "lines": list(violation.lines or (violation.line,)),
                    "rule": violation.rule,
                    "severity": violation.severity,
                    "message": violation.message,
                    "fix": violation.fix,
                }
                for violation in report.violations
            ],
        }
    )


def shown(path: str, root: str | Path) -> str:
    """Return a path relative to `root` where it is under it, else as it is.

    >>> shown("work/.planning/PLAN-01.md", "work"), shown("elsewhere/PLAN-01.md", "work")
    ('.planning/PLAN-01.md', 'elsewhere/PLAN-01.md')
    """
    place, base = _absolute(path), _absolute(root)
    return place.relative_to(base).as_posix() if place.is_relative_to(base) else path


def _result(violation: Violation, index: int, root: str | Path) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _address(violation.path, root)}
    if violation.line > 0:
        place["region"] = {"startLine": violation.line}
    related = [
        {"physicalLocation": {"artifactLocation": place["artifactLocation"], "region": {"startLine": line}}}
        for line in dict.fromkeys(violation.lines[1:])
    ]
    return {
        "ruleId": violation.rule,
        "ruleIndex": index,
        "level": _LEVEL[violation.severity],
        "message": {"text": f"{violation.message}. Fix: {violation.fix}."},
        "locations": [{"physicalLocation": place}],
        **({"relatedLocations": related} if related else {}),
    }


def _address(path: str, root: str | Path) -> dict[str, str]:
    """Return the address of a file in SARIF: relative to the base, or, outside of it, absolute."""
    relative = shown(path, root)
    if PurePath(relative).is_absolute() or ".." in PurePath(relative).parts:
        return {"uri": _absolute(path).as_uri()}
    return {"uri": quote(os.fsencode(relative)), "uriBaseId": BASE}


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (takes `..` out without following links)


def _json(value: Sequence[Any] | dict[str, Any]) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return _INVISIBLE.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text)
