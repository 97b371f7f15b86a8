"""The ids of plans, so that `01`, `26-01` and `26-01-PLAN.md` in the folder of phase 26 are known to be one."""

from __future__ import annotations

import re
from pathlib import PurePath

_PHASE = re.compile(r"(\d+(?:\.\d+)?)(?:-|$)")
_KIND = re.compile(r"(?:^|-)(?:plan|summary)(?=-|$)")


def plan_key(plan_id: str, phase: str = "") -> str:
    """A plan's id in the one form in which ids are compared: small letters, no leading zeros, with its phase.

    An id that is a number alone belongs to `phase`, the name of its folder or its `phase` field; without one it stays
    as it is. An empty id gives an empty key.

    >>> plan_key("01", "26-backend"), plan_key("26-01", "26-backend"), plan_key("12.1-01"), plan_key("auth-02b")
    ('26-1', '26-1', '12.1-1', 'auth-02b')
    """
    parts = plan_id.strip().strip("\"'").lower().split("-")
    number = phase_number(phase)
    if len(parts) == 1 and parts[0].isdecimal() and number:
        parts = [number, *parts]
    return "-".join(_plain(part) for part in parts)


def phase_number(phase: str) -> str:
    """The number that a phase's name begins with, without leading zeros; empty where there is none.

    >>> phase_number("01-foundation"), phase_number("12.1-iac"), phase_number("3"), phase_number("auth")
    ('1', '12.1', '3', '')
    """
    found = _PHASE.match(phase.strip())
    return _plain(found[1]) if found else ""


def id_in_name(path: str) -> str:
    """The plan id in the name of a plan's or a summary's file; empty where the name holds none.

    >>> id_in_name("01-01-PLAN.md"), id_in_name("SUMMARY-auth-02.md"), id_in_name("PLAN-03.md"), id_in_name("PLAN.md")
    ('01-01', 'auth-02', '03', '')
    """
    return _KIND.sub("", PurePath(path).stem.lower()).strip("-")


def _plain(part: str) -> str:
    whole, dot, rest = part.partition(".")
    return f"{whole.lstrip('0') or '0'}{dot}{rest}" if whole.isdecimal() and whole.isascii() else part
