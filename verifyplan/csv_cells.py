r"""Write texts as cells of CSV and TSV files that no spreadsheet runs and no terminal obeys, and read them back.

A cell that a spreadsheet would take for a formula gets an apostrophe in front; one with escape codes, or carriage
returns, which end a row for some readers, begins with `'\` and has these as `\x1b`. So it has a semicolon, a tab or a
line end before a formula: programs that part cells at semicolons, as in most of Europe, would begin a cell there. Both
are undone exactly by `plain_cell`. Numbers and all other texts stay as they are.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_FORMULA = re.compile(r"[\t\n]|[ \t\n]*[=+\-@＝＋－＠]")  # noqa: RUF001  (spreadsheets read the wide signs, too)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INNER = re.compile(r"[;\t\n](?=[ \"']*(?:[=@＝＋－＠]|[+-](?![ \n-]|[\d.,eE+-]*(?:[;\s]|$))))")  # noqa: RUF001
_CODED = re.compile(r"(?:[^\\]|\\\\|\\x[0-9a-f]{2})*", re.DOTALL)
_CODE = re.compile(r"\\(?:\\|x([0-9a-f]{2}))")

RISKY = r"^'*[ \t\n]*[=+\-@＝＋－＠]|^'*[\t\n]|^'+\\|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[;\t\n][ \"']*[=+\-@＝＋－＠]"  # noqa: RUF001
"""Finds every text that `safe_cell` changes, and numbers, in Python as in Arrow."""


def safe_cell(text: str) -> str:
    r"""Return a text as a cell: as it is, unless a spreadsheet would run it or a terminal obey it.

    >>> safe_cell("=1+1"), safe_cell("-5"), safe_cell("- five"), safe_cell("a\x1b[31m")
    ("'=1+1", '-5', "'- five", "'\\a\\x1b[31m")
    >>> print(safe_cell("fine;=1+1"), safe_cell("a; b\n- c"))
    '\fine\x3b=1+1 a; b
    - c
    """
    coded = _INNER.sub(_code, _CONTROL.sub(_code, text.replace("\\", "\\\\")))
    if _CONTROL.search(text) or _INNER.search(text):
        return f"'\\{coded}"
    return f"'{text}" if _is_formula(text) or re.match(r"'+\\", text) else text


def _code(found: re.Match[str]) -> str:
    return f"\\x{ord(found[0]):02x}"


def plain_cell(cell: str) -> str:
    r"""Return the text that `safe_cell` made a cell of; a cell of other programs stays, unless it looks like such.

    >>> plain_cell("'=1+1"), plain_cell("'-5"), plain_cell("'quoted'"), plain_cell("'\\a\\x1b[31m")
    ('=1+1', "'-5", "'quoted'", 'a\x1b[31m')
    """
    if not cell.startswith("'"):
        return cell
    if cell.startswith("'\\"):
        coded = cell[2:]
        is_ours = _CODED.fullmatch(coded) and any(code[1] for code in _CODE.finditer(coded))
        return _CODE.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", coded) if is_ours else cell
    return cell[1:] if _is_formula(cell) or re.match(r"''+\\", cell) else cell


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would take a text, apostrophes in front of it aside, for a formula."""
    core = text.lstrip("'")
    return _FORMULA.match(core) is not None and not _NUMBER.fullmatch(core)
